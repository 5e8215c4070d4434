"""Many memories at once."""

from __future__ import annotations

from collections.abc import Sequence

from accounts.principals import Principal

from ..records import BulkItem

BULK_LIMIT = 1_000


def memories_delete(principal: Principal, ids: Sequence[str]) -> list[BulkItem]:
    """Put up to ``BULK_LIMIT`` memories away in one transaction, and say of each id, in order, what became of it.

    Raises NotAllowed, Refused (400 ``too_many``).
    """
    raise NotImplementedError
