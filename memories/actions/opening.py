"""The text of a memory for staff: read under its person's log, so that they see who read it and why."""

from __future__ import annotations

from django.db.models import Prefetch

from accounts import policy as accounts_policy
from accounts.principals import Principal

from ..models import Memory, MemoryVersion
from .single import memory_write


def memory_open(principal: Principal, memory_id: str, reason: str) -> Memory:
    """Read a memory's text and the words that bear it out, for a reason that its person finds in its history.

    Returns the memory with its current version and the evidence of that in ``current``, a list of one; nothing of it is
    stored in the log. Raises NotAllowed for anybody but staff, Refused (400) without a reason, NotFound.
    """
    accounts_policy.must_be_staff(principal)
    because = accounts_policy.clean_reason(reason)
    versions = MemoryVersion.objects.filter(recorded_to__isnull=True).only("memory_id", "number")
    current = Prefetch("versions", versions.prefetch_related("evidence"), to_attr="current")
    with memory_write(principal, Memory.objects.visible_to(principal).prefetch_related(current), memory_id) as change:
        change.log("OPEN", reason=because)
    return change.memory
