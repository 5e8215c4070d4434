"""Deleting memories for good."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection

from ..models import Memory


def memories_erase(ids: Sequence[str]) -> None:
    """Delete memories with their versions, evidence, relations and proposals, inside the caller's transaction.

    Versions go only while the transaction says that it purges.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('keepsake.purge', 'on', true)")
        Memory.objects.filter(pk__in=ids).delete()
        cursor.execute("SELECT set_config('keepsake.purge', '', true)")
