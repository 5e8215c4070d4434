"""``manage.py chat``: talk with the assistant in the terminal."""

from __future__ import annotations

import asyncio
import logging
import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from django.core.management.base import BaseCommand, CommandError
from django.utils import translation

from accounts.models import User
from accounts.queries import principal_for_person
from accounts.scope import acting_as
from conversations.actions import conversation_create
from conversations.policy import ASSISTANT_CHANNEL
from journal.exceptions import Refused
from web.streaming import take_slot

from ...models import Reply
from ...reply.actions import Begun, Wanted, reply_begin, spoken_language
from ...reply.following import Running, reply_events
from ...reply.running import Caller, reply_start
from ...reply.told import audience_key, longest_stream
from ...tools.command import parse, run_command


class Command(BaseCommand):
    """One line in, one answer out, as it comes, until the input ends."""

    help = __doc__ + " One line in, one answer out. Ends with the input."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--as-user", required=True, metavar="NAME", help="the user name of the person who talks")
        parser.add_argument(
            "--mode",
            choices=Reply.Mode.values,
            default=Reply.Mode.AGENT,
            help="chat: without tools; council: several models",
        )
        parser.add_argument("--private", action="store_true", help="nothing of it is remembered")

    def handle(self, *args: Any, **options: Any) -> None:
        """Open a conversation and answer each line."""
        user = User.objects.filter(username=options["as_user"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is nobody called {options['as_user']}.")
        caller = partial(principal_for_person, user.pk)
        # What is logged of each step would stand between the lines of the talk.
        logging.disable(logging.INFO)
        try:
            self._talk(caller, options)
        finally:
            logging.disable(logging.NOTSET)

    def _talk(self, caller: Caller, options: Mapping[str, Any]) -> None:
        with acting_as(caller()) as principal:
            conversation = conversation_create(principal, channel=ASSISTANT_CHANNEL, private=options["private"])
            self._prompt()
            for line in sys.stdin:
                if line.strip():
                    try:
                        self._answer(caller, conversation.pk, line.strip(), options["mode"])
                    except Refused as refusal:
                        self.stderr.write(refusal.detail)
                self._prompt()

    def _answer(self, caller: Caller, conversation_id: UUID, line: str, mode: str) -> None:
        """Answer a line; a ``/memory`` command without a model, and neither is saved. Raises Refused."""
        if parse(line) is not None:
            principal = caller()
            with translation.override(spoken_language(principal.language)):
                self.stdout.write(run_command(principal, line).text)
            return
        reply_id = uuid4()
        take_slot(audience_key(reply_id), "terminal", longest_stream())
        begun = reply_begin(caller(), reply_id, conversation_id, line, Wanted(mode))
        asyncio.run(self._tell(begun, caller))

    def _prompt(self) -> None:
        if sys.stdin.isatty():
            self.stdout.write("> ", ending="")
            self.stdout.flush()

    async def _tell(self, begun: Begun, caller: Caller) -> None:
        making = reply_start(begun, caller)
        async for told in reply_events(Running(begun, making)):
            if told is None:
                continue
            if told.event == "token":
                self.stdout.write(told.data["text"], ending="")
                self.stdout.flush()
            elif told.event == "error":
                self.stderr.write(f"No answer: {told.data['code']}")
            elif told.event == "memory_update_completed" and told.data.get("add"):
                self.stdout.write(f"\n[{told.data['add']} remembered]", ending="")
        await making
        self.stdout.write("")
