"""Plans to merge memories: previewed, applied in whole or part, and reverted by the person; and compared pairs.

A plan's text is deleted after a day. Applied items are memories, with relations to their sources.
"""

from __future__ import annotations

import uuid
from datetime import datetime

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from accounts.models import Agent, User

from ..plan_querysets import PlanItemQuerySet, PlanQuerySet, PlanSourceQuerySet
from .memory import Kind, Memory


class MemoryPlan(models.Model):
    """A proposal of a strategy to merge a person's memories. It expires after a day.

    ``categories`` restricts it, null for all. ``looked_at`` are the ids of the memories that the strategy has
    processed, ``left_over`` the number of others. ``written_by`` is the model that worded it. ``applied_rev`` is the
    person's revision after it was applied.
    """

    class State(models.TextChoices):
        MAKING = "making"  # -> preview, discarded, lapsed
        PREVIEW = "preview"  # -> applied, discarded, lapsed
        APPLIED = "applied"  # -> reverted
        REVERTED = "reverted"
        DISCARDED = "discarded"
        LAPSED = "lapsed"

    OPEN = (State.MAKING, State.PREVIEW)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memory_plans", db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, null=True, related_name="+")
    strategy = models.CharField(max_length=40)
    categories = ArrayField(models.CharField(max_length=50), null=True)
    pinned = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=State.choices, default=State.MAKING)
    looked_at = ArrayField(models.CharField(max_length=8), default=list)
    left_over = models.PositiveIntegerField(default=0)
    written_by = models.CharField(max_length=80, blank=True)
    applied_rev = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)

    objects = PlanQuerySet.as_manager()

    class Meta:
        constraints = [
            # Foreign keys of items include the person.
            models.UniqueConstraint(fields=["user", "id"], name="memory_plan_of_user"),
            models.UniqueConstraint(
                fields=["user", "agent"],
                condition=Q(state__in=["making", "preview"]),
                nulls_distinct=False,
                name="memory_plan_open_once",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["making", "preview"], decided_at__isnull=True)
                | Q(state__in=["applied", "reverted", "discarded", "lapsed"], decided_at__isnull=False),
                name="memory_plan_decided_means_dated",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["applied", "reverted"], applied_rev__isnull=False)
                | ~Q(state__in=["applied", "reverted"]) & Q(applied_rev__isnull=True),
                name="memory_plan_applied_means_since",
            ),
        ]
        indexes = [
            models.Index(fields=["user", "-created_at"], name="memory_plan_by_user"),
            models.Index(
                fields=["expires_at"], condition=Q(state__in=["making", "preview"]), name="memory_plan_by_expiry"
            ),
            models.Index(fields=["decided_at"], condition=Q(decided_at__isnull=False), name="memory_plan_by_decision"),
        ]

    def __str__(self) -> str:
        return f"plan {self.id}"

    def is_late(self, now: datetime) -> bool:
        """Whether it has expired undecided."""
        return self.state in self.OPEN and self.expires_at <= now


class MemoryPlanItem(models.Model):
    """A merge of several memories of one kind and category.

    ``tokens_before`` are those of the sources' lines, ``tokens_after`` those of the merged line. The text is kept while
    it waits; then it is in the memory ``merged``. ``reason`` says why it was skipped, or kept by a revert.
    """

    class State(models.TextChoices):
        WAITING = "waiting"  # -> applied, skipped, gone (not chosen, discarded, lapsed)
        APPLIED = "applied"  # -> reverted, kept
        SKIPPED = "skipped"
        REVERTED = "reverted"
        KEPT = "kept"

    class Reason(models.TextChoices):
        CHANGED = "changed"
        GONE = "gone"
        SIMILAR_EXISTS = "similar_exists"
        REJECTED_BEFORE = "rejected_before"
        MERGED_CHANGED = "merged_changed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    plan = models.ForeignKey(MemoryPlan, on_delete=models.CASCADE, related_name="items", db_index=False)
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=Kind.choices)
    category = models.CharField(max_length=50)
    subject = models.CharField(max_length=200, blank=True)
    topics = ArrayField(models.CharField(max_length=50), default=list, blank=True)
    content = models.CharField(max_length=500, blank=True)
    importance = models.PositiveSmallIntegerField()
    tokens_before = models.PositiveIntegerField()
    tokens_after = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    reason = models.CharField(max_length=20, choices=Reason.choices, blank=True)
    merged = models.ForeignKey(Memory, on_delete=models.SET_NULL, null=True, related_name="+")

    objects = PlanItemQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan", "position"], name="memory_plan_item_once"),
            models.UniqueConstraint(fields=["user", "id"], name="memory_plan_item_of_user"),
            models.CheckConstraint(
                condition=(Q(state="waiting") & ~Q(content=""))
                | (~Q(state="waiting") & Q(content="", subject="", topics=[])),
                name="memory_plan_item_ended_holds_no_text",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["applied", "reverted", "kept"]) | Q(merged__isnull=True),
                name="memory_plan_item_merged_means_applied",
            ),
            models.CheckConstraint(
                condition=(Q(state__in=["skipped", "kept"]) & ~Q(reason=""))
                | (~Q(state__in=["skipped", "kept"]) & Q(reason="")),
                name="memory_plan_item_left_means_why",
            ),
            models.CheckConstraint(
                condition=Q(tokens_after__lt=F("tokens_before")), name="memory_plan_item_costs_less"
            ),
        ]

    def __str__(self) -> str:
        return f"item {self.position} of plan {self.plan_id}"


class MemoryPlanSource(models.Model):
    """A source of an item, with its version. Null if it was purged since."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    item = models.ForeignKey(MemoryPlanItem, on_delete=models.CASCADE, related_name="sources", db_index=False)
    position = models.PositiveIntegerField()
    memory = models.ForeignKey(Memory, on_delete=models.SET_NULL, null=True, related_name="+")
    version = models.PositiveIntegerField()

    objects = PlanSourceQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "position"], name="memory_plan_source_once"),
            models.UniqueConstraint(fields=["item", "memory"], name="memory_plan_source_memory_once"),
        ]

    def __str__(self) -> str:
        return f"source {self.position} of {self.item_id}"


class ComparedPair(models.Model):
    """A pair of memories compared by consolidation, with their versions, kept for 14 days.

    ``kept`` is the one to keep if they are duplicates. ``score`` is their cosine similarity in hundredths. ``asked``: a
    model was asked, not only rules. ``verdict`` classifies the dropped one relative to the kept one; settled: they are
    duplicates, and were merged or shown to the person.
    """

    class Verdict(models.TextChoices):
        SAME = "same"
        REPLACES = "replaces"
        CONTRADICTS = "contradicts"
        DIFFERENT = "different"
        SETTLED = "settled"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    kept = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+")
    dropped = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+")
    kept_version = models.PositiveIntegerField()
    dropped_version = models.PositiveIntegerField()
    score = models.PositiveSmallIntegerField()
    verdict = models.CharField(max_length=12, choices=Verdict.choices)
    asked = models.BooleanField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kept", "dropped", "kept_version", "dropped_version"], name="compared_pair_once"
            ),
            models.CheckConstraint(condition=~Q(kept=F("dropped")), name="compared_pair_of_two"),
            models.CheckConstraint(
                condition=Q(verdict__in=["same", "replaces", "contradicts", "different", "settled"]),
                name="compared_verdict_known",
            ),
        ]
        indexes = [
            models.Index(fields=["user", "-at"], name="compared_pair_by_user"),
            models.Index(fields=["at"], name="compared_pair_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.kept_id} and {self.dropped_id}: {self.verdict}"
