"""How often memories are used. It takes no revision and no lock: a count changes nothing that anybody reads."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from django.db import connection

from ..querysets import statement


def memories_used(ids: Sequence[str], at: datetime) -> None:
    """Count one more use of each memory: recall returned it, or the person opened or edited it. One statement."""
    if ids:
        with connection.cursor() as cursor:
            cursor.execute(statement("use"), {"ids": list(ids), "at": at})


def memories_used_today(ids: Sequence[str], at: datetime) -> None:
    """Count a use of each memory that had none yet on that day (UTC): it stood in a block. One statement."""
    if ids:
        since = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        with connection.cursor() as cursor:
            cursor.execute(statement("use_of_a_day"), {"ids": list(ids), "at": at, "since": since})
