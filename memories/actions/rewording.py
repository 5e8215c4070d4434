"""Earlier wordings of many memories, each as the next version."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import connection

from journal.actions import LedgerWrite
from journal.queue import enqueue
from language.backends import get_embedder

from .many import Move

# The vector of the earlier wording, where the present embedder made it; else one comes later.
_VECTORS = """
UPDATE memories_memory AS memory
SET embedding = earlier.embedding, embedding_model = earlier.embedding_model,
    index_not_before = CASE WHEN earlier.embedding IS NULL THEN %(now)s END, index_attempts = 0
FROM (
    SELECT moved.id, version.embedding, coalesce(version.embedding_model, '') AS embedding_model
    FROM unnest(%(ids)s::text[], %(numbers)s::int[]) AS moved (id, number)
    LEFT JOIN memories_memoryversion AS version ON version.memory_id = moved.id AND version.number = moved.number
        AND version.embedding_model = %(model)s
) AS earlier
WHERE memory.id = earlier.id
RETURNING memory.id, memory.embedding IS NULL
"""
_END = """
UPDATE memories_memoryversion AS version SET recorded_to = %(now)s, recorded_to_rev = moved.rev
FROM unnest(%(ids)s::text[], %(revs)s::bigint[]) AS moved (id, rev)
WHERE version.memory_id = moved.id AND version.recorded_to IS NULL
"""
_BEGIN = """
INSERT INTO memories_memoryversion (user_id, memory_id, number, kind, category, field, subject, topics, content,
    valid_from, valid_to, embedding, embedding_model, search_config, search_text, search_length, recorded_from,
    recorded_from_rev, reason, written_by, actor_kind, actor_id)
SELECT user_id, memory.id, version, kind, category, field, subject, topics, content, valid_from, valid_to, embedding,
    embedding_model, search_config, search_text, search_length, %(now)s, moved.rev, '', written_by, %(actor_kind)s,
    %(actor_id)s
FROM unnest(%(ids)s::text[], %(revs)s::bigint[]) AS moved (id, rev)
JOIN memories_memory AS memory ON memory.id = moved.id
"""


def reword_many(write: LedgerWrite, moves: Sequence[Move], now: datetime) -> None:
    """Record the wordings that memories were given back as their next versions, inside the action that did so."""
    if not moves:
        return
    values: dict[str, Any] = {
        "now": now,
        "ids": [move.memory.pk for move in moves],
        "numbers": [move.logged[0].meta["reverted_to"] for move in moves],
        "revs": [move.first_rev for move in moves],
        "model": get_embedder().name,
        "actor_kind": write.actor.kind,
        "actor_id": write.actor.id,
    }
    with connection.cursor() as cursor:
        cursor.execute(_VECTORS, values)
        for memory_id, has_none in cursor.fetchall():
            if has_none:
                enqueue("memories.index", memory_id)
        cursor.execute(_END, values)
        cursor.execute(_BEGIN, values)
