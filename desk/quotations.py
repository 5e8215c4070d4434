"""Quotes of evidence, with their message and context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Protocol
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from accounts.principals import Principal
from conversations.models import Message
from conversations.passages import find_all
from conversations.policy import ASSISTANT_CHANNEL
from language.shown import quoted

from .page import agent_link, page_address

CONTEXT_CHARACTERS = 180
QUOTED_TURNS = 3
TURN_CHARACTERS = 280


class Quoting(Protocol):
    """Protocol of evidence: a message id and a quote."""

    @property
    def message_id(self) -> UUID:
        """The message."""

    @property
    def quote(self) -> str:
        """The words."""


@dataclass(frozen=True, slots=True)
class Quotation:
    """A quote in its message, the ``number``-th (from 1) of the conversation ``where``.

    ``relayed_by`` is the link to the agent that reported it as the person's words; empty if they wrote it here, or it
    is a record.
    """

    excerpt: Excerpt
    where: str
    number: int
    at: datetime
    conversation_id: UUID
    relayed_by: str = ""

    @property
    def address(self) -> str:
        """Its URL in the conversation."""
        return message_address(self.conversation_id, self.number)


def message_address(conversation_id: UUID, number: int) -> str:
    """Return the URL of a conversation at its ``number``-th message (from 1)."""
    return f"{page_address('conversation-page', conversation_id)}?at={number}#m{number}"


def messages_behind(principal: Principal, evidence: Iterable[Quoting]) -> dict[UUID, Message]:
    """Return the visible messages of evidence with their conversations, in one query."""
    wanted = {each.message_id for each in evidence}
    if not wanted:
        return {}
    rows = Message.objects.visible_to(principal).filter(pk__in=wanted).select_related("conversation__agent")
    talk = ("conversation__title", "conversation__channel", "conversation__created_at", "conversation__agent__name")
    return {row.pk: row for row in rows.only("index", "at", "content", "voice", *talk)}


def quote(evidence: Iterable[Quoting], messages: Mapping[UUID, Message]) -> Iterator[Quotation]:
    """Return a quotation for each evidence whose message was loaded."""
    for each in evidence:
        message = messages.get(each.message_id)
        if message is not None:
            talk, agent = message.conversation, message.conversation.agent
            relayed_by = agent_link(agent.pk, agent.name) if agent and message.voice == Message.Voice.RELAYED else ""
            where = name_in_sentence(talk.title, talk.channel, talk.created_at)
            words = excerpt(message.content, each.quote)
            yield Quotation(words, where, message.index + 1, message.at, message.conversation_id, relayed_by)


def name_talk(title: str, channel: str, begun: datetime) -> str:
    """Return the title, for a talk with the assistant without one its day and time, else ''."""
    if title or channel != ASSISTANT_CHANNEL:
        return title
    return _("Talk of %(day)s") % {"day": date_format(timezone.localtime(begun), _("j F Y, H:i"))}


def name_in_sentence(title: str, channel: str, begun: datetime) -> str:
    """Return the name in quotation marks, or "a conversation"."""
    name = name_talk(title, channel, begun)
    return quoted(name) if name else _("a conversation")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Part of a message. ``before`` and ``after`` have an ellipsis where it is cut."""

    before: str
    quote: str
    after: str


def excerpt(content: str, quote: str, context: int = CONTEXT_CHARACTERS) -> Excerpt:
    """Return the quotation with about ``context`` characters on each side, cut between words.

    The quotation is as in the message, which may differ in case and white space. If the message does not contain it,
    only the message's beginning is returned.
    """
    found = next(iter(find_all(quote, content)), None)
    if found is None:
        return Excerpt(shorten(content, 2 * context), "", "")
    start, end = found.span()
    return Excerpt(_tail(content[:start].lstrip(), context), found[0], _head(content[end:].rstrip(), context))


def shorten(text: str, length: int) -> str:
    """Shorten a text between words, with an ellipsis."""
    return _head(text.strip(), length)


def cut(text: str, length: int) -> str:
    """Cut a text to so many characters, as the filter ``truncatechars`` does, which goes through those of any text."""
    return text if len(text) <= length else Truncator(text).chars(length)


def _tail(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    cut = text[-length:]
    _, space, rest = cut.partition(" ")
    return "… " + (rest if space else cut)


def _head(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    cut = text[:length]
    rest, space, _ = cut.rpartition(" ")
    return (rest if space else cut) + " …"


TURNS_BEFORE, TURNS_AFTER = 2, 1


@dataclass(frozen=True, slots=True)
class NearbyMessage:
    """A shortened message near a quoted one."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class QuotationContext:
    """A quotation with the messages before and after it."""

    quotation: Quotation
    before: list[NearbyMessage]
    after: list[NearbyMessage]


def make_passages(principal: Principal, quotations: Sequence[Quotation]) -> Iterator[QuotationContext]:
    """Return the quotations, the first few with surrounding messages, in one query."""
    closely = quotations[:QUOTED_TURNS]
    around = _turns_around(principal, closely)
    for quotation in quotations:
        here = quotation.number - 1
        turns = around.get(quotation.conversation_id, {}) if quotation in closely else {}
        before = [turns[index] for index in range(here - TURNS_BEFORE, here) if index in turns]
        after = [turns[index] for index in range(here + 1, here + 1 + TURNS_AFTER) if index in turns]
        yield QuotationContext(quotation, before, after)


def _turns_around(principal: Principal, quotations: Iterable[Quotation]) -> dict[UUID, dict[int, NearbyMessage]]:
    """Return messages by conversation and index, in one query."""
    near = [
        Q(conversation_id=each.conversation_id)
        & Q(index__gte=each.number - 1 - TURNS_BEFORE, index__lte=each.number - 1 + TURNS_AFTER)
        for each in quotations
    ]
    if not near:
        return {}
    rows = Message.objects.visible_to(principal).filter(reduce(or_, near)).select_related("conversation__agent")
    columns = ("conversation_id", "index", "role", "speaker", "content", "conversation__agent__name")
    found: dict[UUID, dict[int, NearbyMessage]] = {}
    for row in rows.only(*columns):
        agent = row.conversation.agent
        link = agent_link(agent.pk, agent.name) if agent else ""
        turn = NearbyMessage(speaker_of(row.role, row.speaker, link), shorten(row.content, TURN_CHARACTERS))
        found.setdefault(row.conversation_id, {})[row.index] = turn
    return found


def speaker_of(role: str, speaker: str, agent: str) -> str:
    """Return the label of the speaker of a message; ``agent``: the link to that of the conversation, or ''."""
    if role == Message.Role.USER:
        return _("You")
    if speaker:
        return speaker
    return {"system": _("Instructions"), "tool": _("A tool")}.get(role, agent or _("The assistant"))
