"""What staff do about facts that are held back: quarantine one, release it, or refuse it."""

from __future__ import annotations

from uuid import UUID

from accounts.models import Preferences
from accounts.policy import clean_reason
from accounts.principals import Principal

from .. import policy
from ..models import LegacyFact
from ..policy import State
from .deciding import reject
from .single import fact_write


def fact_quarantine(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Hold a fact back from every prompt, recall and other member; its author sees it with the reason.

    The author may reword it, which makes it active again, reject or delete it. Raises NotAllowed for anybody but
    staff, Refused (400) without a reason, NotFound, Conflict (409 ``wrong_state``) unless it is active or proposed.
    """
    policy.must_moderate(principal)
    reason = clean_reason(reason)
    with fact_write(principal, LegacyFact.objects.visible_to(principal), fact_id) as change:
        policy.check_state(change.fact, State.ACTIVE, State.PROPOSED)
        change.meta = {"reason": reason}
        change.hold_back(reason)
    return change.fact


def fact_release(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Let a fact that was held back count: active and unreviewed, or proposed when its author reviews before.

    Raises NotAllowed for anybody but staff, Refused (400) without a reason, NotFound, Conflict (409 ``wrong_state``).
    """
    policy.must_moderate(principal)
    reason = clean_reason(reason)
    with fact_write(principal, LegacyFact.objects.visible_to(principal), fact_id) as change:
        fact = change.fact
        policy.check_state(fact, State.QUARANTINED)
        if Preferences.objects.filter(user_id=fact.user_id, review="before").exists():
            change.leave(State.PROPOSED, reason="")
        else:
            change.activate(reviewed=False)
        fact.reviewed_at = None
        change.compare_later()
        change.log("RESTORE", reason=reason)
    return fact


def fact_refuse(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Reject a fact that was held back. The same words can't come back by themselves; its author may restore it.

    Restored it is held back again. Raises NotAllowed for anybody but staff, Refused (400) without a reason, NotFound,
    Conflict (409 ``wrong_state``).
    """
    policy.must_moderate(principal)
    reason = clean_reason(reason)
    with fact_write(principal, LegacyFact.objects.visible_to(principal), fact_id) as change:
        policy.check_state(change.fact, State.QUARANTINED)
        change.meta = {"reason": reason}
        reject(change, reason)
    return change.fact
