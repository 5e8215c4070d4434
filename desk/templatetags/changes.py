"""Filters that say who did what: ``{{ entry|change_text }}``; with the things it was done to: ``change_paragraph``."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from desk.quotations import cut

if TYPE_CHECKING:
    from desk.timeline.feed import Line

register = template.Library()

NAME_CHARACTERS = 140


class DescribedChange(Protocol):
    """Who did what, in words, and the URL of who it was, or ''."""

    @property
    def who(self) -> str: ...  # noqa: D102
    @property
    def who_address(self) -> str: ...  # noqa: D102
    @property
    def what(self) -> str: ...  # noqa: D102


@register.filter
def change_text(by: DescribedChange) -> SafeString:
    """Return who did what; other languages have another auxiliary verb for "you"."""
    if by.who_address:
        return format_html('<strong><a href="{}">{}</a></strong> {}', by.who_address, by.who, _predicate(by))
    return format_html("<strong>{}</strong> {}", by.who, _predicate(by))


def _predicate(by: DescribedChange) -> str:
    you, what_you_did, what_was_done = _patterns(get_language())
    if by.who == you:
        return what_you_did % {"what_you_did": by.what}
    return what_was_done % {"what_was_done": by.what}


@lru_cache(maxsize=16)
def _patterns(_language: str | None) -> tuple[str, str, str]:
    return _("You"), _("%(what_you_did)s"), _("%(what_was_done)s")


@register.filter
def change_paragraph(line: Line) -> SafeString:
    """Return who did what to which things, as a paragraph."""
    parts = [change_text(line)]
    if line.named:
        links = ((each.address, cut(each.text, NAME_CHARACTERS)) for each in line.named)
        parts += [SafeString(": "), format_html_join(SafeString(" · "), '<a href="{}">{}</a>', links)]
    if line.more:
        more = ngettext("and %(counter)s more", "and %(counter)s more", line.more) % {"counter": line.more}
        parts.append(format_html(' <span class="soft">{}</span>', more))
    if line.gone:
        gone = ngettext("(%(counter)s that is gone by now)", "(%(counter)s that are gone by now)", line.gone)
        parts.append(format_html(' <span class="soft">{}</span>', gone % {"counter": line.gone}))
    if line.reason:
        reason = _("Reason: %(reason)s") % {"reason": line.reason}
        parts.append(format_html('<br><span class="soft">{}</span>', reason))
    return SafeString(f"<p>{''.join(parts)}</p>")
