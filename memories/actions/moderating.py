"""What staff do about memories: look at one, hold it back, release or refuse it, take that back.

Each raises NotAllowed for anybody but staff, Refused (400) without a reason, NotFound, Conflict (409 ``wrong_state``).
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from django.db.models import Prefetch

from accounts.models import Preferences
from accounts.principals import Principal
from accounts.queries import principal_for_person
from statements.actions import moderated, must_be_by_staff, resemblance

from .. import queries
from ..models import MEMORY, Memory, MemoryVersion, Proposal
from ..policy import writing
from ..policy.writing import State, Why
from .proposing import end_create
from .single import MemoryWrite, memory_write
from .transitions import hold_again, reject, wait_again


def memory_open(principal: Principal, memory_id: str, reason: str) -> Memory:
    """Read a memory's text and the words that bear it out, for a reason that its person finds in its history.

    Returns the memory with its current version and the evidence of that in ``current``, a list of one; nothing of it is
    stored in the log.
    """
    versions = MemoryVersion.objects.filter(recorded_to__isnull=True).only("memory_id", "number")
    current = Prefetch("versions", versions.prefetch_related("evidence"), to_attr="current")
    rows = Memory.objects.visible_to(principal).prefetch_related(current)
    with moderated(principal, reason, memory_write(principal, rows, memory_id)) as change:
        change.log("OPEN")
    return change.memory


def memory_quarantine(principal: Principal, memory_id: str, reason: str) -> Memory:
    """Take a memory out of every prompt until staff have looked at it; the person sees the reason."""
    with moderated(principal, reason, _locked(principal, memory_id, State.ACTIVE, State.PROPOSED)) as change:
        end_create(change, Proposal.State.LAPSED)
        change.leave(State.QUARANTINED, reason=change.meta["reason"])
        change.log("QUARANTINE")
    return change.memory


def memory_release(principal: Principal, memory_id: str, reason: str) -> Memory:
    """Let a quarantined memory count as it did, or wait for the person when it has to."""
    with moderated(principal, reason, _locked(principal, memory_id, State.QUARANTINED)) as change:
        resembles = resemblance(change)
        if resembles or _must_ask(change.memory):
            wait_again(change, resembles)
        else:
            change.activate(change.log("RESTORE"), reviewed=False)
    return change.memory


def memory_refuse(principal: Principal, memory_id: str, reason: str) -> Memory:
    """Reject a quarantined memory: it can't be learned again, and the person can't bring it back past staff."""
    with moderated(principal, reason, _locked(principal, memory_id, State.QUARANTINED)) as change:
        reject(change, Why.STAFF, change.meta["reason"])
    return change.memory


def memory_hold_again(principal: Principal, memory_id: str, reason: str) -> Memory:
    """Take staff's refusal back: the memory is held back as before, and may be learned again once it is released.

    Raises Conflict also when its person rejected it, or has the same again (``similar_exists``).
    """
    with moderated(principal, reason, _locked(principal, memory_id, State.REJECTED)) as change:
        must_be_by_staff(change.memory.user_id, MEMORY.name, memory_id)
        hold_again(change, principal_for_person(change.memory.user_id), change.meta["reason"])
    return change.memory


def _locked(principal: Principal, memory_id: str, *states: State) -> AbstractContextManager[MemoryWrite]:
    return memory_write(principal, Memory.objects.visible_to(principal), memory_id, *states)


def _must_ask(memory: Memory) -> bool:
    """Whether a memory that staff release has to wait for the person, as it would have when it was written."""
    if memory.reviewed_at is not None:
        return writing.single_valued(memory.field) and queries.holder(memory.user_id, memory.field) is not None
    before = Preferences.objects.filter(user_id=memory.user_id, review=Preferences.Review.BEFORE)
    return bool(memory.field) or before.exists()
