"""The check of names against what a person rejected. Rooms that depend on this one register how to look it up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from django.utils.translation import gettext as _

from journal.exceptions import Gated

from ..principals import Principal

Check = Callable[[UUID, Sequence[str]], bool]
_checks: list[Check] = []


def register_rejected_check(check: Check) -> None:
    """Register a check: whether one of several texts repeats what the person rejected."""
    _checks.append(check)


def rejected_before() -> Gated:
    """Return the error for what a person rejected or deleted."""
    return Gated(_("The person rejected or deleted this before. Only they can bring it back."), code="rejected_before")


def check_name_not_rejected(principal: Principal, *texts: str) -> None:
    """Raise Gated (422 ``rejected_before``) if a name repeats what the person rejected, unless they chose it."""
    user_id = principal.user_id
    if user_id is not None and not principal.speaks_as_person and any(check(user_id, texts) for check in _checks):
        raise rejected_before()
