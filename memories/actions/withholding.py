"""What is not to be kept: the words that memories were learned from leave the record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from uuid import UUID

from conversations.actions import Cause, words_withhold
from journal.actions import LedgerWrite

from ..models import Kind, MemoryEvidence, Relation


def withhold(write: LedgerWrite, user_id: UUID, ids: Collection[str]) -> None:
    """Withhold the words behind memories, inside a transaction that holds the person's ledger.

    What was made of others, by merging or as an account of what was talked about, withholds nothing: it quotes more
    than it says.
    """
    made = Relation.objects.filter(from_memory__in=ids, type=Relation.Type.DERIVED_FROM).values("from_memory")
    rows = MemoryEvidence.objects.filter(version__memory__in=ids, version__memory__kind__in=_WITHHOLDS)
    quotes: dict[str, list[tuple[UUID, str]]] = defaultdict(list)
    for memory_id, message_id, quote in rows.exclude(version__memory__in=made).values_list(
        "version__memory_id", "message_id", "quote"
    ):
        quotes[memory_id].append((message_id, quote))
    for memory_id in ids:
        words_withhold(write, user_id, Cause("memory", memory_id), quotes[memory_id])


_WITHHOLDS = [Kind.SEMANTIC, Kind.PROCEDURAL]
