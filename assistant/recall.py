"""What earlier conversations and facts have to say about a question, by the hybrid search of ``retrieval``.

The same functions serve the turn and the evaluation, so what is measured is what is served.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Generic, TypeVar
from uuid import UUID

import structlog
from django.conf import settings
from django.db.models import Model, Q, QuerySet, Sum
from django.utils import timezone

from accounts import categories
from accounts.models import Legacy
from accounts.policy import must_act_for
from accounts.principals import Principal
from conversations.models import ConversationChunk, Message
from conversations.ranking import PLACE, message_prior
from facts.models import LegacyFact
from journal.models import Ledger
from language.backends import get_embedder, get_embedder_before
from language.base import Embedder, EmbedderUnavailable, Vectors
from memories.querysets import MemoryVersionQuerySet
from memories.ranking import company, standing
from memories.searching import (
    PRESENT_COLUMNS,
    Edge,
    MemoryRow,
    MemoryRows,
    Narrowing,
    present_shape,
    read_edges,
    read_versions,
)
from retrieval.prepared import Shaped
from retrieval.search import Centre, Corpus, Hit, SearchQuery, centre_of, has_model, hybrid_search
from retrieval.weights import Weights, default_weights

log = structlog.get_logger(__name__)

Row = TypeVar("Row", bound=Model)

NOTHING = Q(pk__in=[])
"""The condition of ``exclude`` that leaves nothing out."""

CENTRE_SECONDS = 60

WITHOUT_VECTORS = 0.05
"""What a point counts where no vector tells how far apart the rows are."""


class QueryVector:
    """A question and its vectors, each made when first needed and once only; None while its embedder is away."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def vector(self) -> Vectors | None:
        """The vector, of shape (dimensions,), or None: recall then goes by words alone."""
        return self._made_by(get_embedder())

    @cached_property
    def vector_before(self) -> Vectors | None:
        """The same by the embedder before, of that one's dimensions."""
        before = get_embedder_before()
        return None if before is None else self._made_by(before)

    def search(self, top_k: int, rows: QuerySet[Any] | Shaped) -> SearchQuery:
        """The question as ``retrieval`` takes it, for these rows: with both vectors while some are not moved yet."""
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
    """A row that was found, and how."""

    row: Row
    hit: Hit


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory that was found, and how. ``relevance`` is that of its hit with what else speaks for it."""

    row: MemoryRow
    relevance: float
    hit: Hit


@dataclass(frozen=True, slots=True)
class FoundMemories:
    """Memories that were found, best first, and the relations that any of them has, the strongest first."""

    memories: list[FoundMemory]
    edges: list[Edge]


def find_memories(principal: Principal, query: QueryVector, *, rows: MemoryRows, top_k: int) -> FoundMemories:
    """What is remembered about the person, of ``rows``: those of ``memories.searching``. Best first.

    The best by the question, ``QUERY_CANDIDATES`` or more, are ranked again by what else speaks for each. Of a category
    that is only recalled there are at most as many as ``categories.yaml`` says.
    """
    if principal.user_id is None:
        return FoundMemories([], [])
    search = query.search(max(top_k, settings.QUERY_CANDIDATES), rows)
    corpus, centre = _known_of_memories(_Standing.of(principal, search.embedding_model))
    if isinstance(rows, MemoryVersionQuerySet):
        hits = hybrid_search(rows, search, corpus, centre=centre)
        known = read_versions(rows, [hit.id for hit in hits])
        hits = [hit for hit in hits if hit.id in known]
    else:
        hits = hybrid_search(rows, search, corpus, columns=PRESENT_COLUMNS, centre=centre)
        known = {hit.id: MemoryRow(hit.id, *hit.columns) for hit in hits}
    if not hits:
        return FoundMemories([], [])
    ids = [known[hit.id].id for hit in hits]
    edges = read_edges(principal, ids)
    related = company(ids, edges)
    found = []
    for hit, own in zip(hits, standing((known[hit.id] for hit in hits), timezone.now()), strict=True):
        row = known[hit.id]
        points = own + related.get(row.id, 0.0)
        found.append(FoundMemory(row, hit.relevance + (hit.unit or WITHOUT_VECTORS) * points, hit))
    found.sort(key=lambda each: (-each.relevance, each.row.id))
    return FoundMemories(_within_lengths(found)[:top_k], edges)


@dataclass(frozen=True, slots=True)
class _Standing:
    """A person's memories at a revision, as one sort of caller sees them; equal when those are.

    Vectors come and are replaced without a revision, so nothing is taken to be known for more than ``CENTRE_SECONDS``.
    """

    user_id: UUID
    rev: int
    sort: Principal
    embedding_model: str
    period: int
    principal: Principal = field(compare=False)

    @classmethod
    def of(cls, principal: Principal, embedding_model: str) -> _Standing:
        period = int(time.monotonic() // CENTRE_SECONDS)
        user_id = must_act_for(principal)
        return cls(user_id, principal.rev, principal.stand_in(), embedding_model, period, principal)


@dataclass(frozen=True, slots=True)
class _Told:
    """Rows of somebody's conversations or of a legacy, while they are as many; equal when those are the same ones.

    An agent that may not read what was said elsewhere has those of its own conversations, so ``agent_id`` counts.
    """

    source: str
    owner_id: UUID
    agent_id: UUID | None
    legacy_id: UUID | None
    corpus: Corpus
    sort: Principal
    embedding_model: str
    period: int
    rows: QuerySet[Any] = field(compare=False)

    @classmethod
    def centre(
        cls, source: str, principal: Principal, legacy_id: UUID | None, corpus: Corpus, rows: QuerySet[Any]
    ) -> Centre:
        """The centre of all of them, whatever a search leaves out, known for ``CENTRE_SECONDS``."""
        period = int(time.monotonic() // CENTRE_SECONDS)
        owner, agent, model = must_act_for(principal), principal.agent_id, get_embedder().name
        return _known_centre(cls(source, owner, agent, legacy_id, corpus, principal.stand_in(), model, period, rows))


@lru_cache(maxsize=500)
def _known_centre(told: _Told) -> Centre:
    return centre_of(told.rows, told.embedding_model, told.corpus)


@lru_cache(maxsize=2_000)
def _known_of_memories(standing: _Standing) -> tuple[Corpus, Centre]:
    corpus = _corpus(standing.user_id, "memories", "memory_terms")
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


def find_turns(
    principal: Principal,
    query: QueryVector,
    *,
    legacy_id: UUID | None,
    top_k: int,
    exclude: Q = NOTHING,
    weights: Weights | None = None,
) -> list[Found[Message]]:
    """The person's own earlier messages about this legacy (or about none) but those of ``exclude``, best first.

    ``weights`` are those of the settings unless told otherwise.
    """
    if principal.user_id is None:
        return []
    corpus = _corpus(principal.user_id, "turns", "turn_terms")
    # By id: the index that searches read alone does not say what is set apart.
    apart = Message.objects.filter(user_id=principal.user_id).set_apart(timezone.now())
    every = Message.objects.visible_to(principal).recallable(legacy_id).exclude(pk__in=apart.values("pk"))
    rows, centre = every.exclude(exclude), _Told.centre("turns", principal, legacy_id, corpus, every)
    weights, prior = weights or default_weights(), message_prior(weights or default_weights())
    hits = hybrid_search(rows, query.search(top_k, rows), corpus, weights, prior=prior, said=PLACE, centre=centre)
    found = Message.objects.visible_to(principal).without_vectors().in_bulk([hit.id for hit in hits])
    return [Found(found[hit.id], hit) for hit in hits if hit.id in found]


def find_chunks(
    principal: Principal, query: QueryVector, *, legacy_id: UUID | None, top_k: int, exclude: Q = NOTHING
) -> list[Found[ConversationChunk]]:
    """Summaries of the person's conversations about this legacy (or about none) but ``exclude``, best first."""
    if principal.user_id is None:
        return []
    corpus = _corpus(principal.user_id, "chunks", "chunk_terms")
    every = ConversationChunk.objects.visible_to(principal).recallable(legacy_id)
    rows, centre = every.exclude(exclude), _Told.centre("chunks", principal, legacy_id, corpus, every)
    hits = hybrid_search(rows, query.search(top_k, rows), corpus, centre=centre)
    found = (
        ConversationChunk.objects.visible_to(principal).with_times().without_vectors().in_bulk([hit.id for hit in hits])
    )
    return [Found(found[hit.id], hit) for hit in hits if hit.id in found]


