"""What the lists of facts and of memories have in common: tabs, and what their addresses may ask for."""

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
    """One part of a list as a link, with how much stands in it."""

    title: str
    query: str
    count: int
    current: bool


class ListView:
    """Base of the dataclasses that hold what the address of a list asks for.

    Values that mean nothing fall back to the usual ones, so that an old or mistyped address still shows a list.
    ``FILTERS`` names the fields that narrow the list beside the words.
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
        """This view as the query of an address, with its question mark; what is usual is left out."""
        names = [each.name for each in fields(self._data)]
        values = {name: getattr(self, name) for name in names}
        usual = {"per_page": PER_PAGE[0]}
        return "?" + urlencode({name: value for name, value in values.items() if value and value != usual.get(name)})

    def at(self, page: int) -> Self:
        """Another page of this view."""
        return self._with(page=str(page))

    def without_words(self) -> Self:
        """The same list without the words that are searched for."""
        return self._with(search="", page="")

    def in_category(self, category: str) -> Self:
        """The same list narrowed to a category, or with an empty one to none, from its first page."""
        return self._with(category=category, page="")

    @property
    def unfiltered(self) -> Self:
        """The same tab without a search."""
        return self._with(search="", page="", **dict.fromkeys(self.FILTERS, ""))

    @property
    def is_filtered(self) -> bool:
        """Whether anything narrows the list."""
        return bool(self.search) or any(getattr(self, name) for name in self.FILTERS)

    @property
    def narrowing(self) -> int:
        """How many filters beside the words and the category narrow the list."""
        return sum(bool(getattr(self, name)) for name in self.FILTERS if name != "category")

    @property
    def _data(self) -> DataclassInstance:
        return self  # type: ignore[return-value]

    def _with(self, **changed: Any) -> Self:
        return replace(self._data, **changed)  # type: ignore[return-value]


def make_rail(view: ListView, labels: Mapping[str, str], counts: Mapping[str, int]) -> list[Tab]:
    """The categories that hold anything of the list, or are chosen, each as a link; before them the whole list."""
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
    """The ids of what a search found that is about as relevant as its best, the most relevant first.

    Without vectors, which are missing while the embedder is away, nothing is close in meaning.
    """
    alike = sorted((hit for hit in hits if hit.similarity is not None), key=lambda hit: -hit.relevance)
    return [str(hit.id) for hit in alike if hit.relevance >= alike[0].relevance - NEAR_BEST][:MOST_NEAR]


def page_size(query: Mapping[str, str]) -> int:
    """How many rows a page is to have: one of ``PER_PAGE``."""
    return next((number for number in PER_PAGE if str(number) == query.get("per_page", "")), PER_PAGE[0])


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
