"""Django's ``migrate`` with a helpful error when a migration times out waiting for a lock."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections
from django.db.migrations import Migration
from psycopg.errors import LockNotAvailable

_INVALID_INDEXES = "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid ORDER BY 1"


class Command(migrate.Command):
    """Apply migrations; every statement waits at most ``MIGRATION_LOCK_TIMEOUT_SECONDS`` for a lock.

    While a statement waits for an exclusive lock, all later readers and writers of the table queue behind it.
    """

    _migration: Migration | None = None

    def handle(self, *args: Any, **options: Any) -> None:
        """Raise CommandError when a lock times out; that migration is rolled back, except concurrent indexes."""
        try:
            super().handle(*args, **options)
        except OperationalError as error:
            if not isinstance(error.__cause__, LockNotAvailable):
                raise
            raise CommandError(self._told(options["database"])) from error

    def migration_progress_callback(self, action: str, migration: Migration | None = None, fake: bool = False) -> None:
        """Remember the running migration for the error message."""
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
