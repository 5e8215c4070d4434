"""Bring conversations in from a file."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError
from psycopg_pool import PoolTimeout

from accounts import policy
from accounts.actions import legacy_create, user_resolve
from accounts.models import Legacy, User
from accounts.principals import Principal
from accounts.queries import principal_for_person
from accounts.scope import enter
from assistant.imports.loading import Step, append_step, plan_step
from assistant.learn.summarizing import conversation_finish, maybe_summarize
from conversations.actions import messages_index
from conversations.imports import (
    FORMS,
    ArchiveMember,
    Form,
    ImportFileError,
    archives_within,
    detect_form,
    get_form,
    iter_importable,
    members_of,
    survey_file,
)
from conversations.imports.sources import counted
from conversations.models import Conversation, Message
from journal.exceptions import Conflict, Refused
from journal.progress import Progress

POLL_SECONDS = 1.0
STALLED_SECONDS = 300.0


class Command(BaseCommand):
    """Read the whole file, then compare it with what is stored and append what is missing, a conversation at a time."""

    help = (
        "Import conversations: a ChatGPT or Claude export as it came, JSON lines, or a LoCoMo or BEAM dataset "
        "(docs/imports.md). What is in already is skipped, so a stopped import goes on where it was when the same "
        "command is run again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--format", default="auto", choices=["auto", *FORMS], help="found out unless it is given")
        parser.add_argument(
            "--user",
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
            with _opened(options["file"]) as file:
                members = members_of(file, options["file"].name)
                for note in archives_within(file):
                    self.stderr.write(f"Note: {note}")
                if options["format"] == "auto":
                    form = detect_form(members)
                else:
                    form = get_form(options["format"], user_speaker=options["user_speaker"] or "")
                self._check(form, members)
                self._go_through(form, members, options)
        except (ImportFileError, Refused) as error:
            where = f"{options['file']}: " if isinstance(error, ImportFileError) else ""
            raise CommandError(f"{where}{error}") from error
        except (OperationalError, PoolTimeout) as error:
            raise CommandError("The database is away. Run the same command again later to go on.") from error
        except KeyboardInterrupt:
            raise CommandError("Stopped. Run the same command again to go on.", returncode=130) from None

    def _check(self, form: Form, members: Sequence[ArchiveMember]) -> None:
        """Read the whole file and tell what of it is left out."""
        size = sum(member.size for member in members)
        with Progress("Checking the file, in bytes", size, self.stderr) as progress:
            # JSON lines are read twice.
            members = counted(members, lambda read: progress.advance(min(read, size - progress.done)))
            survey = survey_file(form, members, lambda _: None)
        for note in survey.notes:
            self.stderr.write(f"Note: {note}")
        if survey.more_notes:
            self.stderr.write(f"Note: and {survey.more_notes:,} more like these")
        if survey.skipped:
            told = ", ".join(f"{count:,} {reason}" for reason, count in sorted(survey.skipped.items()))
            self.stderr.write(f"Not imported: {told} (docs/imports.md says what that is).")
        self._survey = survey

    def _go_through(self, form: Form, members: Sequence[ArchiveMember], options: dict[str, Any]) -> None:
        username = policy.normal_name(options["user"])
        if options["dry_run"]:
            principal, legacy_id, is_new = self._as_it_is(username, options["legacy"])
        else:
            principal, is_new = self._principal(username), False
            legacy_id = self._legacy(principal, options["legacy"]) if options["legacy"] else None
        found = Counter[str]()
        touched: list[UUID] = []
        with Progress("Importing messages", self._survey.messages, self.stderr) as progress:
            for _, parsed in iter_importable(form.read(members)):
                if principal is None or is_new:
                    step = Step(parsed)
                else:
                    step = plan_step(principal, parsed, channel=form.name, legacy_id=legacy_id)
                progress.advance(len(parsed.messages) - step.missing)
                if step.missing and principal is not None and not options["dry_run"]:
                    step = self._append(principal, step, progress, channel=form.name, legacy_id=legacy_id)
                self._count(found, step)
                if step.conversation_id and not step.objection:
                    touched.append(step.conversation_id)
        self._tell(found, "Would import" if options["dry_run"] else "Imported")
        if options["dry_run"]:
            return
        assert principal is not None
        if options["wait"]:
            self._process(principal, touched)
        else:
            self._tell_what_waits(touched)

    def _as_it_is(self, username: str, legacy_name: str | None) -> tuple[Principal | None, UUID | None, bool]:
        """Who and what is there already, for a dry run: the user, the legacy, and whether either would be new."""
        policy.check_username(username)
        user = User.objects.filter(username=username).first()
        if user is None:
            self.stdout.write(f"There is no user {username}: one would be made, with no password.")
            return None, None, True
        principal = _principal_of(user)
        legacy = _known_legacy(principal, legacy_name) if legacy_name else None
        return principal, legacy.pk if legacy else None, bool(legacy_name) and legacy is None

    def _append(self, principal: Principal, step: Step, progress: Progress, **target: Any) -> Step:
        """Append what is missing, and return the step as it is known to be now."""
        try:
            for count in append_step(principal, step, **target):
                progress.advance(count)
        except Conflict as error:
            raise CommandError(
                f"{step.parsed.external_id}: {error} Somebody else appends to it; run the same command again."
            ) from error
        if step.conversation_id:
            return step
        own = Conversation.objects.visible_to(principal).filter(
            channel=target["channel"], external_id=step.parsed.external_id
        )
        return replace(step, conversation_id=own.values_list("pk", flat=True).first())

    def _count(self, found: Counter[str], step: Step) -> None:
        found["messages"] += step.missing
        found["conversations"] += bool(step.missing)
        found["begun"] += bool(step.missing and step.stored)
        found["complete"] += not step.missing and not step.objection
        if step.objection:
            self.stderr.write(f"Left alone: {step.parsed.external_id}: {step.objection}.")

    def _principal(self, username: str) -> Principal:
        made = not User.objects.filter(username=policy.normal_name(username)).exists()
        user = user_resolve(policy.LOCAL_ISSUER, username)
        if made:
            self.stdout.write(f"Made the user {user.username}, who has no password and can't sign in.")
        return _principal_of(user)

    def _legacy(self, principal: Principal, name: str) -> UUID:
        legacy = _known_legacy(principal, name)
        if legacy is None:
            legacy, _ = legacy_create(principal, name)
            self.stdout.write(f"Made the legacy {legacy.name}.")
        return legacy.pk

    def _tell(self, found: Counter[str], verb: str) -> None:
        went_on = f" ({found['begun']} of them begun before)" if found["begun"] else ""
        self.stdout.write(
            f"{verb} {found['messages']:,} messages in {found['conversations']} conversations{went_on}; "
            f"{found['complete']} conversations were in already."
        )

    def _tell_what_waits(self, conversations: Sequence[UUID]) -> None:
        rows = Conversation.objects.filter(pk__in=conversations)
        unindexed = Message.objects.filter(conversation__in=conversations, embedding__isnull=True).count()
        unsummarized = sum(conversation.unsummarized for conversation in rows)
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


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise ImportFileError("", f"can't be read: {error.strerror}") from error
    with file:
        yield file


def _principal_of(user: User) -> Principal:
    if not user.is_active:
        raise CommandError(f"The user {user.username} is deactivated.")
    return enter(principal_for_person(user.pk))


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
