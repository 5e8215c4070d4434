"""What the address of the list of memories asks for, and that list as an address again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from uuid import UUID

from django.db.models import Case, Count, When
from django.db.models.functions import Lower
from django.utils.translation import gettext_noop

from accounts import categories
from memories.filters import MemoryFilters
from memories.models import Kind
from memories.overview import Overview
from memories.querysets import MemoryQuerySet

from ..listing import PER_PAGE, ListView, as_id, one_of, page_size, words

STATES = {
    "active": gettext_noop("Remembered"),
    "proposed": gettext_noop("To approve"),
    "quarantined": gettext_noop("Held back"),
    "archived": gettext_noop("Put away"),
    "rejected": gettext_noop("Rejected"),
}
SORTS = {
    "oldest": gettext_noop("Oldest first"),
    "newest": gettext_noop("Newest first"),
    "changed": gettext_noop("Last changed first"),
    "importance": gettext_noop("Most important first"),
    "subject": gettext_noop("By subject"),
    "wording": gettext_noop("A to Z"),
}
YES_OR_NO = {"yes": True, "no": False}
_ORDERS = {
    "oldest": ("created_at", "id"),
    "newest": ("-created_at", "id"),
    "changed": ("-updated_at", "id"),
    "importance": ("-importance", "created_at", "id"),
    "subject": (Lower("subject"), "created_at", "id"),
    "wording": (Lower("content"), "id"),
}


@dataclass(frozen=True, slots=True)
class MemoryView(ListView):
    """Memories in one state, what narrows them, their order within a category and a page of that.

    ``agent`` is an agent's id, ``upload`` that of an import, ``pinned`` and ``reviewed`` are yes, no or empty.
    """

    FILTERS = ("category", "kind", "topic", "subject", "agent", "upload", "pinned", "reviewed")

    state: str = "active"
    search: str = ""
    category: str = ""
    kind: str = ""
    topic: str = ""
    subject: str = ""
    agent: str = ""
    upload: str = ""
    pinned: str = ""
    reviewed: str = ""
    sort: str = ""
    per_page: int = PER_PAGE[0]
    page: str = "1"

    @classmethod
    def of(cls, query: Mapping[str, str]) -> MemoryView:
        """Read the query of an address."""
        return cls(
            state=one_of(query, "state", STATES) or "active",
            search=words(query, "search", 200),
            category=categories.load().canonical(query.get("category", "")) or "",
            kind=one_of(query, "kind", Kind.values),
            topic=words(query, "topic", 50),
            subject=words(query, "subject", 200),
            agent=as_id(query.get("agent", "")),
            upload=as_id(query.get("upload", "")),
            pinned=one_of(query, "pinned", YES_OR_NO),
            reviewed=one_of(query, "reviewed", YES_OR_NO),
            sort=one_of(query, "sort", SORTS),
            per_page=page_size(query),
            page=query.get("page", "1"),
        )

    def within(self, state: str) -> MemoryView:
        """The same search among memories in another state, from its first page."""
        return replace(self, state=state, page="")

    @property
    def order(self) -> str:
        """The order within a category; usually that of the memory block."""
        return self.sort or "oldest"

    def narrow(self, memories: MemoryQuerySet) -> MemoryQuerySet:
        """The memories that the state and the filters leave, in no order."""
        data = {
            "state": self.state,
            "search": self.search,
            "kind": self.kind,
            "subject": self.subject,
            "agent": self.agent,
            "pinned": YES_OR_NO.get(self.pinned),
            "reviewed": YES_OR_NO.get(self.reviewed),
        }
        rows = memories.filter(category=self.category) if self.category else memories
        # By itself: over REST a comma ends a topic.
        rows = rows.brought_by(UUID(self.upload)) if self.upload else rows
        rows = rows.filter(topics__contains=[self.topic]) if self.topic else rows
        found: MemoryQuerySet = MemoryFilters(data, queryset=rows).qs
        return found.order_by()

    def select(self, memories: MemoryQuerySet) -> MemoryQuerySet:
        """The memories of this view in its order, all pages of it."""
        return self.in_order(self.narrow(memories))

    def in_order(self, memories: MemoryQuerySet) -> MemoryQuerySet:
        """Memories by category, in the view's order. Those that stand in every prompt come first, as they do there."""
        recalled_only = Case(When(category__in=sorted(in_every_prompt()), then=0), default=1)
        return memories.order_by(recalled_only, "category", *_ORDERS[self.order])


@dataclass(frozen=True, slots=True)
class Counts:
    """How many memories stand in each state, and of those that a view shows, how many in each category."""

    states: Mapping[str, int]
    categories: Mapping[str, int]

    @classmethod
    def of(cls, memories: MemoryQuerySet, view: MemoryView, overview: Overview) -> Counts:
        """Take them from the overview; count where more than the category narrows the view."""
        found = overview.counts.get(view.state, {})
        if view.search or view.narrowing:
            found = counts_by_category(view.in_category("").narrow(memories))
        return cls(overview.states, found)

    def shown(self, view: MemoryView) -> dict[str, int]:
        """The categories that the view shows, in its order, with how many memories it shows of each."""
        found = {view.category: self.categories.get(view.category, 0)} if view.category else self.categories
        first = in_every_prompt()
        return {name: found[name] for name in sorted(found, key=lambda name: (name not in first, name))}


@dataclass(frozen=True, slots=True)
class Pages:
    """The memories of a view as a paginator takes them, when it is known how many there are of each category.

    So only the categories of the page are read, and of those only the ids are sorted.
    """

    view: MemoryView
    memories: MemoryQuerySet
    counts: Mapping[str, int]

    def count(self) -> int:
        """How many there are; no query."""
        return sum(self.counts.values())

    def __getitem__(self, part: slice) -> MemoryQuerySet:
        """Those of a page, in the view's order."""
        ends = list(accumulate(self.counts.values()))
        begins = [0, *ends]
        spanned = [
            (name, begin)
            for name, begin, end in zip(self.counts, begins, ends, strict=False)
            if end > part.start and begin < part.stop
        ]
        if not spanned:
            return self.memories.none()
        before = spanned[0][1]
        rows = self.view.select(self.memories.filter(category__in=[name for name, _begin in spanned]))
        on_page = rows.values("pk")[part.start - before : part.stop - before]
        return self.view.in_order(self.memories.filter(pk__in=on_page))


def in_every_prompt() -> frozenset[str]:
    """The categories that stand in every prompt; lists begin with them."""
    return frozenset(each.name for each in categories.load().by_name.values() if each.context == "all")


def counts_by_category(memories: MemoryQuerySet) -> dict[str, int]:
    """How many of the memories stand in each category."""
    return dict(memories.order_by().values_list("category").annotate(Count("pk")))
