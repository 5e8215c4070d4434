"""Counts of operations by outcome, of jobs by state, and of model use by purpose."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from django.db.models import Count, Sum

from .models import JobRun, ModelUse, OperationEvent


@dataclass(frozen=True, slots=True)
class OperationCount:
    """How often an operation of a node ended with a status."""

    node: str
    op: str
    status: str
    count: int


def count_operations(since: datetime, user_id: UUID | None = None) -> list[OperationCount]:
    """Count operations since a time by node, operation and status, for one person or everybody."""
    events = OperationEvent.objects.filter(at__gte=since)
    if user_id is not None:
        events = events.filter(user_id=user_id)
    names = ("node", "op", "status")
    rows = events.order_by(*names).values_list(*names).annotate(number=Sum("count"))
    return [OperationCount(node, op, status, number) for node, op, status, number in rows]


def count_jobs() -> dict[tuple[str, str], int]:
    """Count waiting, running and failed jobs by kind and state; one that waits after an error is ``retrying``."""
    open_ones = JobRun.objects.filter(state__in=["waiting", "running"]).order_by()
    counts: dict[tuple[str, str], int] = {}
    rows = open_ones.values_list("kind", "state", "error_code").annotate(number=Count("pk"))
    for kind, state, error_code, number in rows:
        named = (kind, "retrying" if state == "waiting" and error_code else state)
        counts[named] = counts.get(named, 0) + number
    failed = JobRun.objects.failing().filter(state="failed").order_by().values_list("kind").annotate(number=Count("pk"))
    return counts | {(kind, "failed"): number for kind, number in failed}


def count_model_use(day: date | None = None) -> list[tuple[str, int, int, int]]:
    """Return the calls, input and output tokens of all but replies by purpose: of one day (UTC), or over all days."""
    rows = ModelUse.objects.order_by("purpose").values_list("purpose")
    rows = rows if day is None else rows.filter(day=day)
    return list(rows.annotate(of=Sum("calls"), read=Sum("input_tokens"), written=Sum("output_tokens")))
