"""Staff pages of the journal: jobs, the logs of changes and operations, ledgers, exports, erasures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from django.apps import apps
from django.contrib import admin, messages
from django.contrib.admin import SimpleListFilter
from django.db.models import Model, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from unfold.decorators import display
from unfold.enums import ActionVariant

from journal import leases
from journal.models import (
    Change,
    Erased,
    Erasure,
    Export,
    ExportPart,
    IdempotencyRecord,
    JobRun,
    JobRunQuerySet,
    Ledger,
    ModelUse,
    OperationEvent,
    UndoStep,
)

from .base import RecordAdmin, filter_by_id, label_column, link_to, short
from .dialogs import ConfirmForm, button
from .naming import EVENT_COLOURS, link_to_actor, link_to_object, name_actors

job_subjects: dict[str, type[Model] | None] = {}
"""The model that each kind of job is about, or None. Rooms register their kinds in their admin modules."""

CANT_RETRY = "This can't be tried again: what it worked on is gone. If it was a file, its person has to send it again."
STATE_COLOURS = {"waiting": "info", "running": "primary", "done": "success", "failed": "danger", "cancelled": "default"}


class OwnerRecordAdmin(RecordAdmin):
    """Records with the id of a person or a legacy in ``owner_field``, shown with its name.

    An erased owner is shown by the shortened id. Other ids are shortened in lists and complete on a row's page.
    """

    owner_field = "user_id"
    short_id = admin.display(description="id", ordering="pk")(lambda self, row: short(row.pk))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the rows, annotated with the name of the person or legacy."""
        names = {"person_name": ("User", "username"), "legacy_name": ("Legacy", "name")}
        owners = {
            alias: Subquery(
                apps.get_model("accounts", kind)._default_manager.filter(pk=OuterRef(self.owner_field)).values(name)
            )
            for alias, (kind, name) in names.items()
        }
        return super().get_queryset(request).annotate(**owners)

    def title_of(self, row: Any) -> str:
        """Return the title: the kind and the owner."""
        name = row.person_name or row.legacy_name
        return f"{super().title_of(row)} of {name}" if name else super().title_of(row)

    @admin.display(description="of")
    def whose(self, row: Any) -> Any:
        """Return a link to the person or the legacy."""
        pk = getattr(row, self.owner_field)
        for kind, name in (("User", row.person_name), ("Legacy", row.legacy_name)):
            if name:
                return link_to(apps.get_model("accounts", kind), pk, name)
        return "-" if pk is None else short(pk)

    @admin.display(description="object")
    def about_object(self, row: Any) -> str:
        """Return a link to the object; the shortened id if there is no such page."""
        return link_to_object(getattr(row, "object_type", ""), row.object_id)


@admin.register(Ledger)
class LedgerAdmin(OwnerRecordAdmin):
    """Revisions and counts of people and legacies."""

    owner_field = "pk"
    list_display = ["short_id", "whose", "kind", "rev", "turns", "chunks", "facts"]
    list_filter = ["kind"]
    search_fields = ["id"]
    search_help_text = "The id of a person or a legacy"
    id_fields = ("pk",)


@admin.register(Change)
class ChangeAdmin(OwnerRecordAdmin):
    """The log of changes."""

    owner_field = "ledger_id"
    list_display = ["at", "labelled_event", "about_object", "whose", "rev", "actor_kind", "actor"]
    list_filter = ["event", "actor_kind", "at"]
    search_fields = ["object_id"]
    search_help_text = "The id of what was changed, of a person or a legacy, or of a conversation"
    id_fields = ("object_id", "ledger_id", "conversation_id")
    ordering = ["-id"]
    fields = [
        "at",
        "event",
        "object_type",
        "object_id",
        "ledger_id",
        "rev",
        "old_version",
        "new_version",
        "actor_kind",
        "actor_id",
        "conversation_id",
        "meta",
    ]

    def name_rows(self, rows: Sequence[Change]) -> None:
        """Load the names of the actors."""
        name_actors(rows)

    @admin.display(description="actor")
    def actor(self, change: Change) -> SafeString | str:
        """Return a link to the actor; the shortened id if the actor was deleted."""
        return link_to_actor(change)

    @display(description="event", label=EVENT_COLOURS)
    def labelled_event(self, change: Change) -> str:
        """Return the event with its label."""
        return change.event


