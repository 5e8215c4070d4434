"""What the address of the list of memories asks for, and that list as an address again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from django.db.models import Case, Count, Q, When
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts import categories
from memories.filters import MemoryFilters
from memories.models import Kind
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
        """The memories of this view by category, all pages of it.

        Categories that stand in every prompt come first, in the order that they have there.
        """
        block = [each.name for each in categories.load().by_name.values() if each.context == "all"]
        recalled_only = Case(When(category__in=block, then=0), default=1)
        return self.narrow(memories).order_by(recalled_only, "category", *_ORDERS[self.order])


def counts_by_state(memories: MemoryQuerySet) -> dict[str, int]:
    """How many memories there are in each state, in one query; what has expired is no longer remembered."""
    remembered = Q(expires_at__isnull=True) | Q(expires_at__gt=timezone.now())
    stands = {state: Q(state=state) & remembered if state == "active" else Q(state=state) for state in STATES}
    counts: dict[str, int] = memories.aggregate(**{state: Count("pk", filter=stands[state]) for state in STATES})
    return counts


@dataclass(frozen=True, slots=True)
class Counts:
    """How many memories stand in each state, and of those that a view shows, how many in each category."""

    states: Mapping[str, int]
    categories: Mapping[str, int]

    @classmethod
    def of(cls, memories: MemoryQuerySet, view: MemoryView) -> Counts:
        """Count in one query; in two where more than the category narrows the view."""
        remembered = Q(expires_at__isnull=True) | Q(expires_at__gt=timezone.now())
        present = memories.filter(~Q(state="active") | remembered).order_by()
        states: Counter[str] = Counter()
        found: dict[str, int] = {}
        for state, category, count in present.values_list("state", "category").annotate(Count("pk")):
            states[state] += count
            if state == view.state:
                found[category] = count
        if view.search or view.narrowing:
            found = counts_by_category(view.in_category("").narrow(memories))
        return cls(states, found)

    def shown(self, view: MemoryView) -> Mapping[str, int]:
        """The categories that the view shows, with how many memories it shows of each."""
        return {view.category: self.categories.get(view.category, 0)} if view.category else self.categories


def counts_by_category(memories: MemoryQuerySet) -> dict[str, int]:
    """How many of the memories stand in each category."""
    return dict(memories.order_by().values_list("category").annotate(Count("pk")))
