"""Rows of a search (current, valid at a time, or as recorded at a time), and the bonuses of its ranking."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from accounts.policy import must_act_for
from accounts.principals import PLACEHOLDER_AGENT, PLACEHOLDER_USER, Principal
from retrieval.filters import ANY, PLACEHOLDER_NOW, Filters
from retrieval.prepared import Call, PreparedStatement, Shaped, Steps, Stepwise, build_statement
from retrieval.search import read_columns

from .conditions import Condition, q_of
from .models import Kind, Memory, MemoryVersion
from .querysets import BY_AGENT, MemoryQuerySet, MemoryVersionQuerySet, statement

PROCEDURAL = "procedural"

MemoryRows = MemoryQuerySet | MemoryVersionQuerySet | Shaped


def _lookups(memory: str, updated: str) -> dict[str, str | tuple[str, ...]]:
    """The lookup of each filter; ``memory`` is the prefix of the memory's columns, ``updated`` the date column."""
    names = ("run_id", "actor_id", "role", "pinned")
    of_memory = {name: name for name in names} | {
        "importance_min": "importance__gte",
        "importance_max": "importance__lte",
    }
    dates = {"updated_after": f"{updated}__gte", "updated_before": f"{updated}__lt"}
    agents = tuple(f"{memory}{column}" for column in BY_AGENT)
    return {name: f"{memory}{lookup}" for name, lookup in of_memory.items()} | dates | {"agent_id": agents}


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The filters of a search, applied in the database; None is no filter.

    ``categories`` are canonical names and replace the filter of that name. ``beside`` are the categories of the memory
    block, whose memories are excluded as the prompt has them. ``where`` is the caller's own condition.
    """

    filters: Filters = ANY
    categories: frozenset[str] | None = None
    beside: frozenset[str] | None = None
    where: Condition | None = None

    def with_placeholders(self) -> Narrowing:
        """Return the shape of the filters: placeholders for values, except of filters with few possible values."""
        return replace(self, filters=self.filters.with_placeholders())

    def condition(self, memory: str = "", updated: str = "updated_at") -> Q:
        """Return the filters as a condition; for the arguments see ``_lookups``."""
        narrowed = self.filters.condition(_lookups(memory, updated))
        if self.categories is not None:
            narrowed &= Q(**{f"{memory}category__in": sorted(self.categories)})
        if self.categories is None or PROCEDURAL not in self.categories:
            # Procedures are returned only on request: they would displace statements.
            narrowed &= ~Q(**{f"{memory}kind": Kind.PROCEDURAL}) & ~Q(**{f"{memory}category": PROCEDURAL})
        if self.beside is not None:
            carried = {f"{memory}kind": Kind.SEMANTIC, f"{memory}category__in": sorted(self.beside)}
            narrowed &= ~Q(**carried)
        if self.where is not None:
            narrowed &= q_of(self.where, versions=bool(memory))
        return narrowed


def present_rows(principal: Principal, narrowing: Narrowing, now: datetime | None = None) -> MemoryQuerySet:
    """Return the memories in use that are valid now and have not expired."""
    now = now or timezone.now()
    rows = Memory.objects.visible_to(principal).in_use(principal).unexpired(now)
    return rows.filter(narrowing.condition()).exclude(valid_to__lte=now).exclude(valid_from__gt=now)


def present_shape(principal: Principal, narrowing: Narrowing) -> Shaped:
    """Return the same query without ``where``, compiled once per shape."""
    someone, somehow = principal.with_placeholders(), narrowing.with_placeholders()
    values = {
        PLACEHOLDER_USER: principal.user_id,
        PLACEHOLDER_AGENT: principal.agent_id,
        PLACEHOLDER_NOW: timezone.now(),
    }
    values |= narrowing.filters.values()
    return Shaped(key=(someone, somehow), build=lambda: present_rows(someone, somehow, PLACEHOLDER_NOW), values=values)


def past_rows(
    principal: Principal, narrowing: Narrowing, *, true_at: datetime | None, recorded_at: datetime | None
) -> MemoryVersionQuerySet:
    """Return at most one version of each memory: valid at ``true_at``, as recorded at ``recorded_at`` (bitemporal).

    Without ``recorded_at``, today's knowledge is used; without ``true_at``, the version current at ``recorded_at``.
    Memories archived since are included only with ``recorded_at``, until they are purged. Rejected and quarantined ones
    never are, nor unreviewed ones of a person who reviews before use, nor for agents what the person refused since.
    """
    versions = MemoryVersion.objects.visible_to(principal)
    if recorded_at is None:
        versions = versions.filter(memory__state="active").exclude(memory__expires_at__lte=timezone.now())
    else:
        versions = versions.filter(memory__state__in=["active", "archived"])
    if principal.review == "before":
        versions = versions.filter(memory__reviewed_at__isnull=False)
    if principal.categories is not None:
        # The category may have changed: the principal must see both the old and the new one.
        versions = versions.filter(category__in=sorted(principal.categories))
    versions = versions.filter(narrowing.condition("memory__", "recorded_from"))
    moment = recorded_at or true_at
    versions = versions.exclude(memory__deleted_at__lte=moment).exclude(memory__expires_at__lte=moment)
    if recorded_at is not None:
        versions = versions.filter(recorded_from__lte=recorded_at)
    if true_at is None:
        return versions.exclude(recorded_to__lte=recorded_at).unrefused(principal)
    return _latest(_true_at(versions, true_at, recorded_at)).unrefused(principal)


def _true_at(versions: MemoryVersionQuerySet, true_at: datetime, recorded_at: datetime | None) -> MemoryVersionQuerySet:
    begun = Q(valid_from__isnull=True) | Q(valid_from__lte=true_at)
    goes_on = Q(valid_to__isnull=True) | Q(valid_to__gt=true_at)
    if recorded_at is not None:
        # Its end comes from the next version, which was not recorded yet.
        following = MemoryVersion.objects.filter(
            memory=OuterRef("memory"), number=OuterRef("number") + 1, valid_from=OuterRef("valid_to")
        )
        goes_on |= Q(Exists(following), recorded_to__gt=recorded_at)
    return versions.filter(begun & goes_on)


def _latest(versions: MemoryVersionQuerySet) -> MemoryVersionQuerySet:
    """Keep the last version of each memory: a correction also applies to the time before it."""
    last = versions.order_by("memory", "-number").distinct("memory").values("pk")
    return MemoryVersion.objects.filter(pk__in=last)


# --- What was found ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A memory in a search result. ``key`` is its id, or the id of its version."""

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
    metadata: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    said_at: datetime | None
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
    "metadata",
    "created_at",
    "updated_at",
    "valid_from",
    "valid_to",
    "said_at",
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
    "metadata",
    "memory__created_at",
    "recorded_from",
    "valid_from",
    "valid_to",
    "said_at",
    "memory__use__last_used_at",
)


