"""Hybrid searches (``retrieval``) in memories, facts, summaries and messages.

The turn, the query and the evaluation use the same functions.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, partial
from typing import Any, Generic, TypeVar
from uuid import UUID

import structlog
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from accounts import categories
from accounts.models import Legacy
from accounts.policy import must_act_for
from accounts.principals import PLACEHOLDER_USER, Principal
from conversations.searching import (
    CHUNK_COLUMNS,
    PLACE,
    ChunkRow,
    InPrompt,
    Recallable,
    TurnRow,
    chunks_shape,
    message_prior,
    read_turns,
    turns_shape,
)
from facts.searching import FACT_COLUMNS, FactRow, FactSelection, facts_shape
from journal.models import Ledger
from journal.operation_actions import note_operation
from journal.queue import enqueue
from language.backends import get_embedder, get_embedder_before
from language.base import Embedder, EmbedderUnavailable, Vectors
from language.brief_caches import cached_briefly
from language.fillers import FILLERS
from memories.querysets import MemoryVersionQuerySet
from memories.searching import (
    PRESENT_COLUMNS,
    Edge,
    MemoryRow,
    MemoryRows,
    Narrowing,
    present_shape,
    read_edges,
    read_versions,
    relation_bonuses,
    row_bonuses,
)
from retrieval.prepared import Shaped, Steps, Stepwise, read
from retrieval.search import Centre, Corpus, Hit, SearchQuery, centre_of, has_model, hybrid_search
from retrieval.weights import SearchWeights, default_weights

from .marking import mark_turns

TASK = "assistant.note_recall"
NODE = "context"
OPERATION = "recall"


log = structlog.get_logger(__name__)
Row = TypeVar("Row", TurnRow, ChunkRow, FactRow)
CENTRE_SECONDS = 60
WITHOUT_VECTORS = 0.05
"""What a point counts where no vector tells how far apart the rows are."""
_COUNTS = {
    "memories": ("memories", "memory_terms"),
    "facts": ("facts", "fact_terms"),
    "chunks": ("chunks", "chunk_terms"),
    "turns": ("turns", "turn_terms"),
}
"""The columns of a ledger that say how many rows its owner has of each source, and how many words they hold."""


class By(StrEnum):
    """Who started a search: the turn, or a model's tool call. The category of the logged operation."""

    TURN = "turn"
    TOOL = "tool"


def recall_show(principal: Principal, by: By, conversation_id: UUID | None, *, best: float | None = None) -> None:
    """Log a search on demand, in the background, or at once if the broker is unavailable.

    ``best`` is the confidence of the first search. Turns are logged, too (node ``context``, operation ``turn``), so
    that the rate of searches can be computed.
    """
    values = (str(principal.user_id), str(conversation_id or ""), str(by), "" if best is None else f"{best:.4f}")
    enqueue(TASK, *values, otherwise=partial(recall_note, *values))


def recall_note(user_id: str, conversation_id: str, by: str, best: str) -> None:
    """Write the operation queued by ``recall_show``."""
    sim = float(best) if best else None
    note_operation(NODE, OPERATION, user_id=UUID(user_id), thread_id=conversation_id, category=by, sim=sim)


class QueryVector:
    """A query with lazily computed vectors; None while the embedder is unavailable."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._counted: dict[UUID, dict[str, Corpus]] = {}

    def corpus(self, owner_id: UUID, source: str) -> Corpus:
        """The number of rows of a source, as counted by the ledger at the first call."""
        if owner_id not in self._counted:
            self._counted[owner_id] = _counted(owner_id)
        return self._counted[owner_id][source]

    @cached_property
    def vector(self) -> Vectors | None:
        """The vector, of shape (dimensions,), or None: then only full text is searched."""
        return self._made_by(get_embedder())

    @cached_property
    def vector_before(self) -> Vectors | None:
        """The vector of the previous embedder, with its dimensions."""
        before = get_embedder_before()
        return None if before is None else self._made_by(before)

    def search(self, top_k: int, rows: QuerySet[Any] | Shaped) -> SearchQuery:
        """Return the query for ``retrieval``: with both vectors while some rows are not re-embedded yet."""
        before = get_embedder_before()
        both = before is not None and has_model(rows, before.name)
        return SearchQuery(
            text=self.text,
            vector=self.vector,
            embedding_model=get_embedder().name,
            top_k=top_k,
            vector_before=self.vector_before if both else None,
            embedding_model_before=before.name if before and both else "",
        )

    def _made_by(self, embedder: Embedder) -> Vectors | None:
        try:
            return embedder.embed_query(self.text)
        except EmbedderUnavailable as error:
            log.warning("recall_without_vector", embedder=embedder.name, error=type(error).__name__)
            return None


@dataclass(frozen=True, slots=True)
class Found(Generic[Row]):
    """A found row, with its hit."""

    row: Row
    hit: Hit


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A found memory. ``relevance`` includes the bonuses of ranking."""

    row: MemoryRow
    relevance: float
    hit: Hit


