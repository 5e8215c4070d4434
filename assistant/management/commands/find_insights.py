"""Find insights about one person now, as the daily job does."""

from __future__ import annotations

from typing import Any

from accounts.management.person import PersonJobCommand
from accounts.models import User
from assistant.learn.insights import JOB, insights_find


class Command(PersonJobCommand):
    """Say how many were found, without their texts."""

    kind = JOB
    help = "Ask the model for insights about one person, within the bounds of the daily job: once in 24 hours."

    def run_for(self, user: User, options: dict[str, Any]) -> None:
        """Run it."""
        job = self.finished(user, insights_find)
        self.stdout.write(f"{job.result.get('found', 0)} found.")
