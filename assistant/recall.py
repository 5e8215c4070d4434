"""What earlier conversations and facts have to say about a question, by the hybrid search of ``retrieval``.

The same functions serve the turn and the evaluation, so what is measured is what is served.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

import structlog
from django.db.models import Q, QuerySet

from accounts.principals import Principal
from conversations.models import ConversationChunk, Message
from conversations.ranking import PLACE, message_prior
from facts.models import LegacyFact
from journal.models import Ledger
from language.backends import get_embedder, get_embedder_before
from language.base import Embedder, EmbedderUnavailable, Vectors
from retrieval.search import Corpus, SearchQuery, hybrid_search
from retrieval.weights import Weights, default_weights

log = structlog.get_logger(__name__)

NOTHING = Q(pk__in=[])
"""The condition of ``exclude`` that leaves nothing out."""


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

    def search(self, top_k: int, rows: QuerySet[Any]) -> SearchQuery:
        """The question as ``retrieval`` takes it, for these rows: with both vectors while some are not moved yet."""
        before = get_embedder_before()
        both = before is not None and rows.order_by().filter(embedding_model=before.name).exists()
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
class RecalledTurn:
    """A message that was found, and how well it fits (higher is better, comparable within one search only)."""

    message: Message
    score: float


def recall_turns(
    principal: Principal,
    query: QueryVector,
    *,
    legacy_id: UUID | None,
    top_k: int,
    exclude: Q = NOTHING,
    weights: Weights | None = None,
) -> list[RecalledTurn]:
    """The person's own earlier messages about this legacy (or about none) but those of ``exclude``, best first.

    ``weights`` are those of the settings unless told otherwise.
    """
    if principal.user_id is None:
        return []
    ledger = Ledger.objects.get(pk=principal.user_id)
    rows = Message.objects.visible_to(principal).recallable(legacy_id).exclude(exclude)
    weights = weights or default_weights()
    hits = hybrid_search(
        rows,
        query.search(top_k, rows),
        Corpus(ledger.turns, ledger.turn_terms),
        weights,
        prior=message_prior(weights),
        said=PLACE,
    )
    found = Message.objects.visible_to(principal).without_vectors().in_bulk([hit.id for hit in hits])
    return [RecalledTurn(found[hit.id], hit.score) for hit in hits if hit.id in found]


def recall_chunks(
    principal: Principal, query: QueryVector, *, legacy_id: UUID | None, top_k: int, exclude: Q = NOTHING
) -> list[ConversationChunk]:
    """Summaries of the person's conversations about this legacy (or about none) but ``exclude``, best first."""
    if principal.user_id is None:
        return []
    ledger = Ledger.objects.get(pk=principal.user_id)
    rows = ConversationChunk.objects.visible_to(principal).recallable(legacy_id).exclude(exclude)
    hits = hybrid_search(rows, query.search(top_k, rows), Corpus(ledger.chunks, ledger.chunk_terms))
    found = (
        ConversationChunk.objects.visible_to(principal).with_times().without_vectors().in_bulk([hit.id for hit in hits])
    )
    return [found[hit.id] for hit in hits if hit.id in found]


def recall_facts(
    principal: Principal, query: QueryVector, *, legacy_id: UUID, top_k: int, exclude: Q = NOTHING
) -> list[LegacyFact]:
    """Facts in use about the legacy but ``exclude`` that the person may see, best first, worded by ``for_prompt``."""
    ledger = Ledger.objects.get(pk=legacy_id)
    rows = LegacyFact.objects.visible_to(principal).in_use(principal).filter(legacy_id=legacy_id).exclude(exclude)
    hits = hybrid_search(rows, query.search(top_k, rows), Corpus(ledger.facts, ledger.fact_terms))
    found = LegacyFact.objects.for_prompt(principal, legacy_id).in_bulk([hit.id for hit in hits])
    return [found[hit.id] for hit in hits if hit.id in found]
