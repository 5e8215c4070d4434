"""What staff do about facts: look at one, hide it or hold it back, give it back, release or refuse it, take that back.

Each raises NotAllowed for anybody but staff, Refused (400) without a reason, NotFound, Conflict (409 ``wrong_state``).
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
    """Read a fact's text and the words that bear it out, for a reason that its author finds in the fact's history.

    Returns the fact with its evidence at hand; nothing of it is stored in the log.
    """
    rows = LegacyFact.objects.visible_to(principal).prefetch_related("evidence")
    with moderation_write(principal, reason, fact_write(principal, rows, fact_id)) as change:
        change.log("OPEN")
    return change.fact


def fact_hide(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Hide an active fact from everybody but its author and staff; the author sees the reason."""
    with moderation_write(principal, reason, _locked(principal, fact_id, State.ACTIVE)) as change:
        change.leave(State.HIDDEN, reason=change.meta["reason"])
        change.fact.hidden_at = change.now
        change.log("HIDE")
    return change.fact


def fact_unhide(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Give a hidden fact back to its author, private: sharing it again is the author's decision."""
    with moderation_write(principal, reason, _locked(principal, fact_id, State.HIDDEN)) as change:
        change.activate(reviewed=False)
        change.log("RESTORE")
    return change.fact


def fact_quarantine(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Hold a fact back from every prompt, recall and other member; its author sees it with the reason.

    The author may reword it, which makes it active again, reject or delete it.
    """
    with moderation_write(principal, reason, _locked(principal, fact_id, State.ACTIVE, State.PROPOSED)) as change:
        change.hold_back(change.meta["reason"])
    return change.fact


def fact_release(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Let a fact that was held back count: active and unreviewed, or proposed when it has to wait for its author.

    It does when they review before, or when it may mean something that they rejected.
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
    """Reject a fact that was held back. The same words can't come back by themselves; its author may restore it.

    Restored it is held back again.
    """
    with moderation_write(principal, reason, _locked(principal, fact_id, State.QUARANTINED)) as change:
        reject(change, change.meta["reason"])
    return change.fact


def fact_hold_again(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Take staff's refusal back: the fact is held back as before, and its words may be extracted again.

    Raises Conflict also when its author rejected it, or has the same words again (``similar_exists``).
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
