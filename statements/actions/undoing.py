"""Undo of changes to facts or memories: the parts that are the same for both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar, Generic
from uuid import UUID

from django.db import connection
from django.utils import timezone

from accounts.principals import Principal
from journal.actions import LedgerWrite
from journal.steps import UndoTarget

from ..models import StatementKind, StatementVersion, Suppression
from ..querysets import Row
from ..wording import Embedded
from .many import Move, keep_suppressed
from .rejected import knows_rejected
from .single import GONE
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


@dataclass
class StatementsUndo(Generic[Row]):
    """Restores statements of one person, under the locks of their ledgers.

    ``earlier`` are the versions to restore by the statement's id, ``left`` error codes by id.
    """

    kind: ClassVar[StatementKind[Any]]

    write: LedgerWrite
    principal: Principal
    user_id: UUID
    wanted: Sequence[UndoTarget]
    earlier: Mapping[str, Any]
    now: datetime = field(default_factory=timezone.now)
    left: dict[str, str] = field(default_factory=dict)

    def run(self, rows: Iterable[Row]) -> Mapping[str, str]:
        """Restore what is possible. Returns the error codes of the others, by id."""
        by_id = {str(row.pk): row for row in rows}
        moves = []
        for each in self.wanted:
            row = by_id.get(each.object_id)
            found = "not_there" if row is None else self.move(row, each)
            if isinstance(found, str):
                self.left[each.object_id] = found
            elif found is not None:
                moves.append(found)
        moves = self.that_fit(moves)
        befores = {each.object_id: each.before.get("suppressions", []) for each in self.wanted}
        suppressions = {move.row.pk: befores[str(move.row.pk)] for move in moves}
        keep_suppressed(moves, suppressions_undo(self.kind.model, self.user_id, suppressions))
        self.store(moves)
        return self.left

    def move(self, row: Row, each: UndoTarget) -> Move[Row] | str | None:
        """Return the change that restores a statement, the code of why it can't be restored, or None for no change."""
        raise NotImplementedError

    def that_fit(self, moves: Sequence[Move[Row]]) -> list[Move[Row]]:
        """Return the changes without a conflict or a later rejection, and add the codes of the others to ``left``."""
        raise NotImplementedError

    def store(self, moves: Sequence[Move[Row]]) -> None:
        """Store the changes."""
        raise NotImplementedError


def rejected_again(
    kind: StatementKind[Row],
    principal: Principal,
    user_id: UUID,
    moves: Sequence[Move[Row]],
    earlier: Mapping[str, StatementVersion],
) -> dict[Any, str]:
    """Return the error codes, by id, of changes by an agent that bring back what the person rejected.

    That is restored statements and wordings, those of ``earlier`` versions by the statement's id. What waits for the
    person may resemble something rejected.
    """
    reworded = {move.row.pk for move in moves if "content" in move.target and not principal.speaks_as_person}
    by_itself = () if principal.decides_what_returns else moves
    returned = {move.row.pk for move in by_itself if move.row.state in GONE and move.state not in GONE} - reworded
    stored = kind.rows.defer(*kind.not_read).in_bulk(returned) if returned else {}
    by_legacy: dict[UUID | None, list[tuple[Move[Row], Embedded]]] = defaultdict(list)
    for move in moves:
        if move.row.pk in reworded | returned:
            said = stored.get(move.row.pk) or earlier[str(move.row.pk)]
            by_legacy[kind.legacy_of(move.row)].append((move, _as_said(said, getattr(move.row, "verbatim", False))))
    left = {}
    for legacy_id, said_again in by_legacy.items():
        found = Suppression.objects.matches(user_id, [text for _, text in said_again], legacy_id=legacy_id)
        ids = {pk for against in found for pk in (*against.words, *against.meaning)}
        of = dict(Suppression.objects.filter(pk__in=ids).values_list("pk", "object_id")) if ids else {}
        for (move, _), against in zip(said_again, found, strict=True):
            # What is suppressed for the statement itself was replaced by the change that is undone.
            words, meaning = (
                [pk for pk in pks if of[pk] != str(move.row.pk)] for pks in (against.words, against.meaning)
            )
            if words or (move.state == "active" and (meaning or against.near)):
                left[move.row.pk] = "rejected_before" if knows_rejected(principal, user_id, words) else "not_yours"
    return left


def _as_said(said: Any, verbatim: bool) -> Embedded:
    """Return the text of a stored statement or version. Versions of facts have no vector."""
    vector, model = getattr(said, "embedding", None), getattr(said, "embedding_model", "")
    return replace(Embedded.again(said.content, vector, model), verbatim=verbatim, free=verbatim)


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
