"""Consolidate what is remembered of one person now, as the daily job does, or list what that would be."""

from __future__ import annotations

from argparse import ArgumentParser
from functools import cache
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import User
from accounts.queries import principal_for_job
from accounts.scope import acting_as
from language.reading.sameness import EmbeddedStatement
from memories.actions import person_consolidate
from memories.consolidation import candidate_pairs, pairs_left_today
from memories.policy.alike import may_be_one, says_the_same


class Command(BaseCommand):
    """Say how many were merged, or which pairs would be and of which a model is asked, without their texts."""

    help = (
        "Merge what is remembered of one person twice, within the bounds of the daily job. With --dry-run only list "
        "pairs, as verdict, the id that stays, the id that goes, and how near they are in hundredths."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--user", required=True, help="the person's user name")
        parser.add_argument("--dry-run", action="store_true", help="change nothing and ask no model, list the pairs")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it."""
        user = User.objects.filter(username=options["user"], is_active=True).first()
        if user is None:
            raise CommandError("There is no active person of that user name.")
        if options["dry_run"]:
            self._list(user)
            return
        job = person_consolidate(user.pk)
        if job.lease_until is not None:
            raise CommandError(
                f"It is not done: another process works on it, and has it until {job.lease_until:%H:%M:%S} UTC. It "
                "renews that while it runs. If it was killed, run this again then: it is gone on with."
            )
        if job.state != job.State.DONE:
            raise CommandError(f"It is not done: {job.error_code}. Try again later.")
        self.stdout.write(f"{job.result.get('merged', 0)} merged.")
        if job.result.get("asked"):
            self.stdout.write("The person is asked first: a plan waits on the page Tidy up.")
        if job.result["stopped"]:
            self.stdout.write(f"Stopped before the end: {job.result['stopped']}.")

    def _list(self, user: User) -> None:
        same = asked = 0
        with acting_as(principal_for_job(user.pk)) as principal:
            pairs = candidate_pairs(principal, user.pk, pairs_left_today(user.pk)) if principal.has_memory else []
        read = cache(EmbeddedStatement)
        for pair in pairs:
            texts = read(pair.texts[0]), read(pair.texts[1])
            is_same = says_the_same(*texts)
            if not is_same and not may_be_one(*texts):
                continue
            same, asked = same + is_same, asked + (not is_same)
            self.stdout.write(f"{'same' if is_same else 'ask'} {pair.kept.pk} {pair.dropped.pk} {pair.score}")
        self.stdout.write(f"{same} would be merged; a model, if there is one, would be asked about {asked}.")
