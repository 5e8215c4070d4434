"""Ledgers, brought in line with the rows: after many came or went at once, summing up is simpler than keeping count."""

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
    """Set what the ledgers say of a person's rows, and of the facts about legacies, inside their transaction."""
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
    """The same of the facts about legacies."""
    for legacy_id in legacy_ids:
        facts = LegacyFact.objects.filter(legacy_id=legacy_id, state=LegacyFact.State.ACTIVE)
        _set(write, legacy_id, facts, "facts", "fact_terms")


def _set(write: LedgerWrite, ledger_id: UUID, rows: QuerySet[Any], count: str, terms: str) -> None:
    found = rows.aggregate(rows=Count("pk"), terms=Coalesce(Sum("search_length"), 0))
    setattr(write.ledgers[ledger_id], count, found["rows"])
    setattr(write.ledgers[ledger_id], terms, found["terms"])
