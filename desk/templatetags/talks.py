"""A filter that names where a conversation took place: ``{{ talk.channel|channel_name }}``."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

register = template.Library()

_NAMES = {"chatgpt": "ChatGPT", "claude": "Claude", "telegram": "Telegram", "jsonl": gettext_noop("a file")}


@register.filter
def channel_name(channel: str) -> str:
    """The name of a channel as people know it; that of an agent's own as the agent gives it."""
    return _(_NAMES[channel]) if channel in _NAMES else channel
