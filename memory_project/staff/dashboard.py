"""The admin's dashboard: queues, jobs, writes per day, models in use."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from django.core.cache import cache
from django.db.models import Count, F, Min, QuerySet, Value
from django.db.models.functions import TruncDate
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from assistant.learn.summarizing import JOB as SUMMARIZE
from facts.models import LegacyFact
from journal.counting import OperationCount, count_operations
from journal.models import Change, JobRun
from language.backends import get_embedder
from memories.models import Memory

from .. import pulse
from .roles import roles_today

DAYS = 14
SHOWN_JOBS = 8
PAST_DAY_SECONDS = 86_400
TODAY_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue: its size, the time of its oldest item, and the link to its page."""

    title: str
    count: int
    link: str
    since: datetime | None = None


def read_dashboard(request: HttpRequest) -> dict[str, Any]:
    """Return the context of the dashboard. Runs a few queries that read only what is shown or counted."""
    facts, queue = reverse("admin:facts_legacyfact_changelist"), reverse("admin:waiting")
    jobs = reverse("admin:journal_jobrun_changelist")
    waiting = count_waiting(request)
    failing = list(JobRun.objects.failing().order_by("-created_at")[:SHOWN_JOBS])
    batches = JobRun.objects.failing().filter(kind=SUMMARIZE).count()
    written = writes_per_day()
    return {
        "queues": [
            Queue("Quarantined facts", waiting["quarantined"], queue, _since(LegacyFact)),
            Queue("Quarantined memories", waiting["memories"], queue, _since(Memory)),
            Queue("Hidden facts", waiting["hidden"], f"{facts}?state__exact=hidden"),
            Queue("Failing jobs", waiting["failing"], f"{jobs}?is=failing"),
            Queue("Conversations whose summary fails", batches, f"{jobs}?is=failing&kind={SUMMARIZE}"),
        ],
        "health": read_health(),
        "running_jobs": JobRun.objects.filter(state="running").order_by("-created_at")[:SHOWN_JOBS],
        "running_count": waiting["running"],
        "failing_jobs": failing,
        "written": written,
        "written_today": written[-1][1],
        "chart": _chart(written),
        "operations": operations_of_day(),
        "roles": roles_today(),
        "embedder": get_embedder(),
    }


@dataclass(frozen=True, slots=True)
class Health:
    """The deployment's health. ``queued`` is None without the broker, ``worked`` without a sign of a worker."""

    worked: datetime | None
    is_late: bool
    queued: int | None
    open_jobs: int
    oldest_job: datetime | None
    day: pulse.Day


def read_health() -> Health:
    """Return the worker's last sign of life, the queue, open jobs and a day of requests."""
    worked = pulse.last_worked()
    late = worked is None or timezone.now() - worked > timedelta(seconds=pulse.LATE_AFTER_SECONDS)
    jobs = JobRun.objects.filter(state__in=["waiting", "running"]).aggregate(
        count=Count("pk"), oldest=Min("created_at")
    )
    return Health(worked, late, pulse.queue_depth(), jobs["count"], jobs["oldest"], pulse.last_day())


def _since(model: type[LegacyFact] | type[Memory]) -> datetime | None:
    """Return since when the oldest quarantined row waits."""
    return model.objects.filter(state="quarantined").aggregate(at=Min("updated_at"))["at"]


def writes_per_day(days: int = DAYS) -> list[tuple[date, int]]:
    """Return the number of logged changes for each of the last days, today last, in the deployment's time zone.

    Past days don't change, so their counts are cached; without the cache all days are counted.
    """
    today = timezone.localdate()
    wanted = [today - timedelta(days=back) for back in reversed(range(days))]
    keys = {day: f"staff:writes:{day.isoformat()}" for day in wanted}
    known = cache.get_many(keys.values())
    missing = [day for day in wanted if keys[day] not in known]
    if missing:
        since = timezone.make_aware(datetime.combine(missing[0], time.min))
        rows = Change.objects.filter(at__gte=since).annotate(day=TruncDate("at")).values_list("day")
        counted = dict(rows.annotate(number=Count("pk")).order_by())
        for day in missing:
            number = known[keys[day]] = counted.get(day, 0)
            cache.set(keys[day], number, TODAY_SECONDS if day == today else PAST_DAY_SECONDS)
    return [(day, known[keys[day]]) for day in wanted]


def operations_of_day() -> list[OperationCount]:
    """Return the operations of the last 24 hours by node, operation and status, as ``/metrics``; cached a minute."""
    since = timezone.now() - timedelta(seconds=PAST_DAY_SECONDS)
    return cache.get_or_set("staff:operations", lambda: count_operations(since), TODAY_SECONDS) or []


def _chart(written: list[tuple[date, int]]) -> str:
    """Return the data of the theme's bar chart as JSON."""
    return json.dumps(
        {
            "labels": [day.strftime("%d %b") for day, _ in written],
            "datasets": [
                {
                    "label": "Writes",
                    "data": [number for _, number in written],
                    "backgroundColor": "var(--color-primary-500)",
                }
            ],
        }
    )


def count_waiting(request: HttpRequest) -> Counter[str]:
    """Count ``hidden`` and ``quarantined`` facts, quarantined ``memories``, ``running`` and ``failing`` jobs.

    One query over partial indexes of these rows; cached per request.
    """
    known: Counter[str] | None = getattr(request, "_waiting_for_staff", None)
    if known is None:
        waiting: list[tuple[QuerySet[Any], Any]] = [
            (LegacyFact.objects.filter(state__in=["hidden", "quarantined"]), F("state")),
            (Memory.objects.filter(state="quarantined"), Value("memories")),
            (JobRun.objects.filter(state="running"), Value("running")),
            (JobRun.objects.failing(), Value("failing")),
        ]
        counts = [
            rows.order_by().annotate(what=what).values_list("what").annotate(number=Count("*"))
            for rows, what in waiting
        ]
        known = Counter(dict(counts[0].union(*counts[1:], all=True)))
        request._waiting_for_staff = known  # type: ignore[attr-defined]
    return known
