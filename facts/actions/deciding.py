"""What becomes of a fact: shared or kept private, approved, rejected, deleted, restored.

Where a function takes ``version``, it is the wording that the caller saw; a decision about another one is a Conflict
(409 ``version_conflict`` with the current version).
"""

from __future__ import annotations

from uuid import UUID

from accounts.models import Member
from accounts.policy import must_decide
from accounts.principals import Principal
from journal.exceptions import Conflict, NotAllowed
from statements.actions import suppression_add, suppression_remove
from statements.policy import check_state, check_version, clean_reason, reason_to_hold_back
from statements.wording import Embedded

from .. import policy
from ..models import LegacyFact
from ..policy import State, Visibility
from ..queries import same_words
from .single import FactWrite, fact_write


def fact_set_visibility(
    principal: Principal, fact_id: UUID, visibility: str, *, version: int | None = None
) -> LegacyFact:
    """Share the person's fact with the other members of the legacy, or keep it private again.

    Only an active fact is shared, and only by a member; sharing counts as reviewing. Raises NotYoursToDecide,
    NotFound, Refused (400), NotAllowed (403 ``not_a_member``), Conflict (409 ``wrong_state``).
    """
    must_decide(principal)
    policy.check_visibility(visibility)
    with fact_write(principal, LegacyFact.objects.mine(principal), fact_id) as change:
        fact = change.fact
        check_version(fact, version)
        if visibility == fact.visibility:
            return fact
        if visibility == Visibility.SHARED:
            check_state(fact, State.ACTIVE)
            if not Member.objects.filter(legacy_id=fact.legacy_id, user_id=fact.user_id).exists():
                raise NotAllowed("Only a member shares facts of a legacy.", code="not_a_member")
            share(change)
        else:
            unshare(change)
    return fact


def share(change: FactWrite) -> None:
    """Share an active fact that is locked already."""
    change.share()
    change.compare_later()
    change.log("SHARE")


def unshare(change: FactWrite) -> None:
    """Keep a fact that is locked already to its author."""
    change.unshare()
    change.log("UNSHARE")


def fact_approve(principal: Principal, fact_id: UUID, *, version: int | None = None) -> LegacyFact:
    """Let a proposed fact count, or mark an active one as reviewed. Approving twice changes nothing.

    Raises NotYoursToDecide, NotFound, Conflict (409 ``wrong_state``).
    """
    must_decide(principal)
    with fact_write(principal, LegacyFact.objects.mine(principal), fact_id) as change:
        fact = change.fact
        check_version(fact, version)
        check_state(fact, State.PROPOSED, State.ACTIVE)
        if fact.state == State.PROPOSED or fact.reviewed_at is None:
            approve(change)
    return fact


def approve(change: FactWrite) -> None:
    """Approve a fact that is locked already."""
    change.activate(reviewed=True)
    change.log("APPROVE")


def fact_reject(principal: Principal, fact_id: UUID, reason: str = "", *, version: int | None = None) -> LegacyFact:
    """Say that a fact is not so: it leaves every prompt, and extraction can't bring it back.

    It can be restored for 30 days. Raises NotYoursToDecide, NotFound, Refused (400) for a reason that can't be stored,
    Gated (422) for one with sensitive data, Conflict (409 ``wrong_state``).
    """
    must_decide(principal)
    policy.check_reason(reason)
    with fact_write(principal, LegacyFact.objects.mine(principal), fact_id) as change:
        check_version(change.fact, version)
        check_state(change.fact, State.PROPOSED, State.ACTIVE, State.QUARANTINED)
        reject(change, reason)
    return change.fact


def reject(change: FactWrite, reason: str) -> None:
    """Reject a fact that is locked already."""
    change.leave(State.REJECTED, reason=clean_reason(reason))
    _bury(change)
    change.log("REJECT")


def fact_delete(principal: Principal, fact_id: UUID, *, version: int | None = None) -> LegacyFact:
    """Archive a fact. It can be restored for 30 days, then it is purged; extraction can't bring it back.

    Raises NotYoursToDecide, NotFound, Conflict (409 ``wrong_state``).
    """
    must_decide(principal)
    with fact_write(principal, LegacyFact.objects.mine(principal), fact_id) as change:
        check_version(change.fact, version)
        check_state(change.fact, State.PROPOSED, State.ACTIVE, State.HIDDEN, State.QUARANTINED)
        delete(change)
    return change.fact


def delete(change: FactWrite) -> None:
    """Archive a fact that is locked already."""
    change.leave(State.ARCHIVED)
    _bury(change)
    change.log("DELETE")


def fact_restore(principal: Principal, fact_id: UUID) -> LegacyFact:
    """Take a rejection or deletion back: the fact is active, reviewed and private again, and may be extracted again.

    What staff had hidden before its author deleted it is hidden again, and what was held back is held back. Raises
    NotYoursToDecide, NotFound (also after the purge), Conflict (409 ``wrong_state``, or ``similar_exists`` when the
    same words were added anew meanwhile).
    """
    must_decide(principal)
    with fact_write(principal, LegacyFact.objects.mine(principal), fact_id) as change:
        fact = change.fact
        check_state(fact, State.ARCHIVED, State.REJECTED)
        unbury(change, principal)
        if fact.hidden_at is not None:
            change.leave(State.HIDDEN)
        elif fact.quarantined_at is not None:
            change.leave(State.QUARANTINED, reason=why_held_back(fact))
        else:
            change.activate(reviewed=True)
        change.log("RESTORE")
    return fact


def why_held_back(fact: LegacyFact) -> str:
    """The reason for a fact that is held back again: a rejection may have put the author's own in its place."""
    return reason_to_hold_back(fact.content)


def unbury(change: FactWrite, principal: Principal) -> None:
    """Let what is taken back be found, compared and extracted again, unless the person has it anew by now."""
    fact = change.fact
    twin = same_words(principal, fact.legacy_id, fact.content)
    if twin is not None:
        raise Conflict("You have this fact again already.", code="similar_exists", fact=str(twin.pk))
    suppression_remove(change.write, fact.user_id, texts=[fact.content], object_id=fact.pk, legacy_id=fact.legacy_id)
    change.compare_later()


def _bury(change: FactWrite) -> None:
    fact = change.fact
    suppression_add(change.write, fact.user_id, Embedded.of_row(fact), fact.pk, legacy_id=fact.legacy_id)
