"""Many facts of one person set each to its own columns, in as many statements for a thousand as for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from journal.actions import LedgerWrite
from journal.queue import enqueue
from journal.steps import rewrite

from ..models import LegacyFact
from ..policy import State, Visibility
from .single import NOT_KEPT, Standing, tell_legacy

GONE = frozenset({State.ARCHIVED, State.REJECTED})


@dataclass(slots=True)
class Move:
    """A fact, the columns that it gets, what is logged, and what it touched beside it for the undo."""

    fact: LegacyFact
    target: dict[str, Any]
    logged: Sequence[tuple[str, dict[str, Any]]]
    before: dict[str, Any] = field(default_factory=dict)
    first_rev: int = 0

    def value(self, name: str) -> Any:
        """What a column of the fact will hold."""
        return self.target.get(name, getattr(self.fact, name))


def going(state: str, now: datetime, reason: str | None = None) -> dict[str, Any]:
    """The columns of a fact that is archived or rejected."""
    said = {} if reason is None else {"state_reason": reason}
    return {"state": state, "deleted_at": now, "purge_at": now + timedelta(days=settings.ARCHIVE_DAYS), **said}


def active(reviewed_at: datetime | None) -> dict[str, Any]:
    """The columns of a fact that counts."""
    free = dict.fromkeys(("hidden_at", "quarantined_at", "deleted_at", "purge_at"))
    return {"state": State.ACTIVE, "state_reason": "", "reviewed_at": reviewed_at, **free}


def compared(now: datetime) -> dict[str, Any]:
    """The columns of a fact that is compared with its neighbours again, in the background."""
    return {"index_not_before": now, "index_attempts": 0}


def change_many(write: LedgerWrite, user_id: UUID, moves: Sequence[Move]) -> None:
    """Log, store and count what is done to facts of a person; their ledger and those of the legacies are locked."""
    if not moves:
        return
    now = timezone.now()
    for move in moves:
        move.target |= _derived(move, now)
        for event, meta in move.logged:
            rev = write.change(
                user_id,
                event,
                "fact",
                move.fact.pk,
                old_version=move.fact.version if move.value("version") != move.fact.version else None,
                new_version=move.value("version"),
                **meta,
            )
            move.first_rev = move.first_rev or rev
    was = rewrite(LegacyFact, {move.fact.pk: move.target for move in moves})
    for move in moves:
        before = {name: value for name, value in was[move.fact.pk].items() if name not in NOT_KEPT}
        write.undoable(user_id, "fact", move.fact.pk, {**before, **move.before})
        tell_legacy(write, move.fact, Standing.of(move.fact), _standing(move))
    if any(move.target.get("index_not_before") for move in moves):
        # One task, since a thousand would take longer than the decision.
        enqueue("facts.index")


def _derived(move: Move, now: datetime) -> dict[str, Any]:
    """What follows from how a fact stands: since when, and that nothing is shared that is not active."""
    if move.value("state") != State.ACTIVE:
        since: dict[str, Any] = {"active_since": None, "visibility": Visibility.PRIVATE, "shared_since": None}
        return {"updated_at": now, **since}
    since = {} if move.fact.state == State.ACTIVE else {"active_since": now}
    if move.value("visibility") != Visibility.SHARED:
        since["shared_since"] = None
    elif move.fact.visibility != Visibility.SHARED:
        since["shared_since"] = now
    return {"updated_at": now, **since}


def _standing(move: Move) -> Standing:
    return Standing(
        terms=move.value("search_length"),
        active=move.value("state") == State.ACTIVE,
        shared=move.value("visibility") == Visibility.SHARED,
        version=move.value("version"),
    )
