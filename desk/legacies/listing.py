"""What the address of a list of facts asks for, and that list as an address again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from uuid import UUID

from django.db.models.functions import Lower

from accounts.principals import Principal
from facts.filters import FactFilters
from facts.models import LegacyFact
from facts.querysets import FactQuerySet

from .tabs import TABS, TabName, in_tab

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

PER_PAGE = (20, 50, 100)
SORTS = {
    "newest": "Newest first",
    "oldest": "Oldest first",
    "changed": "Last changed first",
    "category": "By category",
    "wording": "A to Z",
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


@dataclass(frozen=True, slots=True)
class View:
    """A shelf, what narrows it, its order and a page of it. ``legacy`` is an id, or empty for all legacies.

    Values that mean nothing fall back to the usual ones, so that an old or mistyped address still shows a list.
    """

    show: TabName = "mine"
    search: str = ""
    legacy: str = ""
    category: str = ""
    visibility: str = ""
    state: str = ""
    written_by: str = ""
    sort: str = ""
    per_page: int = PER_PAGE[0]
    page: str = "1"

    @classmethod
    def of(cls, query: Mapping[str, str]) -> View:
        """Read the query of an address."""
        show: TabName = next((name for name in TABS if name == query.get("show")), "mine")
        size = query.get("per_page", "")
        return cls(
            show=show,
            search=words(query, "search", 200),
            legacy=as_id(query.get("legacy", "")),
            category=one_of(query, "category", LegacyFact.Category.values),
            visibility=one_of(query, "visibility", LegacyFact.Visibility.values) if show == "mine" else "",
            state=one_of(query, "state", STATES[show]),
            written_by=words(query, "written_by", 80),
            sort=one_of(query, "sort", SORTS),
            per_page=next((number for number in PER_PAGE if str(number) == size), PER_PAGE[0]),
            page=query.get("page", "1"),
        )

    @property
    def query(self) -> str:
        """This view as the query of an address, with its question mark; what is usual is left out."""
        return as_query(self, {"per_page": PER_PAGE[0]})

    def on(self, shelf: TabName) -> View:
        """The same search on another shelf, from its first page, without what that shelf can't be narrowed to."""
        state = self.state if self.state in STATES[shelf] else ""
        visibility = self.visibility if shelf == "mine" else ""
        return replace(self, show=shelf, state=state, visibility=visibility, page="")

    def at(self, page: int) -> View:
        """Another page of this view."""
        return replace(self, page=str(page))

    @property
    def unfiltered(self) -> View:
        """The same shelf without a search."""
        return View(self.show, sort=self.sort, per_page=self.per_page, page="")

    @property
    def is_filtered(self) -> bool:
        """Whether anything narrows the shelf."""
        return bool(self.search) or self.narrowing > 0

    @property
    def narrowing(self) -> int:
        """How many filters beside the words narrow the shelf."""
        return sum(map(bool, (self.legacy, self.category, self.visibility, self.state, self.written_by)))

    @property
    def order(self) -> str:
        """The order that the list is in: what waits is decided about in the order in which it came."""
        return self.sort or ("oldest" if self.show == "waiting" else "newest")

    def narrow(self, facts: FactQuerySet) -> FactQuerySet:
        """The facts that the filters leave, on whichever shelf."""
        data = {
            "category": self.category,
            "visibility": self.visibility,
            "state": self.state or "all",
            "written_by": self.written_by,
            "search": self.search,
        }
        rows = facts.filter(legacy_id=self.legacy) if self.legacy else facts
        found: FactQuerySet = FactFilters(data, queryset=rows).qs
        return found

    def select(self, facts: FactQuerySet, principal: Principal) -> FactQuerySet:
        """The facts of this view in its order, all pages of it."""
        return self.narrow(facts).filter(in_tab(self.show, principal)).order_by(*_ORDERS[self.order])


def as_query(view: DataclassInstance, usual: Mapping[str, object]) -> str:
    """The fields of a view as the query of an address, with its question mark; what is empty or usual is left out."""
    values = {each.name: getattr(view, each.name) for each in fields(view)}
    return "?" + urlencode({name: value for name, value in values.items() if value and value != usual.get(name)})


def words(query: Mapping[str, str], name: str, most: int) -> str:
    """What stands in a field for words, cut to what may be looked for."""
    return query.get(name, "").replace("\x00", "").strip()[:most]


def one_of(query: Mapping[str, str], name: str, known: Collection[str]) -> str:
    """A value of a choice; empty for what is none of its values."""
    value = query.get(name, "")
    return value if value in known else ""


def as_id(value: str) -> str:
    """A UUID in its usual form; empty for what is none."""
    try:
        return str(UUID(value))
    except ValueError:
        return ""
