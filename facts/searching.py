"""The compiled query of searches over facts, and the row that it returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.principals import PLACEHOLDER_AGENT, PLACEHOLDER_USER, Principal
from retrieval.filters import ANY, PLACEHOLDER_NOW, Filters
from retrieval.prepared import Shaped

from .models import LegacyFact
from .querysets import FactQuerySet

_PLACEHOLDERS: dict[str, Any] = {"legacy_id": UUID(int=4), "active_since": PLACEHOLDER_NOW + timedelta(3)}
LOOKUPS = {"category": "category", "updated_after": "updated_at__gte", "updated_before": "updated_at__lt"}


@dataclass(frozen=True, slots=True)
class FactSelection:
    """The filters of a search; None means no filter. ``active_since``: facts have to be active since then or before."""

    legacy_id: UUID | None = None
    filters: Filters = ANY
    active_since: datetime | None = None

    def with_placeholders(self) -> FactSelection:
        """Return the same filters with placeholders in place of values."""
        given = {name: value for name, value in _PLACEHOLDERS.items() if getattr(self, name) is not None}
        return replace(self, filters=self.filters.with_placeholders(), **given)

    def values(self) -> dict[Any, Any]:
        """Return the value of each placeholder."""
        return self.filters.values() | {placeholder: getattr(self, name) for name, placeholder in _PLACEHOLDERS.items()}

    def condition(self) -> Q:
        """Return the filters as a condition."""
        wanted = {"legacy_id": self.legacy_id, "active_since__lte": self.active_since}
        narrowed = self.filters.condition(LOOKUPS)
        return narrowed & Q(**{name: value for name, value in wanted.items() if value is not None})


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact for prompts and search results."""

    pk: UUID
    user_id: UUID
    legacy_id: UUID
    category: str
    content: str
    visibility: str
    version: int
    extracted_at: datetime
    updated_at: datetime

    def origin(self, principal: Principal) -> str:
        """Return "personal" for the person's own, otherwise "shared"."""
        return "personal" if self.user_id == principal.user_id else "shared"


FACT_COLUMNS = ("user_id", "legacy_id", "category", "content", "visibility", "version", "extracted_at", "updated_at")


def facts_shape(principal: Principal, wanted: FactSelection) -> Shaped:
    """Return the visible facts in use, about one legacy or any, as a compiled query."""
    someone, somehow = principal.with_placeholders(), wanted.with_placeholders()

    def build() -> FactQuerySet:
        return LegacyFact.objects.visible_to(someone).in_use(someone).filter(somehow.condition())

    values = {PLACEHOLDER_USER: principal.user_id, PLACEHOLDER_AGENT: principal.agent_id} | wanted.values()
    return Shaped(key=("facts", someone, somehow), build=build, values=values)
