"""Admin of merge plans: owner, progress, result, without texts."""

from __future__ import annotations

from django.contrib import admin

from web.admin import label_column, link_column

from ..models import ComparedPair, Memory, MemoryPlan, MemoryPlanItem, MemoryPlanSource
from .memories import OfPersonAdmin


@admin.register(MemoryPlan)
class MemoryPlanAdmin(OfPersonAdmin):
    """Admin of plans."""

    id_fields = ("pk", "user_id", "agent_id")
    list_display = ["id", "labelled_state", "strategy", "person", "written_by", "created_at", "decided_at"]
    list_filter = ["state", "created_at"]
    list_select_related = ["user"]
    readonly_fields = ["person", "memories"]
    fieldsets = [
        (None, {"fields": ["id", "state", "strategy", "categories", "pinned"]}),
        ("Whose", {"fields": ["person", "agent", "written_by"]}),
        ("How many", {"fields": ["memories", "left_over"]}),
        ("Times", {"fields": ["created_at", "expires_at", "decided_at", "applied_rev"]}),
    ]

    labelled_state = label_column(
        "state",
        {
            "making": "info",
            "preview": "info",
            "applied": "success",
            "reverted": "warning",
            "discarded": "default",
            "lapsed": "default",
        },
    )

    @admin.display(description="memories looked at")
    def memories(self, plan: MemoryPlan) -> int:
        """The number of processed memories."""
        return len(plan.looked_at)


class _OfPlanAdmin(OfPersonAdmin):
    """Base for rows of a plan."""

    list_select_related = ["user"]


@admin.register(MemoryPlanItem)
class MemoryPlanItemAdmin(_OfPlanAdmin):
    """Admin of items."""

    id_fields = ("pk", "plan_id", "user_id")
    memory_fields = ("merged_id",)
    list_display = ["id", "plan_link", "labelled_state", "kind", "category", "merged_link", "person"]
    list_filter = ["state", "reason", "kind"]
    fields = [
        "id",
        "plan_link",
        "position",
        "state",
        "reason",
        "kind",
        "category",
        "tokens_before",
        "tokens_after",
        "merged_link",
        "person",
    ]
    readonly_fields = ["plan_link", "merged_link", "person"]
    deferred = ("content", "subject", "topics")

    labelled_state = label_column(
        "state",
        {"waiting": "info", "applied": "success", "skipped": "default", "reverted": "warning", "kept": "default"},
    )

    plan_link = link_column(MemoryPlan, "plan_id", "plan")
    merged_link = link_column(Memory, "merged_id", "became")


@admin.register(MemoryPlanSource)
class MemoryPlanSourceAdmin(_OfPlanAdmin):
    """Admin of sources."""

    id_fields = ("item_id", "user_id")
    memory_fields = ("memory_id",)
    list_display = ["id", "item_link", "memory_link", "version", "person"]
    fields = ["item_link", "position", "memory_link", "version", "person"]
    readonly_fields = ["item_link", "memory_link", "person"]

    item_link = link_column(MemoryPlanItem, "item_id", "item")
    memory_link = link_column(Memory, "memory_id", "memory")


@admin.register(ComparedPair)
class ComparedPairAdmin(_OfPlanAdmin):
    """Admin of pairs compared by consolidation."""

    id_fields = ("user_id",)
    memory_fields = ("kept_id", "dropped_id")
    list_display = ["id", "kept_link", "dropped_link", "score", "verdict", "asked", "at", "person"]
    list_filter = ["verdict", "asked", "at"]
    fields = [
        "kept_link",
        "kept_version",
        "dropped_link",
        "dropped_version",
        "score",
        "verdict",
        "asked",
        "at",
        "person",
    ]
    readonly_fields = ["kept_link", "dropped_link", "person"]

    kept_link = link_column(Memory, "kept_id", "kept")
    dropped_link = link_column(Memory, "dropped_id", "dropped")
