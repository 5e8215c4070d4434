"""The journal for staff: everything can be read, nothing edited; jobs are retried and cancelled by buttons."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from . import actions
from .models import Change, IdempotencyRecord, JobRun, Ledger, OperationEvent


class RecordAdmin(admin.ModelAdmin):
    """Rows that staff read. Nobody edits them here, superusers included: buttons call the rooms' actions instead.

    Whoever may enter the admin may read; there are no per-model permissions to hand out.
    """

    show_full_result_count = False
    list_per_page = 50

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Staff see every room."""
        return is_staff(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Staff see every row."""
        return is_staff(request)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows are made by actions."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows are changed by actions."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows are removed by actions."""
        return False

    def tell(self, request: HttpRequest, done: int, total: int, what: str) -> None:
        """Say on the page how many of the selected rows a button did something to."""
        level = messages.SUCCESS if done == total else messages.WARNING
        self.message_user(request, f"{done} of {total} {what}.", level)


def is_staff(request: HttpRequest) -> bool:
    """Whether the signed-in person is a moderator."""
    return bool(request.user.is_active and getattr(request.user, "is_staff", False))


@admin.register(Ledger)
class LedgerAdmin(RecordAdmin):
    """Revisions and counts of people and legacies."""

    list_display = ["id", "kind", "rev", "turns", "chunks", "facts"]
    list_filter = ["kind"]
    search_fields = ["id__exact"]


@admin.register(Change)
class ChangeAdmin(RecordAdmin):
    """The log of writes."""

    list_display = ["at", "event", "object_type", "object_id", "ledger_id", "rev", "actor_kind", "actor_id"]
    list_filter = ["event", "object_type", "actor_kind", "at"]
    search_fields = ["object_id__exact", "ledger__id__exact", "actor_id__exact"]
    ordering = ["-id"]


@admin.register(OperationEvent)
class OperationEventAdmin(RecordAdmin):
    """The log of attempts, with what was skipped and what failed."""

    list_display = ["at", "node", "op", "status", "user_id", "thread_id", "object_id", "category", "sim"]
    list_filter = ["status", "node", "op", "at"]
    search_fields = ["user_id__exact", "thread_id__exact", "object_id__exact"]
    ordering = ["-at"]


@admin.register(JobRun)
class JobRunAdmin(RecordAdmin):
    """Background work."""

    list_display = [
        "created_at",
        "kind",
        "subject_id",
        "state",
        "done",
        "total",
        "attempts",
        "error_code",
        "not_before",
        "lease_until",
        "finished_at",
    ]
    list_filter = ["state", "kind", "error_code", "created_at"]
    search_fields = ["id__exact", "subject_id__exact", "user_id__exact"]
    ordering = ["-created_at"]
    actions = ["retry_now", "cancel"]

    @admin.action(description="Try again now", permissions=["view"])
    def retry_now(self, request: HttpRequest, jobs: QuerySet[JobRun]) -> None:
        """Open failed jobs again, and let waiting ones be tried at once."""
        done = [actions.retry_job_now(job) for job in jobs]
        self.tell(request, sum(done), len(done), "will be tried again; the others run or have ended")

    @admin.action(description="Cancel", permissions=["view"])
    def cancel(self, request: HttpRequest, jobs: QuerySet[JobRun]) -> None:
        """Stop jobs; one that runs notices at its next progress report."""
        done = [actions.cancel_job(job) for job in jobs]
        self.tell(request, sum(done), len(done), "cancelled; the others had ended")


@admin.register(IdempotencyRecord)
class IdempotencyRecordAdmin(RecordAdmin):
    """What requests with an Idempotency-Key did in the last day."""

    list_display = ["created_at", "owner", "object_type", "status_code", "rev"]
    list_filter = ["object_type", "status_code"]
    search_fields = ["owner"]
    ordering = ["-created_at"]
