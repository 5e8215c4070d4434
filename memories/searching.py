"""Which memories a search looks through: as they are now, as they were true once, or as they stood recorded then."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from accounts.policy import must_act_for
from accounts.principals import STAND_IN_AGENT, STAND_IN_USER, Principal
from retrieval.prepared import Call, Shaped, Statement, Steps, Stepwise, put_together
from retrieval.search import read_columns

from .models import Kind, Memory, MemoryVersion
from .querysets import MemoryQuerySet, MemoryVersionQuerySet, statement

PROCEDURAL = "procedural"

MemoryRows = MemoryQuerySet | MemoryVersionQuerySet | Shaped

_NOW = datetime(1, 1, 1, tzinfo=UTC)
# A NUL is in no text and in no statement: one that is not replaced fails.
_STAND_INS: dict[str, Any] = {
    "agent_id": UUID(int=3),
    "run_id": "\0run",
    "actor_id": "\0actor",
    "role": "\0role",
    "updated_after": _NOW + timedelta(1),
    "updated_before": _NOW + timedelta(2),
}
"""What stands for what a search is narrowed to."""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What a search is narrowed to; None leaves open. All of it is applied in the database.

    ``categories`` are canonical names; ``updated_after`` belongs to the span and ``updated_before`` does not.
    ``beside`` are the categories that the memory block carries, to be left what it does not.
    """

    categories: frozenset[str] | None = None
    agent_id: UUID | None = None
    run_id: str | None = None
    actor_id: str | None = None
    role: str | None = None
    pinned: bool | None = None
    importance_min: int | None = None
    importance_max: int | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    beside: frozenset[str] | None = None

    def stand_in(self) -> Narrowing:
        """The same way of narrowing, whatever to; what few values there are of is part of the way."""
        given = {name: value for name, value in _STAND_INS.items() if getattr(self, name) is not None}
        return replace(self, **given) if given else self

    def condition(self, memory: str = "", updated: str = "updated_at") -> Q:
        """The same as a condition on rows whose memory stands behind the prefix, and whose date in a column."""
        wanted = {
            "category__in": None if self.categories is None else sorted(self.categories),
            "agent_id": self.agent_id,
            "run_id": self.run_id,
            "actor_id": self.actor_id,
            "role": self.role,
            "pinned": self.pinned,
            "importance__gte": self.importance_min,
            "importance__lte": self.importance_max,
        }
        dates = {f"{updated}__gte": self.updated_after, f"{updated}__lt": self.updated_before}
        columns = {f"{memory}{name}": value for name, value in wanted.items()} | dates
        narrowed = Q(**{name: value for name, value in columns.items() if value is not None})
        if self.categories is None or PROCEDURAL not in self.categories:
            # Step lists are for whoever asks for them; beside statements they would only take their room.
            narrowed &= ~Q(**{f"{memory}kind": Kind.PROCEDURAL}) & ~Q(**{f"{memory}category": PROCEDURAL})
        if self.beside is not None:
            carried = {f"{memory}kind": Kind.SEMANTIC, f"{memory}category__in": sorted(self.beside)}
            narrowed &= ~Q(**carried)
        return narrowed


def present_rows(principal: Principal, narrowing: Narrowing, now: datetime | None = None) -> MemoryQuerySet:
    """The memories that count for the principal now: in use, neither expired nor over nor still to begin."""
    now = now or timezone.now()
    rows = Memory.objects.visible_to(principal).in_use(principal).unexpired(now)
    return rows.filter(narrowing.condition()).exclude(valid_to__lte=now).exclude(valid_from__gt=now)


def present_shape(principal: Principal, narrowing: Narrowing) -> Shaped:
    """The same, for searches that come with every turn: compiled once for all who ask in the same way."""
    someone, somehow = principal.stand_in(), narrowing.stand_in()
    values = {STAND_IN_USER: principal.user_id, STAND_IN_AGENT: principal.agent_id, _NOW: timezone.now()}
    values |= {stand_in: getattr(narrowing, name) for name, stand_in in _STAND_INS.items()}
    return Shaped(key=(someone, somehow), build=lambda: present_rows(someone, somehow, _NOW), values=values)