@admin.register(UndoStep)
class UndoStepAdmin(OwnerRecordAdmin):
    """Undo steps, without the previous values, which may hold a person's text."""

    owner_field = "ledger_id"
    list_display = ["at", "whose", "rev", "action", "about_object"]
    list_filter = ["object_type"]
    search_fields = ["ledger_id", "object_id"]
    search_help_text = "The id of a person, a legacy or an object"
    id_fields = ("ledger_id", "object_id")
    ordering = ["-at"]
    exclude = ["before"]


@admin.register(Export)
class ExportAdmin(OwnerRecordAdmin):
    """Export files until they expire. Only the person can download one."""

    list_display = ["id", "whose", "size", "created_at", "expires_at"]
    search_fields = ["user_id"]
    search_help_text = "The id of a person"
    id_fields = ("pk", "user_id")
    ordering = ["-created_at"]


@admin.register(ExportPart)
class ExportPartAdmin(RecordAdmin):
    """Parts of export files, without their data."""

    list_display = ["id", "export_id", "number"]
    id_fields = ("export_id",)
    ordering = ["export_id", "number"]
    fields = ["export_id", "number"]
    loaded = ("export_id", "number")


@admin.register(Erasure)
class ErasureAdmin(OwnerRecordAdmin):
    """Erasures, with the number of rows removed."""

    list_display = ["at", "whose", "scope", "state", "due_at", "done_at"]
    list_filter = ["state"]
    search_fields = ["user_id"]
    search_help_text = "The id of a receipt or a person"
    id_fields = ("pk", "user_id")
    ordering = ["-at"]


@admin.register(Erased)
class ErasedAdmin(RecordAdmin):
    """The ids of objects erased in the last 90 days."""

    list_display = ["id", "kind", "object_id", "erasure_id"]
    search_fields = ["object_id"]
    search_help_text = "The id of what was erased, or of a receipt"
    id_fields = ("object_id", "erasure_id")
    ordering = ["-id"]
    fields = ["kind", "object_id", "erasure_id"]


@admin.register(OperationEvent)
class OperationEventAdmin(OwnerRecordAdmin):
    """The log of operations, including skipped and failed ones."""

    list_display = [
        "at",
        "node",
        "op",
        "labelled_status",
        "whose",
        "thread",
        "about_object",
        "category",
        "sim",
        "count",
    ]
    list_filter = ["status", "at"]
    search_fields = ["user_id"]
    search_help_text = "The id of a person, a thread or an object"
    id_fields = ("user_id", "thread_id", "object_id")
    ordering = ["-at"]

    @admin.display(description="thread")
    def thread(self, event: OperationEvent) -> str:
        """Return the shortened id of the thread."""
        return short(event.thread_id or "-")

    @display(description="status", label={"ok": "success", "skipped": "warning", "error": "danger"})
    def labelled_status(self, event: OperationEvent) -> str:
        """Return the status with its label."""
        return event.status


@admin.register(ModelUse)
class ModelUseAdmin(RecordAdmin):
    """Model use of background work, by day and purpose."""

    list_display = ["day", "purpose", "calls", "input_tokens", "output_tokens"]
    list_filter = ["purpose", "day"]
    ordering = ["-day", "purpose"]
    fields = ["day", "purpose", "calls", "input_tokens", "output_tokens"]


class JobStateFilter(SimpleListFilter):
    """Filters jobs by state. "Failing" includes failed jobs that wait for a retry."""

    title = "state"
    parameter_name = "is"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the states and "failing"."""
        return [("failing", "Failing"), *JobRun.State.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[JobRun]) -> QuerySet[JobRun]:
        """Filter the jobs."""
        if self.value() == "failing":
            return cast(JobRunQuerySet, queryset).failing()
        return queryset.filter(state=self.value()) if self.value() in JobRun.State.values else queryset


class KindFilter(SimpleListFilter):
    """Filters jobs by kind. The choices come from ``job_subjects``, without a query."""

    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the registered kinds."""
        return [(kind, kind) for kind in sorted(job_subjects)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[JobRun]) -> QuerySet[JobRun]:
        """Filter the jobs."""
        return queryset.filter(kind=self.value()) if self.value() else queryset


