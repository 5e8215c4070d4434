"""Which facts a search looks through, and what it brings of them: compiled once for all who ask alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.principals import STAND_IN_AGENT, STAND_IN_USER, Principal
from retrieval.prepared import Shaped

from .models import LegacyFact
from .querysets import FactQuerySet

_NOW = datetime(1, 1, 1, tzinfo=UTC)
# A NUL is in no text and in no statement: one that is not replaced fails.
_STAND_INS: dict[str, Any] = {
    "legacy_id": UUID(int=4),
    "category": "\0category",
    "since": _NOW + timedelta(1),
    "before": _NOW + timedelta(2),
    "active_since": _NOW + timedelta(3),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What facts have to be; None leaves open. ``since`` belongs to the span when it was updated, ``before`` does not.

    ``active_since`` is the moment by which it has to have been in use.
    """

    legacy_id: UUID | None = None
    category: str | None = None
    since: datetime | None = None
    before: datetime | None = None
    active_since: datetime | None = None

    def stand_in(self) -> Wanted:
        """The same way of narrowing, whatever to."""
        given = {name: value for name, value in _STAND_INS.items() if getattr(self, name) is not None}
        return replace(self, **given) if given else self

    def condition(self) -> Q:
        """The same as a condition on facts."""
        wanted = {
            "legacy_id": self.legacy_id,
            "category": self.category,
            "updated_at__gte": self.since,
            "updated_at__lt": self.before,
            "active_since__lte": self.active_since,
        }
        return Q(**{name: value for name, value in wanted.items() if value is not None})


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

    values = {STAND_IN_USER: principal.user_id, STAND_IN_AGENT: principal.agent_id}
    values |= {stand_in: getattr(wanted, name) for name, stand_in in _STAND_INS.items()}
    return Shaped(key=("facts", someone, somehow), build=build, values=values)
