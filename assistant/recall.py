"""What earlier conversations and facts have to say about a question, by the hybrid search of ``retrieval``.

The same functions serve the turn and the evaluation, so what is measured is what is served.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

import structlog
from django.db.models import Q

from accounts.principals import Principal
from conversations.models import ConversationChunk, Message
from facts.models import LegacyFact
from journal.models import Ledger
from language.backends import get_embedder
from language.base import EmbedderUnavailable, Vectors
from retrieval.search import Corpus, SearchQuery, hybrid_search

log = structlog.get_logger(__name__)

NOTHING = Q(pk__in=[])
"""The condition of ``exclude`` that leaves nothing out."""


class QueryVector:
    """A question and its vector, embedded when first needed and once only; None while the embedder is away."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def vector(self) -> Vectors | None:
        """The vector, of shape (dimensions,), or None: recall then goes by words alone."""
        try:
            return get_embedder().embed_query(self.text)
        except EmbedderUnavailable as error:
            log.warning("recall_without_vector", error=type(error).__name__)
            return None

    def search(self, top_k: int) -> SearchQuery:
        """The question as ``retrieval`` takes it."""
        return SearchQuery(text=self.text, vector=self.vector, embedding_model=get_embedder().name, top_k=top_k)


@dataclass(frozen=True, slots=True)
class RecalledTurn:
    """A message that was found, and how well it fits (higher is better, comparable within one search only)."""

    message: Message
    score: float


def recall_turns(
    principal: Principal, query: QueryVector, *, legacy_id: UUID | None, top_k: int, exclude: Q = NOTHING
) -> list[RecalledTurn]:
    """The person's own earlier messages about this legacy (or about none) but those of ``exclude``, best first."""
    if principal.user_id is None:
        return []
    ledger = Ledger.objects.get(pk=principal.user_id)
    rows = Message.objects.visible_to(principal).recallable(legacy_id).exclude(exclude)
    hits = hybrid_search(rows, query.search(top_k), Corpus(ledger.turns, ledger.turn_terms))
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
    hits = hybrid_search(rows, query.search(top_k), Corpus(ledger.chunks, ledger.chunk_terms))
    found = ConversationChunk.objects.visible_to(principal).without_vectors().in_bulk([hit.id for hit in hits])
    return [found[hit.id] for hit in hits if hit.id in found]


def recall_facts(
    principal: Principal, query: QueryVector, *, legacy_id: UUID, top_k: int, exclude: Q = NOTHING
) -> list[LegacyFact]:
    """Active facts about the legacy but ``exclude`` that the person may see, best first, worded by ``for_prompt``."""
    ledger = Ledger.objects.get(pk=legacy_id)
    rows = (
        LegacyFact.objects.visible_to(principal)
        .filter(legacy_id=legacy_id, state=LegacyFact.State.ACTIVE)
        .exclude(exclude)
    )
    hits = hybrid_search(rows, query.search(top_k), Corpus(ledger.facts, ledger.fact_terms))
    found = LegacyFact.objects.for_prompt(principal, legacy_id).in_bulk([hit.id for hit in hits])
    return [found[hit.id] for hit in hits if hit.id in found]
