"""Doubts: marks on statements that may be out of date because a statement they depend on has changed.

The person decides about them; the marked statements are not changed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from conversations.actions import Cause
from journal.actions import LedgerWrite

from ..models import Doubt


@dataclass(frozen=True, slots=True)
class ChangedStatement:
    """A statement that was corrected, withheld or erased, and the messages that it was learned from."""

    object_type: str
    object_id: str
    message_ids: Collection[UUID]


Finder = Callable[[UUID, ChangedStatement], Iterable[object]]
_finders: dict[str, Finder] = {}


def register_doubt_finder(object_type: str, find: Finder) -> None:
    """Register the function that finds the active and waiting statements of a type that depend on a changed one."""
    _finders[object_type] = find


def doubt_dependents(write: LedgerWrite, user_id: UUID, changed: ChangedStatement, rev: int) -> None:
    """Store a doubt, with revision ``rev``, for each statement that depends on ``changed``.

    The caller holds the person's ledger lock.
    """
    found = [
        Doubt(user_id=user_id, object_type=object_type, object_id=str(pk), rev=rev, created_at=timezone.now())
        for object_type, find in _finders.items()
        for pk in find(user_id, changed)
        if (object_type, str(pk)) != (changed.object_type, changed.object_id)
    ]
    _store(found)


def doubt_statement(user_id: UUID, object_type: str, object_id: str, rev: int) -> None:
    """Store a doubt about a statement that something said since may put out of date; ``rev`` is its change's.

    The caller holds the person's ledger lock.
    """
    _store([Doubt(user_id=user_id, object_type=object_type, object_id=object_id, rev=rev, created_at=timezone.now())])


def _store(doubts: Sequence[Doubt]) -> None:
    """Store doubts, each in the place of an earlier one about the same statement."""
    Doubt.objects.bulk_create(
        doubts,
        update_conflicts=True,
        unique_fields=["user", "object_type", "object_id"],
        update_fields=["rev", "created_at"],
    )


def doubt_withheld(write: LedgerWrite, user_id: UUID, message_ids: Collection[UUID], cause: Cause) -> None:
    """Store doubts for what depends on withheld messages, except for the cause of the withholding."""
    doubt_dependents(write, user_id, ChangedStatement(cause.type, cause.id, message_ids), write.ledgers[user_id].rev)


def doubts_drop(user_id: UUID, undone: Sequence[tuple[int, int]]) -> None:
    """Delete the doubts caused by undone actions, given as sorted (first, last) revisions."""
    if not undone:
        return
    firsts = [first for first, _ in undone]
    rows = Doubt.objects.filter(user_id=user_id, rev__range=(undone[0][0], max(last for _, last in undone)))
    gone = [pk for pk, rev in rows.values_list("pk", "rev") if rev <= undone[bisect_right(firsts, rev) - 1][1]]
    Doubt.objects.filter(pk__in=gone).delete()
