"""``manage.py lint_migrations``: reject migrations that block or break running processes while they are applied."""

from __future__ import annotations

import subprocess
import sys
from argparse import ArgumentParser
from io import StringIO
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command
from django.db import connections
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader

_SQUAWK = [str(Path(sys.executable).with_name("squawk")), "--pg-version=18.0"]
_NOT_APPLIED = {
    # The owner's connection sets lock_timeout, and its statements may run long (settings.py).
    *("require-lock-timeout", "require-statement-timeout"),
    # Django tracks applied migrations and runs each in a transaction.
    *("prefer-robust-stmts", "require-table-schema"),
    # Django chooses the column types.
    *("prefer-bigint-over-int", "prefer-bigint-over-smallint", "prefer-identity"),
    *("prefer-text-field", "prefer-timestamptz"),
}


class Command(BaseCommand):
    """Check the SQL of each migration with squawk, except ``initial`` ones, whose tables are empty.

    A migration may set ``allowed = {"ban-drop-column": "why this is safe here"}`` to disable a rule.
    """

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("app_label", nargs="?", help="only the migrations of this app")
        parser.add_argument("migration_name", nargs="?", help="only this one of them")
        parser.add_argument("--database", default="owner", help="whose dialect is asked for; nothing is run")

    def handle(
        self, *args: Any, database: str, app_label: str | None, migration_name: str | None, **options: Any
    ) -> None:
        """Raise CommandError if a migration breaks a rule."""
        loader = MigrationLoader(connections[database])
        rooms = {config.label for config in apps.get_app_configs() if Path(config.path).parent == settings.BASE_DIR}
        migrations = [
            loader.disk_migrations[room, name]
            for room, name in sorted(loader.disk_migrations)
            if room in rooms and app_label in (None, room) and migration_name in (None, name)
        ]
        if not migrations:
            msg = "There is no such migration."
            raise CommandError(msg)
        told = [self._faults(each, database) for each in migrations if not each.initial]
        for faults in filter(None, told):
            self.stderr.write(faults)
        if any(told):
            msg = "Unsafe migrations: docs/migrations.md says how each is made safe."
            raise CommandError(msg)
        self.stdout.write(f"{len(told)} migrations are safe, {len(migrations) - len(told)} make empty tables.")

    def _faults(self, migration: Migration, database: str) -> str:
        """Return squawk's findings about a migration, or ''."""
        room, name = migration.app_label, migration.name
        statements = StringIO()
        call_command("sqlmigrate", room, name, database=database, stdout=statements, no_color=True)
        excluded = sorted(_NOT_APPLIED | set(getattr(migration, "allowed", {})))
        done = subprocess.run(
            [*_SQUAWK, f"--stdin-filepath={room}/migrations/{name}", f"--exclude={','.join(excluded)}"],
            env={"NO_COLOR": "1"},
            input=statements.getvalue(),
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr if done.returncode else ""
