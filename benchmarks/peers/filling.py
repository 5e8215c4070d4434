"""Fills Keepsake's own tables by COPY, with the rows that its actions would have written.

A benchmark may write past the actions: ``memory_add`` for each of 200,000 would take an hour and change no figure.
Left out is what no measured call reads: the change log, and who saw what.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import psycopg

from .copying import Vectors, copy_rows, vector_text
from .plan import Memory, Person, Plan

BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
_NAMESPACE = uuid.UUID("9a3b8f52-5d0e-4b0a-8c79-0d2f4d1f6f6e")
_AT_ONCE = 1_000
_MEMORY = (
    *("id", "user_id", "kind", "category", "field", "subject", "topics", "content", "external_id", "run_id"),
    *("actor_id", "role", "fingerprint", "tokens", "in_block", "importance", "pinned", "state", "state_reason"),
    *("version", "written_by", "needs_check", "active_rev", "deleted_why", "created_at", "updated_at"),
    *("index_attempts", "embedding", "embedding_model", "search_config", "search_text", "search_length"),
)
_RELATION = ("id", "user_id", "from_memory_id", "to_memory_id", "type", "strength", "created_at")
# Of each memory its one version, as it was recorded.
_VERSIONS = """
INSERT INTO memories_memoryversion (
    user_id, memory_id, number, recorded_from, recorded_from_rev, reason, written_by, actor_kind, actor_id,
    kind, category, field, subject, topics, content, valid_from, valid_to,
    embedding, embedding_model, search_config, search_text, search_length
)
SELECT user_id, id, 1, created_at, active_rev, '', '', 'person', user_id::text,
       kind, category, field, subject, topics, content, valid_from, valid_to,
       embedding, embedding_model, search_config, search_text, search_length
FROM memories_memory
"""
_LEDGERS = """
UPDATE journal_ledger AS ledger
SET rev = counted.memories, memories = counted.memories, memory_terms = counted.terms, block_tokens = counted.tokens
FROM (
    SELECT user_id, count(*) AS memories, sum(search_length) AS terms, sum(tokens) FILTER (WHERE in_block) AS tokens
    FROM memories_memory GROUP BY user_id
) AS counted
WHERE ledger.id = counted.user_id
"""


def user_id_of(person: Person) -> uuid.UUID:
    """The id of a person's row."""
    return uuid.uuid5(_NAMESPACE, person.name)


def fill_keepsake(plan: Plan, vectors: Vectors, owner_url: str, embedding_model: str) -> int:
    """Make the people, what is remembered about each, and how it is related. Returns how many relations that gave."""
    from accounts.models import User

    User.objects.bulk_create(
        [User(id=user_id_of(person), username=person.name, password="!") for person in plan.people], batch_size=500
    )
    with psycopg.connect(owner_url, autocommit=True) as connection:
        copy_rows(connection, "memories_memory", _MEMORY, _memory_rows(plan, vectors, embedding_model))
        connection.execute(_VERSIONS)
        connection.execute(_LEDGERS)
        edges = list(_relation_rows(plan, vectors))
        copy_rows(connection, "memories_relation", _RELATION, edges)
        connection.execute("VACUUM ANALYZE")
    return len(edges)


def _memory_rows(plan: Plan, vectors: Vectors, embedding_model: str) -> Iterator[tuple[Any, ...]]:
    from accounts.categories import load
    from memories.lines import line_tokens, memory_line
    from memories.policy import fingerprint
    from retrieval.text import prepare

    in_block = {name: category.context == "all" for name, category in load().by_name.items()}
    for person in plan.people:
        user_id = user_id_of(person)
        for rev, memory in enumerate(plan.memories_of(person), start=1):
            at = BEGUN + timedelta(seconds=memory.number)
            # All are in one language, which detecting would only find out again 200,000 times.
            words = prepare(memory.content, "en")
            yield (
                *(memory.id, user_id, "semantic", memory.category, "", "", [], memory.content, "", ""),
                *("", "", fingerprint(user_id, memory.content)),
                *(line_tokens(memory_line(memory.id, at, "", memory.content)), in_block[memory.category]),
                *(2, False, "active", "", 1, "", False, rev, "", at, at),
                *(0, vector_text(vectors[memory.number]), embedding_model, words.config, words.text, words.length),
            )


def _relation_rows(plan: Plan, vectors: Vectors) -> Iterator[tuple[Any, ...]]:
    """Each memory with the nearest of the same person's that were there before it, as a write relates them."""
    for person in plan.people:
        user_id = user_id_of(person)
        own = vectors[person.first : person.first + person.memories]
        for start in range(0, person.memories, _AT_ONCE):
            yield from _related(person, user_id, own, start)


def _related(person: Person, user_id: uuid.UUID, own: Vectors, start: int) -> Iterator[tuple[Any, ...]]:
    from django.conf import settings

    cosines = own[start : start + _AT_ONCE] @ own.T
    rows, columns = np.nonzero(cosines >= settings.MEMORY_LINK_MIN_SIMILARITY)
    near: dict[int, list[tuple[float, int]]] = {}
    for row, other in zip(rows.tolist(), columns.tolist(), strict=True):
        if other < start + row:
            near.setdefault(start + row, []).append((float(cosines[row, other]), other))
    for place, others in near.items():
        at = BEGUN + timedelta(seconds=person.first + place)
        for strength, other in sorted(others, reverse=True)[: settings.MEMORY_LINKS]:
            ids = Memory(person.first + place, "", "").id, Memory(person.first + other, "", "").id
            yield uuid.uuid4(), user_id, *ids, "related_to", strength, at
