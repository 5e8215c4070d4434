"""Consolidate what is remembered of one person now, as the daily job does, or list what that would be."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from accounts.management.person import PersonJobCommand
from accounts.models import User
from accounts.queries import principal_for_job
from accounts.scope import acting_as
from memories.actions import memories_consolidate
from memories.consolidation import JOB, candidate_pairs, pairs_left_today
from memories.policy.alike import may_be_one, says_the_same


class Command(PersonJobCommand):
    """Say how many were merged, or which pairs would be and of which a model is asked, without their texts."""

    kind = JOB
    help = (
        "Merge what is remembered of one person twice, within the bounds of the daily job. With --dry-run only list "
        "pairs, as verdict, the id that stays, the id that goes, and how near they are in hundredths."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        super().add_arguments(parser)
        parser.add_argument("--dry-run", action="store_true", help="change nothing and ask no model, list the pairs")

    def run_for(self, user: User, options: dict[str, Any]) -> None:
        """Run it."""
        if options["dry_run"]:
            self._list(user)
            return
        job = self.finished(user, memories_consolidate)
        self.stdout.write(f"{job.result.get('merged', 0)} merged.")
        if job.result.get("asked"):
            self.stdout.write("The person is asked first: a plan waits on the page Tidy up.")

    def _list(self, user: User) -> None:
        same = asked = 0
        with acting_as(principal_for_job(user.pk)) as principal:
            pairs = candidate_pairs(principal, user.pk, pairs_left_today(user.pk)) if principal.has_memory else []
        for pair in pairs:
            is_same = says_the_same(*pair.statements)
            if not is_same and not may_be_one(*pair.statements):
                continue
            same, asked = same + is_same, asked + (not is_same)
            self.stdout.write(f"{'same' if is_same else 'ask'} {pair.kept.pk} {pair.dropped.pk} {pair.score}")
        self.stdout.write(f"{same} would be merged; a model, if there is one, would be asked about {asked}.")
