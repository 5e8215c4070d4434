"""The review queue: its items, order, position and counts.

Proposals come first, earliest expiry first; then unreviewed memories and facts, oldest first.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, cast
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Case, CharField, F, OuterRef, Q, QuerySet, Subquery, UUIDField, Value, When
from django.db.models.functions import Cast, Concat
from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts import categories
from accounts.principals import PLACEHOLDER_USER, Principal, shape_for
from facts.models import LegacyFact
from facts.querysets import WAITING
from memories.models import Memory, Proposal
from memories.querysets import PLACES_CATEGORY, MemoryQuerySet, ProposalQuerySet
from retrieval.filters import PLACEHOLDER_NOW
from retrieval.prepared import Rows, Shaped, count, read, together
from statements.models import Doubt

from ..legacies.listing import FactView

END = "end"
MOST_COUNTED = 1_000
KINDS = {"memories": gettext_noop("Memories"), "facts": gettext_noop("Facts")}
IN_QUEUE = (Proposal.Kind.CREATE, Proposal.Kind.UPDATE, Proposal.Kind.ARCHIVE, Proposal.Kind.PLACE)
"""The kinds of proposals that the queue shows."""

_LAPSES, _STAYS = 0, 1
"""The ranks: proposals that lapse come before what stays until it is decided."""
_ORDER = ("rank", "since", "key")
"""The order of the queue: by rank, then what lapses soonest or waits longest. ``_proposals``, ``_memories`` and
``_facts`` set the columns; ``_before`` compares by them.
"""
_LEGACY = UUID(int=6)
"""The placeholder of a legacy's id in compiled statements."""
_NOT_REVIEWED = Q(reviewed_at__isnull=True) | Q(needs_check=True)
_Row = tuple[int, datetime, str]


@dataclass(frozen=True, slots=True)
class QueueItem:
    """A queue item: a fact, a memory (active or proposed), or another proposal."""

    kind: Literal["fact", "memory", "proposal"]
    pk: str

    @classmethod
    def of(cls, key: str) -> QueueItem | None:
        """Parse a key; None for an invalid one."""
        kind, _dash, pk = key.partition("-")
        if kind == "memory":
            return cls("memory", pk) if pk.isascii() and pk.isalnum() else None
        if kind not in {"fact", "proposal"}:
            return None
        try:
            return cls(cast(Literal["fact", "proposal"], kind), str(UUID(pk)))
        except ValueError:
            return None

    @property
    def key(self) -> str:
        """The key in URLs and in the session."""
        return f"{self.kind}-{self.pk}"

    @property
    def uuid(self) -> UUID:
        """The id of a fact or of a proposal."""
        return UUID(self.pk)


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """A position in the queue: the item, the number before it, the total, and its neighbours.

    Without an ``item`` the queue is empty or finished. Counts stop at ``MOST_COUNTED``.
    """

    item: QueueItem | None
    before: int
    total: int
    earlier: QueueItem | None = None
    later: QueueItem | None = None


