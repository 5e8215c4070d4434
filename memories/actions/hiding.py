"""Hiding memories that wait for their erasure."""

from __future__ import annotations

from collections.abc import Collection

from accounts import policy as accounts_policy
from accounts.principals import Principal
from journal.actions import ledger_write
from statements.actions import GONE, PRESENT
from statements.actions.many import LogEntry, Move
from statements.models import ERASURE_WAITS

from ..models import Memory
from ..policy.writing import Why
from .bulk import archive_many
from .many import change_many, for_bulk
from .transitions import states_before


def memories_hide(principal: Principal, ids: Collection[str]) -> None:
    """Archive the person's memories so that agents don't see them, with ``ERASURE_WAITS``. Undo shows them again.

    Those already archived or rejected get this reason too. Raises NotYoursToDecide.
    """
    user_id = accounts_policy.must_decide(principal)
    with ledger_write(principal.actor, user_id) as write:
        rows = Memory.objects.visible_to(principal).filter(pk__in=ids)
        rows = rows.exclude(state__in=GONE, state_reason=ERASURE_WAITS)
        found = list(for_bulk(rows).order_by("created_at", "id"))
        present, gone = ([each for each in found if each.state in states] for states in (PRESENT, GONE))
        archive_many(write, user_id, present, Why.PERSON, reason=ERASURE_WAITS)
        if gone:
            before = states_before(user_id, gone)
            change_many(
                write,
                user_id,
                [
                    Move(memory, {"state_reason": ERASURE_WAITS}, [LogEntry("DELETE", _meta(before.get(memory.pk)))])
                    for memory in gone
                ],
            )


def _meta(before: str | None) -> dict[str, str]:
    """What a restore reads: the state before the memory was archived or rejected."""
    return {"why": Why.PERSON} | ({"was": before} if before else {})
