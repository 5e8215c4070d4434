"""``manage.py import_mem0``: import memories from mem0."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.core.management.base import BaseCommand, CommandError

from accounts import policy
from accounts.actions import user_resolve
from accounts.queries import principal_for_job
from accounts.scope import acting_as
from journal.exceptions import Refused
from journal.progress import Progress

from ...mem0.importing import filter_user, import_memories, read_export


class Command(BaseCommand):
    """Read the whole file, then add the memories that were not imported before."""

    help = (
        "Bring memories over from mem0: a JSON file of an export, or of what get_all answers. What is in already is "
        "left as it is, so the same command can be run again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--as-user", required=True, metavar="NAME", help="whose they become; made when missing")
        parser.add_argument("--user-id", metavar="ID", help="only those of this user_id of mem0's")
        parser.add_argument("--dry-run", action="store_true", help="read the file and say how many there are")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it. Raises CommandError, with nothing changed, for a file that can't be read."""
        try:
            exported = filter_user(read_export(options["file"].read_bytes()), options["user_id"])
            if options["dry_run"]:
                self.stdout.write(f"{len(exported):,} memories would be brought over.")
                return
            user = user_resolve(policy.LOCAL_ISSUER, policy.normal_name(options["as_user"]))
            with (
                acting_as(principal_for_job(user.pk)) as principal,
                Progress("Bringing memories over", len(exported), self.stderr) as progress,
            ):
                counts = import_memories(principal, exported, progress.advance, import_id=uuid4())
        except (OSError, Refused) as error:
            raise CommandError(f"{options['file']}: {error}") from error
        told = ", ".join(f"{count:,} {what}" for what, count in sorted(counts.items()))
        self.stdout.write(f"Brought over: {told or 'nothing'}.")
