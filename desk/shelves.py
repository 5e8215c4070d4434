"""The four lists that a person's view of a legacy is divided into, and what an address says about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Count, Q

from accounts.principals import Principal
from facts.models import LegacyFact
from facts.querysets import FactQuerySet

ShelfName = Literal["mine", "waiting", "shared", "gone"]

SHELVES: dict[ShelfName, str] = {
    "waiting": "To review",
    "mine": "Mine",
    "shared": "Shared with me",
    "gone": "Removed",
}
FACTS_PER_PAGE = 20

_UNREVIEWED = [LegacyFact.State.PROPOSED, LegacyFact.State.QUARANTINED]
GONE = Q(state__in=[LegacyFact.State.ARCHIVED, LegacyFact.State.REJECTED])
WAITING = Q(state__in=_UNREVIEWED) | Q(state=LegacyFact.State.ACTIVE, reviewed_at__isnull=True)


def is_waiting(fact: LegacyFact) -> bool:
    """Whether the author has not decided about a fact yet: the condition ``WAITING`` for one row."""
    return fact.state in _UNREVIEWED or (fact.state == LegacyFact.State.ACTIVE and fact.reviewed_at is None)


def on_shelf(name: ShelfName, principal: Principal) -> Q:
    """The condition for a fact that the person may see to stand on a shelf. One may stand on two: mine and waiting."""
    own = Q(user_id=principal.user_id)
    return {"mine": own & ~GONE, "waiting": own & WAITING, "shared": ~own, "gone": own & GONE}[name]


@dataclass(frozen=True, slots=True)
class View:
    """What the address asks for: a shelf, words to look for, a category, a page. Unknown values fall back."""

    shelf: ShelfName = "mine"
    words: str = ""
    category: str = ""
    page: str = "1"

    @classmethod
    def of(cls, query: Mapping[str, str]) -> View:
        """Read the query of an address."""
        shelf: ShelfName = next((name for name in SHELVES if name == query.get("show")), "mine")
        category = query.get("category", "")
        return cls(
            shelf=shelf,
            words=query.get("search", "").replace("\x00", "").strip()[:200],
            category=category if category in LegacyFact.Category.values else "",
            page=query.get("page", "1"),
        )

    @property
    def query(self) -> str:
        """This view as the query of an address, with its question mark."""
        values = {"show": self.shelf, "search": self.words, "category": self.category, "page": self.page}
        return "?" + urlencode({name: value for name, value in values.items() if value})

    def on(self, shelf: ShelfName) -> View:
        """The same search on another shelf, from its first page."""
        return replace(self, shelf=shelf, page="")

    def at(self, page: int) -> View:
        """Another page of this view."""
        return replace(self, page=str(page))

    @property
    def unfiltered(self) -> View:
        """The same shelf without a search."""
        return View(self.shelf, page="")

    @property
    def is_filtered(self) -> bool:
        """Whether anything narrows the shelf."""
        return bool(self.words or self.category)

    def select(self, facts: FactQuerySet, principal: Principal) -> FactQuerySet:
        """The facts of this view, newest first; those that wait, oldest first."""
        rows = facts.filter(on_shelf(self.shelf, principal))
        if self.category:
            rows = rows.filter(category=self.category)
        if self.words:
            rows = rows.saying(self.words)
        return rows.order_by("extracted_at", "id") if self.shelf == "waiting" else rows.order_by("-extracted_at", "id")


@dataclass(frozen=True, slots=True)
class Tab:
    """One shelf as a link, with how much stands on it."""

    title: str
    query: str
    count: int
    current: bool


def tabs(facts: FactQuerySet, principal: Principal, view: View) -> list[Tab]:
    """The shelves of a legacy with their counts, in one query."""
    counts = facts.aggregate(**{name: Count("pk", filter=on_shelf(name, principal)) for name in SHELVES})
    return [Tab(title, view.on(name).query, counts[name], name == view.shelf) for name, title in SHELVES.items()]


@dataclass(frozen=True, slots=True)
class Numbers:
    """How many of a person's facts about one legacy wait, are private, are shared by them, are shared with them."""

    waiting: int = 0
    private: int = 0
    shared: int = 0
    from_others: int = 0


def numbers_by_legacy(principal: Principal) -> dict[UUID, Numbers]:
    """The numbers of every legacy of the person that has facts they may see, in one query."""
    own, shared = on_shelf("mine", principal), Q(visibility=LegacyFact.Visibility.SHARED)
    rows = (
        LegacyFact.objects.visible_to(principal)
        .values("legacy_id")
        .annotate(
            waiting=Count("pk", filter=on_shelf("waiting", principal)),
            private=Count("pk", filter=own & ~shared),
            shared=Count("pk", filter=own & shared),
            from_others=Count("pk", filter=on_shelf("shared", principal)),
        )
    )
    return {
        row["legacy_id"]: Numbers(row["waiting"], row["private"], row["shared"], row["from_others"]) for row in rows
    }
