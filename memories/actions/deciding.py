"""The person's word on a memory, and that of staff."""

from __future__ import annotations

from accounts.principals import Principal

from ..models import Memory


def memory_approve(
    principal: Principal,
    memory_id: str,
    *,
    content: str | None = None,
    category: str | None = None,
    version: int | None = None,
) -> Memory:
    """Let a proposed memory count, reworded or refiled if so given, or mark an active one as reviewed.

    Raises NotYoursToDecide, NotFound, Refused (400), Gated (422), Conflict (409).
    """
    raise NotImplementedError


def memory_reject(principal: Principal, memory_id: str, reason: str = "", *, version: int | None = None) -> Memory:
    """Say that a memory is not so: it leaves every prompt and can't be learned again.

    It can be restored for 30 days. Raises NotYoursToDecide, NotFound, Conflict (409).
    """
    raise NotImplementedError


def memory_reopen(principal: Principal, memory_id: str, *, proposed: bool = False) -> Memory:
    """Let a memory wait for review again, as it did before it was approved, rejected or archived.

    Raises NotYoursToDecide, NotFound, Conflict (409).
    """
    raise NotImplementedError


def memory_quarantine(principal: Principal, memory_id: str, reason: str) -> Memory:
    """Take a memory out of every prompt until staff have looked at it; the person sees the reason.

    Raises NotAllowed for anybody but staff, NotFound, Refused (400), Conflict (409).
    """
    raise NotImplementedError


def memory_release(principal: Principal, memory_id: str, reason: str) -> Memory:
    """Let a quarantined memory count, unreviewed, or wait for the person when they review before.

    Raises NotAllowed for anybody but staff, NotFound, Refused (400), Conflict (409).
    """
    raise NotImplementedError


def memory_refuse(principal: Principal, memory_id: str, reason: str) -> Memory:
    """Reject a quarantined memory: it can't be learned again.

    Raises NotAllowed for anybody but staff, NotFound, Refused (400), Conflict (409).
    """
    raise NotImplementedError
