"""Recomputes the ledgers' counts from the rows, after bulk changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import Coalesce

from conversations.models import ConversationChunk, Message
from facts.models import LegacyFact
from journal.actions import LedgerWrite
from memories.models import Memory, Place


def recount(write: LedgerWrite, user_id: UUID, legacy_ids: Iterable[UUID] = ()) -> None:
    """Recompute the counts of a person's ledger and of legacies, inside the transaction."""
    _set(write, user_id, Message.objects.filter(user_id=user_id), "turns", "turn_terms")
    _set(write, user_id, ConversationChunk.objects.filter(user_id=user_id), "chunks", "chunk_terms")
    active = Memory.objects.filter(user_id=user_id, state=Memory.State.ACTIVE)
    _set(write, user_id, active, "memories", "memory_terms")
    tokens = Coalesce(Sum("tokens"), 0)
    memories = active.filter(in_block=True).aggregate(sum=tokens)["sum"]
    places = Place.objects.filter(user_id=user_id).present().aggregate(sum=tokens)["sum"]
    write.ledgers[user_id].block_tokens = memories + places
    recount_facts(write, legacy_ids)


def recount_facts(write: LedgerWrite, legacy_ids: Iterable[UUID]) -> None:
    """Recompute the counts of facts of legacies."""
    for legacy_id in legacy_ids:
        facts = LegacyFact.objects.filter(legacy_id=legacy_id, state=LegacyFact.State.ACTIVE)
        _set(write, legacy_id, facts, "facts", "fact_terms")


def _set(write: LedgerWrite, ledger_id: UUID, rows: QuerySet[Any], count: str, terms: str) -> None:
    found = rows.aggregate(rows=Count("pk"), terms=Coalesce(Sum("search_length"), 0))
    setattr(write.ledgers[ledger_id], count, found["rows"])
    setattr(write.ledgers[ledger_id], terms, found["terms"])
