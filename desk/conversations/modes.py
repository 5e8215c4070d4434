"""The modes of the assistant."""

from __future__ import annotations

from django.conf import settings
from django.utils.translation import gettext as _

from assistant.models import Reply
from language.backends import get_reply_model

FEWEST = 2
"""So many models make a council."""


def modes() -> list[tuple[str, str]]:
    """Return the available modes, default first; none without a language model."""
    if get_reply_model().offline:
        return []
    offered = [
        (Reply.Mode.AGENT.value, _("It remembers and looks up")),
        (Reply.Mode.CHAT.value, _("It answers from what is remembered, and changes nothing itself")),
    ]
    if len(settings.KEEPSAKE_COUNCIL_MODELS) >= FEWEST:
        offered.append((Reply.Mode.COUNCIL.value, _("Several models answer, and one puts it together")))
    return offered


def mode_of(wanted: str) -> str:
    """Return the requested mode, or the default."""
    return wanted if wanted in dict(modes()) else Reply.Mode.AGENT.value
