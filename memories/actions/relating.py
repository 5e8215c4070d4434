"""Relating many memories at once to what is near them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils import timezone

from journal.actions import LedgerWrite

from ..querysets import statement


@dataclass(frozen=True, slots=True)
class Related:
    """What a memory is near to: the cosine similarity of its nearest, and the ids that it was related to just now."""

    similarity: float
    to: list[str]


def memories_relate(write: LedgerWrite, user_id: UUID, ids: Sequence[str]) -> dict[str, Related]:
    """Relate stored memories of a person whose ledger is locked to their nearest, at most ``MEMORY_LINKS`` each.

    One statement for any number of them. The nearest are present ones of the same kind, at least
    ``MEMORY_LINK_MIN_SIMILARITY`` near, those of ``ids`` among them; a pair that is related in any way already is left
    as it is. Says by id what was found; a memory without a vector or a neighbour is not there.
    """
    if not ids:
        return {}
    if user_id not in write.ledgers:
        raise ValueError("the ledger of this person is not locked")
    values = {
        "user": str(user_id),
        "ids": list(dict.fromkeys(ids)),
        "links": settings.MEMORY_LINKS,
        "at_least": settings.MEMORY_LINK_MIN_SIMILARITY,
        "now": timezone.now(),
    }
    with connection.cursor() as cursor:
        cursor.execute(statement("relate"), values)
        return {memory_id: Related(similarity, to) for memory_id, similarity, to in cursor.fetchall()}