def find_facts(
    principal: Principal, query: QueryVector, *, legacy_id: UUID | None, top_k: int, exclude: Q = NOTHING
) -> list[Found[LegacyFact]]:
    """Facts in use about the legacy but ``exclude`` that the person may see, best first, worded by ``for_prompt``.

    Without a legacy about every one that the person keeps.
    """
    facts = LegacyFact.objects.for_prompt(principal, legacy_id)
    if legacy_id is not None:
        corpus = _corpus(legacy_id, "facts", "fact_terms")
    else:
        keeps = Legacy.objects.visible_to(principal).values("pk")
        sums = Ledger.objects.filter(pk__in=keeps).aggregate(rows=Sum("facts"), terms=Sum("fact_terms"))
        corpus = Corpus(sums["rows"] or 0, sums["terms"] or 0)
    every = LegacyFact.objects.visible_to(principal).in_use(principal)
    every = every.filter(legacy_id=legacy_id) if legacy_id is not None else every
    rows, centre = every.exclude(exclude), _Told.centre("facts", principal, legacy_id, corpus, every)
    hits = hybrid_search(rows, query.search(top_k, rows), corpus, centre=centre)
    found = facts.in_bulk([hit.id for hit in hits])
    return [Found(found[hit.id], hit) for hit in hits if hit.id in found]


def _corpus(owner_id: UUID, documents: str, terms: str) -> Corpus:
    return Corpus(*Ledger.objects.values_list(documents, terms).get(pk=owner_id))