@admin.register(JobRun)
class JobRunAdmin(OwnerRecordAdmin):
    """Background jobs."""

    list_display = [
        "kind",
        "about",
        "whose",
        "labelled_state",
        "progress",
        "attempts",
        "error_code",
        "due",
        "created_at",
    ]
    list_filter = [JobStateFilter, KindFilter, "created_at"]
    search_fields = ["id"]
    search_help_text = "The id of a job, of what it is about, or of a person"
    id_fields = ("pk", "subject_id", "user_id")
    ordering = ["-created_at"]
    actions = ["retry_selected", "cancel_selected"]
    actions_row = ["retry", "cancel"]
    actions_detail = ["retry", "cancel"]
    readonly_fields = ["about", "progress"]
    fieldsets = [
        (None, {"fields": ["kind", "about", "subject_id", "user_id", "state", "progress", "result"]}),
        ("Attempts", {"fields": ["attempts", "error_code", "not_before", "lease_until", "lease_token"]}),
        ("Times", {"fields": ["created_at", "started_at", "finished_at"]}),
    ]

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Return the buttons that apply to the job's state."""
        job = filter_by_id(JobRun.objects.only("state", "error_code"), object_id).first()
        by_state = {"waiting": {"retry", "cancel"}, "failed": {"retry"}, "running": {"cancel"}}
        possible = by_state.get(job.state, set()) if job is not None and not job.is_final else set()
        return [each for each in super().get_actions_detail(request, object_id) if each.path in possible]

    @display(description="about")
    def about(self, job: JobRun) -> Any:
        """Return a link to the object that the job is about."""
        model = job_subjects.get(job.kind)
        if model is None:
            return short(job.subject_id or "-")
        return link_to(model, job.subject_id, capfirst(str(model._meta.verbose_name)))

    labelled_state = label_column("state", STATE_COLOURS)

    @display(description="progress")
    def progress(self, job: JobRun) -> str:
        """Render the progress bar, for jobs that count."""
        return render_to_string("admin/job_progress.html", {"job": job})

    @display(description="next try")
    def due(self, job: JobRun) -> Any:
        """Return when a waiting job is due."""
        return job.not_before if job.state == JobRun.State.WAITING else None

    @button(
        "Try again now",
        "A failed job is opened again, a waiting one is tried at the next sweep, within two minutes.",
        path="retry",
        icon="replay",
    )
    def retry(self, request: HttpRequest, form: ConfirmForm, object_id: str) -> HttpResponse:
        """Retry one job now."""
        job = self.row(request, object_id)
        if job.is_final:
            self.message_user(request, CANT_RETRY, messages.ERROR)
            return self.refresh()
        done = leases.retry_job_now(job)
        if done:
            self.log_change(request, job, "Tried again.")
        self.report(request, int(done), 1, "will be tried again; others run or have ended")
        return self.refresh()

    @button(
        "Cancel",
        "A job that runs stops at its next progress report. What it has written stays.",
        path="cancel",
        icon="cancel",
        variant=ActionVariant.DANGER,
    )
    def cancel(self, request: HttpRequest, form: ConfirmForm, object_id: str) -> HttpResponse:
        """Cancel one job."""
        job = self.row(request, object_id)
        done = leases.cancel_job(job)
        if done:
            self.log_change(request, job, "Cancelled.")
        self.report(request, int(done), 1, "cancelled; others had ended")
        return self.refresh()

    @admin.action(description="Try again now", permissions=["view"])
    def retry_selected(self, request: HttpRequest, jobs: QuerySet[JobRun]) -> None:
        """Reopen failed jobs, and make waiting ones due now."""
        done = [leases.retry_job_now(job) for job in jobs]
        self.report(
            request, sum(done), len(done), "will be tried again; others run, have ended or have nothing to read"
        )

    @admin.action(description="Cancel", permissions=["view"])
    def cancel_selected(self, request: HttpRequest, jobs: QuerySet[JobRun]) -> None:
        """Cancel jobs; a running one notices at its next progress report."""
        done = [leases.cancel_job(job) for job in jobs]
        self.report(request, sum(done), len(done), "cancelled; others had ended")


@admin.register(IdempotencyRecord)
class IdempotencyRecordAdmin(RecordAdmin):
    """Results of requests with an Idempotency-Key in the last day."""

    list_display = ["created_at", "caller", "object_type", "status_code", "rev"]
    list_filter = ["object_type", "status_code"]
    search_fields = ["owner"]
    ordering = ["-created_at"]

    @admin.display(description="caller", ordering="owner")
    def caller(self, row: IdempotencyRecord) -> str:
        """Return the kind of caller, and the shortened ids of the caller and its person."""
        return " ".join(dict.fromkeys(short(part) for part in row.owner.split(":")))
