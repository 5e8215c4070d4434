"""The SQL statements that every write needs, built once a process and prepared on each connection."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from functools import cache

import orjson
from django.db import DEFAULT_DB_ALIAS, connection, models
from django.utils import timezone

from retrieval.prepared import PreparedStatement, build_statement

from .models import Ledger

COUNTS = (
    "turns",
    "turn_terms",
    "chunks",
    "chunk_terms",
    "facts",
    "fact_terms",
    "memories",
    "memory_terms",
    "block_tokens",
)

_SAVE = """
WITH logged AS (
    INSERT INTO journal_change (ledger_id, rev, event, object_type, object_id, old_version, new_version, actor_kind,
        actor_id, conversation_id, meta, at)
    SELECT ledger_id, rev, event, object_type, object_id, old_version, new_version, actor_kind, actor_id,
        conversation_id, meta, {now}::timestamptz
    FROM jsonb_to_recordset({changes}::jsonb) AS change (ledger_id uuid, rev bigint, event text, object_type text,
        object_id text, old_version int, new_version int, actor_kind text, actor_id text, conversation_id uuid,
        meta jsonb)
), undoable AS (
    INSERT INTO journal_undostep (ledger_id, rev, action, object_type, object_id, before, at)
    SELECT ledger_id, rev, action, object_type, object_id, before, {now}::timestamptz
    FROM jsonb_to_recordset({steps}::jsonb) AS step (ledger_id uuid, rev bigint, action bigint, object_type text,
        object_id text, before jsonb)
)
UPDATE journal_ledger AS ledger SET {counts} FROM {given} WHERE ledger.id = given.id
"""

_LEDGER = [column.attname for column in Ledger._meta.concrete_fields]
_SAVED = ["id", "rev", *COUNTS, "untold_from"]


def lock_ledgers(ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Ledger]:
    """Lock the ledgers of these owners in id order, and return those that exist by id."""
    rows = _lock().run({"ids": list(ids)})
    return {row[0]: Ledger.from_db(DEFAULT_DB_ALIAS, _LEDGER, row) for row in rows}


def save_ledgers(ledgers: Sequence[Ledger], changes: str, steps: str) -> None:
    """Store revisions and counts, and insert the changes and undo steps given as JSON, in one statement."""
    rows = [{name: getattr(ledger, name) for name in _SAVED} for ledger in ledgers]
    values = {"now": timezone.now(), "changes": changes, "steps": steps, "rows": orjson.dumps(rows).decode()}
    _save().run(values)


@cache
def _lock() -> PreparedStatement:
    return _made("SELECT {columns} FROM journal_ledger WHERE id = ANY ({ids}::uuid[]) ORDER BY id FOR UPDATE", Ledger)


@cache
def _save() -> PreparedStatement:
    counts = ", ".join(f"{name} = given.{name}" for name in _SAVED[1:])
    return _made(_SAVE.replace("{counts}", counts), Ledger, _SAVED)


def _made(template: str, model: type[models.Model], names: Sequence[str] = _LEDGER) -> PreparedStatement:
    """Build a statement with the columns ``names`` of a table; ``{given}`` stands for rows of them passed as JSON."""
    types = ", ".join(f"{name} {model._meta.get_field(name).db_type(connection)}" for name in names)
    given = f"jsonb_to_recordset({{rows}}::jsonb) AS given ({types})"
    return build_statement(template.replace("{columns}", ", ".join(names)).replace("{given}", given), {}, lasting=True)
