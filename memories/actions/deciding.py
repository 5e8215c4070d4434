"""The person's word on a memory.

Where a function takes ``version``, it is the wording that the caller saw; a decision about another one is a Conflict
(409 ``version_conflict`` with the current version).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts import policy as accounts_policy
from accounts.principals import Principal
from journal.exceptions import Conflict
from statements.actions import suppression_check
from statements.policy import check_state, check_version
from statements.wording import Embedded

from .. import queries
from ..models import Memory, Proposal
from ..policy import writing
from ..policy.writing import State, Why
from .editing import put_filing
from .moving import approve, reject, settle_approval
from .single import MemoryWrite, author, memory_write, relink


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
    own_word = principal.speaks_as_person
    filing: dict[str, Any] = {}
    if category is not None:
        filing["category"] = writing.must_file_under(principal, category)
    if subject is not None:
        filing["subject"] = writing.clean_subject(subject, own_word=own_word)
    text = None
    if content is not None:
        text = Embedded.of(writing.admitted(content, queries.kind_of(rows, memory_id), own_word=own_word))
    with memory_write(principal, rows, memory_id) as change:
        check_version(change.memory, version)
        check_state(change.memory, State.PROPOSED, State.ACTIVE)
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
        suppression_check(change.write, memory.user_id, text, own_word=principal.speaks_as_person)
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
        check_version(change.memory, version)
        check_state(change.memory, State.PROPOSED, State.ACTIVE, State.QUARANTINED)
        reject(change, Why.REJECTED, reason)
        change.write.result("memory", memory_id)
    return change.memory
