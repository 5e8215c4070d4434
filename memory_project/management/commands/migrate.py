"""Django's ``migrate``, which says what to do when a migration gave up waiting for a lock."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections
from django.db.migrations import Migration
from psycopg.errors import LockNotAvailable

_INVALID_INDEXES = "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid ORDER BY 1"


class Command(migrate.Command):
    """Apply migrations; every statement waits ``MIGRATION_LOCK_TIMEOUT_SECONDS`` for a lock at most.

    A statement that waits for a strong lock makes all later readers and writers of the table wait behind it.
    """

    _migration: Migration | None = None

    def handle(self, *args: Any, **options: Any) -> None:
        """Raise CommandError where a lock was not to be had in time; nothing of that migration is left then."""
        try:
            super().handle(*args, **options)
        except OperationalError as error:
            if not isinstance(error.__cause__, LockNotAvailable):
                raise
            raise CommandError(self._told(options["database"])) from error

    def migration_progress_callback(self, action: str, migration: Migration | None = None, fake: bool = False) -> None:
        """Remember which migration is at work."""
        self._migration = migration or self._migration
        super().migration_progress_callback(action, migration, fake)

    def _told(self, alias: str) -> str:
        with connections[alias].cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            waited = cursor.fetchone()[0]
            cursor.execute(_INVALID_INDEXES)
            invalid = [name for (name,) in cursor.fetchall()]
        parts = [
            f"{self._migration} waited {waited} for a lock that somebody else holds, and gave up, so that nobody's"
            " reads and writes wait behind it. Run migrate again when the long transaction (see pg_stat_activity) has"
            " ended, or let it wait longer by MIGRATION_LOCK_TIMEOUT_SECONDS."
        ]
        if invalid:
            parts.append(f"Left half-built, so drop first (DROP INDEX CONCURRENTLY): {', '.join(invalid)}.")
        return " ".join(parts)
