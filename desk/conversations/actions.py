"""Withholding or erasing a message or a conversation: preview and execution."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.policy import must_act_for
from accounts.principals import Principal
from assistant.erasure.actions import erasure_request
from assistant.erasure.hiding import MOST_WITHHELD, keep_words_back
from assistant.learn.actions import message_refuse
from conversations.models import Conversation, ConversationChunk, Message
from journal.models import Erasure
from retrieval.prepared import PLACEHOLDER_INDEX, PLACEHOLDER_ROW, Shaped, count

from ..outcomes import Done


@dataclass(frozen=True, slots=True)
class Removal:
    """What to withhold or erase: a conversation, or one message."""

    conversation: Conversation
    message: Message | None = None

    @property
    def scope(self) -> str:
        """The scope of its erasure."""
        return "message" if self.message else "conversation"

    @property
    def object_id(self) -> UUID:
        """The id for its erasure."""
        return self.message.pk if self.message else self.conversation.pk

    @property
    def is_too_long(self) -> bool:
        """Whether it is a conversation too long to withhold at once."""
        return self.message is None and self.conversation.message_count > MOST_WITHHELD

    @property
    def can_be_withheld(self) -> bool:
        """Whether it can be withheld at once, and is not yet."""
        return not self.is_too_long and not (self.message and self.message.declined)


def summaries_with(removal: Removal) -> int:
    """Return the number of summaries that an erasure of it reaches."""
    at = (
        {"message_range_start__lte": PLACEHOLDER_INDEX, "message_range_end__gt": PLACEHOLDER_INDEX}
        if removal.message
        else {}
    )
    values = {
        PLACEHOLDER_ROW: removal.conversation.pk,
        PLACEHOLDER_INDEX: removal.message.index if removal.message else 0,
    }
    rows = ConversationChunk.objects.filter(conversation=PLACEHOLDER_ROW, **at)
    return count(Shaped(("summaries with", bool(at)), lambda: rows, values))


def waiting_erasure(principal: Principal, scope: str, object_id: object) -> Erasure | None:
    """Return the waiting erasure of an object, which can be cancelled."""
    rows = Erasure.objects.waiting(scope).filter(user_id=must_act_for(principal))
    return rows.filter(object_id=str(object_id)).first()


def dont_keep(principal: Principal, removal: Removal) -> Done:
    """Withhold it, and archive unreviewed statements learned from it.

    Raises as ``keep_words_back``.
    """
    keep_words_back(principal, removal.conversation.pk, removal.message.index if removal.message else None)
    if removal.message:
        told = _("The message is withheld: nobody is shown it, and nothing is learned from it.")
    else:
        told = _("The conversation is withheld: nobody is shown it, and nothing is learned from it.")
    return Done(gettext_noop("Not kept"), told)


def refuse(principal: Principal, removal: Removal) -> Done:
    """Refuse what the assistant asks about the message. Raises as ``message_refuse``."""
    assert removal.message is not None
    if message_refuse(principal, removal.conversation.pk, removal.message.index):
        told = _("The message is withheld: nobody is shown it, and nothing is learned from it.")
    else:
        told = _("What was asked about is withheld: nobody is shown it, and nothing is learned from it.")
    return Done(gettext_noop("Not kept"), told)


def erase(principal: Principal, removal: Removal, *, at_once: bool, also: Collection[str]) -> UUID:
    """Request its erasure, after a day or at once. Returns the receipt. ``also`` and errors as ``erasure_request``."""
    hours = 0 if at_once else settings.ERASE_GRACE_HOURS
    scope, object_id = removal.scope, str(removal.object_id)
    erasure, _made = erasure_request(principal, scope, object_id, grace_hours=hours, also=also)
    return erasure.pk
