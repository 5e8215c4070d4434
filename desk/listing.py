"""What lists of facts and memories share: tabs and query parameters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import urlencode
from uuid import UUID

from django.utils.translation import gettext as _

from retrieval.search import Hit

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

PER_PAGE = (20, 50, 100)
MOST_NEAR = 5
"""Most that a search shows which is close in meaning and does not hold the words."""
NEAR_BEST = 0.05
"""How much less relevant than the best, as a cosine, something may be to be shown as close in meaning."""


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab: a link with a count."""

    title: str
    query: str
    count: int
    current: bool


class ListView:
    """Base of the query parameters of a list.

    Invalid values fall back to defaults. ``FILTERS`` names the filter fields other than the words.
    """

    __slots__ = ()
    FILTERS: ClassVar[tuple[str, ...]]

    if TYPE_CHECKING:
        search: str
        category: str
        sort: str
        per_page: int
        page: str

    @property
    def query(self) -> str:
        """The query string with its question mark, without default values."""
        names = [each.name for each in fields(self._data)]
        values = {name: getattr(self, name) for name in names}
        usual = {"per_page": PER_PAGE[0]}
        return "?" + urlencode({name: value for name, value in values.items() if value and value != usual.get(name)})

    def at(self, page: int) -> Self:
        """Another page of this view."""
        return self._with(page=str(page))

    def without_words(self) -> Self:
        """The same list without the search."""
        return self._with(search="", page="")

    def in_category(self, category: str) -> Self:
        """The first page of the same list in a category ('' for all)."""
        return self._with(category=category, page="")

    @property
    def unfiltered(self) -> Self:
        """The same tab without a search."""
        return self._with(search="", page="", **dict.fromkeys(self.FILTERS, ""))

    @property
    def is_filtered(self) -> bool:
        """Whether there are any filters."""
        return bool(self.search) or any(getattr(self, name) for name in self.FILTERS)

    @property
    def narrowing(self) -> int:
        """The number of filters other than words and category."""
        return sum(bool(getattr(self, name)) for name in self.FILTERS if name != "category")

    @property
    def _data(self) -> DataclassInstance:
        return self  # type: ignore[return-value]

    def _with(self, **changed: Any) -> Self:
        return replace(self._data, **changed)  # type: ignore[return-value]


def is_bare(view: ListView, tabs: Iterable[Tab]) -> bool:
    """Whether there is nothing to search or to choose from: no filter is set, and every tab is empty."""
    return not view.is_filtered and not any(tab.count for tab in tabs)


def make_rail(view: ListView, labels: Mapping[str, str], counts: Mapping[str, int]) -> list[Tab]:
    """Return links to the non-empty or selected categories, after one to the whole list."""
    everything = Tab(_("All"), view.in_category("").query, sum(counts.values()), not view.category)
    shown = [name for name in labels if counts.get(name) or name == view.category]
    return [
        everything,
        *(
            Tab(labels[name], view.in_category(name).query, counts.get(name, 0), name == view.category)
            for name in shown
        ),
    ]


def close_in_meaning(hits: Iterable[Hit]) -> list[str]:
    """Return the ids of hits about as relevant as the best one, most relevant first. None without vectors."""
    alike = sorted((hit for hit in hits if hit.similarity is not None), key=lambda hit: -hit.relevance)
    return [str(hit.id) for hit in alike if hit.relevance >= alike[0].relevance - NEAR_BEST][:MOST_NEAR]


def page_size(query: Mapping[str, str]) -> int:
    """Parse the number of rows per page: one of ``PER_PAGE``."""
    return next((number for number in PER_PAGE if str(number) == query.get("per_page", "")), PER_PAGE[0])


def words(query: Mapping[str, str], name: str, most: int) -> str:
    """Parse search words, cut to the maximum length."""
    return query.get(name, "").strip()[:most]


def one_of(query: Mapping[str, str], name: str, known: Collection[str]) -> str:
    """Parse a choice; '' for an invalid value."""
    value = query.get(name, "")
    return value if value in known else ""


def as_id(value: str) -> str:
    """Parse a UUID; '' for an invalid value."""
    try:
        return str(UUID(value))
    except ValueError:
        return ""
