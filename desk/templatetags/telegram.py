"""The part of the preferences that is about Telegram: the view that shows the page needs to know nothing of it."""

from __future__ import annotations

from typing import Any

from django import template

from desk.pages.telegram import telegram_section

register = template.Library()


@register.inclusion_tag("desk/_telegram.html", takes_context=True)
def telegram_chats(context: dict[str, Any]) -> dict[str, Any]:
    """The chats that are linked, and the way to link another; nothing where there is no bot. One query."""
    return {"telegram": telegram_section(context["principal"])}
