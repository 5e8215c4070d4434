"""Reads of the lifecycle: unused memories, and important ones that will be purged soon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Exists, Min, OuterRef, Q, Value
from django.utils import timezone

from accounts import categories
from accounts.principals import Principal, shape_for
from journal.models import Ledger
from retrieval.filters import PLACEHOLDER_NOW
from retrieval.prepared import read

from .models import Memory, MemoryEvidence, MemoryUse
from .querysets import MemoryQuerySet

_WITHIN = PLACEHOLDER_NOW + timedelta(1)


@dataclass(frozen=True, slots=True)
class LeavingSoon:
    """Number of important evicted memories that will be purged soon, and the time of the first purge."""

    count: int
    first_at: datetime


def unused_memories(user_id: UUID, now: datetime) -> MemoryQuerySet:
    """Return active memories that were not recalled, repeated or edited for as long as their category says.

    Excluded: pinned ones, fields, those as important as the category says, and those in the block while it uses at most
    half of its budget.
    """
    rows = Memory.objects.active().filter(user_id=user_id, pinned=False, field="")
    full = settings.MEMORY_BLOCK_TOKENS / 2
    if Ledger.objects.filter(pk=user_id, block_tokens__gt=full).exists():
        return rows.filter(_of_categories(now))
    return rows.filter(_of_categories(now), in_block=False)


def _of_categories(now: datetime) -> Q:
    """Return the condition for unused memories, grouping categories with equal rules."""
    rules: dict[tuple[int, int], list[str]] = {}
    known: Mapping[str, categories.Category] = categories.load().by_name
    for category in known.values():
        days = settings.UNUSED_DAYS if category.unused_days is None else category.unused_days
        below = settings.UNUSED_BELOW if category.forget_below is None else category.forget_below
        rules.setdefault((days, below), []).append(category.name)
    unused = Q(pk__in=[])
    for (days, below), names in rules.items():
        if days:
            unused |= Q(category__in=names, importance__lt=below) & _untouched(now - timedelta(days=days))
    return unused | Q(importance__lt=settings.UNUSED_BELOW) & ~Q(category__in=list(known)) & _untouched(
        now - timedelta(days=settings.UNUSED_DAYS)
    )


def _untouched(since: datetime) -> Q:
    used = MemoryUse.objects.filter(memory=OuterRef("pk"), last_used_at__gt=since)
    said = MemoryEvidence.objects.filter(version__memory=OuterRef("pk"), message__created_at__gt=since)
    return Q(updated_at__lte=since, created_at__lte=since) & ~Exists(used) & ~Exists(said)


def leaving_soon(principal: Principal) -> LeavingSoon | None:
    """Return the important evicted memories that will be purged within days, to notify the person."""

    def build(someone: Principal) -> Any:
        rows = Memory.objects.visible_to(someone).filter(
            state="archived",
            deleted_why="evicted",
            importance__gte=important,
            purge_at__gte=PLACEHOLDER_NOW,
            purge_at__lte=_WITHIN,
        )
        return rows.order_by().values(all=Value(1)).annotate(count=Count("pk"), first_at=Min("purge_at"))

    now, important = timezone.now(), settings.IMPORTANT
    values = {PLACEHOLDER_NOW: now, _WITHIN: now + timedelta(days=settings.ANNOUNCE_DAYS)}
    found = read(shape_for(principal, ("leaving soon", important), build, values), ("count", "first_at"))
    # Grouped by a constant it is one row, of 0 where there are none.
    return LeavingSoon(*found[0]) if found and found[0][0] else None
