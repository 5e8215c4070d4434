"""How much waits for staff: read once a page, for its sidebar and its badges."""

from __future__ import annotations

from collections import Counter

from django.db.models import Count, F, Value
from django.http import HttpRequest

from facts.models import LegacyFact
from journal.models import JobRun


def count_waiting(request: HttpRequest) -> Counter[str]:
    """How many facts are ``hidden`` and ``quarantined``, and how many jobs are ``running`` and ``failing``.

    One query over partial indexes that hold these rows alone; asked again for the same request, none.
    """
    known: Counter[str] | None = getattr(request, "_waiting_for_staff", None)
    if known is None:
        facts = LegacyFact.objects.filter(state__in=["hidden", "quarantined"])
        jobs = JobRun.objects.filter(state="running"), JobRun.objects.failing()
        counts = [
            rows.order_by().annotate(what=what).values_list("what").annotate(number=Count("*"))
            for rows, what in zip((facts, *jobs), (F("state"), Value("running"), Value("failing")), strict=True)
        ]
        known = Counter(dict(counts[0].union(*counts[1:], all=True)))
        request._waiting_for_staff = known  # type: ignore[attr-defined]
    return known
