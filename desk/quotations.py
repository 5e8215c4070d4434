"""Words that bear something out, in the message that they were said in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from accounts.principals import Principal
from conversations.models import Message

from .excerpts import Excerpt, excerpt


class Evidence(Protocol):
    """What names a message and the words that are quoted of it."""

    @property
    def message_id(self) -> UUID:
        """The message."""

    @property
    def quote(self) -> str:
        """The words."""


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words that say something, in their message: the ``number``-th, from 1, of the conversation ``where``."""

    excerpt: Excerpt
    where: str
    number: int
    at: datetime
    conversation_id: UUID


def messages_behind(principal: Principal, evidence: Iterable[Evidence]) -> dict[UUID, Message]:
    """The messages that evidence names and that the person may see, with their conversations, in one query."""
    wanted = {each.message_id for each in evidence}
    rows = Message.objects.visible_to(principal).filter(pk__in=wanted).select_related("conversation")
    return {row.pk: row for row in rows.only("index", "at", "content", "conversation__title")}


def quote(evidence: Iterable[Evidence], messages: Mapping[UUID, Message]) -> Iterator[Quotation]:
    """A quotation for each piece of evidence whose message is among those that were read."""
    for each in evidence:
        message = messages.get(each.message_id)
        if message is not None:
            title = message.conversation.title
            where = f"“{title}”" if title else "a conversation"
            words = excerpt(message.content, each.quote)
            yield Quotation(words, where, message.index + 1, message.at, message.conversation_id)
