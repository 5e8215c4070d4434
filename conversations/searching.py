"""Prepared queries over messages, summaries and conversations: which rows are searched, which columns are returned.

Statements are compiled once per query shape (``retrieval.prepared``), with stand-ins for the values of each call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.postgres.search import SearchQuery
from django.db.models import BooleanField, Case, F, FloatField, Func, Q, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Left
from django.db.models.lookups import IRegex
from django.utils import timezone

from accounts.models import Agent, Legacy
from accounts.principals import PLACEHOLDER_AGENT, PLACEHOLDER_USER, Principal
from journal.exceptions import NotFound
from retrieval.filters import ANY, PLACEHOLDER_NOW, Filters
from retrieval.prepared import PLACEHOLDER_INDEX, Shaped, Steps, Stepwise, read
from retrieval.reranking import TurnColumns
from retrieval.search import read_columns, read_places
from retrieval.weights import SearchWeights

from .models import Conversation, ConversationChunk, Message
from .querysets import ChunkQuerySet, MessageQuerySet

_CONVERSATION = UUID(int=5)
_FROM, _UPTO = PLACEHOLDER_INDEX, PLACEHOLDER_INDEX + 1
_NO_CONVERSATION = UUID(int=0)
_PLACEHOLDERS: dict[str, Any] = {
    "legacy_id": UUID(int=4),
    "until": PLACEHOLDER_NOW + timedelta(3),
    "recorded_until": PLACEHOLDER_NOW + timedelta(4),
}
TURN_LOOKUPS = {
    "agent_id": "conversation__agent_id",
    "role": "role",
    "updated_after": "at__gte",
    "updated_before": "at__lt",
}
CHUNK_LOOKUPS = {
    "agent_id": "conversation__agent_id",
    "updated_after": "created_at__gte",
    "updated_before": "created_at__lt",
}


@dataclass(frozen=True, slots=True)
class Recallable:
    """A filter for rows to recall: about this legacy, or about none. Further fields filter unless None.

    ``until`` is the latest time that a row was said, ``recorded_until`` the latest time that it was stored. The two
    differ for imports.
    """

    legacy_id: UUID | None = None
    filters: Filters = ANY
    until: datetime | None = None
    recorded_until: datetime | None = None

    def with_placeholders(self) -> Recallable:
        """Return the filter's shape: each given value replaced by its stand-in."""
        given = {name: value for name, value in _PLACEHOLDERS.items() if getattr(self, name) is not None}
        return replace(self, filters=self.filters.with_placeholders(), **given)

    def values(self) -> dict[Any, Any]:
        """Return the value of each stand-in."""
        return self.filters.values() | {placeholder: getattr(self, name) for name, placeholder in _PLACEHOLDERS.items()}

    def condition(self, at: str, lookups: Mapping[str, str]) -> Q:
        """Return the filter as a condition. ``at`` is the column with the time that the row was said."""
        wanted = ((f"{at}__lte", self.until), ("created_at__lte", self.recorded_until))
        narrowed = self.filters.condition(lookups)
        return narrowed & Q(*(Q((name, value)) for name, value in wanted if value is not None))


@dataclass(frozen=True, slots=True)
class InPrompt:
    """What a prompt shows of its own conversation: the messages from ``first`` on, and summaries up to ``upto``."""

    conversation_id: UUID
    first: int
    upto: int


# --- Messages ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A message for a prompt or a search result. ``tokens`` is the token count of its text."""

    pk: UUID
    conversation_id: UUID
    index: int
    role: str
    speaker: str
    content: str
    tokens: int
    at: datetime


TURN_COLUMNS = ("conversation_id", "index", "role", "speaker", "content", "tokens", "at")


def turns_shape(principal: Principal, wanted: Recallable, shown: InPrompt | None = None) -> Shaped:
    """Return the person's messages that may be recalled, without those ``shown`` in the prompt and those set apart.

    Where other conversations must not be quoted, only messages of the shown conversation.
    """
    someone, somehow = principal.with_placeholders(), wanted.with_placeholders()

    def build() -> MessageQuerySet:
        # Excluded by id: the vector index does not hold the columns that set messages apart.
        apart = Message.objects.filter(user_id=PLACEHOLDER_USER).not_recalled(PLACEHOLDER_NOW)
        every = Message.objects.visible_to(someone).recallable(somehow.legacy_id).exclude(pk__in=apart.values("pk"))
        rows = every.filter(somehow.condition("at", TURN_LOOKUPS))
        if not someone.recalls_record:
            rows = rows.filter(conversation=_CONVERSATION)
        return rows.exclude(conversation=_CONVERSATION, index__gte=_FROM) if shown else rows

    values = _asked_by(principal) | wanted.values() | _where(shown)
    return Shaped(key=("turns", someone, somehow, shown is not None), build=build, values=values)


