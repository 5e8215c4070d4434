"""Which facts a search looks through, and what it brings of them: compiled once for all who ask alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.principals import STAND_IN_AGENT, STAND_IN_USER, Principal
from retrieval.filters import ANY, STAND_IN_NOW, Filters
from retrieval.prepared import Shaped

from .models import LegacyFact
from .querysets import FactQuerySet

_STAND_INS: dict[str, Any] = {"legacy_id": UUID(int=4), "active_since": STAND_IN_NOW + timedelta(3)}
LOOKUPS = {"category": "category", "updated_after": "updated_at__gte", "updated_before": "updated_at__lt"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What facts have to be; None leaves open. ``active_since`` is the moment by which it has to have been in use."""

    legacy_id: UUID | None = None
    filters: Filters = ANY
    active_since: datetime | None = None

    def stand_in(self) -> Wanted:
        """The same way of narrowing, whatever to."""
        given = {name: value for name, value in _STAND_INS.items() if getattr(self, name) is not None}
        return replace(self, filters=self.filters.stand_in(), **given)

    def values(self) -> dict[Any, Any]:
        """What each stand-in stands for."""
        return self.filters.values() | {stand_in: getattr(self, name) for name, stand_in in _STAND_INS.items()}

    def condition(self) -> Q:
        """The same as a condition on facts."""
        wanted = {"legacy_id": self.legacy_id, "active_since__lte": self.active_since}
        narrowed = self.filters.condition(LOOKUPS)
        return narrowed & Q(**{name: value for name, value in wanted.items() if value is not None})


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact as a prompt or a search shows it."""

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
        """Whether it is the person's own, or shared with them."""
        return "personal" if self.user_id == principal.user_id else "shared"


FACT_COLUMNS = ("user_id", "legacy_id", "category", "content", "visibility", "version", "extracted_at", "updated_at")


def facts_shape(principal: Principal, wanted: Wanted) -> Shaped:
    """Facts in use that the person may see, about a legacy or about every one that they have to do with."""
    someone, somehow = principal.stand_in(), wanted.stand_in()

    def build() -> FactQuerySet:
        return LegacyFact.objects.visible_to(someone).in_use(someone).filter(somehow.condition())

    values = {STAND_IN_USER: principal.user_id, STAND_IN_AGENT: principal.agent_id} | wanted.values()
    return Shaped(key=("facts", someone, somehow), build=build, values=values)
