"""Earlier versions of Keepsake's statements for adding and searching, as a baseline for the current ones.

They are the statements of November 2026, in their order, with the current parameters. They run on the tables of that
time (``earlier_tables.sql``), filled with the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import psycopg
from django.db.models import Value
from pgvector import HalfVector
from psycopg import sql
from psycopg.types.json import Jsonb

from memories.searching import PRESENT_COLUMNS, Narrowing, present_shape
from retrieval import prepared
from retrieval import search as searching
from retrieval.prepared import Shaped

from .bare import BareSql, Statement
from .copying import building
from .keepsake import InProcess
from .system import KEEPS_NOTHING

SCHEMA = "earlier"
TABLES = Path(__file__).parent / "earlier_tables.sql"
_SEARCH = Path(__file__).parent / "earlier_search.sql"
_BEFORE_AND_AFTER_ROWS = "-- What stands above is made before the rows"
_FILLED = ("journal_ledger", "memories_memory", "memories_memoryversion", "memories_relation")
_COLUMNS_SINCE = {"metadata", "said_at"}
_FIRST_REV = 1_000_000
"""Above every copied revision: the current statements count revisions in their own tables."""

_READ = [
    "embedding_model",
    "search_config",
    "search_length",
    "kind",
    "category",
    "field",
    "subject",
    "topics",
    "content",
    "valid_from",
    "valid_to",
    "id",
    "user_id",
    "agent_id",
    "external_id",
    "run_id",
    "actor_id",
    "role",
    "fingerprint",
    "tokens",
    "in_block",
    "importance",
    "pinned",
    "state",
    "state_reason",
    "version",
    "written_by",
    "source_conversation_id",
    "needs_check",
    "active_rev",
    "expires_at",
    "reviewed_at",
    "deleted_at",
    "deleted_why",
    "purge_at",
    "created_at",
    "updated_at",
    "index_attempts",
    "index_not_before",
]
_MEMORY = ["embedding", "search_text", *_READ]
_MIRRORED = [
    "embedding",
    "embedding_model",
    "search_config",
    "search_text",
    "search_length",
    "kind",
    "category",
    "field",
    "subject",
    "topics",
    "content",
    "valid_from",
    "valid_to",
    "user_id",
    "written_by",
    "source_conversation_id",
]
_LEDGER = [
    "rev",
    "turns",
    "turn_terms",
    "chunks",
    "chunk_terms",
    "facts",
    "fact_terms",
    "memories",
    "memory_terms",
    "block_tokens",
]


def _insert(table: str, values: Sequence[str], columns: Sequence[str], returning: str) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(values)}) RETURNING {returning}"


def _named(columns: Sequence[str]) -> list[str]:
    return [f"%({name})s{'::varchar(50)[]' if name == 'topics' else ''}" for name in columns]


_STATEMENTS = (
    """SELECT u.username, u.display_name, p.has_memory, p.agentic_memory, p.extract_each_message, p.review, p.time_zone,
    p.language, (SELECT l.rev FROM journal_ledger l WHERE l.id = u.id) AS rev
    FROM accounts_user u LEFT OUTER JOIN accounts_preferences p ON u.id = p.user_id
    WHERE u.id = %(user_id)s AND u.is_active ORDER BY 1 ASC LIMIT 1""",
    f"SELECT id, kind, {', '.join(_LEDGER)} FROM journal_ledger WHERE id IN (%(user_id)s) ORDER BY id ASC FOR UPDATE",
    f"""SELECT {", ".join(_READ)} FROM memories_memory
    WHERE user_id = %(user_id)s
      AND (state IN ('active', 'archived') OR agent_id IS NULL AND state IN ('proposed', 'quarantined'))
      AND state IN ('active', 'proposed', 'quarantined') AND kind = %(kind)s AND user_id = %(user_id)s
      AND fingerprint IN (%(fingerprint)s)""",
    """SELECT DISTINCT said.position
    FROM unnest(%(positions)s::int[], %(fingerprints)s::text[], %(vectors)s::text[])
         AS said (position, fingerprint, vector)
    JOIN memories_tombstone AS suppression
      ON suppression.user_id = %(user_id)s::uuid AND suppression.legacy_id IS NOT DISTINCT FROM %(no)s::uuid
    WHERE suppression.fingerprint = said.fingerprint
       OR CASE WHEN suppression.embedding_model = %(embedding_model)s
               THEN 1 - (suppression.embedding <=> said.vector::halfvec) >= %(suppressed)s ELSE false END""",
    """SELECT n.id, n.similarity, n.similarity, NULL::float8
    FROM (
        SELECT v.id, 1 - ((v.embedding <=> %(embedding)s::halfvec) + 0) AS similarity
        FROM (
            SELECT id AS pk, embedding FROM memories_memory
            WHERE kind = 'semantic' AND user_id = '{user}'::uuid AND state IN ('active', 'proposed', 'quarantined')
              AND embedding_model = '{model}'
        ) AS v (id, embedding)
    ) AS n
    WHERE n.similarity >= %(near)s::float8 ORDER BY n.similarity DESC, n.id LIMIT %(most)s::int""",
    _insert("memories_memory", _named(_MEMORY), _MEMORY, "search"),
    _insert(
        "memories_memoryversion",
        [*_named(_MIRRORED), "%(id)s", "1", "%(created_at)s", "%(rev)s", "''", "%(actor)s", "%(actor_id)s"],
        [*_MIRRORED, "memory_id", "number", "recorded_from", "recorded_from_rev", "reason", "actor_kind", "actor_id"],
        "id, search",
    ),
    """INSERT INTO journal_change (ledger_id, rev, event, object_type, object_id, old_version, new_version, actor_kind,
    actor_id, conversation_id, meta, at) VALUES (%(user_id)s, %(rev)s, 'ADD', 'memory', %(id)s, NULL, 1, %(actor)s,
    %(actor_id)s, NULL, %(meta)s, %(created_at)s) RETURNING id""",
    "UPDATE journal_ledger SET "
    + ", ".join(f"{name} = {name} + %({name})s" for name in _LEDGER)
    + " WHERE id = %(user_id)s",
)


class EarlierSql(BareSql):
    """The earlier statements for adding one and for a search, replayed like BareSql on the earlier tables."""

    name = "earlier SQL"
    lacks: Mapping[str, str] = {
        **KEEPS_NOTHING,
        **dict.fromkeys(("list", "block"), "kept of adding one and of searches alone"),
        "add_many": "100 times what one takes",
    }
    options = f"-c search_path={SCHEMA},public"

    def __init__(self, keepsake: InProcess, database_url: str) -> None:
        super().__init__(keepsake, database_url)
        self._revs = count(_FIRST_REV)

    def contents(self, person: str, ids: Sequence[str]) -> Sequence[str]:
        """Return the contents of memories in the earlier table."""
        rows = self._connection.execute("SELECT id, content FROM memories_memory WHERE id = ANY (%s)", [list(ids)])
        found = dict(rows.fetchall())
        return [found.get(memory_id, "") for memory_id in ids]

    def _as_it_was(self, sent: Statement, person: str) -> Statement:
        """Return the earlier search statement with the current one's values; vectors were sent as text."""
        text, values, kind = sent
        rows = present_shape(self._keepsake.principal(person), Narrowing())
        now = searching._hybrid(rows, PRESENT_COLUMNS, None, False)
        if text != now.text:
            return sent
        named = {"without": [], **dict(zip(now.parameters, map(_written, values), strict=True))}
        before = _search_before(rows)
        return before.text, [named[name] for name in before.parameters], kind

    def note(self, work: str, *arguments: Any) -> None:
        """Record Keepsake's call and fill the earlier statements with its values."""
        super().note(work, *arguments)
        if work == "search":
            self._noted = [self._as_it_was(each, arguments[0]) for each in self._noted]
            return
        stored = next(params for text, params, _ in self._noted if "INSERT INTO memories_memory (" in text)
        (row,) = orjson.loads(stored[0])
        vector = _written(stored[1][0])
        counts = dict.fromkeys(_LEDGER, 0)
        values = {
            **counts,
            **row,
            "embedding": vector,
            "rev": next(self._revs),
            "actor": "agent",
            "actor_id": row["user_id"],
            "meta": Jsonb({}),
            "positions": [0],
            "fingerprints": [row["fingerprint"]],
            "vectors": [vector],
            "no": None,
            "suppressed": 0.97,
            "near": 0.86,
            "most": 8,
        }
        inlined = {"user": row["user_id"], "model": row["embedding_model"]}
        self._noted = [
            (_inline(text, inlined), values | ({"rev": 1} if "UPDATE" in text[:8] else {}), psycopg.Cursor)
            for text in _STATEMENTS
        ]


