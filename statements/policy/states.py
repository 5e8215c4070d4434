"""What an expected state and version mean, and how a reason is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accounts.policy import REASON_CHARACTERS
from journal.exceptions import Conflict

from .sensitive import check_sensitive

if TYPE_CHECKING:
    from ..models import Statement


def check_state(row: Statement, *allowed: str) -> None:
    """Raise Conflict (409) with the present state unless it is one of the allowed ones."""
    if row.state not in allowed:
        raise Conflict(f"This {row.noun} is {row.state}.", code="wrong_state", state=row.state)


def check_version(row: Statement, expected: int | None) -> None:
    """Raise Conflict (409) with the current version when the caller saw another one."""
    if expected is not None and expected != row.version:
        raise Conflict(f"This {row.noun} was changed meanwhile.", code="version_conflict", current=row.version)


def clean_reason(reason: str) -> str:
    """Why something is not so, in its stored form, cut to what fits. Raises Gated (422) for sensitive data."""
    reason = " ".join(reason.replace("\x00", " ").split())[:REASON_CHARACTERS]
    check_sensitive(reason)
    return reason
