"""From one state to another: what approving, putting away and bringing back a memory have in common.

Everything here works on a memory that is locked already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from accounts.principals import Principal
from journal.actions import LedgerWrite
from journal.exceptions import Conflict
from journal.models import Change
from statements.actions import suppression_remove
from statements.policy import clean_reason

from .. import queries
from ..models import Memory, Proposal, Relation
from ..policy import writing
from ..policy.writing import State, Why
from .proposing import end_create, propose_create
from .single import MemoryWrite, memory_changing

_LEAVING = ("DELETE", "REJECT", "TTL", "EVICT", "MERGE")


def approve(change: MemoryWrite, **meta: Any) -> None:
    """Let a memory count, or mark it as reviewed."""
    settle_approval(change, change.log("APPROVE", **meta))


def settle_approval(change: MemoryWrite, rev: int) -> None:
    """Make a memory active whose approval took a revision, and let go what it takes the place of."""
    if change.memory.state != State.ACTIVE:
        _make_room(change)
        end_create(change, Proposal.State.APPROVED)
    change.activate(rev, reviewed=True)


def _make_room(change: MemoryWrite) -> None:
    memory = change.memory
    superseded = Memory.objects.active().filter(
        relations_to__from_memory=memory, relations_to__type=Relation.Type.SUPERSEDES
    )
    others = {other.pk: other for other in superseded.without_vectors()}
    holder = queries.holder(memory.user_id, memory.field)
    if holder is not None and holder.pk not in others:
        others[holder.pk] = holder
        change.supersede(holder.pk)
    for other in others.values():
        displace(change.write, other)


def displace(write: LedgerWrite, memory: Memory) -> None:
    """Archive a memory that another one takes the place of."""
    with memory_changing(write, memory) as change:
        put_away(change, Why.REPLACED)


def put_away(change: MemoryWrite, why: str, *, event: str = "DELETE", **meta: Any) -> None:
    """Archive a memory. It can be restored until it is purged."""
    memory = change.memory
    meta |= {"why": why} | ({} if memory.state == State.ACTIVE else {"was": memory.state})
    if memory.state == State.PROPOSED:
        end_create(change, Proposal.State.REJECTED if why == Why.PERSON else Proposal.State.LAPSED)
    if why == Why.PERSON:
        change.suppress()
    change.leave(State.ARCHIVED, why, reason=memory.state_reason)
    change.log(event, **meta)


def reject(change: MemoryWrite, why: str, reason: str) -> None:
    """Say that a memory is not so: it can't be learned again."""
    memory = change.memory
    meta: dict[str, Any] = {} if memory.state == State.ACTIVE else {"was": memory.state}
    end_create(change, Proposal.State.REJECTED)
    change.suppress()
    change.leave(State.REJECTED, why, reason=clean_reason(reason) or memory.state_reason)
    change.log("REJECT", **meta)


def bring_back(change: MemoryWrite, principal: Principal, *, reviewed: bool, waits: bool = False) -> None:
    """Undo that a memory went: it is active again, or it waits for the person.

    What staff held back when it went is held back again. Raises Conflict (409 ``similar_exists``, ``field_exists``).
    """
    memory = change.memory
    held_back = state_before(memory) == State.QUARANTINED
    _must_fit(principal, memory, active=not waits and not held_back)
    suppression_remove(change.write, memory.user_id, texts=[memory.content], object_id=memory.pk)
    if memory.expires_at is not None and memory.expires_at <= change.now:
        memory.expires_at = None
    if held_back:
        change.leave(State.QUARANTINED, reason=memory.state_reason)
        change.log("RESTORE", held_back=True)
    elif waits:
        wait_again(change)
    else:
        change.activate(change.log("RESTORE"), reviewed=reviewed)


def wait_again(change: MemoryWrite, **meta: Any) -> None:
    """Let a memory wait for the person, as a proposal of who wrote it."""
    change.leave(State.PROPOSED)
    change.memory.reviewed_at = None
    change.log("RESTORE", waits=True, **meta)
    propose_create(change)


def state_before(memory: Memory) -> str:
    """The state in which a memory was when it was archived or rejected."""
    return states_before(memory.user_id, [memory]).get(memory.pk, State.ACTIVE)


def states_before(user_id: UUID, memories: Sequence[Memory]) -> dict[str, str]:
    """The states in which memories were when they were archived or rejected, in one statement."""
    left = Change.objects.of_owner(user_id).filter(object_type="memory", event__in=_LEAVING)
    left = left.filter(object_id__in=[memory.pk for memory in memories]).order_by("object_id", "-rev")
    rows = left.distinct("object_id").values_list("object_id", "meta")
    return {memory_id: str(meta.get("was", State.ACTIVE)) for memory_id, meta in rows}


def _must_fit(principal: Principal, memory: Memory, *, active: bool) -> None:
    """Raise Conflict when the person has the same again by now, or another value of the field."""
    twin = queries.same_words(principal, memory.user_id, memory.kind, memory.content, memory.subject)
    if twin is not None:
        raise Conflict("You have this memory again already.", code="similar_exists", memory=writing.brief(twin))
    holder = queries.holder(memory.user_id, memory.field) if active else None
    if holder is not None:
        raise Conflict(
            f"Another memory holds the field {memory.field} now.",
            code="field_exists",
            **queries.in_the_way(principal, holder),
        )