def make_tables(connection: psycopg.Connection[Any], role: str, rows: int) -> None:
    """Recreate the earlier tables and copy the current rows. ``role`` is granted reading and writing."""
    connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(SCHEMA)))
    tables, keys = TABLES.read_text(encoding="utf-8").split(_BEFORE_AND_AFTER_ROWS)
    connection.execute(tables.encode())
    for table in _FILLED:
        columns = connection.execute(
            "SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns"
            " WHERE table_schema = %s AND table_name = %s AND is_generated = 'NEVER' AND is_identity = 'NO'",
            [SCHEMA, table],
        ).fetchall()[0][0]
        connection.execute(
            f"INSERT INTO {SCHEMA}.{table} ({columns}) SELECT {columns} FROM public.{table} ORDER BY ctid".encode()
        )
    with building(connection, rows):
        connection.execute(("--" + keys).encode())
        granted = f"GRANT USAGE ON SCHEMA {SCHEMA} TO {{role}}; GRANT ALL ON ALL TABLES IN SCHEMA {SCHEMA} TO {{role}}"
        connection.execute(granted.replace("{role}", f'"{role}"').encode())
        for table in _FILLED:
            connection.execute(f"VACUUM ANALYZE {SCHEMA}.{table}".encode())
    connection.execute("RESET search_path")


def _written(value: Any) -> Any:
    """Return a parameter in the earlier format: vectors as text."""
    return value.to_text() if isinstance(value, HalfVector) else value


@lru_cache(maxsize=1)
def _search_before(rows: Shaped) -> prepared.PreparedStatement:
    """Build the earlier search statement over these rows, with the current parameter names."""
    built = rows.build().order_by()
    text = re.sub(r"\s+", " ", re.sub(r"--[^\n]*\n", "\n", _SEARCH.read_text(encoding="utf-8")))
    columns = [each for each in PRESENT_COLUMNS if each not in _COLUMNS_SINCE]
    names = ", ".join(["id", *(f"c{number}" for number in range(len(columns)))])
    read = ("pk", "search_config", "search", "search_length", Value(0.0), "embedding_model", "embedding")
    querysets = {"rows": built.values_list(*read), "details": built.values_list("pk", *columns)}
    text = text.replace("{detail_names}", names)
    return prepared.build_statement(text, querysets, placeholders=rows.values.keys(), lasting=True)


def _inline(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text
