"""The latest decisions of a session, each with its undo URL.

Stored in the session by id, without text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.contrib.sessions.backends.base import SessionBase
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.principals import Principal
from facts.models import LegacyFact
from memories.models import Memory, Proposal
from statements.policy.naming import fact_in_words, in_second_person

from ..outcomes import Done
from .queue import QueueItem

REMEMBERED = 10
_KEY = "decided"


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision: its word in English, the undo URL, and its object.

    The object is one ``item`` with its current ``content`` and URL, or a ``count`` of ``noun``.
    """

    word: str
    undo: str
    item: str = ""
    count: int = 0
    noun: str = "fact"
    content: str = ""
    address: str = ""

    @property
    def label(self) -> str:
        """The word, in the language of the page."""
        return _(self.word)


class ReviewSession:
    """The decisions of a session, newest first, and their number in the current queue."""

    def __init__(self, session: SessionBase) -> None:
        self._session = session
        self._kept: dict[str, Any] = session.get(_KEY) or {"queue": "", "done": 0, "log": []}

    def done_in(self, queue: str) -> int:
        """Return the number of decisions in the queue with these filters."""
        return int(self._kept["done"]) if self._kept["queue"] == queue else 0

    def note(
        self, done: Done, *, item: QueueItem | None = None, count: int = 0, noun: str = "fact", queue: str | None = None
    ) -> None:
        """Store a decision. ``queue``: the queue in which it was made, if any."""
        if queue is not None:
            self._kept["done"] = self.done_in(queue) + 1
            self._kept["queue"] = queue
        if done.undo:
            entry = Decided(done.word, done.undo, "" if item is None else item.key, count, noun)
            self._kept["log"] = [asdict(entry), *self._kept["log"]][:REMEMBERED]
        self._save()

    def about(self, undo: str) -> QueueItem | None:
        """Return the item of the decision with this undo URL."""
        return next((QueueItem.of(each["item"]) for each in self._kept["log"] if each["undo"] == undo), None)

    def forget(self, undo: str, *, queue: str | None = None) -> None:
        """Drop an undone decision, and later ones about the same item."""
        log: list[dict[str, Any]] = self._kept["log"]
        place = next((number for number, each in enumerate(log) if each["undo"] == undo), None)
        if place is None:
            return
        item = log[place]["item"]
        self._kept["log"] = [
            each
            for number, each in enumerate(log)
            if number > place or (number < place and (not item or each["item"] != item))
        ]
        if queue is not None and self._kept["queue"] == queue:
            self._kept["done"] = max(0, self._kept["done"] - 1)
        self._save()

    def start_over(self) -> None:
        """Reset the count, once nothing waits any more."""
        if self._kept["done"]:
            self._kept["done"] = 0
            self._save()

    def decided(self, principal: Principal) -> list[Decided]:
        """Return the latest decisions with the current state of their objects, without deleted ones."""
        entries = [Decided(**each) for each in self._kept["log"]]
        known = _items_now(principal, [item for each in entries if (item := QueueItem.of(each.item))])
        return [
            Decided(each.word, each.undo, each.item, each.count, each.noun, *known.get(each.item, ("", "")))
            for each in entries
            if not each.item or each.item in known
        ]

    def _save(self) -> None:
        self._session[_KEY] = self._kept


def _items_now(principal: Principal, items: Iterable[QueueItem]) -> Mapping[str, tuple[str, str]]:
    """Return wordings and URLs of items by key, in one query per kind."""
    by_kind: dict[str, list[str]] = {}
    for item in items:
        by_kind.setdefault(item.kind, []).append(item.pk)
    found: dict[str, tuple[str, str]] = {}
    if wanted := by_kind.get("fact"):
        facts = LegacyFact.objects.mine(principal).filter(pk__in=wanted).values_list("pk", "content")
        found |= {f"fact-{pk}": (fact_in_words(content), reverse("fact-page", args=[pk])) for pk, content in facts}
    if wanted := by_kind.get("memory"):
        memories = Memory.objects.visible_to(principal).filter(pk__in=wanted).values_list("pk", "content")
        found |= {
            f"memory-{pk}": (in_second_person(content), reverse("memory-page", args=[pk])) for pk, content in memories
        }
    if wanted := by_kind.get("proposal"):
        proposals = Proposal.objects.visible_to(principal).filter(pk__in=wanted)
        for pk, values, memory_id, content in proposals.values_list("pk", "values", "memory_id", "memory__content"):
            address = reverse("memory-page", args=[memory_id]) if memory_id else reverse("place-list")
            name = values.get("name") or values.get("place_id", "")
            found[f"proposal-{pk}"] = (in_second_person(content) if content else name, address)
    return found
