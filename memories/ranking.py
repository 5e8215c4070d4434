"""What speaks for a memory when something is looked for, whatever is asked. Pure: rows in, points of score out.

A point is worth as much as being one deviation nearer to the question than the person's memories are on average.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from django.conf import settings

from .models import Kind
from .searching import Edge, MemoryRow

_ORDINARY = 2
_DAY = timedelta(days=1)


def standing(rows: Iterable[MemoryRow], now: datetime) -> list[float]:
    """Points of each row for being important, lately used, recent or pinned, and off for being an insight.

    Importance counts as far as it is off the ordinary, and half as much after every ``RANK_IMPORTANCE_HALF_DAYS`` in
    which the memory was neither used nor changed; the stored value stays.
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


def company(ids: Sequence[str], edges: Iterable[Edge]) -> Mapping[str, float]:
    """Points for being related to what was found before it. ``ids`` are the memories, the best first."""
    place = {memory_id: number for number, memory_id in enumerate(ids)}
    points: dict[str, float] = {}
    for edge in edges:
        if edge.one in place and edge.other in place:
            later = max(edge.one, edge.other, key=place.__getitem__)
            points[later] = max(points.get(later, 0.0), settings.RANK_RELATED * edge.strength)
    return points


def _days(since: datetime, now: datetime) -> float:
    return max((now - since) / _DAY, 0.0)
