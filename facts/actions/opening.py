"""The text of a fact for staff: read under its author's log, so that the author sees who read it and why."""

from __future__ import annotations

from uuid import UUID

from accounts.policy import clean_reason
from accounts.principals import Principal

from .. import policy
from ..models import LegacyFact
from .single import fact_write


def fact_open(principal: Principal, fact_id: UUID, reason: str) -> LegacyFact:
    """Read a fact's text and the words that bear it out, for a reason that its author finds in the fact's history.

    Returns the fact with its evidence at hand; nothing of it is stored in the log. Raises NotAllowed for anybody but
    staff, Refused (400) without a reason, NotFound.
    """
    policy.must_moderate(principal)
    reason = clean_reason(reason)
    rows = LegacyFact.objects.visible_to(principal).prefetch_related("evidence")
    with fact_write(principal, rows, fact_id) as change:
        change.log("OPEN", reason=reason)
    return change.fact
