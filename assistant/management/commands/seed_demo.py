"""``manage.py seed_demo``: load the demo."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import User
from journal.exceptions import Refused

from ...demo import demo_is_loaded, demo_load, demo_sign_ins
from ...demo.content import read_content


class Command(BaseCommand):
    """Load made-up people who remember a made-up grandmother, and print how to sign in as them."""

    help = (
        "Load the demo through the real pipeline and print its sign-ins, whose passwords everybody knows. "
        "Running it again changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        only = parser.add_mutually_exclusive_group()
        only.add_argument("--if-empty", action="store_true", help="change nothing when anybody is here already")
        only.add_argument("--if-loaded", action="store_true", help="change nothing; print the sign-ins if it is here")

    def handle(self, *args: Any, **options: Any) -> None:
        """Load it, then print."""
        if options["if_loaded"]:
            if not demo_is_loaded():
                self.stdout.write(
                    "The demo was not loaded: everybody knows its passwords, and this database is one of your own. "
                    "manage.py seed_demo loads it."
                )
                return
        elif options["if_empty"] and User.objects.exists():
            if not demo_is_loaded():
                self.stdout.write("There are people here already, so the demo was not loaded.")
                return
        else:
            try:
                demo_load()
            except Refused as error:
                raise CommandError(error.detail) from error
        self._print_sign_ins()

    def _print_sign_ins(self) -> None:
        content, sign_ins = read_content(), demo_sign_ins()
        width = max(len(each.name) for each in sign_ins)
        self.stdout.write("Demo sign-ins. They are for trying Keepsake out: everybody knows these passwords.\n\n")
        for each in sign_ins:
            self.stdout.write(f"  {each.name:{width}}  {each.password}  {each.what}")
        self.stdout.write(
            f"\nA key for the demo's service agent, which acts for the person it names in X-Keepsake-User:\n"
            f"  manage.py create_agent_key {content.agent} --user {content.staff.name} --service "
            f"--issuer {content.issuer}"
        )
