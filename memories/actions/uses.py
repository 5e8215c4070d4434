"""How often memories are used. It takes no revision and no lock: a count changes nothing that anybody reads."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import connection

from ..querysets import statement


def memories_used(ids: Sequence[str], at: datetime) -> None:
    """Count one more use of each memory: an agent recalled it, or it was said again or edited. One statement."""
    if ids:
        with connection.cursor() as cursor:
            cursor.execute(statement("use"), {"ids": list(ids), "at": at})
