"""Move all vectors to the embedder that the settings name now."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError
from psycopg_pool import PoolTimeout

from accounts.models import User
from assistant.reembedding import BATCH, SOURCES, Moved, PendingVectors, reembed, waiting_for
from journal.exceptions import Conflict
from journal.leases import LeaseLost
from journal.progress import Progress
from language.backends import get_embedder, get_embedder_before
from language.base import EmbedderUnavailable

AGAIN = "What was moved stays moved; start again to move the rest."


class Command(BaseCommand):
    """Count, or move, and say what was moved and what is left."""

    help = (
        "Give every message, summary, fact and memory the vector of today's KEEPSAKE_EMBEDDER. People can write and "
        "search meanwhile. It can be stopped at any time; started again, it goes on."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--batch", type=_batch, default=BATCH, metavar="N", help=f"rows at a time ({BATCH})")
        parser.add_argument("--owner", action="append", metavar="USER", help="only this person's rows; may be repeated")
        parser.add_argument("--dry-run", action="store_true", help="only tell what there is to move")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it. Raises CommandError (exit code 1) when it ends before everything is moved."""
        try:
            user_ids = _ids_of(options["owner"])
            if options["dry_run"]:
                self._tell_waiting(waiting_for(get_embedder().name, user_ids))
            else:
                self._tell_moved(self._move(user_ids, options["batch"]))
        except Conflict as error:
            raise CommandError(error.detail) from error
        except LeaseLost as error:
            raise CommandError(f"It was cancelled, or another one has taken it over. {AGAIN}") from error
        except EmbedderUnavailable as error:
            raise CommandError(f"{error} ({type(error).__name__}) {AGAIN}") from error
        except (OperationalError, PoolTimeout) as error:
            raise CommandError(f"The database is away. {AGAIN}") from error
        except KeyboardInterrupt:
            raise CommandError(f"Stopped. {AGAIN}", returncode=130) from None

    def _move(self, user_ids: list[UUID] | None, batch: int) -> Moved:
        with Progress(f"Moving to {get_embedder().name}", 0, self.stderr) as progress:

            def start(total: int) -> None:
                progress.total = total

            return reembed(user_ids, batch=batch, started=start, progress=progress.advance)

    def _tell_waiting(self, waiting: PendingVectors) -> None:
        name, before = get_embedder().name, get_embedder_before()
        self.stdout.write(f"To be moved to {name}: {_listed(waiting.rows)}; about {waiting.tokens:,} tokens.")
        for model, count in waiting.models.most_common():
            by_meaning = before is not None and before.name == model
            how = "by meaning too" if by_meaning else "by their words only: KEEPSAKE_EMBEDDER_BEFORE is another"
            self.stdout.write(f"{count:,} have vectors of {model}; until they are moved they are found {how}.")
        self._tell_suppressions(waiting)

    def _tell_moved(self, moved: Moved) -> None:
        self.stdout.write(f"Moved to {get_embedder().name}: {_listed(moved.rows)}; {moved.tokens:,} tokens.")
        self._tell_suppressions(moved.left)
        if left := sum(moved.left.rows.values()):
            raise CommandError(f"{left:,} rows were being written all the time. {AGAIN}")

    def _tell_suppressions(self, waiting: PendingVectors) -> None:
        if waiting.suppressions:
            self.stdout.write(
                f"{waiting.suppressions:,} suppressions of rejected or deleted texts keep their vectors, since the "
                "texts are gone: they keep the same words away, but similar ones no longer."
            )


def _listed(rows: Counter[str]) -> str:
    return ", ".join(f"{rows[source.name]:,} {source.name}" for source in SOURCES if rows[source.name]) or "nothing"


def _batch(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1_000:
        raise ArgumentTypeError("from 1 to 1,000")
    return int(text)


def _ids_of(names: list[str] | None) -> list[UUID] | None:
    """The ids of these people, in the order of their names; None means everybody."""
    if names is None:
        return None
    known = dict(User.objects.filter(username__in=names).values_list("username", "pk"))
    if missing := [name for name in names if name not in known]:
        raise CommandError(f"There is no user {missing[0]}.")
    return [known[name] for name in dict.fromkeys(names)]