def said_shape(principal: Principal, legacy_id: UUID | None, agent_id: UUID | None) -> Shaped:
    """Return all messages that the principal may see, also those set apart, optionally of a legacy or an agent."""
    someone, somehow = (
        principal.with_placeholders(),
        Recallable(legacy_id, Filters(agent_id=agent_id)).with_placeholders(),
    )

    def build() -> MessageQuerySet:
        every = Message.objects.visible_to(someone).filter(somehow.condition("at", TURN_LOOKUPS))
        return every.filter(legacy_id=somehow.legacy_id) if somehow.legacy_id else every

    values = _asked_by(principal) | Recallable(legacy_id, Filters(agent_id=agent_id)).values()
    return Shaped(key=("said", someone, somehow), build=build, values=values)


@Stepwise
def read_turns(rows: Shaped, ids: Sequence[UUID]) -> Steps[dict[UUID, TurnRow]]:
    """Read messages by id, in one statement."""
    found = yield from read_columns.steps(rows, ids, TURN_COLUMNS)
    return {row[0]: TurnRow(*row) for row in found}


def read_turns_at(rows: Shaped, places: Sequence[tuple[UUID, int]]) -> dict[tuple[UUID, int], TurnRow]:
    """Read messages by conversation id and index, in one statement."""
    return {(row[1], row[2]): TurnRow(*row) for row in read_places(rows, places, TURN_COLUMNS)}


@Stepwise
def read_window(principal: Principal, conversation_id: UUID, first: int, upto: int, most: int) -> Steps[list[TurnRow]]:
    """Read messages ``first`` to ``upto - 1`` of a conversation, newest first, at most ``most``, in one statement."""
    someone = principal.with_placeholders()

    def build() -> MessageQuerySet:
        rows = Message.objects.visible_to(someone).filter(conversation=_CONVERSATION)
        return rows.filter(index__gte=_FROM, index__lt=_UPTO).order_by("-index")[:most]

    values = _asked_by(principal) | {_CONVERSATION: conversation_id, _FROM: first, _UPTO: upto}
    window = Shaped(("window", someone, most), build, values)
    return [TurnRow(*row) for row in (yield from read.steps(window, ("pk", *TURN_COLUMNS)))]


