"""Bring conversations in from a file."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError
from psycopg_pool import PoolTimeout

from accounts import policy
from accounts.actions import legacy_create, user_resolve
from accounts.models import Legacy, User
from accounts.principals import Principal
from accounts.queries import principal_for_person
from assistant.actions import conversation_finish, maybe_summarize
from conversations.actions import messages_index
from conversations.imports import (
    ImportFileError,
    ParsedFile,
    Step,
    append_step,
    parse_beam,
    parse_jsonl,
    parse_locomo,
    plan_step,
    read_text,
)
from conversations.models import Conversation, Message
from journal.exceptions import Conflict, Refused
from journal.progress import Progress

POLL_SECONDS = 1.0
STALLED_SECONDS = 300.0


class Command(BaseCommand):
    """Parse the whole file, compare it with what is stored, append what is missing."""

    help = (
        "Import conversations from a LoCoMo or BEAM file, or from JSON lines (docs/imports.md). What is in already is "
        "skipped, so a stopped import goes on where it was when the same command is run again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--format", required=True, choices=["locomo", "beam", "jsonl"])
        parser.add_argument(
            "--as-user",
            required=True,
            metavar="NAME",
            help="whose conversations they become; made when missing, with no password",
        )
        parser.add_argument("--legacy", metavar="NAME", help="whom they are about; made when missing")
        parser.add_argument("--user-speaker", metavar="NAME", help="locomo: the speaker who is the user")
        parser.add_argument("--dry-run", action="store_true", help="say what would be imported and change nothing")
        parser.add_argument(
            "--wait", action="store_true", help="index and summarise here and now, the ends of conversations too"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the import. Raises CommandError (exit code 1) with nothing changed when the file can't be imported."""
        if options["user_speaker"] and options["format"] != "locomo":
            raise CommandError("--user-speaker goes with --format locomo only.")
        try:
            parsed = _parse(options["file"], options["format"], options["user_speaker"] or "")
            for note in parsed.notes:
                self.stderr.write(f"Note: {note}")
            if options["dry_run"]:
                self._count(parsed, options["as_user"], options["legacy"])
                return
            self._import(parsed, options["as_user"], options["legacy"], wait=options["wait"])
        except (ImportFileError, Refused) as error:
            where = f"{options['file']}: " if isinstance(error, ImportFileError) else ""
            raise CommandError(f"{where}{error}") from error
        except (OperationalError, PoolTimeout) as error:
            raise CommandError("The database is away. Run the same command again later to go on.") from error
        except KeyboardInterrupt:
            raise CommandError("Stopped. Run the same command again to go on.", returncode=130) from None

    def _count(self, parsed: ParsedFile, username: str, legacy_name: str | None) -> None:
        """Say what an import would do."""
        username = policy.normal_username(username)
        policy.check_username(username)
        user = User.objects.filter(username=username).first()
        steps = [Step(conversation) for conversation in parsed.conversations]
        if user is None:
            self.stdout.write(f"There is no user {username}: one would be made, with no password.")
        else:
            principal = _principal_of(user)
            legacy = _known_legacy(principal, legacy_name) if legacy_name else None
            if legacy is not None or not legacy_name:
                legacy_id = legacy.pk if legacy else None
                steps = [
                    plan_step(principal, conversation, channel=parsed.channel, legacy_id=legacy_id)
                    for conversation in parsed.conversations
                ]
        self._tell(steps, "Would import")

    def _import(self, parsed: ParsedFile, username: str, legacy_name: str | None, *, wait: bool) -> None:
        principal = self._principal(username)
        legacy_id = self._legacy(principal, legacy_name) if legacy_name else None
        plan = [
            plan_step(principal, conversation, channel=parsed.channel, legacy_id=legacy_id)
            for conversation in parsed.conversations
        ]
        if missing := sum(step.missing for step in plan):
            with Progress("Importing messages", missing, self.stderr) as progress:
                for step in plan:
                    if step.missing:
                        self._append(principal, step, progress, channel=parsed.channel, legacy_id=legacy_id)
        self._tell(plan, "Imported")
        names = [step.parsed.external_id for step in plan if not step.objection]
        conversations = Conversation.objects.visible_to(principal).filter(channel=parsed.channel, external_id__in=names)
        if wait:
            self._process(principal, list(conversations.values_list("pk", flat=True)))
        else:
            self._tell_what_waits(list(conversations))

    def _append(self, principal: Principal, step: Step, progress: Progress, **target: Any) -> None:
        try:
            for count in append_step(principal, step, **target):
                progress.advance(count)
        except Conflict as error:
            raise CommandError(
                f"{step.parsed.external_id}: {error} Somebody else appends to it; run the same command again."
            ) from error

    def _principal(self, username: str) -> Principal:
        made = not User.objects.filter(username=policy.normal_username(username)).exists()
        user = user_resolve(policy.LOCAL_ISSUER, username)
        if made:
            self.stdout.write(f"Made the user {user.username}, who has no password and can't sign in.")
        return _principal_of(user)

    def _legacy(self, principal: Principal, name: str) -> UUID:
        legacy = _known_legacy(principal, name)
        if legacy is None:
            legacy = legacy_create(principal, name)
            self.stdout.write(f"Made the legacy {legacy.name}.")
        return legacy.pk

    def _tell(self, plan: Sequence[Step], verb: str) -> None:
        missing = [step for step in plan if step.missing]
        begun = sum(1 for step in missing if step.stored)
        complete = sum(1 for step in plan if not step.missing and not step.objection)
        went_on = f" ({begun} of them begun before)" if begun else ""
        self.stdout.write(
            f"{verb} {sum(step.missing for step in missing):,} messages in {len(missing)} conversations{went_on}; "
            f"{complete} conversations were in already."
        )
        for step in plan:
            if step.objection:
                self.stderr.write(f"Left alone: {step.parsed.external_id}: {step.objection}.")

    def _tell_what_waits(self, conversations: Sequence[Conversation]) -> None:
        unindexed = Message.objects.filter(conversation__in=conversations, embedding__isnull=True).count()
        unsummarized = sum(conversation.unsummarized for conversation in conversations)
        if unindexed or unsummarized:
            self.stdout.write(
                f"Waiting for a worker: {unindexed:,} messages to be indexed, {unsummarized:,} to be summarised (the "
                "last of each conversation after an hour without a new message). To do it in this command, run it "
                "again with --wait."
            )

    def _process(self, principal: Principal, conversations: Sequence[UUID]) -> None:
        """Index and summarise everything here, beside a worker if one runs.

        What that worker holds is waited for. Raises CommandError when nothing has moved for five minutes.
        """
        for conversation_id in conversations:
            conversation_finish(principal, conversation_id)
        total = _count_waiting(conversations)
        with Progress("Indexing and summarising", total, self.stderr) as progress:
            moved = time.monotonic()
            while left := _count_waiting(conversations):
                for conversation_id in conversations:
                    messages_index(conversation_id, progress=progress.advance)
                    maybe_summarize(conversation_id, progress=progress.advance)
                now_left = _count_waiting(conversations)
                progress.advance(total - now_left - progress.done)
                if now_left < left:
                    moved = time.monotonic()
                elif time.monotonic() - moved > STALLED_SECONDS:
                    raise CommandError(
                        f"{now_left:,} are left and nothing has moved for {STALLED_SECONDS:.0f} s: the jobs say why. "
                        "They are tried again by the worker, or by this command."
                    )
                else:
                    time.sleep(POLL_SECONDS)


def _parse(path: Path, form: str, user_speaker: str) -> ParsedFile:
    text = read_text(path)
    if form == "locomo":
        return parse_locomo(text, user_speaker=user_speaker)
    return parse_beam(text) if form == "beam" else parse_jsonl(text)


def _principal_of(user: User) -> Principal:
    if not user.is_active:
        raise CommandError(f"The user {user.username} is deactivated.")
    return principal_for_person(user.pk)


def _known_legacy(principal: Principal, name: str) -> Legacy | None:
    """The person's legacy of that name. Raises CommandError when two have it."""
    name = policy.clean_name(name, 200)
    legacies = list(Legacy.objects.visible_to(principal).filter(name=name)[:2])
    if len(legacies) > 1:
        raise CommandError(f"There is more than one legacy called {name}; rename one.")
    return legacies[0] if legacies else None


def _count_waiting(conversations: Sequence[UUID]) -> int:
    """How many messages have no vector, and how many no summary, taken together."""
    unindexed = Message.objects.filter(conversation__in=conversations, embedding__isnull=True).count()
    rows = Conversation.objects.filter(pk__in=conversations)
    return unindexed + sum(conversation.unsummarized for conversation in rows)
