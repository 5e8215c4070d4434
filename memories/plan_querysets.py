"""Querysets of plans to merge memories, with ``visible_to``: who may read which rows."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.apps import apps
from django.db import models
from django.db.models import Q

from accounts.principals import sees_everything
from accounts.querysets import own_rows

if TYPE_CHECKING:
    from accounts.principals import Principal

    from .models import MemoryPlan, MemoryPlanItem, MemoryPlanSource  # noqa: F401 - named in the generic bases

STRATEGY = "consolidate"
"""What a plan of the daily consolidation is called, beside those of ``strategies``."""


class PlanQuerySet(models.QuerySet["MemoryPlan"]):
    """Plans to merge a person's memories into fewer."""

    def visible_to(self, principal: Principal) -> PlanQuerySet:
        """All for staff; a person's own; an agent's in categories it sees, unrestricted also those of consolidation."""
        own = own_rows(self, principal)
        if principal.kind != "agent":
            return own
        if not (principal.has_memory and principal.may_decide):
            return self.none()
        made = Q(agent_id=principal.agent_id)
        if principal.categories is not None:
            made &= Q(categories__contained_by=sorted(principal.categories))
        if sees_everything(principal):
            made |= Q(agent=None, strategy=STRATEGY)
        return own.filter(made)

    def open(self) -> PlanQuerySet:
        """Those in the making, or in preview."""
        return self.filter(state__in=["making", "preview"])

    def due(self, now: datetime) -> PlanQuerySet:
        """Open ones that have expired."""
        return self.open().filter(expires_at__lte=now)


class PlanItemQuerySet(models.QuerySet["MemoryPlanItem"]):
    """Items of plans: the merged memories that they propose."""

    def visible_to(self, principal: Principal) -> PlanItemQuerySet:
        """Those of the plans that are visible."""
        if principal.kind == "staff":
            return self
        plans = apps.get_model("memories", "MemoryPlan").objects.visible_to(principal)
        return self.filter(plan__in=plans.values("pk"))


class PlanSourceQuerySet(models.QuerySet["MemoryPlanSource"]):
    """Source memories of plan items."""

    def visible_to(self, principal: Principal) -> PlanSourceQuerySet:
        """Those of the plans that are visible."""
        if principal.kind == "staff":
            return self
        items = apps.get_model("memories", "MemoryPlanItem").objects.visible_to(principal)
        return self.filter(item__in=items.values("pk"))
