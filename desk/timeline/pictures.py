"""Charts of memories: numbers and coordinates. Templates render them as SVG."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice

from django.db.models import Count, DateField, Q, Sum
from django.db.models.functions import TruncMonth
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.principals import Principal
from memories.models import Memory, Relation
from memories.policy.alike import share_a_matter
from memories.queries import BlockFill, block_fill
from statements.policy.naming import in_second_person

from ..labels import category_label

MONTHS = 12
SERIES = 4
"""The number of categories with a colour of their own; the others share one."""
MOST_NODES = 24
MOST_RELATIONS = 200
"""So many of the closest relations are looked at for the picture of them."""
WIDTH, HEIGHT, COLUMN = 600, 160, 50
ROW = 48
"""The height of a row of the list beside the graph, in pixels."""
ARCS = 120
"""The width of the graph, in pixels."""


@dataclass(frozen=True, slots=True)
class ChartPart:
    """A rectangle of a chart; ``series``: number of its colour, from 1."""

    series: int
    label: str
    number: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class TokensPicture:
    """Tokens of the memory block's budget by category, as a bar of ``WIDTH``, largest first."""

    fill: BlockFill
    parts: list[ChartPart]
    rows: list[tuple[str, int]]


def picture_tokens(principal: Principal) -> TokensPicture:
    """Count the memory block's tokens by category, in two queries."""
    fill = block_fill(principal)
    rows = Memory.objects.visible_to(principal).in_use(principal).filter(in_block=True)
    rows = rows.filter(Q(expires_at__isnull=True) | Q(expires_at__gt=timezone.now()))
    sums = rows.order_by().values_list("category").annotate(taken=Sum("tokens")).order_by("-taken", "category")
    measured = [(category_label(name), tokens) for name, tokens in sums]
    parts, x = [], 0.0
    whole = max(fill.budget, sum(tokens for _name, tokens in measured), 1)
    for series, label, tokens in _in_series(measured):
        width = WIDTH * tokens / whole
        parts.append(ChartPart(series, label, tokens, round(x, 1), 0, round(width, 1), 28))
        x += width
    return TokensPicture(fill, parts, measured)


@dataclass(frozen=True, slots=True)
class MonthsPicture:
    """Memories by month of creation and category.

    ``columns``: months with their parts and label positions. ``rows``: a category with its numbers before the first
    month and for each month. ``legend``: labels of the series in the order of colours.
    """

    columns: list[tuple[date, float, list[ChartPart]]]
    legend: list[tuple[int, str]]
    rows: list[tuple[str, list[int]]]
    most: int


def picture_months(principal: Principal, beside: TokensPicture) -> MonthsPicture:
    """Count active memories by month of creation, in the person's time zone, in one query.

    Categories have the same colours as in the chart ``beside``.
    """
    now = timezone.localdate()
    months = [_month(now, back) for back in reversed(range(MONTHS))]
    rows = Memory.objects.visible_to(principal).in_use(principal).order_by()
    by_month = rows.annotate(month=TruncMonth("created_at", output_field=DateField()))
    made = by_month.values_list("month", "category").annotate(Count("pk"))
    by_name: dict[str, Counter[date | None]] = defaultdict(Counter)
    for month, category, count in made:
        by_name[category][month if month in months else None] += count
    counts: dict[str, Counter[date | None]] = defaultdict(Counter)
    for category, each in by_name.items():
        counts[category_label(category)].update(each)
    totals = sorted(((label, each.total()) for label, each in counts.items()), key=lambda row: (-row[1], row[0]))
    series = {label: number for number, label, *_rest in _in_series(totals, beside.parts)}
    series = dict(sorted(series.items(), key=lambda each: each[1]))
    most = max((sum(each[month] for each in counts.values()) for month in months), default=0)
    columns = []
    others = _others()
    for place, month in enumerate(months):
        stacked: Counter[str] = Counter()
        for label, each in counts.items():
            stacked[label if label in series else others] += each[month]
        columns.append((month, place * COLUMN + COLUMN / 2, list(_column(place, stacked, series, most))))
    numbers = [(label, [counts[label][None], *(counts[label][month] for month in months)]) for label, _total in totals]
    return MonthsPicture(columns, sorted((number, label) for label, number in series.items()), numbers, most)


def _column(place: int, stacked: Mapping[str, int], series: Mapping[str, int], most: int) -> Iterator[ChartPart]:
    y = float(HEIGHT)
    for label, number in series.items():
        if count := stacked.get(label, 0):
            height = HEIGHT * count / most
            y -= height
            yield ChartPart(number, label, count, place * COLUMN + 8, round(y, 1), COLUMN - 16, round(height, 1))


