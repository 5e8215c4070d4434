"""Reads of plans: memories that may be merged, and a plan with its items."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal
from uuid import UUID

from django.conf import settings
from django.db.models import OuterRef, Prefetch, Q, Subquery, prefetch_related_objects
from django.utils import timezone

from accounts.principals import Principal, shape_for
from journal.exceptions import must_find
from journal.models import JobRun
from retrieval.filters import PLACEHOLDER_NOW
from retrieval.prepared import read_objects

from .models import Memory, MemoryPlan, MemoryPlanItem, MemoryPlanSource, MemoryVersion
from .plan_querysets import STRATEGY as CONSOLIDATES
from .plan_querysets import PlanQuerySet

JOB = "optimize"
WhyAsked = Literal["", "review", "share"]


def mergeable_memories(
    principal: Principal, categories: Collection[str] | None, *, pinned: bool
) -> tuple[list[Memory], int]:
    """Return the mergeable memories of these categories (None: all), and the number of further ones.

    At most ``OPTIMIZE_MOST_MEMORIES``: those of the block first, oldest first.
    """
    rows = Memory.objects.visible_to(principal).mergeable(principal, pinned=pinned)
    if categories is not None:
        rows = rows.filter(category__in=sorted(categories))
    most = settings.OPTIMIZE_MOST_MEMORIES
    chosen = list(rows.order_by("-in_block", "created_at", "id").defer("search", "search_text")[:most])
    return chosen, rows.count() - most if len(chosen) == most else 0


def find_plan(principal: Principal, plan_id: UUID) -> MemoryPlan:
    """Return a visible plan. Raises NotFound."""
    return must_find(MemoryPlan.objects.visible_to(principal).filter(pk=plan_id).first(), "plan")


def show_plan(principal: Principal, plan_id: UUID) -> MemoryPlan:
    """Return the plan with its items, their sources at the time of planning, and the merged memories.

    In a constant number of queries. ``content``, ``subject`` and ``at`` of a source are None if its memory is not
    visible any more. An expired plan has no text, even if it is not tidied yet. Raises NotFound.
    """
    plan = find_plan(principal, plan_id)
    then = MemoryVersion.objects.visible_to(principal).filter(memory=OuterRef("memory"), number=OuterRef("version"))
    sources = MemoryPlanSource.objects.order_by("position").annotate(
        content=Subquery(then.values("content")[:1]),
        subject=Subquery(then.values("subject")[:1]),
        at=Subquery(then.values("recorded_from")[:1]),
    )
    items = MemoryPlanItem.objects.order_by("position").prefetch_related(
        Prefetch("sources", sources),
        Prefetch("merged", Memory.objects.visible_to(principal).without_vectors()),
    )
    if plan.is_late(timezone.now()):
        plan.state, items = MemoryPlan.State.LAPSED, items.none()
    prefetch_related_objects([plan], Prefetch("items", items))
    return plan


def open_plan(principal: Principal) -> MemoryPlan | None:
    """Return the open plan of the person or the agent, else the one that consolidation asks about."""

    def build(who: Principal) -> PlanQuerySet:
        asked = Q(agent=None, strategy=CONSOLIDATES)
        plans = MemoryPlan.objects.visible_to(who).filter(Q(agent=who.agent_id) | asked)
        return plans.open().filter(expires_at__gt=PLACEHOLDER_NOW).order_by("agent_id", "pk")

    plans = shape_for(principal, "open plan", build, {PLACEHOLDER_NOW: timezone.now()})
    return next(iter(read_objects(MemoryPlan, plans, part=slice(0, 1))), None)


def why_it_asks(plan: MemoryPlan, principal: Principal) -> WhyAsked:
    """Return why the person is asked about merges that the daily job found; empty for other plans, and decided ones.

    ``review``: they look at everything before it is used. ``share``: it would archive more than
    ``CONSOLIDATE_MOST_ARCHIVED`` of their memories.
    """
    if plan.strategy != CONSOLIDATES or plan.state != MemoryPlan.State.PREVIEW:
        return ""
    return "review" if principal.review == "before" else "share"


def job_of(plan: MemoryPlan) -> JobRun | None:
    """Return the job of a plan, or None if it was created synchronously."""
    return JobRun.objects.filter(kind=JOB, subject_id=str(plan.pk)).order_by("-created_at").first()
