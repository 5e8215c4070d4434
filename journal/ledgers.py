"""The statements that every write needs: they are put together once a process, and prepared on each connection."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from functools import cache

import orjson
from django.db import DEFAULT_DB_ALIAS, connection, models

from retrieval.prepared import Statement, put_together

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

_LEDGER = [column.attname for column in Ledger._meta.concrete_fields]
_SAVED = ["id", "rev", *COUNTS]


def lock_ledgers(ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Ledger]:
    """Lock the ledgers of these owners in the order of their ids, and read them. One that is gone is not there."""
    rows = _lock().run({"ids": list(ids)})
    return {row[0]: Ledger.from_db(DEFAULT_DB_ALIAS, _LEDGER, row) for row in rows}


def save_ledgers(ledgers: Sequence[Ledger]) -> None:
    """Write revisions and counts back. One statement."""
    rows = [{name: getattr(ledger, name) for name in _SAVED} for ledger in ledgers]
    _save().run({"rows": orjson.dumps(rows).decode()})


@cache
def _lock() -> Statement:
    return _made("SELECT {columns} FROM journal_ledger WHERE id = ANY ({ids}::uuid[]) ORDER BY id FOR UPDATE", Ledger)


@cache
def _save() -> Statement:
    counts = ", ".join(f"{name} = given.{name}" for name in _SAVED[1:])
    template = "UPDATE journal_ledger AS ledger SET {counts} FROM {given} WHERE ledger.id = given.id"
    return _made(template.replace("{counts}", counts), Ledger, _SAVED)


def _made(template: str, model: type[models.Model], names: Sequence[str] = _LEDGER) -> Statement:
    """A statement about some columns of a table; ``{given}`` are rows of them that come as JSON."""
    types = ", ".join(f"{name} {model._meta.get_field(name).db_type(connection)}" for name in names)
    given = f"jsonb_to_recordset({{rows}}::jsonb) AS given ({types})"
    return put_together(template.replace("{columns}", ", ".join(names)).replace("{given}", given), {}, lasting=True)