@dataclass(frozen=True, slots=True)
class QueueQuery:
    """Query parameters of the queue: kind, legacy, category, and the current item or the end.

    A legacy restricts it to facts. A category applies to the kinds that have it.
    """

    kind: str = ""
    legacy: str = ""
    category: str = ""
    item: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> QueueQuery:
        """Parse a query string, ignoring invalid values."""
        view, kind, item = FactView.of(query), query.get("kind", ""), query.get("item", "")
        category = view.category or categories.load().canonical(query.get("category", "")) or ""
        legacy = view.legacy if kind != "memories" else ""
        known = QueueItem.of(item)
        item = item if item == END else known.key if known else ""
        return cls(kind if kind in KINDS else "", legacy, category, item)

    @property
    def query(self) -> str:
        """The query string with its question mark; '' for the whole queue from its start."""
        values = {"kind": self.kind, "legacy": self.legacy, "category": self.category, "item": self.item}
        written = urlencode({name: value for name, value in values.items() if value})
        return f"?{written}" if written else ""

    @property
    def filters(self) -> str:
        """The filters, without the position."""
        return replace(self, item="").query

    def at(self, item: QueueItem | None) -> QueueQuery:
        """The same queue at another item; None is its end."""
        return replace(self, item=END if item is None else item.key)

    @property
    def from_the_start(self) -> QueueQuery:
        """The same queue from its first item on."""
        return replace(self, item="")

    def place(self, principal: Principal) -> QueuePosition:
        """Return the position of the item, or of the next one if it does not wait any more."""
        rows = self._first(principal)
        item = QueueItem.of(self.item)
        at = _position(principal, item) if item else None
        if len(rows) < MOST_COUNTED or (at is None and self.item != END):
            before = len(rows) if self.item == END else bisect_left(rows, at) if at else 0
            first, second, *_ = [*_items(rows[before : before + 2]), None, None]
            earlier, *_ = [*_items(rows[max(0, before - 1) : before]), None]
            return QueuePosition(first, before, len(rows), earlier=earlier, later=second)
        sources = self._sources(principal)
        if at is None:
            return QueuePosition(None, len(rows), len(rows), earlier=_last(sources))
        ahead = [each.filter(_before(at)) for each in sources]
        after = _together([each.exclude(_before(at)) for each in sources])
        first, second, *_ = [*_items(after.order_by(*_ORDER)[:2]), None, None]
        return QueuePosition(first, _count(ahead), len(rows), earlier=_last(ahead), later=second)

    def ahead(self, principal: Principal, most: int) -> list[QueueItem]:
        """Return the items after the current one, in order; none if it is gone."""
        item = QueueItem.of(self.item)
        at = _position(principal, item) if item else None
        if at is None:
            return []
        rows = self._first(principal)
        after: Iterable[_Row] = rows[bisect_left(rows, at) :][: most + 1]
        if len(rows) == MOST_COUNTED:
            every = _together([each.exclude(_before(at)) for each in self._sources(principal)])
            after = every.order_by(*_ORDER)[: most + 1]
        return [each for each in _items(after) if each != item][:most]

    def _first(self, principal: Principal) -> Rows:
        """Return ``rank``, ``since`` and ``key`` of the first ``MOST_COUNTED`` items in order, in one query.

        Most queues are no longer, and reading a thousand short rows costs less than queries for counts and neighbours.
        The query is compiled once for all queues with the same filters.
        """
        someone = principal.with_placeholders()
        shape = replace(self, legacy=str(_LEGACY) if self.legacy else "", item="")

        def build() -> QuerySet[Any]:
            return _together(shape._sources(someone, PLACEHOLDER_NOW)).order_by(*_ORDER)[:MOST_COUNTED]

        values = {
            PLACEHOLDER_USER: principal.user_id,
            PLACEHOLDER_NOW: timezone.now(),
            _LEGACY: UUID(self.legacy) if self.legacy else None,
        }
        return read(Shaped(("review queue", MOST_COUNTED, someone, shape), build, values), _ORDER)

    def _sources(self, principal: Principal, now: datetime | None = None) -> list[QuerySet[Any]]:
        """Return the waiting rows of each kind with ``rank``, ``since`` and ``key``, the columns of the order."""
        now = now or timezone.now()
        found: list[QuerySet[Any]] = []
        if self.kind != "facts" and not self.legacy:
            found.append(_proposals(self._proposals_in_category(principal, now)))
            found += map(_memories, self._memories_in_category(principal, now))
        if self.kind != "memories" and (not self.category or self.category in LegacyFact.Category.values):
            found.append(_facts(principal, FactView(legacy=self.legacy, category=self.category)))
        return found or [_facts(principal, FactView()).none()]

    def _proposals_in_category(self, principal: Principal, now: datetime) -> ProposalQuerySet:
        rows = waiting_proposals(principal, now)
        if not self.category:
            return rows
        in_category = Q(memory__category=self._memory_category)
        return rows.filter(
            in_category | Q(kind=Proposal.Kind.PLACE) if self._memory_category == PLACES_CATEGORY else in_category
        )

    def _memories_in_category(self, principal: Principal, now: datetime) -> Iterable[MemoryQuerySet]:
        parts = _waiting_memories(principal, now)
        return [rows.filter(category=self._memory_category) for rows in parts] if self.category else parts

    @property
    def _memory_category(self) -> str:
        return categories.load().canonical(self.category) or ""


def waiting_proposals(principal: Principal, now: datetime | None = None) -> ProposalQuerySet:
    """Return the proposals that are queue items."""
    return Proposal.objects.visible_to(principal).open(now or timezone.now()).filter(kind__in=IN_QUEUE)


