"""Staff actions on memories: open, quarantine, release, refuse, and undo a refusal.

Each raises NotAllowed for anybody but staff, Refused (400) without a reason, NotFound, Conflict (409 ``wrong_state``).
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from django.db.models import Prefetch

from accounts.models import Preferences
from accounts.principals import Principal
from accounts.queries import principal_for_person
from statements.actions import moderation_write, must_be_by_staff, reason_to_review

from .. import queries
from ..models import MEMORY, Memory, MemoryVersion, Proposal
from ..policy import writing
from ..policy.writing import State, Why
from .proposing import end_create
from .single import MemoryWrite, memory_write
from .transitions import hold_again, reject, wait_again


def memory_open(principal: Principal, memory_id: str, reason: str) -> Memory:
    """Read a memory's text and evidence, for a reason that is logged in its history, which the person sees.

    Returns the memory with its current version and evidence in ``current``, a list of one. The text is not logged.
    """
    versions = MemoryVersion.objects.filter(recorded_to__isnull=True).only("memory_id", "number")
    current = Prefetch("versions", versions.prefetch_related("evidence"), to_attr="current")
    rows = Memory.objects.visible_to(principal).prefetch_related(current)
    with moderation_write(principal, reason, memory_write(principal, rows, memory_id)) as change:
        change.log("OPEN")
    return change.memory


def memory_quarantine(principal: Principal, memory_id: str, reason: str) -> Memory:
    """Quarantine a memory until staff decide. It leaves every prompt; the person sees the reason."""
    with moderation_write(principal, reason, _locked(principal, memory_id, State.ACTIVE, State.PROPOSED)) as change:
        end_create(change, Proposal.State.LAPSED)
        change.leave(State.QUARANTINED, reason=change.meta["reason"])
        change.log("QUARANTINE")
    return change.memory


def memory_release(principal: Principal, memory_id: str, reason: str) -> Memory:
    """Release a quarantined memory: active, or proposed if it must wait for the person."""
    with moderation_write(principal, reason, _locked(principal, memory_id, State.QUARANTINED)) as change:
        resembles = reason_to_review(change)
        if resembles or _must_ask(change.memory):
            wait_again(change, resembles)
        else:
            change.activate(change.log("RESTORE"), reviewed=False)
    return change.memory


def memory_refuse(principal: Principal, memory_id: str, reason: str) -> Memory:
    """Reject a quarantined memory and suppress it. The person can't restore it."""
    with moderation_write(principal, reason, _locked(principal, memory_id, State.QUARANTINED)) as change:
        reject(change, Why.STAFF, change.meta["reason"])
    return change.memory


def memory_hold_again(principal: Principal, memory_id: str, reason: str) -> Memory:
    """Undo a refusal by staff: the memory is quarantined again, without the suppression.

    Raises Conflict also if the person rejected it, or has an equal memory (``similar_exists``).
    """
    with moderation_write(principal, reason, _locked(principal, memory_id, State.REJECTED)) as change:
        must_be_by_staff(change.memory.user_id, MEMORY.name, memory_id)
        hold_again(change, principal_for_person(change.memory.user_id), change.meta["reason"])
    return change.memory


def _locked(principal: Principal, memory_id: str, *states: State) -> AbstractContextManager[MemoryWrite]:
    return memory_write(principal, Memory.objects.visible_to(principal), memory_id, *states)


def _must_ask(memory: Memory) -> bool:
    """Whether a released memory must wait for the person, as when it was written."""
    if memory.reviewed_at is not None:
        return writing.single_valued(memory.field) and queries.holder(memory.user_id, memory.field) is not None
    before = Preferences.objects.filter(user_id=memory.user_id, review=Preferences.Review.BEFORE)
    return bool(memory.field) or before.exists()
