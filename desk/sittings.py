"""What a person did while they sat down to review: the last decisions, each with the way to take it back.

Kept in the session, without any text of theirs: a fact is named by its id.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django.contrib.sessions.backends.base import SessionBase

from accounts.principals import Principal
from facts.models import LegacyFact

from .outcomes import Done

REMEMBERED = 10
_KEY = "sitting"


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision: its word, the address that takes it back, and what it was about: a fact, or so many."""

    word: str
    undo: str
    fact: str = ""
    count: int = 0
    content: str = ""


class Sitting:
    """The decisions of a session, newest first, and how many were taken in the present queue."""

    def __init__(self, session: SessionBase) -> None:
        self._session = session
        self._kept: dict[str, Any] = session.get(_KEY) or {"queue": "", "done": 0, "log": []}

    def done_in(self, queue: str) -> int:
        """How many decisions were taken in the queue narrowed so."""
        return int(self._kept["done"]) if self._kept["queue"] == queue else 0

    def note(self, done: Done, *, fact: UUID | None = None, count: int = 0, queue: str | None = None) -> None:
        """Remember a decision that can be taken back. ``queue`` is the one that it was taken in, if in any."""
        if queue is not None:
            self._kept["done"] = self.done_in(queue) + 1
            self._kept["queue"] = queue
        if done.undo:
            entry = Decided(done.word, done.undo, "" if fact is None else str(fact), count)
            self._kept["log"] = [asdict(entry), *self._kept["log"]][:REMEMBERED]
        self._save()

    def forget(self, undo: str, *, queue: str | None = None) -> None:
        """Drop the decision that was taken back, and later ones about the same fact, which went with it."""
        log: list[dict[str, Any]] = self._kept["log"]
        place = next((number for number, each in enumerate(log) if each["undo"] == undo), None)
        if place is None:
            return
        fact = log[place]["fact"]
        self._kept["log"] = [
            each
            for number, each in enumerate(log)
            if number > place or (number < place and (not fact or each["fact"] != fact))
        ]
        if queue is not None and self._kept["queue"] == queue:
            self._kept["done"] = max(0, self._kept["done"] - 1)
        self._save()

    def start_over(self) -> None:
        """Count from the beginning: nothing waits any more."""
        if self._kept["done"]:
            self._kept["done"] = 0
            self._save()

    def decided(self, principal: Principal) -> list[Decided]:
        """The last decisions, newest first, with what the facts say now; none about facts that are gone."""
        entries = [Decided(**each) for each in self._kept["log"]]
        wanted = [each.fact for each in entries if each.fact]
        rows = LegacyFact.objects.mine(principal).filter(pk__in=wanted) if wanted else LegacyFact.objects.none()
        contents = {str(pk): content for pk, content in rows.values_list("pk", "content")}
        return [
            Decided(each.word, each.undo, each.fact, each.count, contents.get(each.fact, ""))
            for each in entries
            if not each.fact or each.fact in contents
        ]

    def _save(self) -> None:
        self._session[_KEY] = self._kept
