"""Names that others choose, held against what a person refused. Rooms further down say what that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from django.utils.translation import gettext as _

from journal.exceptions import Gated

from ..principals import Principal

Check = Callable[[UUID, Sequence[str]], bool]
_checks: list[Check] = []


def refuses_words(check: Check) -> None:
    """Have names held against what a room knows to be refused. It says whether one of several texts says that."""
    _checks.append(check)


def rejected_before() -> Gated:
    """The refusal of what a person rejected or deleted."""
    return Gated(_("The person rejected or deleted this before. Only they can bring it back."), code="rejected_before")


def must_be_welcome(principal: Principal, *texts: str) -> None:
    """Raise Gated (422 ``rejected_before``) for a name that says what the person refused, unless it is their word."""
    user_id = principal.user_id
    if user_id is not None and not principal.speaks_as_person and any(check(user_id, texts) for check in _checks):
        raise rejected_before()
