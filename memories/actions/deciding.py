"""The person's word on a memory, and that of staff.

Where a function takes ``version``, it is the wording that the caller saw; a decision about another one is a Conflict
(409 ``version_conflict`` with the current version).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from accounts import policy as accounts_policy
from accounts.models import Preferences
from accounts.principals import Principal
from journal.actions import ledger_write
from journal.exceptions import Conflict

from .. import queries
from ..models import Memory, Proposal
from ..policy import writing
from ..policy.writing import State, Why
from ..wording import Embedded
from .editing import put_filing
from .moving import approve, bring_back, displaced_by, reject, settle_approval, wait_again
from .proposing import end_create
from .single import MemoryWrite, author, memory_changing, memory_under_lock, memory_write, relink
from .tombstones import tombstone_pass


def memory_approve(
    principal: Principal,
    memory_id: str,
    *,
    content: str | None = None,
    category: str | None = None,
    subject: str | None = None,
    version: int | None = None,
) -> Memory:
    """Let a proposed memory count, reworded or refiled if so given, or mark an active one as reviewed.

    Its proposal ends with it. What it takes the place of is archived. Whether it says the same as another is settled:
    both stay. Approving twice changes nothing. Raises NotYoursToDecide, NotFound, Refused (400), Gated (422), Conflict
    (409 ``version_conflict``, ``wrong_state``).
    """
    accounts_policy.must_decide(principal)
    rows = Memory.objects.visible_to(principal)
    own_word = writing.speaks_as_person(principal)
    filing: dict[str, Any] = {}
    if category is not None:
        filing["category"] = writing.must_file_under(principal, category)
    if subject is not None:
        filing["subject"] = writing.clean_subject(subject, own_word=own_word)
    text = None
    if content is not None:
        text = Embedded.of(writing.admitted(content, queries.kind_of(rows, memory_id), own_word=own_word))
    with memory_write(principal, rows, memory_id) as change:
        writing.check_version(change.memory, version)
        writing.check_state(change.memory, State.PROPOSED, State.ACTIVE)
        approve_so(change, principal, filing, text)
        change.write.result("memory", memory_id)
    return change.memory


def approve_so(change: MemoryWrite, principal: Principal, filing: Mapping[str, Any], text: Embedded | None) -> None:
    """Approve a memory that is locked already, filed and worded as the person wants it.

    ``filing`` may hold a category and a subject; without a text the wording stays. Raises Refused (400) for a subject
    of a field, Conflict (409 ``wrong_state``) when its days are over.
    """
    memory = change.memory
    if memory.state == State.PROPOSED:
        _must_be_in_time(change)
    changed = {name: value for name, value in filing.items() if getattr(memory, name) != value}
    meta: dict[str, Any] = {"changed": sorted(changed)} if changed else {}
    put_filing(change, principal, changed)
    if text is not None and text.content != memory.content:
        tombstone_pass(change.write, memory.user_id, text, own_word=True)
        wording = text.worded(principal, memory.user_id, memory.subject)
        rev = change.reword(wording, "APPROVE", written_by=author(principal), correction=True, **meta)
        settle_approval(change, rev)
        relink(change, principal, text)
    elif changed or memory.state == State.PROPOSED or memory.reviewed_at is None or memory.needs_check:
        approve(change, **meta)
    memory.needs_check = False


def _must_be_in_time(change: MemoryWrite) -> None:
    """What nobody decided about in time has lapsed, also while its row is still there."""
    creates = Proposal.objects.waiting().filter(memory=change.memory, kind=Proposal.Kind.CREATE)
    if creates.filter(expires_at__lte=change.now).exists():
        lapsed = Proposal.State.LAPSED
        raise Conflict(f"This memory is {lapsed}.", code="wrong_state", state=lapsed)


def memory_reject(principal: Principal, memory_id: str, reason: str = "", *, version: int | None = None) -> Memory:
    """Say that a memory is not so: it leaves every prompt and can't be learned again.

    It can be restored for 30 days. Raises NotYoursToDecide, NotFound, Gated (422, for the reason), Conflict (409
    ``version_conflict``, ``wrong_state``).
    """
    accounts_policy.must_decide(principal)
    with memory_write(principal, Memory.objects.visible_to(principal), memory_id) as change:
        writing.check_version(change.memory, version)
        writing.check_state(change.memory, State.PROPOSED, State.ACTIVE, State.QUARANTINED)
        reject(change, Why.REJECTED, reason)
        change.write.result("memory", memory_id)
    return change.memory


def memory_reopen(
    principal: Principal,
    memory_id: str,
    *,
    proposed: bool = False,
    doubtful: bool = False,
    version: int | None = None,
) -> Memory:
    """Let a memory wait for review again, as it did before it was approved, rejected or archived.

    With ``proposed`` it is in no prompt until it is approved, and what its approval took the place of is back;
    with ``doubtful`` it perhaps says the same as another, as it did. What staff held back is held back again. Raises
    NotYoursToDecide, NotFound, Conflict (409 ``version_conflict``, ``wrong_state``, ``similar_exists``,
    ``field_exists``).
    """
    user_id = accounts_policy.must_decide(principal)
    rows = Memory.objects.visible_to(principal)
    displaced: list[Memory] = []
    with ledger_write(principal.actor, user_id) as write:
        with memory_under_lock(write, rows, memory_id) as change:
            memory = change.memory
            writing.check_version(memory, version)
            writing.check_state(memory, State.PROPOSED, State.ACTIVE, State.ARCHIVED, State.REJECTED)
            if memory.state in {State.ARCHIVED, State.REJECTED}:
                bring_back(change, principal, reviewed=False, waits=proposed)
            elif proposed and memory.state == State.ACTIVE:
                displaced = displaced_by(memory)
                wait_again(change)
            elif memory.state == State.ACTIVE and memory.reviewed_at is not None:
                change.log("RESTORE", waits=True)
            memory.reviewed_at = None
            memory.needs_check = memory.needs_check or doubtful
        for other in displaced:
            with memory_changing(write, other) as change:
                bring_back(change, principal, reviewed=False)
        write.result("memory", memory_id)
    return memory


def memory_quarantine(principal: Principal, memory_id: str, reason: str) -> Memory:
    """Take a memory out of every prompt until staff have looked at it; the person sees the reason.

    Raises NotAllowed for anybody but staff, NotFound, Refused (400), Conflict (409 ``wrong_state``).
    """
    with _moderated(principal, memory_id, reason, State.ACTIVE, State.PROPOSED) as (change, because):
        end_create(change, Proposal.State.LAPSED)
        change.leave(State.QUARANTINED, reason=because)
        change.log("QUARANTINE", reason=because)
    return change.memory


def memory_release(principal: Principal, memory_id: str, reason: str) -> Memory:
    """Let a quarantined memory count as it did, or wait for the person when it has to.

    Raises NotAllowed for anybody but staff, NotFound, Refused (400), Conflict (409 ``wrong_state``).
    """
    with _moderated(principal, memory_id, reason, State.QUARANTINED) as (change, because):
        if _must_ask(change.memory):
            wait_again(change, reason=because)
        else:
            change.activate(change.log("RESTORE", reason=because), reviewed=False)
    return change.memory


def memory_refuse(principal: Principal, memory_id: str, reason: str) -> Memory:
    """Reject a quarantined memory: it can't be learned again, and the person can't bring it back past staff.

    Raises NotAllowed for anybody but staff, NotFound, Refused (400), Conflict (409 ``wrong_state``).
    """
    with _moderated(principal, memory_id, reason, State.QUARANTINED) as (change, because):
        reject(change, Why.STAFF, because)
    return change.memory


@contextmanager
def _moderated(principal: Principal, memory_id: str, reason: str, *states: str) -> Iterator[tuple[MemoryWrite, str]]:
    """A memory that staff decide about, for a reason that its person reads in the log."""
    accounts_policy.must_be_staff(principal)
    because = accounts_policy.clean_reason(reason)
    with memory_write(principal, Memory.objects.visible_to(principal), memory_id) as change:
        writing.check_state(change.memory, *states)
        yield change, because


def _must_ask(memory: Memory) -> bool:
    """Whether a memory that staff release has to wait for the person, as it would have when it was written."""
    if memory.reviewed_at is not None:
        return writing.single_valued(memory.field) and queries.holder(memory.user_id, memory.field) is not None
    before = Preferences.objects.filter(user_id=memory.user_id, review=Preferences.Review.BEFORE)
    return bool(memory.field) or before.exists()