def count_waiting_memories(principal: Principal) -> int:
    """Return the number of active memories that wait for the person."""
    now = {PLACEHOLDER_NOW: timezone.now()}

    def part(number: int) -> Shaped:
        name = ("waiting memories", number)
        return shape_for(principal, name, lambda who: _waiting_memories(who, PLACEHOLDER_NOW)[number], now)

    return sum(together(count.steps(part(0)), count.steps(part(1))))


def _waiting_memories(principal: Principal, now: datetime) -> tuple[MemoryQuerySet, MemoryQuerySet]:
    """Return active memories that are unreviewed or possible duplicates, and, separately, those possibly out of date.

    Two disjoint queries, so that each uses an index.
    """
    rows = Memory.objects.visible_to(principal).active().unexpired(now)
    doubted = Doubt.objects.open_of(principal.user_id, "memory").values("object_id")
    return rows.filter(_NOT_REVIEWED), rows.filter(reviewed_at__isnull=False, needs_check=False, pk__in=doubted)


def _proposals(rows: ProposalQuerySet) -> QuerySet[Any]:
    # A proposed memory's key is its own id, since undo may create another proposal.
    new = When(kind=Proposal.Kind.CREATE, then=Concat(Value("memory-"), "memory_id"))
    other = Concat(Value("proposal-"), Cast("pk", CharField()))
    key = Case(new, default=other, output_field=CharField())
    return rows.annotate(rank=Value(_LAPSES), since=F("expires_at"), key=key)


def _memories(rows: MemoryQuerySet) -> QuerySet[Any]:
    key = Concat(Value("memory-"), "pk", output_field=CharField())
    return rows.annotate(rank=Value(_STAYS), since=F("created_at"), key=key)


def _facts(principal: Principal, view: FactView) -> QuerySet[Any]:
    key = Concat(Value("fact-"), Cast("pk", CharField()), output_field=CharField())
    doubted = Doubt.objects.open_of(principal.user_id, "fact").values(pk=Cast("object_id", UUIDField()))
    out_of_date = Q(state=LegacyFact.State.ACTIVE, pk__in=doubted)
    rows = view.narrow(LegacyFact.objects.mine(principal).filter(WAITING | out_of_date))
    return rows.annotate(rank=Value(_STAYS), since=F("extracted_at"), key=key)


def _position(principal: Principal, item: QueueItem) -> _Row | None:
    """Return the sort key of an item, also of a decided one; None if it does not exist."""
    if item.kind == "fact":
        facts = LegacyFact.objects.mine(principal).filter(pk=item.pk)
        came = facts.values_list("extracted_at", flat=True).first()
        return (_STAYS, came, item.key) if came else None
    if item.kind == "proposal":
        proposals = Proposal.objects.visible_to(principal).filter(pk=item.pk)
        lapses = proposals.values_list("expires_at", flat=True).first()
        return (_LAPSES, lapses, item.key) if lapses else None
    creates = Proposal.objects.filter(memory=OuterRef("pk"), kind=Proposal.Kind.CREATE, expires_at__gt=timezone.now())
    lapses_at = Subquery(creates.order_by("-created_at").values("expires_at")[:1])
    memories = Memory.objects.visible_to(principal).filter(pk=item.pk).annotate(lapses_at=lapses_at)
    row = memories.values_list("created_at", "lapses_at").first()
    if row is None:
        return None
    created_at, lapses = row
    return (_LAPSES, lapses, item.key) if lapses else (_STAYS, created_at, item.key)


def _before(at: _Row) -> Q:
    """Return the condition for rows before a position."""
    rank, since, key = at
    earlier = Q(since__lt=since) | Q(since=since, key__lt=key)
    return Q(rank__lt=rank) | (Q(rank=rank) & earlier)


def _together(sources: list[QuerySet[Any]]) -> QuerySet[Any, _Row]:
    first, *others = (rows.order_by().values_list(*_ORDER) for rows in sources)
    return first.union(*others, all=True) if others else first


def _count(sources: list[QuerySet[Any]]) -> int:
    return _together(sources)[:MOST_COUNTED].count()


def _last(sources: list[QuerySet[Any]]) -> QueueItem | None:
    return next(iter(_items(_together(sources).order_by(*(f"-{name}" for name in _ORDER))[:1])), None)


def _items(rows: Iterable[_Row]) -> list[QueueItem]:
    return [item for _, _, key in rows if (item := QueueItem.of(key))]
