"""Rules for messages and conversations: validation, who may do what, search headings. No database access."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from accounts.policy import check_instructions, check_sensitive
from accounts.principals import Principal
from journal.exceptions import Gated, Refused

from .models import Conversation, Message

ROLES = tuple(Message.Role.values)
SPEAKER_MAX_CHARACTERS = 100
MOST_AHEAD = timedelta(days=1)
"""How far a message's time may be ahead, as clocks and time zones differ."""
ASSISTANT_CHANNEL = "assistant"
"""Conversations in this channel are read message by message unless the person's preference says otherwise."""
_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")


def check_message(role: str, content: str, speaker: str = "", at: datetime | None = None) -> None:
    """Raise Refused (400) unless this message can be stored."""
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
    if at is not None and at > timezone.now() + MOST_AHEAD:
        raise Refused(_("its time (at) is more than a day ahead."), code="bad_time")
    if not (is_storable(content) and is_storable(speaker)):
        raise Refused(_("it holds a NUL character or half a surrogate pair, which can't be stored."), code="bad_text")


def check_title(title: str, *, own_word: bool) -> None:
    """Raise Gated (422) for a title with sensitive data or, unless it is the person's ``own_word``, instructions."""
    check_sensitive(title)
    if not own_word:
        check_instructions(title, _("The title was refused because it %(reason)s."))


TitleCheck = Callable[[Principal, str], bool]
_consent_checks: list[TitleCheck] = []


def register_title_check(check: TitleCheck) -> None:
    """Register a check: whether a title by the principal says what needs the person's consent."""
    _consent_checks.append(check)


def consented_title(principal: Principal, title: str) -> str:
    """Return a title, or '' if it says what needs the person's consent: a title can't wait for it."""
    return "" if any(check(principal, title) for check in _consent_checks) else title


def passing_title(title: str) -> str:
    """Return an imported title, or '' if ``check_title`` rejects it."""
    try:
        check_title(title, own_word=False)
    except Gated:
        return ""
    return title


def extracts_each(
    principal: Principal, conversation: Conversation, *, answers: bool = False, corrects: bool = False
) -> bool:
    """Whether memories are extracted from each of the person's messages at once, not in batches.

    The person's preference decides. Without one it is so in the assistant's channel, when our own assistant
    ``answers``, and when the message ``corrects`` something that later prompts would otherwise repeat.
    """
    if conversation.private or not principal.has_memory:
        return False
    if principal.extract_each_message is None:
        return answers or corrects or conversation.channel == ASSISTANT_CHANNEL
    return principal.extract_each_message


def may_pin(principal: Principal, conversation: Conversation) -> bool:
    """Whether the caller's prompts may change a conversation's pin and ``told_rev``.

    Its person may, and the agent that owns it. All others only read.
    """
    return principal.kind == "person" or (
        principal.agent_id is not None and principal.agent_id == conversation.agent_id
    )


def may_mark(principal: Principal, conversation: Conversation) -> bool:
    """Whether the caller may decide about messages and stop replies: the person, or the conversation's own agent."""
    return may_pin(principal, conversation) or principal.may_decide


def voice(principal: Principal, conversation: Conversation, *, in_turn: bool) -> str:
    """Return the ``Message.Voice`` of the person's message that arrives alone and live; '' for a mere record.

    An agent relays the person's word only in turns of a conversation that it owns.
    """
    if principal.speaks_as_person:
        return Message.Voice.OWN
    relays = in_turn and principal.agent_id is not None and principal.agent_id == conversation.agent_id
    return Message.Voice.RELAYED if relays else ""


def heading(speaker: str, at: datetime) -> str:
    """Return a message's day and speaker as text to search: questions name them, the content does not."""
    moment = at.astimezone(UTC)
    day = f"{moment.day} {moment:%B %Y}"
    return f"{day}, {speaker}" if speaker else day


def passage(content: str, speaker: str, at: datetime) -> str:
    """Return the text of a message that is embedded: its heading and content."""
    return f"{heading(speaker, at)}: {content}"


def digests(user_id: UUID, text: str) -> list[str]:
    """Return the keyed digests that identify a withheld text: with the current key first, then with earlier keys."""
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    macs = (salted_hmac("conversations.withheld", f"{user_id}:{text}", secret=key, algorithm="sha256") for key in keys)
    return [each.hexdigest() for each in macs]


def is_storable(text: str) -> bool:
    """Whether PostgreSQL can store the text: it has neither NUL nor lone surrogates."""
    return _NOT_STORABLE.search(text) is None