def past_rows(
    principal: Principal, narrowing: Narrowing, *, true_at: datetime | None, recorded_at: datetime | None
) -> MemoryVersionQuerySet:
    """Of each memory the version that was true at a moment, as far as was recorded at another; at most one each.

    Without ``recorded_at`` all that is remembered now counts, without ``true_at`` what was the current version then.
    Only whoever asks for what was recorded is told what was put away later, until it is purged; what was rejected or
    is held back never is, nor what a person who reviews before has not reviewed.
    """
    versions = MemoryVersion.objects.visible_to(principal)
    if recorded_at is None:
        versions = versions.filter(memory__state="active").exclude(memory__expires_at__lte=timezone.now())
    else:
        versions = versions.filter(memory__state__in=["active", "archived"])
    if principal.review == "before":
        versions = versions.filter(memory__reviewed_at__isnull=False)
    if principal.categories is not None:
        # Filed elsewhere since: neither the old shelf nor the new one may be closed to the principal.
        versions = versions.filter(category__in=sorted(principal.categories))
    versions = versions.filter(narrowing.condition("memory__", "recorded_from"))
    moment = recorded_at or true_at
    versions = versions.exclude(memory__deleted_at__lte=moment).exclude(memory__expires_at__lte=moment)
    if recorded_at is not None:
        versions = versions.filter(recorded_from__lte=recorded_at)
    if true_at is None:
        return versions.exclude(recorded_to__lte=recorded_at)
    return _latest(_true_at(versions, true_at, recorded_at))


def _true_at(versions: MemoryVersionQuerySet, true_at: datetime, recorded_at: datetime | None) -> MemoryVersionQuerySet:
    begun = Q(valid_from__isnull=True) | Q(valid_from__lte=true_at)
    goes_on = Q(valid_to__isnull=True) | Q(valid_to__gt=true_at)
    if recorded_at is not None:
        # That it ended there was only said by the version after it, which nobody knew of yet.
        following = MemoryVersion.objects.filter(
            memory=OuterRef("memory"), number=OuterRef("number") + 1, valid_from=OuterRef("valid_to")
        )
        goes_on |= Q(Exists(following), recorded_to__gt=recorded_at)
    return versions.filter(begun & goes_on)


def _latest(versions: MemoryVersionQuerySet) -> MemoryVersionQuerySet:
    """Of each memory the last one: a correction takes over the time of what it corrects."""
    last = versions.order_by("memory", "-number").distinct("memory").values("pk")
    return MemoryVersion.objects.filter(pk__in=last)


# --- What was found ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A memory as a search answers with it. ``key`` is what the search knows it by: its id, or that of its version."""

    key: Any
    id: str
    category: str
    subject: str
    content: str
    kind: str
    importance: int
    pinned: bool
    version: int
    topics: list[str]
    created_at: datetime
    updated_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    last_used_at: datetime | None


PRESENT_COLUMNS = (
    "pk",
    "category",
    "subject",
    "content",
    "kind",
    "importance",
    "pinned",
    "version",
    "topics",
    "created_at",
    "updated_at",
    "valid_from",
    "valid_to",
    "use__last_used_at",
)
_OF_VERSIONS = (
    "memory_id",
    "memory__category",
    "subject",
    "content",
    "kind",
    "memory__importance",
    "memory__pinned",
    "number",
    "topics",
    "memory__created_at",
    "recorded_from",
    "valid_from",
    "valid_to",
    "memory__use__last_used_at",
)


def read_versions(rows: MemoryVersionQuerySet, keys: Sequence[Any]) -> dict[Any, MemoryRow]:
    """What the versions with these keys say, by key, in one statement; without those that are gone meanwhile."""
    return {row[0]: MemoryRow(*row) for row in rows.filter(pk__in=keys).values_list("pk", *_OF_VERSIONS)}


def read_memories(rows: MemoryRows, memory_ids: Sequence[str]) -> dict[str, MemoryRow]:
    """What the rows say of these memories, by the memory's id, in one statement."""
    if not isinstance(rows, MemoryVersionQuerySet):
        return {row[0]: MemoryRow(*row) for row in read_columns(rows, memory_ids, PRESENT_COLUMNS)}
    found = rows.filter(memory__in=memory_ids).values_list("pk", *_OF_VERSIONS)
    return {row[1]: MemoryRow(*row) for row in found}


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation between two memories, whichever way round."""

    one: str
    other: str
    type: str
    strength: float

    def touches(self, ids: Collection[str]) -> bool:
        """Whether exactly one of its ends is among these."""
        return (self.one in ids) != (self.other in ids)

    def beyond(self, ids: Collection[str]) -> str:
        """The end that is not among these."""
        return self.other if self.one in ids else self.one


@Stepwise
def read_edges(principal: Principal, memory_ids: Sequence[str]) -> Steps[list[Edge]]:
    """The relations of these memories, the strongest first, in one statement. Who may see the other ends is not asked.

    What was superseded by another says less than that one does, and no more. Raises NotFound for a principal that acts
    for nobody.
    """
    values: dict[str, Any] = {"user": must_act_for(principal), "ids": list(memory_ids)}
    return [Edge(*row) for row in (yield Call(_edges(), values))]


@cache
def _edges() -> Statement:
    return put_together(statement("edges"), {}, lasting=True)
