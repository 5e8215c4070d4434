"""Actions of staff on memories: those of ``Moderation``."""

from __future__ import annotations

from django.db.models import Prefetch, prefetch_related_objects

from accounts.models import Preferences
from statements.actions import Moderation

from .. import queries
from ..models import Memory, MemoryVersion, Proposal
from ..policy import writing
from ..policy.writing import State, Why
from .proposing import end_create
from .single import MemoryWrite
from .transitions import must_fit, reject, wait_again


def _with_evidence(memory: Memory) -> None:
    """Read the current version with its evidence into ``current``, a list of one."""
    versions = MemoryVersion.objects.filter(recorded_to__isnull=True).only("memory_id", "number")
    prefetch_related_objects([memory], Prefetch("versions", versions.prefetch_related("evidence"), to_attr="current"))


def _hold_back(change: MemoryWrite, reason: str) -> None:
    end_create(change, Proposal.State.LAPSED)
    change.leave(State.QUARANTINED, reason=reason)
    change.log("QUARANTINE")


def _end_quarantine(change: MemoryWrite, resembles: str) -> None:
    if resembles or _must_ask(change.memory):
        wait_again(change, resembles)
    else:
        change.activate(change.log("RESTORE"), reviewed=False)


def _must_ask(memory: Memory) -> bool:
    """Whether a released memory must wait for the person, as when it was written."""
    if memory.reviewed_at is not None:
        return writing.single_valued(memory.field) and queries.holder(memory.user_id, memory.field) is not None
    before = Preferences.objects.filter(user_id=memory.user_id, review=Preferences.Review.BEFORE)
    return bool(memory.field) or before.exists()


_STAFF = Moderation(
    MemoryWrite,
    with_evidence=_with_evidence,
    hold_back=_hold_back,
    end_quarantine=_end_quarantine,
    reject=lambda change, reason: reject(change, Why.STAFF, reason),
    must_fit=lambda principal, memory: must_fit(principal, memory, active=False),
)
memory_open, memory_quarantine, memory_release = _STAFF.open, _STAFF.quarantine, _STAFF.release
memory_refuse, memory_hold_again = _STAFF.refuse, _STAFF.hold_again
