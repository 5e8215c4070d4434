"""Search filters, each declared once for requests, the API schema and SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Annotated, Any, get_args, get_type_hints
from uuid import UUID

from django.db.models import Q

PLACEHOLDER_NOW = datetime(1, 1, 1, tzinfo=UTC)
"""Placeholder of the current time in compiled statements. Those of filters by time are days after it."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter's description, the bounds of its values, and the placeholder of its value in compiled statements.

    Without a placeholder, each value gets a statement of its own. Placeholders of texts contain a NUL, which PostgreSQL
    refuses, so one that is not replaced fails.
    """

    meaning: str
    placeholder: Any = None
    bounds: Mapping[str, int] = field(default_factory=dict)


_LEVEL = {"min_value": 1, "max_value": 5}


@dataclass(frozen=True, slots=True)
class Filters:
    """The values of all filters; None means no filter. A source that lacks a filtered column returns no rows."""

    user_id: Annotated[
        str | None, Filter("The person's own id; another one's is a 404.", bounds={"max_length": 255})
    ] = None
    agent_id: Annotated[UUID | None, Filter("The agent that added it, or that it was said to.", UUID(int=3))] = None
    run_id: Annotated[str | None, Filter("The agent's run that added it.", "\0run", {"max_length": 100})] = None
    actor_id: Annotated[
        str | None, Filter("Whoever it came from, by the agent's id for them.", "\0actor", {"max_length": 100})
    ] = None
    role: Annotated[str | None, Filter("Who said it: user, assistant, …", "\0role", {"max_length": 20})] = None
    category: Annotated[
        str | None, Filter("A category of memories, or of facts.", "\0category", {"max_length": 50})
    ] = None
    pinned: Annotated[bool | None, Filter("Only what is pinned, or what is not.")] = None
    importance_min: Annotated[int | None, Filter("At least so important.", bounds=_LEVEL)] = None
    importance_max: Annotated[int | None, Filter("At most so important.", bounds=_LEVEL)] = None
    updated_after: Annotated[datetime | None, Filter("From this moment on.", PLACEHOLDER_NOW + timedelta(1))] = None
    updated_before: Annotated[datetime | None, Filter("Before this moment.", PLACEHOLDER_NOW + timedelta(2))] = None

    @property
    def given(self) -> dict[str, Any]:
        """The filters that are set, by name."""
        every = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in every.items() if value is not None}

    def with_placeholders(self) -> Filters:
        """Return the same filters with placeholders in place of values."""
        given = self.given
        return replace(self, **{name: placeholder for name, placeholder in _placeholders().items() if name in given})

    def values(self) -> dict[Any, Any]:
        """Return the value of each placeholder."""
        return {placeholder: getattr(self, name) for name, placeholder in _placeholders().items()}

    def condition(self, lookups: Mapping[str, str | tuple[str, ...]]) -> Q:
        """Return the filters as a condition. ``lookups`` maps a filter to a Django lookup, or to several joined by OR.

        Raises KeyError for a filter without a lookup.
        """
        condition = Q()
        for name, value in self.given.items():
            lookup = lookups[name]
            anyhow = (lookup,) if isinstance(lookup, str) else lookup
            condition &= Q(*((each, value) for each in anyhow), _connector=Q.OR)
        return condition

    def fits(self, lookups: Mapping[str, str | tuple[str, ...]]) -> bool:
        """Whether every filter that is set has a lookup. If not, no row matches."""
        return self.given.keys() <= lookups.keys()


ANY = Filters()


@cache
def declared() -> Mapping[str, tuple[type, Filter]]:
    """Return the value type and the declaration of each filter by name."""
    hints = {name: get_args(hint) for name, hint in get_type_hints(Filters, include_extras=True).items()}
    return {name: (get_args(value)[0], told) for name, (value, told) in hints.items()}


@cache
def _placeholders() -> Mapping[str, Any]:
    return {name: told.placeholder for name, (_, told) in declared().items() if told.placeholder is not None}
