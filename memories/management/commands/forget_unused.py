"""Archive what nobody used for long, as the daily job does, or list what that would be."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from accounts.models import User
from memories.actions import memories_forget_unused
from memories.lifecycle import unused_memories


class Command(BaseCommand):
    """Say how many were archived, or each that would be, without its text."""

    help = (
        "Archive memories that nobody used for long. With --dry-run only list them: person, id, category, importance."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--dry-run", action="store_true", help="change nothing, list what would be archived")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it."""
        if not options["dry_run"]:
            self.stdout.write(f"{memories_forget_unused()} archived.")
            return
        now, count = timezone.now(), 0
        for user_id in User.objects.filter(is_active=True).values_list("pk", flat=True).iterator():
            for memory in unused_memories(user_id, now).order_by("updated_at", "pk").without_vectors().iterator():
                self.stdout.write(
                    f"{user_id} {memory.pk} {memory.category} {memory.importance} {memory.updated_at:%Y-%m-%d}"
                )
                count += 1
        self.stdout.write(f"{count} would be archived.")
