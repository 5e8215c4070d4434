"""Pure decisions about what may be said in a conversation. No database."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from uuid import UUID

from django.conf import settings
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from accounts.policy import check_instructions, check_sensitive
from accounts.principals import Principal
from journal.exceptions import Gated, Refused

from .models import Conversation, Message

ROLES = tuple(Message.Role.values)
SPEAKER_MAX_CHARACTERS = 100
ASSISTANT_CHANNEL = "assistant"
"""The channel of conversations with an assistant that is to remember from one message to the next."""
_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")


def check_message(role: str, content: str, speaker: str = "") -> None:
    """Raise Refused (400) unless a message like this may be stored."""
    if role not in ROLES:
        raise Refused(_("the role is one of %(roles)s.") % {"roles": ", ".join(ROLES)}, code="bad_role")
    if not content.strip():
        raise Refused(_("the content is empty."), code="empty")
    if len(content) > settings.MESSAGE_MAX_CHARACTERS:
        raise Refused(
            _("the content has more than %(message_max_characters)s characters.")
            % {"message_max_characters": intcomma(settings.MESSAGE_MAX_CHARACTERS)},
            code="too_long",
        )
    if len(speaker) > SPEAKER_MAX_CHARACTERS:
        raise Refused(
            _("the speaker's name has more than %(speaker_max_characters)s characters.")
            % {"speaker_max_characters": SPEAKER_MAX_CHARACTERS},
            code="too_long",
        )
    if not (is_storable(content) and is_storable(speaker)):
        raise Refused(_("it holds a NUL character or half a surrogate pair, which can't be stored."), code="bad_text")


def check_title(title: str, *, own_word: bool) -> None:
    """Raise Gated (422) for a title with sensitive data, or, but in the person's own words, one aimed at a model."""
    check_sensitive(title)
    if not own_word:
        check_instructions(title, _("The title was refused because it %(reason)s."))


def passing_title(title: str) -> str:
    """A title that a file brings; none where it does not pass."""
    try:
        check_title(title, own_word=False)
    except Gated:
        return ""
    return title


def reads_each(
    principal: Principal, conversation: Conversation, *, answers: bool = False, corrects: bool = False
) -> bool:
    """Whether what the person says there is read at once, message by message, for what to remember.

    The person's preference decides; without one the channel does, whether our own assistant ``answers`` it, and whether
    it ``corrects`` something, which later prompts would go on saying.
    """
    if conversation.private or not principal.has_memory:
        return False
    if principal.extract_each_message is None:
        return answers or corrects or conversation.channel == ASSISTANT_CHANNEL
    return principal.extract_each_message


def may_move(principal: Principal, conversation: Conversation) -> bool:
    """Whether the caller's prompts move what a conversation is pinned to and what it was told.

    Its person's do, and those of the agent that holds it. Others, and who asks in a narrower role, read only.
    """
    return principal.kind == "person" or (
        principal.agent_id is not None and principal.agent_id == conversation.agent_id
    )


def voice(principal: Principal, conversation: Conversation, *, in_turn: bool) -> str:
    """Whose word a message of the person's is that came in by itself when it was said: one of ``Message.Voice``.

    An agent relays it in the turns of a conversation that it holds. What else it says that its person said is a record.
    """
    if principal.speaks_as_person:
        return Message.Voice.OWN
    relays = in_turn and principal.agent_id is not None and principal.agent_id == conversation.agent_id
    return Message.Voice.RELAYED if relays else ""


def heading(speaker: str, at: datetime) -> str:
    """Say when a message was said and by whom, for search: questions name both, and the words themselves lack them."""
    moment = at.astimezone(UTC)
    day = f"{moment.day} {moment:%B %Y}"
    return f"{day}, {speaker}" if speaker else day


def passage(content: str, speaker: str, at: datetime) -> str:
    """What is embedded of a message: its heading and its content."""
    return f"{heading(speaker, at)}: {content}"


def digests(user_id: UUID, text: str) -> list[str]:
    """The keyed digests by which a text that was withheld is known again: the current key's, then earlier keys'."""
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    macs = (salted_hmac("conversations.withheld", f"{user_id}:{text}", secret=key, algorithm="sha256") for key in keys)
    return [each.hexdigest() for each in macs]


def is_storable(text: str) -> bool:
    """Whether PostgreSQL takes the text: it has neither NUL nor lone surrogates."""
    return _NOT_STORABLE.search(text) is None
