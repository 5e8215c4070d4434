"""Filters of conversations: ``{{ talk|talk_name }}``, where one took place: ``{{ talk.channel|channel_name }}``."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from conversations.models import Conversation
from desk.quotations import name_talk
from language.shown import quoted

register = template.Library()

_NAMES = {"chatgpt": "ChatGPT", "claude": "Claude", "telegram": "Telegram", "jsonl": gettext_noop("a file")}


register.filter("quoted", quoted)


@register.filter
def channel_name(channel: str) -> str:
    """The name of a channel as people know it; that of an agent's own as the agent gives it."""
    return _(_NAMES[channel]) if channel in _NAMES else channel


@register.filter
def talk_name(talk: Conversation) -> str:
    """Return what it is called; '' for one without a name."""
    return name_talk(talk.title, talk.channel, talk.created_at)
