"""Prove an erasure against the database."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from assistant.erasure.verifying import left_of
from journal.models import Erasure


class Command(BaseCommand):
    """Look for what is left of what a receipt says was erased; ends with an error where anything is."""

    help = "Looks in the database for what is left of what a receipt says was erased. It prints no text of anybody."

    def add_arguments(self, parser: CommandParser) -> None:
        """The receipt."""
        parser.add_argument("receipt", type=UUID)

    def handle(self, *args: Any, receipt: UUID, **options: Any) -> None:
        """Print what is left, or that nothing is."""
        erasure = Erasure.objects.filter(pk=receipt).first()
        if erasure is None:
            raise CommandError("There is no such receipt.")
        left = list(left_of(erasure))
        for line in left:
            self.stderr.write(line)
        if left:
            raise CommandError(f"Not everything is gone: {len(left)} findings.")
        removed = ", ".join(f"{count:,} {kind}" for kind, count in sorted(erasure.removed.items())) or "nothing"
        self.stdout.write(f"Gone since {erasure.done_at:%Y-%m-%d %H:%M} UTC ({erasure.scope}): {removed}.")
