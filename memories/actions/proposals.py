"""Changes that wait for the person's word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from accounts.principals import Principal

from ..models import Proposal


def proposal_approve(principal: Principal, proposal_id: UUID, *, values: Mapping[str, Any] | None = None) -> Proposal:
    """Make a proposed change, with other values if so given.

    Raises NotYoursToDecide, NotFound, Refused (400), Gated (422), Conflict (409 ``wrong_state``; ``stale_proposal``
    with ``memory`` and ``proposed`` when the memory changed meanwhile).
    """
    raise NotImplementedError


def proposal_reject(principal: Principal, proposal_id: UUID, reason: str = "") -> Proposal:
    """Refuse a proposed change. Words that were proposed can't be learned again.

    Raises NotYoursToDecide, NotFound, Conflict (409 ``wrong_state``).
    """
    raise NotImplementedError


def proposals_lapse() -> int:
    """End the proposals that nobody decided about in time, and remove their text. Returns how many."""
    raise NotImplementedError
