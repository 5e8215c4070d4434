"""What commands share that run a scheduled job of one person now."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from journal.leases import open_job
from journal.models import JobRun

from ..models import User

_STOPPED = {
    "memory_off": "the person has switched memory off",
    "lately": "a model was asked in the last 24 hours",
    "nothing_new": "nothing is new since a model was asked",
    "minutes": "the minutes of a run were over",
    "tokens": "the tokens of the day are used up",
    "answer": "what the model answered can't be used",
}
"""Why jobs stop early, by the code in their result."""


class PersonJobCommand(BaseCommand):
    """Runs the job ``kind`` of one person by ``work``, which takes the job's id, also if it ran that day."""

    kind: str

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--user", required=True, help="the person's user name")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it."""
        user = User.objects.filter(username=options["user"], is_active=True).first()
        if user is None:
            raise CommandError("There is no active person of that user name.")
        self.run_for(user, options)

    def run_for(self, user: User, options: dict[str, Any]) -> None:
        """Run it for the person."""
        raise NotImplementedError

    def finished(self, user: User, work: Callable[[UUID], None]) -> JobRun:
        """Run the job to its end, a lost one from where it was left, and say if it stopped early.

        Raises CommandError if another process works on it, or it failed.
        """
        job = open_job(self.kind, user.pk, user_id=user.pk)
        work(job.pk)
        job.refresh_from_db()
        if job.lease_until is not None:
            raise CommandError(
                f"It is not done: another process works on it, and has it until {job.lease_until:%H:%M:%S} UTC. It "
                "renews that while it runs. If it was killed, run this again then: it is gone on with."
            )
        if job.state != job.State.DONE:
            raise CommandError(f"It is not done: {job.error_code}. Try again later.")
        if stopped := job.result.get("stopped"):
            self.stdout.write(f"Stopped before the end: {_STOPPED.get(stopped, stopped)}.")
        return job
