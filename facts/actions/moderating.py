"""Actions of staff on facts: open, hide, unhide, quarantine, release, refuse, and revert a refusal.

All raise NotAllowed (403) for anybody but staff, Refused (400) without a reason, NotFound (404), Conflict (409
``wrong_state``).
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from uuid import UUID

from accounts.models import Preferences
from accounts.principals import Principal
from accounts.queries import principal_for_person
from statements.actions import moderation_write, must_be_by_staff, reason_to_review, suppression_remove

from ..models import FACT, LegacyFact
from ..policy import State
from .single import FactWrite, fact_write
from .transitions import must_be_no_twin, reject


def fact_open(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Return a fact with its evidence, and log the reason, which its author can read in the fact's history."""
    rows = LegacyFact.objects.visible_to(principal).prefetch_related("evidence")
    with moderation_write(principal, reason, fact_write(principal, rows, fact_id)) as change:
        change.log("OPEN")
    return change.fact


def fact_hide(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Hide an active fact from everybody but its author, who sees the reason, and staff."""
    with moderation_write(principal, reason, _locked(principal, fact_id, State.ACTIVE)) as change:
        change.leave(State.HIDDEN, reason=change.meta["reason"])
        change.fact.hidden_at = change.now
        change.log("HIDE")
    return change.fact


def fact_unhide(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Make a hidden fact active and private again. Its author can share it again."""
    with moderation_write(principal, reason, _locked(principal, fact_id, State.HIDDEN)) as change:
        change.activate(reviewed=False)
        change.log("RESTORE")
    return change.fact


def fact_quarantine(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Quarantine a fact: keep it out of prompts, recall and other members' view. Its author sees the reason.

    The author can reword it, which makes it active again, reject it, or delete it.
    """
    with moderation_write(principal, reason, _locked(principal, fact_id, State.ACTIVE, State.PROPOSED)) as change:
        change.hold_back(change.meta["reason"])
    return change.fact


def fact_release(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Release a quarantined fact: active and unreviewed, or proposed if it has to wait for its author's review.

    It has to wait if the author reviews ``before``, or if it may mean something that they rejected.
    """
    with moderation_write(principal, reason, _locked(principal, fact_id, State.QUARANTINED)) as change:
        resembles = reason_to_review(change)
        if resembles or Preferences.objects.filter(user_id=change.fact.user_id, review="before").exists():
            change.leave(State.PROPOSED, reason=resembles)
        else:
            change.activate(reviewed=False)
        change.fact.reviewed_at = None
        change.compare_later()
        change.log("RESTORE")
    return change.fact


def fact_refuse(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Reject a quarantined fact, and suppress its words. If its author restores it, it is quarantined again."""
    with moderation_write(principal, reason, _locked(principal, fact_id, State.QUARANTINED)) as change:
        reject(change, change.meta["reason"])
    return change.fact


def fact_hold_again(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Revert a refusal by staff: quarantine the fact again, and remove the suppression of its words.

    Raises Conflict (409) also if its author rejected it, or has the same words again (``similar_exists``).
    """
    with moderation_write(principal, reason, _locked(principal, fact_id, State.REJECTED)) as change:
        fact = change.fact
        must_be_by_staff(fact.user_id, FACT.name, fact.pk)
        must_be_no_twin(principal_for_person(fact.user_id), fact)
        suppression_remove(
            change.write, fact.user_id, texts=[fact.content], object_id=fact.pk, legacy_id=fact.legacy_id
        )
        change.hold_back(change.meta["reason"])
    return change.fact


def _locked(principal: Principal, fact_id: UUID, *states: State) -> AbstractContextManager[FactWrite]:
    return fact_write(principal, LegacyFact.objects.visible_to(principal), fact_id, *states)