@dataclass(frozen=True, slots=True)
class FoundMemories:
    """Found memories, best first, and their relations, strongest first."""

    memories: list[FoundMemory]
    edges: list[Edge]


@Stepwise
def find_memories(
    principal: Principal, query: QueryVector, *, rows: MemoryRows, top_k: int, without: Collection[str] = ()
) -> Steps[FoundMemories]:
    """Search memories in ``rows`` (from ``memories.searching``), best first.

    At least ``QUERY_CANDIDATES`` hits are ranked again with bonuses. ``categories.yaml`` limits the results of
    recalled-only categories.
    """
    if principal.user_id is None:
        return FoundMemories([], [])
    search = query.search(max(top_k, settings.QUERY_CANDIDATES), rows)
    corpus, centre = _known_of_memories(_Standing.of(principal, search.embedding_model, query))
    if isinstance(rows, MemoryVersionQuerySet):
        hits = yield from hybrid_search.steps(rows, search, corpus, centre=centre)
        known = read_versions(rows, [hit.id for hit in hits])
        hits = [hit for hit in hits if hit.id in known]
    else:
        options: dict[str, Any] = {"columns": PRESENT_COLUMNS, "centre": centre, "without": without}
        hits = yield from hybrid_search.steps(rows, search, corpus, **options)
        known = {hit.id: MemoryRow(hit.id, *hit.columns) for hit in hits}
    if not hits:
        return FoundMemories([], [])
    ids = [known[hit.id].id for hit in hits]
    edges = yield from read_edges.steps(principal, ids)
    related = relation_bonuses(ids, edges)
    found = []
    for hit, own in zip(hits, row_bonuses((known[hit.id] for hit in hits), timezone.now()), strict=True):
        row = known[hit.id]
        points = own + related.get(row.id, 0.0)
        found.append(FoundMemory(row, hit.relevance + (hit.unit or WITHOUT_VECTORS) * points, hit))
    found.sort(key=lambda each: (-each.relevance, each.row.id))
    return FoundMemories(_within_lengths(found)[:top_k], edges)


