"""Reads over the log of operations and over jobs: how many, by what they were and how they ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Sum

from .models import JobRun, ModelUse, OperationEvent


@dataclass(frozen=True, slots=True)
class OperationCount:
    """How often an operation of a node ended so."""

    node: str
    op: str
    status: str
    count: int


def count_operations(since: datetime, user_id: UUID | None = None) -> list[OperationCount]:
    """What was attempted since then, of one person or of all, by node, operation and status."""
    events = OperationEvent.objects.filter(at__gte=since)
    if user_id is not None:
        events = events.filter(user_id=user_id)
    names = ("node", "op", "status")
    rows = events.order_by(*names).values_list(*names).annotate(number=Sum("count"))
    return [OperationCount(node, op, status, number) for node, op, status, number in rows]


def count_jobs() -> dict[tuple[str, str], int]:
    """How many jobs wait, run or have failed, by kind and state; one that waits after an error is ``retrying``."""
    open_ones = JobRun.objects.filter(state__in=["waiting", "running"]).order_by()
    counts: dict[tuple[str, str], int] = {}
    rows = open_ones.values_list("kind", "state", "error_code").annotate(number=Count("pk"))
    for kind, state, error_code, number in rows:
        named = (kind, "retrying" if state == "waiting" and error_code else state)
        counts[named] = counts.get(named, 0) + number
    failed = JobRun.objects.failing().filter(state="failed").order_by().values_list("kind").annotate(number=Count("pk"))
    return counts | {(kind, "failed"): number for kind, number in failed}


def count_model_use() -> list[tuple[str, int, int, int]]:
    """Calls, input and output tokens of models for work that runs by itself, by purpose, of all days."""
    rows = ModelUse.objects.order_by("purpose").values_list("purpose")
    return list(rows.annotate(of=Sum("calls"), read=Sum("input_tokens"), written=Sum("output_tokens")))
