"""Undo of changes to facts or memories: the parts that are the same for both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from journal.actions import LedgerWrite
from journal.steps import UndoTarget

from ..models import StatementKind
from ..querysets import Row
from .many import Move, keep_suppressed
from .suppressions import suppressions_undo

_END = """
UPDATE {versions} AS version SET recorded_to = %(now)s, recorded_to_rev = moved.rev
FROM unnest(%(ids)s::{key}[], %(revs)s::bigint[]) AS moved (id, rev)
WHERE version.{name}_id = moved.id AND version.recorded_to IS NULL
"""
_BEGIN = """
INSERT INTO {versions} ({name}_id, number, recorded_from, recorded_from_rev, actor_kind, actor_id, {worded}{blank})
SELECT stated.id, stated.version, %(now)s, moved.rev, %(actor_kind)s, %(actor_id)s, {worded}{blanks}
FROM unnest(%(ids)s::{key}[], %(revs)s::bigint[]) AS moved (id, rev)
JOIN {rows} AS stated ON stated.id = moved.id
"""


def wordings_before(kind: StatementKind[Row], wanted: Sequence[UndoTarget], *columns: str) -> dict[str, Any]:
    """Return the versions that changes of wording replaced, by the statement's id, with only these columns."""
    numbers = {each.object_id: each.before["version"] for each in wanted if "version" in each.before}
    if not numbers:
        return {}
    of, rows = f"{kind.name}_id", kind.versions._default_manager
    found = rows.filter(**{f"{of}__in": numbers}, number__in=set(numbers.values())).only(of, "number", *columns)
    by_id = ((str(getattr(version, of)), version) for version in found)
    return {pk: version for pk, version in by_id if version.number == numbers[pk]}


def plan_restores(
    wanted: Sequence[UndoTarget],
    rows: Mapping[str, Row],
    restore: Callable[[Row, UndoTarget], Move[Row] | str | None],
) -> tuple[list[Move[Row]], dict[str, str]]:
    """Return the changes that restore statements, and the error codes of those that can't be restored, by id.

    ``restore`` returns the change of one, its error code, or None if nothing differs. ``rows`` are by id.
    """
    moves, left = [], {}
    for each in wanted:
        row = rows.get(each.object_id)
        found = "not_there" if row is None else restore(row, each)
        if isinstance(found, str):
            left[each.object_id] = found
        elif found is not None:
            moves.append(found)
    return moves, left


def restore_suppressions(
    kind: StatementKind[Row], user_id: UUID, wanted: Sequence[UndoTarget], moves: Sequence[Move[Row]]
) -> None:
    """Restore the suppressions that the undone changes added or removed, before ``move_many``."""
    befores = {each.object_id: each.before.get("suppressions", []) for each in wanted}
    stood = suppressions_undo(kind.model, user_id, {move.row.pk: befores[str(move.row.pk)] for move in moves})
    keep_suppressed(moves, stood)


def store_versions(
    kind: StatementKind[Row], write: LedgerWrite, moves: Sequence[Move[Row]], now: datetime, blank: Sequence[str] = ()
) -> None:
    """Store the wordings of reworded statements as their next versions, in two statements, after ``move_many``.

    ``blank``: text columns of the versions that a restored wording leaves empty.
    """
    key = kind.model._meta.pk
    assert key is not None
    names = {
        "name": kind.name,
        "rows": kind.model._meta.db_table,
        "versions": kind.versions._meta.db_table,
        "key": key.db_type(connection),
        "worded": ", ".join(kind.worded),
        "blank": "".join(f", {name}" for name in blank),
        "blanks": ", ''" * len(blank),
    }
    values: dict[str, Any] = {
        "now": now,
        "ids": [move.row.pk for move in moves],
        "revs": [move.first_rev for move in moves],
        "actor_kind": write.actor.kind,
        "actor_id": write.actor.id,
    }
    with connection.cursor() as cursor:
        for statement in (_END, _BEGIN):
            cursor.execute(statement.format(**names), values)
