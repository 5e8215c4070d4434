"""What staff do about statements, for a reason that the person reads: look at one, hold it back, decide about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import Any, Protocol, TypeVar

from accounts.policy import clean_reason, must_be_staff
from accounts.principals import Principal

from ..policy import check_state


class Locked(Protocol):
    """A statement whose ledgers are locked: ``FactWrite`` or ``MemoryWrite``."""

    now: datetime
    meta: dict[str, Any]

    @property
    def row(self) -> Any: ...  # noqa: D102


Change = TypeVar("Change", bound=Locked)


@contextmanager
def moderated(
    principal: Principal, reason: str, locked: AbstractContextManager[Change], *states: str
) -> Iterator[Change]:
    """Open the transaction of what staff do to a statement in one of these states; in any without states.

    The reason is logged with everything that happens to it. Raises NotAllowed for anybody but staff, Refused (400)
    without a reason, NotFound, Conflict (409 ``wrong_state``).
    """
    must_be_staff(principal)
    because = clean_reason(reason)
    with locked as change:
        if states:
            check_state(change.row, *states)
        change.meta = {"reason": because}
        yield change
