"""Undo steps: an object's previous values for each change, stored in the same statement as the log of changes."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from django.db import connection, models

from .ledgers import save_ledgers
from .models import Change, Ledger

Key = TypeVar("Key")

TOUCHED = ("suppressions", "relations", "proposals", "doubts")
"""Names of the lists in ``before`` with what else a change touched."""


@dataclass(frozen=True, slots=True)
class PendingUndoStep:
    """An undo step to be stored: an object's previous values, and its last revision in the transaction."""

    ledger_id: uuid.UUID
    rev: int
    object_type: str
    object_id: str
    before: Mapping[str, Any]


Span = tuple[int, int]
"""The first and the last of revisions that follow each other, as those of an action do."""


@dataclass(slots=True)
class RevisionRange:
    """The revisions that watched actions took of a ledger, without those that others took between two of them."""

    ledger_id: uuid.UUID | None
    spans: list[Span] = field(default_factory=list)


_watched: ContextVar[RevisionRange | None] = ContextVar("revisions_watched", default=None)


@contextmanager
def watch_revisions(ledger_id: uuid.UUID | None) -> Iterator[RevisionRange]:
    """Record the revisions that actions inside the block add to a ledger, so that a page can offer to undo them."""
    taken = RevisionRange(ledger_id)
    token = _watched.set(taken)
    try:
        yield taken
    finally:
        _watched.reset(token)


def report_revisions(ledger_id: uuid.UUID, before: int, now: int) -> None:
    """Add a transaction's revisions to the range of ``watch_revisions``, if the ledger is watched."""
    taken = _watched.get()
    if taken is not None and taken.ledger_id == ledger_id and now > before:
        follows = taken.spans and taken.spans[-1][1] == before
        first = taken.spans.pop()[0] if follows else before + 1
        taken.spans.append((first, now))


_CHANGE = ("ledger_id", "rev", "event", "object_type", "object_id", "old_version", "new_version", "actor_kind",
           "actor_id", "conversation_id", "meta")  # fmt: skip


def store_changes(
    changes: Sequence[Change],
    steps: Sequence[PendingUndoStep],
    actions: Mapping[uuid.UUID, int],
    ledgers: Sequence[Ledger],
) -> None:
    """Store a transaction's changes, undo steps and ledgers in one statement.

    ``actions`` maps a ledger to the transaction's first revision of it.
    """
    logged = [{name: getattr(change, name) for name in _CHANGE} for change in changes]
    undoable = [
        {"ledger_id": step.ledger_id, "rev": step.rev, "action": actions[step.ledger_id],
         "object_type": step.object_type, "object_id": step.object_id, "before": step.before}
        for step in _first_per_object(changes, steps)
    ]  # fmt: skip
    save_ledgers(ledgers, as_json(logged), as_json(undoable))


def _first_per_object(changes: Sequence[Change], steps: Sequence[PendingUndoStep]) -> list[PendingUndoStep]:
    """Merge the steps of each object: its values before the transaction, under its last revision in it."""
    last = {(change.ledger_id, change.object_type, change.object_id): change.rev for change in changes}
    merged: dict[tuple[uuid.UUID, str, str], Mapping[str, Any]] = {}
    for step in reversed(steps):
        key = (step.ledger_id, step.object_type, step.object_id)
        merged[key] = merge_before(merged.get(key, {}), step.before)
    return [PendingUndoStep(key[0], last[key], key[1], key[2], before) for key, before in merged.items() if key in last]


def merge_before(later: Mapping[str, Any], earlier: Mapping[str, Any]) -> dict[str, Any]:
    """Merge an object's previous values of two changes. Lists of ``TOUCHED`` are joined, the earlier first."""
    lists = {name: [*value, *later.get(name, [])] for name, value in earlier.items() if name in TOUCHED}
    return {**later, **earlier, **lists}


def as_json(value: Any) -> str:
    """Serialise column values as JSON, with times to the microsecond."""
    return json.dumps(value, default=lambda each: each.isoformat() if isinstance(each, datetime) else str(each))


def update_rows(model: type[models.Model], targets: Mapping[Key, Mapping[str, Any]]) -> dict[Key, dict[str, Any]]:
    """Update many rows, each with its own values, in one statement. Returns the previous values that changed, by id.

    The caller has locked the ledger. Vector columns are not supported. OFFSET 0 keeps the planner from computing a
    row's record again for every column.
    """
    if not targets:
        return {}
    table, key = model._meta.db_table, model._meta.pk
    assert key is not None
    columns = sorted({name for target in targets.values() for name in target})
    put = ", ".join(f"{name} = (wanted.row_now).{name}" for name in columns)
    was = ", ".join(f"'{name}', old.{name}" for name in columns)
    rows = [{"id": each, "target": target} for each, target in targets.items()]
    statement = f"""
    UPDATE {table} AS target SET {put}
    FROM (
        SELECT stored.id, jsonb_populate_record(stored, given.target) AS row_now
        FROM jsonb_to_recordset(%s::jsonb) AS given (id {key.db_type(connection)}, target jsonb)
        JOIN {table} AS stored ON stored.id = given.id
        OFFSET 0
    ) AS wanted
    WHERE target.id = wanted.id
    RETURNING target.id, jsonb_build_object({was}), jsonb_build_object({was.replace("old.", "new.")})
    """  # noqa: S608 - names of our own columns
    with connection.cursor() as cursor:
        cursor.execute(statement, [as_json(rows)])
        found = [(each, json.loads(was), json.loads(now)) for each, was, now in cursor.fetchall()]
    return {each: {name: was[name] for name in was if was[name] != now[name]} for each, was, now in found}


@dataclass(frozen=True, slots=True)
class UndoTarget:
    """An object to restore. ``before`` holds its previous values, or ``created`` if it did not exist.

    ``revs`` are the revisions to undo, ``actions`` the first revisions of their transactions, ``events`` their events.
    """

    object_id: str
    before: Mapping[str, Any]
    revs: Sequence[int]
    actions: frozenset[int]
    events: frozenset[str]


@dataclass(frozen=True, slots=True)
class NotUndone:
    """A revision that was not undone, and the code of why."""

    rev: int
    why: str


@dataclass(frozen=True, slots=True)
class Undone:
    """The result of an undo: the restored objects by type and id, and the revisions that were not undone.

    ``first`` and ``last`` are the revisions of the undo itself, which can be undone as well.
    """

    objects: Sequence[tuple[str, str]] = field(default_factory=tuple)
    left: Sequence[NotUndone] = field(default_factory=tuple)
    first: int = 0
    last: int = 0

    @property
    def undone(self) -> int:
        """How many objects were restored."""
        return len(self.objects)
