"""Which messages and summaries a search looks through, what it brings of them, and the bonuses in its ranking.

Statements are compiled once for all who ask alike: what differs from call to call is compared with a stand-in of its
type, in place of which the value is sent.
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

from accounts.models import Legacy
from accounts.principals import STAND_IN_AGENT, STAND_IN_USER, Principal
from journal.exceptions import NotFound
from retrieval.filters import ANY, STAND_IN_NOW, Filters
from retrieval.prepared import Shaped, Steps, Stepwise, read
from retrieval.reranking import Said
from retrieval.search import read_columns, read_places
from retrieval.weights import Weights

from .models import Conversation, ConversationChunk, Message
from .querysets import ChunkQuerySet, MessageQuerySet

_CONVERSATION = UUID(int=5)
_FROM, _UPTO = 2_147_483_001, 2_147_483_002
_NO_CONVERSATION = UUID(int=0)
_STAND_INS: dict[str, Any] = {
    "legacy_id": UUID(int=4),
    "until": STAND_IN_NOW + timedelta(3),
    "recorded_until": STAND_IN_NOW + timedelta(4),
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
    """What was said that may be recalled: about this legacy, or about none. None leaves the others open.

    ``until`` is when it was said, at the latest, and ``recorded_until`` when it was recorded: what an import brings was
    said before that.
    """

    legacy_id: UUID | None = None
    filters: Filters = ANY
    until: datetime | None = None
    recorded_until: datetime | None = None

    def stand_in(self) -> Recallable:
        """The same way of narrowing, whatever to."""
        given = {name: value for name, value in _STAND_INS.items() if getattr(self, name) is not None}
        return replace(self, filters=self.filters.stand_in(), **given)

    def values(self) -> dict[Any, Any]:
        """What each stand-in stands for."""
        return self.filters.values() | {stand_in: getattr(self, name) for name, stand_in in _STAND_INS.items()}

    def condition(self, at: str, lookups: Mapping[str, str]) -> Q:
        """The same as a condition on rows that say in a column when it was."""
        wanted = ((f"{at}__lte", self.until), ("created_at__lte", self.recorded_until))
        narrowed = self.filters.condition(lookups)
        return narrowed & Q(*(Q((name, value)) for name, value in wanted if value is not None))


@dataclass(frozen=True, slots=True)
class InPrompt:
    """What a prompt shows of its own conversation: messages from ``first`` on, and no summary that ends later."""

    conversation_id: UUID
    first: int
    upto: int


# --- Messages ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A message as a prompt or a search shows it. ``tokens`` is what its text costs."""

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
    """The person's messages that may be recalled, but those that are ``shown`` anyhow and those that are set apart.

    Where nothing of other conversations may be quoted, those of the conversation that is shown alone.
    """
    someone, somehow = principal.stand_in(), wanted.stand_in()

    def build() -> MessageQuerySet:
        # By id: the index that searches read alone does not say what is set apart.
        apart = Message.objects.filter(user_id=STAND_IN_USER).set_apart(STAND_IN_NOW)
        every = Message.objects.visible_to(someone).recallable(somehow.legacy_id).exclude(pk__in=apart.values("pk"))
        rows = every.filter(somehow.condition("at", TURN_LOOKUPS))
        if not someone.recalls_record:
            rows = rows.filter(conversation=_CONVERSATION)
        return rows.exclude(conversation=_CONVERSATION, index__gte=_FROM) if shown else rows

    values = _asked_by(principal) | wanted.values() | _where(shown)
    return Shaped(key=("turns", someone, somehow, shown is not None), build=build, values=values)


def said_shape(principal: Principal, legacy_id: UUID | None, agent_id: UUID | None) -> Shaped:
    """All messages that the person sees, set apart or not, or those about a legacy, or said to an agent."""
    someone, somehow = principal.stand_in(), Recallable(legacy_id, Filters(agent_id=agent_id)).stand_in()

    def build() -> MessageQuerySet:
        every = Message.objects.visible_to(someone).filter(somehow.condition("at", TURN_LOOKUPS))
        return every.filter(legacy_id=somehow.legacy_id) if somehow.legacy_id else every

    values = _asked_by(principal) | Recallable(legacy_id, Filters(agent_id=agent_id)).values()
    return Shaped(key=("said", someone, somehow), build=build, values=values)


@Stepwise
def read_turns(rows: Shaped, ids: Sequence[UUID]) -> Steps[dict[UUID, TurnRow]]:
    """What some of the messages say, by id, in one statement."""
    found = yield from read_columns.steps(rows, ids, TURN_COLUMNS)
    return {row[0]: TurnRow(*row) for row in found}


