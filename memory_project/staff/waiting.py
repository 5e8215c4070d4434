"""How much waits for staff: read once a page, for its sidebar and its badges."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db.models import Count, F, QuerySet, Value
from django.http import HttpRequest

from facts.models import LegacyFact
from journal.models import JobRun
from memories.models import Memory


def count_waiting(request: HttpRequest) -> Counter[str]:
    """How many facts are ``hidden`` and ``quarantined``, how many jobs are ``running`` and ``failing``.

    ``memories`` says how many memories are quarantined.

    One query over partial indexes that hold these rows alone; asked again for the same request, none.
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