# --- Summaries --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A summary for a prompt or a search result.

    ``first_at`` and ``last_at`` are the times of its messages, which for imports may be years before ``created_at``;
    without messages they are ``created_at``.
    """

    pk: UUID
    conversation_id: UUID
    message_range_start: int
    message_range_end: int
    content: str
    created_at: datetime
    said_first_at: datetime | None
    said_last_at: datetime | None

    @property
    def first_at(self) -> datetime:
        """The time of the earliest message."""
        return self.said_first_at or self.created_at

    @property
    def last_at(self) -> datetime:
        """The time of the latest message."""
        return self.said_last_at or self.created_at


CHUNK_COLUMNS = (
    "conversation_id",
    "message_range_start",
    "message_range_end",
    "content",
    "created_at",
    "first_at",
    "last_at",
)


def chunks_shape(principal: Principal, wanted: Recallable, shown: InPrompt | None = None) -> Shaped:
    """Return the person's summaries that may be recalled, without those that overlap what is ``shown`` in the prompt.

    Where other conversations must not be quoted, only summaries of the shown conversation.
    """
    someone, somehow = principal.with_placeholders(), wanted.with_placeholders()

    def build() -> ChunkQuerySet:
        every = ConversationChunk.objects.visible_to(someone).recallable(somehow.legacy_id).with_times()
        rows = every.filter(somehow.condition("created_at", CHUNK_LOOKUPS))
        if not someone.recalls_record:
            rows = rows.filter(conversation=_CONVERSATION)
        return rows.exclude(conversation=_CONVERSATION, message_range_end__gt=_UPTO) if shown else rows

    values = _asked_by(principal) | wanted.values() | _where(shown)
    return Shaped(key=("chunks", someone, somehow, shown is not None), build=build, values=values)


@Stepwise
def read_latest_chunk(principal: Principal, conversation_id: UUID, upto: int) -> Steps[ChunkRow | None]:
    """Read the last summary of a conversation that ends at or before message ``upto``, in one statement."""
    someone = principal.with_placeholders()

    def build() -> ChunkQuerySet:
        rows = ConversationChunk.objects.visible_to(someone).telling().filter(conversation=_CONVERSATION)
        return rows.filter(message_range_end__lte=_UPTO).with_times().order_by("-message_range_end")[:1]

    values = _asked_by(principal) | {_CONVERSATION: conversation_id, _UPTO: upto}
    found = yield from read.steps(Shaped(("latest chunk", someone), build, values), ("pk", *CHUNK_COLUMNS))
    return ChunkRow(*found[0]) if found else None


# --- Conversations ----------------------------------------------------------------------------------------------

_FIELDS = tuple(field.attname for field in Conversation._meta.concrete_fields)


def find_conversation(principal: Principal, conversation_id: UUID) -> Conversation:
    """Return a conversation visible to the principal, in one statement. Raises NotFound.

    Its legacy and its agent have only their names.
    """
    someone = principal.with_placeholders()
    rows = Shaped(
        key=("conversation", someone),
        build=lambda: Conversation.objects.visible_to(someone).filter(pk=_CONVERSATION),
        values=_asked_by(principal) | {_CONVERSATION: conversation_id},
    )
    found = read(rows, (*_FIELDS, "legacy__name", "agent__name"))
    if not found:
        raise NotFound("There is no such conversation.")
    *columns, about, agent = found[0]
    talk = Conversation.from_db("default", _FIELDS, columns)
    talk.legacy = Legacy.from_db("default", ("id", "name"), (talk.legacy_id, about)) if talk.legacy_id else None
    talk.agent = Agent.from_db("default", ("id", "name"), (talk.agent_id, agent)) if talk.agent_id else None
    return talk


def _asked_by(principal: Principal) -> dict[Any, Any]:
    return {PLACEHOLDER_USER: principal.user_id, PLACEHOLDER_AGENT: principal.agent_id, PLACEHOLDER_NOW: timezone.now()}


def _where(shown: InPrompt | None) -> dict[Any, Any]:
    if shown is None:
        return {_CONVERSATION: _NO_CONVERSATION}
    return {_CONVERSATION: shown.conversation_id, _FROM: shown.first, _UPTO: shown.upto}


PLACE = TurnColumns(talk="conversation_id", place="index", speaker="speaker")

BEGINNING = 300
"""How many characters from the start of a message are matched with ``WISHES``."""

WISHES = (
    r"^\W*(please,?\s+)?(always|never|whenever|going forward)\y"
    r"|\yi(.d| would)?\s+((much|really)\s+)?(prefer|rather)\y"
)
"""Patterns of standing wishes ("Always give the dates", "I prefer e-books")."""

WISH_WORDS = SearchQuery("always|alway|never|whenever|whenev|forward|prefer|rather", config="simple", search_type="raw")
"""A word of each pattern, plain and as its English stem."""


def message_prior(weights: SearchWeights) -> Combinable:
    """Return the ranking bonus of a message: positive for standing wishes, negative for unnamed assistants and tools.

    Standing wishes matter to later questions that share hardly a word with them. An assistant's long answers match
    everything that was asked, but searches mostly look for what the person said.
    """
    # The search vector is tested first: the regular expression is many times as slow.
    wishes = Q(_Holds(F("search"), WISH_WORDS)) & Q(IRegex(Left("content", BEGINNING), WISHES))
    return Case(
        When(Q(role=Message.Role.USER) & wishes, then=Value(weights.standing)),
        When(~Q(role=Message.Role.USER) & Q(speaker=""), then=Value(-weights.machine)),
        default=Value(0.0),
        output_field=FloatField(),
    )


class _Holds(Func):
    """Whether a text search document matches a query."""

    template = "%(expressions)s"
    arg_joiner = " @@ "
    output_field = BooleanField()