def read_turns_at(rows: Shaped, places: Sequence[tuple[UUID, int]]) -> dict[tuple[UUID, int], TurnRow]:
    """What the messages say that stand at these places of conversations, in one statement."""
    return {(row[1], row[2]): TurnRow(*row) for row in read_places(rows, places, TURN_COLUMNS)}


@Stepwise
def read_window(principal: Principal, conversation_id: UUID, first: int, upto: int, most: int) -> Steps[list[TurnRow]]:
    """Messages ``first`` to ``upto - 1`` of a conversation, the newest first, ``most`` at most; in one statement."""
    someone = principal.stand_in()

    def build() -> MessageQuerySet:
        rows = Message.objects.visible_to(someone).filter(conversation=_CONVERSATION)
        return rows.filter(index__gte=_FROM, index__lt=_UPTO).order_by("-index")[:most]

    values = _asked_by(principal) | {_CONVERSATION: conversation_id, _FROM: first, _UPTO: upto}
    window = Shaped(("window", someone, most), build, values)
    return [TurnRow(*row) for row in (yield from read.steps(window, ("pk", *TURN_COLUMNS)))]


# --- Summaries --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A summary as a prompt or a search shows it; ``first_at`` and ``last_at`` are when that was said, if it is there.

    Not when it was summed up: what was brought in from elsewhere may be years old.
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
        """When the first of it was said."""
        return self.said_first_at or self.created_at

    @property
    def last_at(self) -> datetime:
        """When the last of it was said."""
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
    """Summaries of what the person said that may be recalled, but those that are ``shown`` anyhow.

    Where nothing of other conversations may be quoted, those of the conversation that is shown alone.
    """
    someone, somehow = principal.stand_in(), wanted.stand_in()

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
    """The summary of the last messages before ``upto`` of a conversation, in one statement."""
    someone = principal.stand_in()

    def build() -> ChunkQuerySet:
        rows = ConversationChunk.objects.visible_to(someone).filter(conversation=_CONVERSATION)
        return rows.filter(message_range_end__lte=_UPTO).with_times().order_by("-message_range_end")[:1]

    values = _asked_by(principal) | {_CONVERSATION: conversation_id, _UPTO: upto}
    found = yield from read.steps(Shaped(("latest chunk", someone), build, values), ("pk", *CHUNK_COLUMNS))
    return ChunkRow(*found[0]) if found else None


# --- Conversations ----------------------------------------------------------------------------------------------

_FIELDS = tuple(field.attname for field in Conversation._meta.concrete_fields)


def find_conversation(principal: Principal, conversation_id: UUID) -> Conversation:
    """A conversation that the principal sees, with its legacy, in one statement. Raises NotFound."""
    someone = principal.stand_in()
    rows = Shaped(
        key=("conversation", someone),
        build=lambda: Conversation.objects.visible_to(someone).filter(pk=_CONVERSATION),
        values=_asked_by(principal) | {_CONVERSATION: conversation_id},
    )
    found = read(rows, (*_FIELDS, "legacy__name"))
    if not found:
        raise NotFound("There is no such conversation.")
    *columns, name = found[0]
    conversation = Conversation.from_db("default", _FIELDS, columns)
    conversation.legacy = Legacy.from_db("default", ("id", "name"), (conversation.legacy_id, name)) if name else None
    return conversation


def _asked_by(principal: Principal) -> dict[Any, Any]:
    return {STAND_IN_USER: principal.user_id, STAND_IN_AGENT: principal.agent_id, STAND_IN_NOW: timezone.now()}


def _where(shown: InPrompt | None) -> dict[Any, Any]:
    if shown is None:
        return {_CONVERSATION: _NO_CONVERSATION}
    return {_CONVERSATION: shown.conversation_id, _FROM: shown.first, _UPTO: shown.upto}


PLACE = Said(talk="conversation_id", place="index", speaker="speaker")

BEGINNING = 300
"""Characters of a message in which it says what kind of message it is."""

WISHES = (
    r"^\W*(please,?\s+)?(always|never|whenever|going forward)\y"
    r"|\yi(.d| would)?\s+((much|really)\s+)?(prefer|rather)\y"
)
"""How people say what they want from now on ("Always give the dates", "I prefer e-books")."""

WISH_WORDS = SearchQuery("always|alway|never|whenever|whenev|forward|prefer|rather", config="simple", search_type="raw")
"""A word of each, as it is and as English stems it."""


def message_prior(weights: Weights) -> Combinable:
    """A bonus for what the person wants from now on, and a malus for what a nameless assistant, or a tool, said.

    Such a wish bears on later questions that share hardly a word with it. An assistant's long answers are about
    everything that was asked, and what is looked for is mostly what the person said themselves.
    """
    # The words are looked for first: they are there already, and a pattern costs many times as much.
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
