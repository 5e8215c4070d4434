"""Bulk load of Keepsake's tables by COPY, with the rows that its actions would write.

It bypasses the actions, since 200,000 calls of ``memory_add`` would take an hour and change no figure. Rows that no
measured call reads (change log, disclosures) are left out. One process per CPU generates and copies rows, with triggers
and foreign keys disabled.
"""

from __future__ import annotations

import multiprocessing
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

from .copying import building, copy_rows, vector_text, without_indexes
from .plan import Memory, Person, Plan
from .system import Vectors, vectors_of

BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
_NAMESPACE = uuid.UUID("9a3b8f52-5d0e-4b0a-8c79-0d2f4d1f6f6e")
_AT_ONCE = 1_000
_TABLES = ("memories_memory", "memories_memoryversion", "memories_relation")
_MEMORY = (
    *("id", "user_id", "kind", "category", "field", "subject", "topics", "content", "external_id", "run_id"),
    *("actor_id", "role", "fingerprint", "tokens", "in_block", "importance", "pinned", "state", "state_reason"),
    *("version", "written_by", "needs_check", "active_rev", "deleted_why", "created_at", "updated_at"),
    *("index_attempts", "embedding", "embedding_model", "search_config", "search_text", "search_length"),
)
_RELATION = ("id", "user_id", "from_memory_id", "to_memory_id", "type", "strength", "created_at")
# One version per memory, from the same columns.
_VERSIONS = """
INSERT INTO memories_memoryversion (
    user_id, memory_id, number, recorded_from, recorded_from_rev, reason, written_by, actor_kind, actor_id,
    kind, category, field, subject, topics, content, valid_from, valid_to,
    embedding, embedding_model, search_config, search_text, search_length
)
SELECT user_id, id, 1, created_at, active_rev, '', '', 'person', user_id::text,
       kind, category, field, subject, topics, content, valid_from, valid_to,
       embedding, embedding_model, search_config, search_text, search_length
FROM memories_memory WHERE user_id = ANY(%s) ORDER BY ctid
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
    """Return the id of a person's row."""
    return uuid.uuid5(_NAMESPACE, person.name)


def vectors_file(directory: Path, person: Person) -> Path:
    """Return the NumPy file with a person's vectors, in the order of their memories."""
    return directory / f"{person.name}.npy"


def fill_keepsake(plan: Plan, server: str, directory: Path, *, slow: bool) -> int:
    """Insert the people, their memories and relations. Returns the number of relations.

    ``server`` is the superuser's connection string. The vectors of people who ask are written to ``directory``. For
    ``slow`` see ``vectors_of``.
    """
    from accounts.models import User

    User.objects.bulk_create(
        [User(id=user_id_of(person), username=person.name, password="!") for person in plan.people], batch_size=500
    )
    with psycopg.connect(server, autocommit=True) as connection:
        with _without_indexes(connection, plan.memories), _pool(plan, server, directory, slow) as pool:
            edges = sum(pool.map(_fill_part, range(len(plan.parts()))))
        connection.execute(_LEDGERS)
        with building(connection, plan.memories):
            connection.execute("VACUUM ANALYZE")
    return edges


@contextmanager
def _without_indexes(connection: psycopg.Connection[Any], rows: int) -> Iterator[None]:
    with ExitStack() as stack:
        for table in _TABLES:
            stack.enter_context(without_indexes(connection, table, rows))
        yield


def _pool(plan: Plan, server: str, directory: Path, slow: bool) -> ProcessPoolExecutor:
    # Spawned, not forked: this process has connections, and may have loaded the embedder.
    fresh = multiprocessing.get_context("spawn")
    given = (plan.memories, server, directory, slow)
    return ProcessPoolExecutor(os.cpu_count(), mp_context=fresh, initializer=_begin, initargs=given)


class _Worker:
    """The state of a loading process: the plan, the embedder and its connection."""

    def __init__(self, plan: Plan, server: str, directory: Path, slow: bool) -> None:
        from language.backends import get_embedder

        self.plan = plan
        self.directory = directory
        self.slow = slow
        self.embedder = get_embedder()
        self.askers = {plan.asker(size) for size in plan.sizes}
        self.connection = psycopg.connect(server, autocommit=True)
        self.connection.execute("SET synchronous_commit = off")
        # Disables foreign keys and triggers for this session.
        self.connection.execute("SET session_replication_role = replica")

    def fill(self, people: Sequence[Person]) -> int:
        """Copy the memories of some people. Returns the number of relations."""
        vectors = {person: vectors_of(self.plan, person, self.embedder, slow=self.slow) for person in people}
        for person in self.askers & vectors.keys():
            np.save(vectors_file(self.directory, person), vectors[person])
        with self.connection.transaction():
            copy_rows(self.connection, "memories_memory", _MEMORY, self._memory_rows(vectors))
            self.connection.execute(_VERSIONS, [[user_id_of(person) for person in people]])
            edges = [row for person, own in vectors.items() for row in _relation_rows(person, own)]
            copy_rows(self.connection, "memories_relation", _RELATION, edges)
        return len(edges)

    def _memory_rows(self, vectors: Mapping[Person, Vectors]) -> Iterator[tuple[Any, ...]]:
        from accounts.categories import load
        from memories.lines import line_tokens, memory_line
        from retrieval.text import prepare
        from statements.policy import fingerprint

        in_block = {name: category.context == "all" for name, category in load().by_name.items()}
        for person, memory in self.plan.written(list(vectors)):
            user_id = user_id_of(person)
            place = memory.number - person.first
            at = BEGUN + timedelta(seconds=memory.number)
            # All texts are English, so the language is not detected 200,000 times.
            words = prepare(memory.content, "en")
            vector = vector_text(vectors[person][place])
            yield (
                *(memory.id, user_id, "semantic", memory.category, "", "", [], memory.content, "", ""),
                *("", "", fingerprint(user_id, memory.content)),
                *(line_tokens(memory_line(memory.id, at, "", memory.content)), in_block[memory.category]),
                *(2, False, "active", "", 1, "", False, place + 1, "", at, at),
                *(0, vector, self.embedder.name, words.config, words.text, words.length),
            )


_worker: _Worker


def _begin(memories: int, server: str, directory: Path, slow: bool) -> None:
    """Initialise a loading process."""
    import django

    global _worker  # noqa: PLW0603 - a pool's process has no other place for its state
    django.setup()
    _worker = _Worker(Plan(memories), server, directory, slow)


def _fill_part(number: int) -> int:
    return _worker.fill(_worker.plan.parts()[number])


def _relation_rows(person: Person, own: Vectors) -> Iterator[tuple[Any, ...]]:
    """Yield the relations of each memory to the nearest earlier ones of the person, as a write creates them."""
    for start in range(0, person.memories, _AT_ONCE):
        yield from _related(person, user_id_of(person), own, start)


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
