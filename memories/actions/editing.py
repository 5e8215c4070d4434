"""Giving a memory another wording, filing it otherwise, putting it away and fetching it back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from types import EllipsisType
from uuid import UUID

from accounts.principals import Principal

from ..models import Memory
from ..records import Changed, Updated


def memory_update(
    principal: Principal,
    memory_id: str,
    content: str,
    *,
    version: int | None = None,
    correction: bool = False,
    valid_from: datetime | None = None,
    conversation_id: UUID | None = None,
    message_id: UUID | None = None,
    reason: str = "",
) -> Updated:
    """Give a memory another wording, as a new version. The old one was true until now, unless it was a mistake.

    ``version`` is the one that the caller saw. Raises NotAllowed, NotFound, Gated (422), Conflict (409
    ``version_conflict`` with ``current``, ``wrong_state``).
    """
    raise NotImplementedError


def memory_revert(principal: Principal, memory_id: str, number: int, *, version: int | None = None) -> Updated:
    """Give a memory the wording of an earlier version back, as a new version.

    Raises NotYoursToDecide (an agent, for another's wording), NotFound, Conflict (409).
    """
    raise NotImplementedError


def memory_amend(
    principal: Principal,
    memory_id: str,
    *,
    subject: str | None = None,
    topics: Sequence[str] | None = None,
    category: str | None = None,
    importance: int | None = None,
    expires_at: datetime | EllipsisType | None = ...,
    version: int | None = None,
) -> Changed:
    """File a memory otherwise. This makes no version; what is None (or not given) stays as it is.

    Raises NotAllowed, NotFound, Refused (400), Gated (422), Conflict (409).
    """
    raise NotImplementedError


def memory_pin(principal: Principal, memory_id: str, pinned: bool) -> Memory:
    """Keep a memory from being evicted or forgotten, or no longer.

    Raises NotAllowed, NotFound, Conflict (409 ``wrong_state``).
    """
    raise NotImplementedError


def memory_archive(principal: Principal, memory_id: str, *, version: int | None = None) -> Changed:
    """Put a memory away. It can be restored for 30 days, then it is purged.

    What the person puts away themselves can't be learned again. Raises NotAllowed, NotFound, Conflict (409).
    """
    raise NotImplementedError


def memory_restore(principal: Principal, memory_id: str) -> Memory:
    """Fetch a memory back. What the person put away or rejected only they fetch back.

    Raises NotYoursToDecide, NotAllowed, NotFound, Gated (422 ``budget``), Conflict (409 ``wrong_state``,
    ``field_exists``).
    """
    raise NotImplementedError
