"""Keepsake's statements replayed on one plain connection with prepared statements: the time of PostgreSQL alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC
from typing import Any

import psycopg
from django.db import connection, transaction

from retrieval.prepared import send_vectors_binary

from .keepsake import InProcess
from .system import ADDING, KEEPS_NOTHING

_OF_DJANGO = ("SAVEPOINT ", "RELEASE SAVEPOINT ", "ROLLBACK TO SAVEPOINT ")
_DIGITS = 6
_WITHOUT_INDEXES = "-c enable_indexscan=off -c enable_indexonlyscan=off -c enable_bitmapscan=off"

Statement = tuple[str, Any, type[psycopg.Cursor[Any]]]
"""The SQL, its parameters, and the cursor class for its placeholder style."""


class BareSql:
    """Records the statements of a Keepsake call and replays them, timed.

    A recorded write is rolled back, so that the replay can write the same rows. Recording uses a thread with its own
    connection: psycopg drops prepared statements after a rollback, so Keepsake in process would have to plan all its
    statements again.
    """

    name = "bare SQL"
    lacks: Mapping[str, str] = KEEPS_NOTHING
    options = ""
    """Further options of its connections."""

    def __init__(self, keepsake: InProcess, database_url: str) -> None:
        self._keepsake = keepsake
        self._connection = _connect(database_url, self.options)
        self._plain = _connect(database_url, f"{self.options} {_WITHOUT_INDEXES}")
        self._noted: list[Statement] = []
        self._answer: Any = None
        self._aside = ThreadPoolExecutor(1)

    def prepare(self, work: str, *arguments: Any) -> None:
        """Do nothing."""

    def note(self, work: str, *arguments: Any) -> None:
        """Run Keepsake's call once and record its statements."""
        self._aside.submit(self._note_all, work, *arguments).result()

    def _note_all(self, work: str, *arguments: Any) -> None:
        self._keepsake.prepare(work, *arguments)
        self._noted = []
        with connection.execute_wrapper(self._keep), transaction.atomic():
            self._answer = getattr(self._keepsake, work)(*arguments)
            if work in ADDING:
                transaction.set_rollback(True)

    def _keep(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not sql.startswith(_OF_DJANGO):
            numbered = isinstance(context["cursor"].cursor, psycopg.RawCursor)
            self._noted.append((sql, params, psycopg.RawCursor if numbered else psycopg.Cursor))
        return execute(sql, params, many, context)

    def add(self, person: str, text: str) -> list[str]:
        """In one transaction."""
        with self._connection.transaction():
            _replay(self._connection, self._noted)
        ids: list[str] = self._answer
        return ids

    def add_many(self, person: str, texts: Sequence[str]) -> list[str]:
        """In one transaction."""
        with self._connection.transaction():
            _replay(self._connection, self._noted)
        ids: list[str] = self._answer
        return ids

    def search(self, person: str, text: str) -> list[str]:
        """Replay the statements of a query. The ids are Keepsake's, since the final ranking is not done in SQL."""
        _replay(self._connection, self._noted)
        ids: list[str] = self._answer
        return ids

    def list(self, person: str) -> list[str]:
        """Replay the statements of a list."""
        _replay(self._connection, self._noted)
        ids: list[str] = self._answer
        return ids

    def block(self, person: str) -> str:
        """Replay the statements of a block."""
        _replay(self._connection, self._noted)
        text: str = self._answer
        return text

    def contents(self, person: str, ids: Sequence[str]) -> Sequence[str]:
        """Return the contents of the person's memories."""
        return self._keepsake.contents(person, ids)

    def share_found(self, person: str, text: str) -> float:
        """Return the recall of a query's statements with indexes against the same statements without any index."""
        self.note("search", person, text)
        right = Counter(map(_shown, _replay(self._plain, self._noted)))
        found = Counter(map(_shown, _replay(self._connection, self._noted)))
        return (right & found).total() / max(right.total(), 1)


def _connect(database_url: str, options: str) -> psycopg.Connection[Any]:
    from django.db.backends.postgresql.psycopg_any import get_adapters_template

    context = get_adapters_template(True, UTC)
    bare = psycopg.connect(
        database_url,
        autocommit=True,
        context=context,
        options=f"-c jit=off -c plan_cache_mode=force_generic_plan {options}",
    )
    send_vectors_binary(bare)
    return bare


def _replay(bare: psycopg.Connection[Any], statements: Sequence[Statement]) -> list[tuple[Any, ...]]:
    """Execute statements and return all rows."""
    rows: list[tuple[Any, ...]] = []
    for sql, params, kind in statements:
        with kind(bare) as cursor:
            cursor.execute(sql, params, prepare=True)
            if cursor.description is not None:
                rows += cursor.fetchall()
    return rows


def _shown(row: Sequence[Any]) -> str:
    """Return a row as text, with rounded floats: the order of summation changes the last digits."""
    return repr([round(each, _DIGITS) + 0.0 if isinstance(each, float) else each for each in row])