def read_versions(rows: MemoryVersionQuerySet, keys: Sequence[Any]) -> dict[Any, MemoryRow]:
    """Read versions by key, in one statement; deleted ones are missing."""
    return {row[0]: MemoryRow(*row) for row in rows.filter(pk__in=keys).values_list("pk", *_OF_VERSIONS)}


def read_memories(rows: MemoryRows, memory_ids: Sequence[str]) -> dict[str, MemoryRow]:
    """Read memories by id, in one statement."""
    if not isinstance(rows, MemoryVersionQuerySet):
        return {row[0]: MemoryRow(*row) for row in read_columns(rows, memory_ids, PRESENT_COLUMNS)}
    found = rows.filter(memory__in=memory_ids).values_list("pk", *_OF_VERSIONS)
    return {row[1]: MemoryRow(*row) for row in found}


@dataclass(frozen=True, slots=True)
class Edge:
    """An undirected relation between two memories."""

    one: str
    other: str
    type: str
    strength: float

    def touches(self, ids: Collection[str]) -> bool:
        """Whether exactly one end is in ``ids``."""
        return (self.one in ids) != (self.other in ids)

    def beyond(self, ids: Collection[str]) -> str:
        """The end that is not in ``ids``."""
        return self.other if self.one in ids else self.one


@Stepwise
def read_edges(principal: Principal, memory_ids: Sequence[str]) -> Steps[list[Edge]]:
    """Read the relations of these memories, strongest first, in one statement. The other ends may be hidden.

    Relations of the type ``supersedes`` are excluded. Raises NotFound for a principal without a person.
    """
    values: dict[str, Any] = {"user": must_act_for(principal), "ids": list(memory_ids)}
    return [Edge(*row) for row in (yield Call(_edges(), values))]


@cache
def _edges() -> PreparedStatement:
    return build_statement(statement("edges"), {}, lasting=True)


_ORDINARY = 2
_DAY = timedelta(days=1)


def row_bonuses(rows: Iterable[MemoryRow], now: datetime) -> list[float]:
    """Return the bonus of each row for importance, recent use, recency and pins, with a malus for insights.

    Importance counts relative to the default, halved for every ``RANK_IMPORTANCE_HALF_DAYS`` without use or change; the
    stored value does not change.
    """
    importance, importance_days = settings.RANK_IMPORTANCE, settings.RANK_IMPORTANCE_HALF_DAYS
    recency, recency_days = settings.RANK_RECENCY, settings.RANK_RECENCY_HALF_DAYS
    pinned, insight = settings.RANK_PINNED, settings.RANK_INSIGHT
    points = []
    for row in rows:
        used = max(row.updated_at, row.last_used_at or row.updated_at)
        lasting = 0.5 ** (_days(used, now) / importance_days)
        recent = 0.5 ** (_days(row.updated_at, now) / recency_days)
        points.append(
            importance * (row.importance - _ORDINARY) * lasting
            + recency * recent
            + pinned * row.pinned
            - insight * (row.kind == Kind.INSIGHT)
        )
    return points


def relation_bonuses(ids: Sequence[str], edges: Iterable[Edge]) -> Mapping[str, float]:
    """Return the bonus of each memory for relations to better ones. ``ids`` are the memories, best first."""
    place = {memory_id: number for number, memory_id in enumerate(ids)}
    points: dict[str, float] = {}
    for edge in edges:
        if edge.one in place and edge.other in place:
            later = max(edge.one, edge.other, key=place.__getitem__)
            points[later] = max(points.get(later, 0.0), settings.RANK_RELATED * edge.strength)
    return points


def _days(since: datetime, now: datetime) -> float:
    return max((now - since) / _DAY, 0.0)
