"""Actions of staff on facts: those of ``Moderation``, and hiding. They raise the same errors."""

from __future__ import annotations

from uuid import UUID

from django.db.models import prefetch_related_objects

from accounts.models import Preferences
from accounts.principals import Principal
from statements.actions import Moderation

from ..models import LegacyFact
from ..policy import State
from .single import FactWrite
from .transitions import must_be_no_twin, reject


def fact_hide(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Hide an active fact from everybody but its author, who sees the reason, and staff."""
    with _STAFF.write(principal, fact_id, reason, State.ACTIVE) as change:
        change.leave(State.HIDDEN, reason=change.meta["reason"])
        change.fact.hidden_at = change.now
        change.log("HIDE")
    return change.fact


def fact_unhide(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Make a hidden fact active and private again. Its author can share it again."""
    with _STAFF.write(principal, fact_id, reason, State.HIDDEN) as change:
        change.activate(reviewed=False)
        change.log("RESTORE")
    return change.fact


def _end_quarantine(change: FactWrite, resembles: str) -> None:
    if resembles or Preferences.objects.filter(user_id=change.fact.user_id, review="before").exists():
        change.leave(State.PROPOSED, reason=resembles)
    else:
        change.activate(reviewed=False)
    change.fact.reviewed_at = None
    change.compare_later()
    change.log("RESTORE")


_STAFF = Moderation(
    FactWrite,
    with_evidence=lambda fact: prefetch_related_objects([fact], "evidence"),
    hold_back=FactWrite.hold_back,
    end_quarantine=_end_quarantine,
    reject=reject,
    must_fit=must_be_no_twin,
)
fact_open, fact_quarantine, fact_release = _STAFF.open, _STAFF.quarantine, _STAFF.release
fact_refuse, fact_hold_again = _STAFF.refuse, _STAFF.hold_again