@dataclass(frozen=True, slots=True)
class _Standing:
    """Cache key of a person's memories at a revision, for one kind of caller.

    Vectors change without a revision, so entries live for ``CENTRE_SECONDS`` only.
    """

    user_id: UUID
    rev: int
    sort: Principal
    embedding_model: str
    period: int
    principal: Principal = field(compare=False)
    query: QueryVector = field(compare=False)

    @classmethod
    def of(cls, principal: Principal, embedding_model: str, query: QueryVector) -> _Standing:
        period = int(time.monotonic() // CENTRE_SECONDS)
        user_id = must_act_for(principal)
        return cls(user_id, principal.rev, principal.with_placeholders(), embedding_model, period, principal, query)


@dataclass(frozen=True, slots=True)
class _Told:
    """Cache key of rows of conversations or of a legacy, by their number.

    Includes ``agent_id``, since some agents see only their own conversations.
    """

    source: str
    owner_id: UUID
    agent_id: UUID | None
    legacy_id: UUID | None
    corpus: Corpus
    sort: Principal
    embedding_model: str
    period: int
    rows: Shaped = field(compare=False)

    @classmethod
    def centre(cls, source: str, principal: Principal, legacy_id: UUID | None, corpus: Corpus, rows: Shaped) -> Centre:
        """Return the mean vector of all these rows, cached for ``CENTRE_SECONDS``."""
        period = int(time.monotonic() // CENTRE_SECONDS)
        owner, agent, model = must_act_for(principal), principal.agent_id, get_embedder().name
        return _known_centre(
            cls(source, owner, agent, legacy_id, corpus, principal.with_placeholders(), model, period, rows)
        )


@cached_briefly(maxsize=500)
def _known_centre(told: _Told) -> Centre:
    return centre_of(told.rows, told.embedding_model, told.corpus)


# Its keys hold questions.
@cached_briefly(maxsize=2_000)
def _known_of_memories(standing: _Standing) -> tuple[Corpus, Centre]:
    corpus = standing.query.corpus(standing.user_id, "memories")
    rows = present_shape(standing.principal, Narrowing())
    return corpus, centre_of(rows, standing.embedding_model, corpus)


def _within_lengths(found: Iterable[FoundMemory]) -> list[FoundMemory]:
    known = categories.load().by_name
    counts: Counter[str] = Counter()
    kept = []
    for each in found:
        category = known.get(each.row.category)
        counts[each.row.category] += 1
        if category is None or category.context == "all" or counts[each.row.category] <= category.rag_length:
            kept.append(each)
    return kept


@Stepwise
def find_turns(
    principal: Principal,
    query: QueryVector,
    *,
    wanted: Recallable,
    top_k: int,
    shown: InPrompt | None = None,
    without: Collection[UUID] = (),
    weights: SearchWeights | None = None,
) -> Steps[list[Found[TurnRow]]]:
    """Search the person's earlier messages, without those that are ``shown`` anyway, best first, with ``marking``.

    ``weights`` default to the settings.
    """
    if principal.user_id is None:
        return []
    corpus = query.corpus(principal.user_id, "turns")
    rows = turns_shape(principal, wanted, shown)
    centre = centre_of_turns(principal, query, wanted.legacy_id)
    weights = weights or default_weights()
    asked, prior = query.search(top_k, rows), message_prior(weights)
    options: dict[str, Any] = {"prior": prior, "said": PLACE, "centre": centre, "without": without}
    hits = yield from hybrid_search.steps(rows, asked, corpus, weights, **options)
    found = mark_turns((yield from read_turns.steps(rows, [hit.id for hit in hits]))) if hits else {}
    return [Found(found[hit.id], hit) for hit in hits if hit.id in found]


def centre_of_turns(principal: Principal, query: QueryVector, legacy_id: UUID | None = None) -> Centre:
    """Return the mean vector of recallable messages, of one legacy or all, cached for ``CENTRE_SECONDS``."""
    corpus, every = query.corpus(must_act_for(principal), "turns"), turns_shape(principal, Recallable(legacy_id))
    return _Told.centre("turns", principal, legacy_id, corpus, every)


@Stepwise
def find_chunks(
    principal: Principal,
    query: QueryVector,
    *,
    wanted: Recallable,
    top_k: int,
    shown: InPrompt | None = None,
    without: Collection[UUID] = (),
) -> Steps[list[Found[ChunkRow]]]:
    """Search summaries of the person's conversations, without those ``shown`` anyway, best first."""
    if principal.user_id is None:
        return []
    corpus = query.corpus(principal.user_id, "chunks")
    rows, every = chunks_shape(principal, wanted, shown), chunks_shape(principal, Recallable(wanted.legacy_id))
    centre = _Told.centre("chunks", principal, wanted.legacy_id, corpus, every)
    asked = query.search(top_k, rows)
    options: dict[str, Any] = {"columns": CHUNK_COLUMNS, "centre": centre, "without": without}
    hits = yield from hybrid_search.steps(rows, asked, corpus, **options)
    found = [Found(ChunkRow(hit.id, *hit.columns), hit) for hit in hits]
    # Not in the query: the nearest are found in an index without their texts.
    return [each for each in found if each.row.content not in FILLERS]


@Stepwise
def find_facts(
    principal: Principal, query: QueryVector, *, wanted: FactSelection, top_k: int, without: Collection[UUID] = ()
) -> Steps[list[Found[FactRow]]]:
    """Search active facts that the person may see, best first; without a legacy, of all their legacies."""
    if principal.user_id is None:
        return []
    legacy_id = wanted.legacy_id
    corpus = _facts_kept(principal) if legacy_id is None else query.corpus(legacy_id, "facts")
    rows, every = facts_shape(principal, wanted), facts_shape(principal, FactSelection(legacy_id))
    centre = _Told.centre("facts", principal, legacy_id, corpus, every)
    asked = query.search(top_k, rows)
    options: dict[str, Any] = {"columns": FACT_COLUMNS, "centre": centre, "without": without}
    hits = yield from hybrid_search.steps(rows, asked, corpus, **options)
    return [Found(FactRow(hit.id, *hit.columns), hit) for hit in hits]


def _counted(owner_id: UUID) -> dict[str, Corpus]:
    ledger = Shaped("ledger", lambda: Ledger.objects.filter(pk=PLACEHOLDER_USER), {PLACEHOLDER_USER: owner_id})
    columns = tuple(column for columns in _COUNTS.values() for column in columns)
    # A person whom a service only reads about may not exist yet.
    counts = next(iter(read(ledger, columns)), (0,) * len(columns))
    pairs = zip(counts[::2], counts[1::2], strict=True)
    return {source: Corpus(*pair) for source, pair in zip(_COUNTS, pairs, strict=True)}


def _facts_kept(principal: Principal) -> Corpus:
    """Return facts of all legacies of which the person is a member."""
    someone = principal.with_placeholders()
    kept = Shaped(
        key=("ledgers of legacies", someone),
        build=lambda: Ledger.objects.filter(pk__in=Legacy.objects.visible_to(someone).values("pk")),
        values={PLACEHOLDER_USER: principal.user_id},
    )
    counts = read(kept, _COUNTS["facts"])
    return Corpus(sum(facts for facts, _ in counts), sum(terms for _, terms in counts))
