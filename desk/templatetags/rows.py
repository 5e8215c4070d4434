"""``{% row card %}``: a row of a list of facts or memories, which expands to its evidence and decisions.

A page has up to a hundred rows. Written as a template, with a dozen values and conditions in each, they took most of
the time of the page.
"""

from __future__ import annotations

from typing import cast

from django import template
from django.template.context import RequestContext
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from accounts.principals import Principal
from desk.cards import Card, told_fact
from facts.models import LegacyFact

from .times import short_day

register = template.Library()


@register.simple_tag
def told(fact: LegacyFact, principal: Principal) -> str:
    """Return a fact as the person is told it."""
    return told_fact(principal, fact)


@register.simple_tag(takes_context=True)
def row(context: RequestContext, card: Card) -> SafeString:
    """Return the row, expanded if something was just decided about it."""
    noun, key = SafeString(card.noun), SafeString(card.key)
    return format_html(
        '<li class="fact line{}" id="{}-{}">{}<details class="opens"{}><summary{}><span class="claim" id="claim-{}">{}'
        '</span>{} <span class="by">{}</span> {}</summary>{}</details></li>',
        SafeString(" is-gone" if card.is_gone else ""),
        noun,
        key,
        _checkbox(card, noun, key),
        _opening(card),
        SafeString(" autofocus" if card.done and not card.done.undo else ""),
        key,
        card.claim,
        format_html_join("", ' <span class="tag {}">{}</span>', ((tag.style, tag.text) for tag in card.marks)),
        card.by,
        short_day(localtime(card.at)),
        _inside(context, card),
    )


def _checkbox(card: Card, noun: SafeString, key: SafeString) -> SafeString:
    if not card.can_be_chosen:
        return SafeString()
    return format_html(
        '<label class="pick"><input type="checkbox" form="bulk" name="{}" value="{}:{}">'
        '<span class="for-readers">{}</span></label>',
        noun,
        key,
        card.version,
        card.choosing,
    )


def _opening(card: Card) -> SafeString:
    if card.outcome:
        return SafeString(" open")
    return format_html(' hx-get="{}" hx-trigger="toggle once" hx-target="find .opened" hx-swap="outerHTML"', card.opens)


def _inside(context: RequestContext, card: Card) -> SafeString:
    if card.outcome is None:
        return format_html('<p class="opened"><a href="{}">{}</a></p>', card.address, _("Its page"))
    engine = context.template.engine  # type: ignore[union-attr] # Set while a template is rendered.
    with context.push(card=card):
        return cast("SafeString", engine.get_template("desk/_opened.html").render(context))