def _month(day: date, back: int) -> date:
    months = day.year * 12 + day.month - 1 - back
    return date(months // 12, months % 12 + 1, 1)


def _others() -> str:
    return _("Other categories")


def _in_series(measured: Sequence[tuple[str, int]], beside: Sequence[ChartPart] = ()) -> list[tuple[int, str, int]]:
    """Assign colours: the largest categories their own, the others share the last; as in ``beside``."""
    shown = {label for label, _count in measured[:SERIES]}
    given = {part.label: part.series for part in beside if part.label in shown and part.series <= SERIES}
    free = (number for number in range(1, SERIES + 1) if number not in given.values())
    first = [(given.get(label) or next(free), label, count) for label, count in measured[:SERIES]]
    if len(measured) == SERIES + 1:
        return [*first, (SERIES + 1, *measured[SERIES])]
    rest = sum(count for _label, count in measured[SERIES:])
    return [*first, (SERIES + 1, _others(), rest)] if rest else first


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A memory in the graph, with its relations to other nodes by number."""

    number: int
    content: str
    address: str
    y: int
    related: list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """The graph of relations: memories in a column, connected by arcs.

    ``arcs``: SVG paths with the type of the relation. ``count``: total number of visible relations.
    """

    nodes: list[GraphNode]
    arcs: list[tuple[str, str]]
    height: int


_RELATED = {
    Relation.Type.RELATED_TO: (gettext_noop("close to"), gettext_noop("close to")),
    Relation.Type.SUPERSEDES: (gettext_noop("took the place of"), gettext_noop("replaced by")),
    Relation.Type.DERIVED_FROM: (gettext_noop("made of"), gettext_noop("part of")),
}


def picture_relations(principal: Principal) -> GraphPicture:
    """Return the strongest relations between active memories, other than mere similarity, in one query."""
    seen = Memory.objects.visible_to(principal).active().values("pk")
    rows = Relation.objects.visible_to(principal).filter(from_memory__in=seen, to_memory__in=seen)
    rows = rows.select_related("from_memory", "to_memory")
    rows = rows.only("type", "from_memory__content", "to_memory__content").order_by("-strength", "pk")
    chosen: list[Relation] = []
    contents: dict[str, str] = {}
    for row in rows[:MOST_RELATIONS]:
        if row.type == Relation.Type.RELATED_TO and not share_a_matter(
            row.from_memory.content, row.to_memory.content, principal.name
        ):
            continue
        ends = {row.from_memory_id: row.from_memory.content, row.to_memory_id: row.to_memory.content}
        if len(contents | ends) <= MOST_NODES:
            contents |= ends
            chosen.append(row)
    order = {pk: place for place, pk in enumerate(_in_groups(contents, chosen))}
    related: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for row in chosen:
        there, back = map(_, _RELATED[Relation.Type(row.type)])
        related[row.from_memory_id].append((there, order[row.to_memory_id] + 1))
        related[row.to_memory_id].append((back, order[row.from_memory_id] + 1))
    nodes = [
        GraphNode(
            place + 1,
            in_second_person(contents[pk]),
            reverse("memory-page", args=[pk]),
            place * ROW + ROW // 2,
            sorted(related[pk], key=lambda each: each[1]),
        )
        for pk, place in order.items()
    ]
    arcs = [(_arc(order[row.from_memory_id], order[row.to_memory_id]), str(row.type)) for row in chosen]
    return GraphPicture(nodes, arcs, len(nodes) * ROW)


def _arc(one: int, other: int) -> str:
    """Return the SVG path of an arc, wider for a greater distance."""
    top, bottom = sorted((one * ROW + ROW // 2, other * ROW + ROW // 2))
    out = ARCS - 8 - min(ARCS - 16, 24 + 12 * (abs(one - other) - 1))
    return f"M{ARCS - 8} {top} C{out} {top} {out} {bottom} {ARCS - 8} {bottom}"


def _in_groups(nodes: Iterable[str], relations: Iterable[Relation]) -> list[str]:
    """Order memories by connected groups, those with the most relations first."""
    beside: dict[str, set[str]] = defaultdict(set)
    for row in relations:
        beside[row.from_memory_id].add(row.to_memory_id)
        beside[row.to_memory_id].add(row.from_memory_id)
    left = sorted(nodes, key=lambda pk: (-len(beside[pk]), pk))
    order: dict[str, None] = {}
    for first in left:
        waiting = [first]
        while waiting:
            pk = waiting.pop(0)
            if pk not in order:
                order[pk] = None
                waiting += sorted(beside[pk] - order.keys(), key=lambda other: (-len(beside[other]), other))
    return list(islice(order, MOST_NODES))
