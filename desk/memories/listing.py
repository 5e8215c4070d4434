"""Query parameters of the list of memories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from uuid import UUID

from django.db.models import Case, Count, When
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts import categories
from accounts.principals import Principal, shape_for
from memories.models import Kind, Memory
from memories.overview import Overview
from memories.querysets import MemoryQuerySet
from retrieval.filters import PLACEHOLDER_NOW
from retrieval.prepared import read_objects
from statements.querysets import SEARCHED

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

_COLUMNS = tuple(each.attname for each in Memory._meta.concrete_fields if each.name not in SEARCHED)


@dataclass(frozen=True, slots=True)
class MemoryView(ListView):
    """State, filters, order within a category, and page.

    ``agent``: an agent's id; ``upload``: that of an import; ``pinned`` and ``reviewed``: yes, no or ''.
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
        """The first page of the same search in another state."""
        return replace(self, state=state, page="")

    @property
    def order(self) -> str:
        """The effective order within a category; by default that of the memory block."""
        return self.sort or "oldest"

    def narrow(self, memories: MemoryQuerySet) -> MemoryQuerySet:
        """Apply state and filters, without an order."""
        # Not by the REST filter, where commas separate topics, and whose form takes as long to build as a statement.
        equal = {
            "category": self.category,
            "kind": self.kind,
            "subject__iexact": self.subject,
            "pinned": YES_OR_NO.get(self.pinned, ""),
        }
        rows = memories.in_state(self.state, timezone.now())
        rows = rows.filter(**{column: value for column, value in equal.items() if value != ""})
        rows = rows.saying(self.search) if self.search else rows
        rows = rows.by_agent(UUID(self.agent)) if self.agent else rows
        rows = rows.brought_by(UUID(self.upload)) if self.upload else rows
        rows = rows.filter(topics__contains=[self.topic]) if self.topic else rows
        rows = rows.filter(reviewed_at__isnull=self.reviewed == "no") if self.reviewed else rows
        return rows.order_by()

    def select(self, memories: MemoryQuerySet) -> MemoryQuerySet:
        """Return the memories of this view in order, of all pages."""
        return self.in_order(self.narrow(memories))

    def in_order(self, memories: MemoryQuerySet) -> MemoryQuerySet:
        """Order memories by category, those of the memory block first, then by the view's order."""
        recalled_only = Case(When(category__in=sorted(in_every_prompt()), then=0), default=1)
        return memories.order_by(recalled_only, "category", *_ORDERS[self.order])


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of memories by state, and of a view's memories by category."""

    states: Mapping[str, int]
    categories: Mapping[str, int]

    @classmethod
    def of(cls, memories: MemoryQuerySet, view: MemoryView, overview: Overview) -> Counts:
        """Take the numbers from the overview, or count if there are filters other than the category."""
        found = overview.counts.get(view.state, {})
        if view.search or view.narrowing:
            rows = view.in_category("").narrow(memories).order_by()
            found = dict(rows.values_list("category").annotate(Count("pk")))
        return cls(overview.states, found)

    def shown(self, view: MemoryView) -> dict[str, int]:
        """The shown categories in order, with their numbers of memories."""
        found = {view.category: self.categories.get(view.category, 0)} if view.category else self.categories
        first = in_every_prompt()
        return {name: found[name] for name in sorted(found, key=lambda name: (name not in first, name))}


@dataclass(frozen=True, slots=True)
class Pages:
    """The memories of a view for a paginator, given the numbers by category.

    Only the categories of the page are read. Most lists have no filters: those are compiled once. Of others only the
    ids are sorted.
    """

    view: MemoryView
    principal: Principal
    counts: Mapping[str, int]

    def count(self) -> int:
        """The total number, without a query."""
        return sum(self.counts.values())

    def __getitem__(self, part: slice) -> list[Memory]:
        """Return those of a page, in order."""
        ends = list(accumulate(self.counts.values()))
        begins = [0, *ends]
        spanned = [
            (name, begin)
            for name, begin, end in zip(self.counts, begins, ends, strict=False)
            if end > part.start and begin < part.stop
        ]
        if not spanned:
            return []
        before, names = spanned[0][1], tuple(name for name, _begin in spanned)
        on_page, view = slice(part.start - before, part.stop - before), self.view
        if not (view.search or view.narrowing):
            listed = shape_for(
                self.principal,
                ("list", view.state, view.order, names),
                lambda someone: view.in_order(
                    Memory.objects.visible_to(someone).filter(category__in=names).in_state(view.state, PLACEHOLDER_NOW)
                ),
                {PLACEHOLDER_NOW: timezone.now()},
            )
            return read_objects(Memory, listed, _COLUMNS, on_page)
        memories = Memory.objects.visible_to(self.principal)
        ids = view.select(memories.filter(category__in=names)).values("pk")[on_page]
        return list(view.in_order(memories.filter(pk__in=ids)).without_vectors())


def in_every_prompt() -> frozenset[str]:
    """Return the categories of the memory block, with which lists begin."""
    return frozenset(each.name for each in categories.load().by_name.values() if each.context == "all")
