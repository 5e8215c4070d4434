"""Query parameters of a list of facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from django.db.models import Count
from django.db.models.functions import Lower
from django.utils.translation import gettext_noop

from accounts.models import Legacy, User
from accounts.principals import Principal, shape_for
from facts.filters import FactFilters
from facts.models import LegacyFact
from facts.querysets import FactQuerySet
from retrieval.prepared import read
from statements.querysets import SEARCHED

from ..listing import PER_PAGE, ListView, as_id, one_of, page_size, words
from .cards import load_facts
from .tabs import ANY_LEGACY, TABS, TabName, facts_about, in_tab, tab_counts

SORTS = {
    "newest": gettext_noop("Newest first"),
    "oldest": gettext_noop("Oldest first"),
    "changed": gettext_noop("Last changed first"),
    "category": gettext_noop("By category"),
    "wording": gettext_noop("A to Z"),
}
STATES: dict[TabName, tuple[str, ...]] = {
    "waiting": ("proposed", "active", "quarantined"),
    "mine": ("proposed", "active", "quarantined", "hidden"),
    "shared": (),
    "gone": ("archived", "rejected"),
}
_ORDERS = {
    "newest": ("-extracted_at", "id"),
    "oldest": ("extracted_at", "id"),
    "changed": ("-updated_at", "id"),
    "category": ("category", "-extracted_at", "id"),
    "wording": (Lower("content"), "id"),
}

_COLUMNS = tuple(each.attname for each in LegacyFact._meta.concrete_fields if each.name not in SEARCHED)
_NAMES = ("legacy__name", "user__username", "user__display_name")


@dataclass(frozen=True, slots=True)
class FactView(ListView):
    """Tab, filters, order and page.

    ``legacy``: an id, or '' for all; ``upload``: the id of an import.
    """

    FILTERS = ("legacy", "category", "visibility", "state", "written_by", "upload")

    show: TabName = "mine"
    search: str = ""
    legacy: str = ""
    category: str = ""
    visibility: str = ""
    state: str = ""
    written_by: str = ""
    upload: str = ""
    sort: str = ""
    per_page: int = PER_PAGE[0]
    page: str = "1"

    @classmethod
    def of(cls, query: Mapping[str, str]) -> FactView:
        """Read the query of an address."""
        show: TabName = next((name for name in TABS if name == query.get("show")), "mine")
        return cls(
            show=show,
            search=words(query, "search", 200),
            legacy=as_id(query.get("legacy", "")),
            category=one_of(query, "category", LegacyFact.Category.values),
            visibility=one_of(query, "visibility", LegacyFact.Visibility.values) if show == "mine" else "",
            state=one_of(query, "state", STATES[show]),
            written_by=words(query, "written_by", 80),
            upload=as_id(query.get("upload", "")),
            sort=one_of(query, "sort", SORTS),
            per_page=page_size(query),
            page=query.get("page", "1"),
        )

    def on(self, tab: TabName) -> FactView:
        """The same search on another tab, without filters that the tab lacks."""
        state = self.state if self.state in STATES[tab] else ""
        visibility = self.visibility if tab == "mine" else ""
        return replace(self, show=tab, state=state, visibility=visibility, page="")

    @property
    def order(self) -> str:
        """The effective order: waiting facts are listed oldest first."""
        return self.sort or ("oldest" if self.show == "waiting" else "newest")

    def narrow(self, facts: FactQuerySet) -> FactQuerySet:
        """Apply the filters, without the tab."""
        data = {
            "category": self.category,
            "visibility": self.visibility,
            "state": self.state or "all",
            "written_by": self.written_by,
            "search": self.search,
        }
        rows = facts.filter(legacy_id=self.legacy) if self.legacy else facts
        rows = rows.brought_by(UUID(self.upload)) if self.upload else rows
        found: FactQuerySet = FactFilters(data, queryset=rows).qs
        return found

    def select(self, facts: FactQuerySet, principal: Principal) -> FactQuerySet:
        """Return the facts of this view in order, of all pages."""
        return self.narrow(facts).filter(in_tab(self.show, principal)).order_by(*_ORDERS[self.order])

    def counts(self, principal: Principal, legacy_id: UUID | None) -> Counts:
        """Count the facts about a legacy or all, in one query; in one more if more than the category is filtered."""
        on_tabs, every = tab_counts(principal, legacy_id), self.in_category("")
        found = on_tabs[self.show]
        if every.is_filtered:
            rows = every.narrow(facts_about(principal, legacy_id)).filter(in_tab(self.show, principal))
            found = dict(rows.order_by().values_list("category").annotate(Count("pk")))
        return Counts({name: sum(counts.values()) for name, counts in on_tabs.items()}, found)


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of facts by tab, and of those of a view by category, ignoring the category filter."""

    tabs: Mapping[TabName, int]
    categories: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Counted:
    """The facts of a view for a paginator, with known counts by category; ``opened``: with what opened cards show."""

    view: FactView
    principal: Principal
    legacy_id: UUID | None
    counts: Mapping[str, int]
    opened: bool = False

    def count(self) -> int:
        """Return the number of facts; runs no query."""
        return self.counts.get(self.view.category, 0) if self.view.category else sum(self.counts.values())

    def __getitem__(self, part: slice) -> list[LegacyFact]:
        """Return the facts of a page for cards. Most lists have no filters, and are compiled once."""
        view, about = self.view, self.legacy_id
        if view.is_filtered or self.opened:
            rows = view.select(facts_about(self.principal, about), self.principal)[part]
            return load_facts(rows, self.principal, opened=self.opened)
        listed = shape_for(
            self.principal,
            ("facts", view.show, view.order, about is None),
            lambda who: (
                facts_about(who, about and ANY_LEGACY).filter(in_tab(view.show, who)).order_by(*_ORDERS[view.order])
            ),
            {ANY_LEGACY: about},
        )
        facts = []
        for row in read(listed, (*_COLUMNS, *_NAMES), part):
            *columns, legacy, username, called = row
            fact = LegacyFact.from_db("default", _COLUMNS, columns)
            fact.legacy = Legacy.from_db("default", ("id", "name"), (fact.legacy_id, legacy))
            fact.user = User.from_db("default", ("username", "id", "display_name"), (username, fact.user_id, called))
            facts.append(fact)
        return facts
