"""Ledgers, the log of changes, undo steps, operations, model use, jobs and idempotency records."""

from __future__ import annotations

import uuid
from datetime import datetime

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import F, Q
from django.db.models.fields.json import KeyTextTransform
from django.utils import timezone


class ChangeQuerySet(models.QuerySet["Change"]):
    """Queries over changes."""

    def of_owner(self, owner_id: uuid.UUID) -> ChangeQuerySet:
        """Return the changes of one person or legacy, in the order of revisions."""
        return self.filter(ledger_id=owner_id).order_by("rev")

    def of_member(self, user_id: uuid.UUID) -> ChangeQuerySet:
        """Return the changes of a person's memberships, in their own log and in those of legacies."""
        return self.alias(member=KeyTextTransform("user", "meta")).filter(object_type="member", member=str(user_id))


class LedgerQuerySet(models.QuerySet["Ledger"]):
    """Queries over ledgers."""

    def untold(self) -> LedgerQuerySet:
        """Return the legacies of which the logs of their members don't tell everything yet."""
        return self.filter(untold_from__isnull=False)


class JobRunQuerySet(models.QuerySet["JobRun"]):
    """Queries over jobs."""

    def of_user(self, user_id: uuid.UUID | None) -> JobRunQuerySet:
        """Return one person's jobs."""
        return self.none() if user_id is None else self.filter(user_id=user_id)

    def failing(self) -> JobRunQuerySet:
        """Return failed jobs that can be retried, and those that wait for a retry."""
        rows = self.filter(state__in=["waiting", "failed"]).exclude(error_code="")
        return rows.exclude(error_code__in=self.model.FINAL_ERRORS)

    def claimable(self, at: datetime) -> JobRunQuerySet:
        """Return waiting jobs that are due, and running ones whose lease has expired."""
        return self.filter(Q(state="waiting", not_before__lte=at) | Q(state="running", lease_until__lte=at))


class Ledger(models.Model):
    """One row per user and one per legacy, with the same id as its owner.

    A trigger on the owner's table creates it, and the owner's id references it. ``rev`` counts the owner's changes
    without gaps. The counts and sums of terms serve keyword ranking and budgets; the row's lock protects them too.
    ``untold_from``: of a legacy, its first revision that the logs of its members don't tell yet.
    """

    class Kind(models.TextChoices):
        USER = "user"
        LEGACY = "legacy"

    id = models.UUIDField(primary_key=True)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    rev = models.BigIntegerField(default=0)
    turns = models.BigIntegerField(default=0)
    turn_terms = models.BigIntegerField(default=0)
    chunks = models.BigIntegerField(default=0)
    chunk_terms = models.BigIntegerField(default=0)
    facts = models.BigIntegerField(default=0)
    fact_terms = models.BigIntegerField(default=0)
    memories = models.BigIntegerField(default=0, db_default=0)
    memory_terms = models.BigIntegerField(default=0, db_default=0)
    block_tokens = models.BigIntegerField(default=0, db_default=0)
    untold_from = models.BigIntegerField(null=True)

    objects = LedgerQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["id"], condition=Q(untold_from__isnull=False), name="ledger_untold"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=["user", "legacy"]), name="ledger_kind_known"),
            models.CheckConstraint(
                condition=Q(rev__gte=0, turns__gte=0, turn_terms__gte=0, chunks__gte=0, chunk_terms__gte=0)
                & Q(facts__gte=0, fact_terms__gte=0, memories__gte=0, memory_terms__gte=0, block_tokens__gte=0),
                name="ledger_counts_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


class ActorKind(models.TextChoices):
    """The kinds of actors."""

    PERSON = "person"
    AGENT = "agent"
    STAFF = "staff"
    JOB = "job"


class Change(models.Model):
    """One change under its owner's revision. It is kept after its object is deleted, and never holds text."""

    class Event(models.TextChoices):
        ADD = "ADD"
        UPDATE = "UPDATE"
        DELETE = "DELETE"
        MERGE = "MERGE"
        LINK = "LINK"
        TTL = "TTL"
        RESTORE = "RESTORE"
        REJECT = "REJECT"
        APPROVE = "APPROVE"
        SHARE = "SHARE"
        UNSHARE = "UNSHARE"
        HIDE = "HIDE"
        OPEN = "OPEN"
        QUARANTINE = "QUARANTINE"
        EVICT = "EVICT"
        PROPOSE = "PROPOSE"
        LAPSE = "LAPSE"
        PIN = "PIN"
        MENTION = "MENTION"
        PURGE = "PURGE"
        INVITE = "INVITE"
        DECLINE = "DECLINE"
        BLOCK = "BLOCK"
        WITHHOLD = "WITHHOLD"
        GIVE_BACK = "GIVE_BACK"
        ERASE = "ERASE"
        JOIN = "JOIN"
        LEAVE = "LEAVE"
        ROLE = "ROLE"
        GRANT = "GRANT"
        KEY = "KEY"
        PREFERENCE = "PREFERENCE"
        DOUBT = "DOUBT"

    # The unique constraint's index serves lookups by ledger as well.
    ledger = models.ForeignKey(Ledger, on_delete=models.CASCADE, related_name="changes", db_index=False)
    rev = models.BigIntegerField()
    event = models.CharField(max_length=12, choices=Event.choices)
    object_type = models.CharField(max_length=40)
    object_id = models.CharField(max_length=36)
    old_version = models.PositiveIntegerField(null=True)
    new_version = models.PositiveIntegerField(null=True)
    actor_kind = models.CharField(max_length=10, choices=ActorKind.choices)
    actor_id = models.CharField(max_length=64)
    conversation_id = models.UUIDField(null=True)
    meta = models.JSONField(default=dict)
    at = models.DateTimeField(default=timezone.now)

    objects = ChangeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["ledger", "rev"], name="change_rev_once_per_ledger"),
            models.CheckConstraint(condition=Q(rev__gt=0), name="change_rev_positive"),
        ]
        indexes = [
            models.Index(fields=["object_type", "object_id", "-rev"], name="change_by_object"),
            models.Index(KeyTextTransform("user", "meta"), condition=Q(object_type="member"), name="change_by_member"),
            # Rows are inserted in time order, so a BRIN index finds a day's changes at little cost.
            BrinIndex(fields=["at"], name="change_by_time", autosummarize=True),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.object_type} {self.object_id} at rev {self.rev}"


class UndoStep(models.Model):
    """An object's values before a change, kept for 30 days for undo.

    ``before`` holds the columns that changed, without vectors, and the version number in place of the wording.
    ``action`` is the first revision of the transaction, whose changes are undone together. If the change was an undo,
    ``before`` also holds ``undoes``: the first revision that it undid.
    """

    # A foreign key in the database (in a migration) deletes the steps together with the ledger.
    ledger = models.ForeignKey(Ledger, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False)
    rev = models.BigIntegerField()
    action = models.BigIntegerField()
    object_type = models.CharField(max_length=40)
    object_id = models.CharField(max_length=36)
    before = models.JSONField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["ledger", "rev"], name="undo_step_once_per_rev")]
        indexes = [
            models.Index(fields=["ledger", "action"], name="undo_step_by_action"),
            models.Index(fields=["object_type", "object_id"], name="undo_step_by_object"),
            models.Index(fields=["at"], name="undo_step_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.object_type} {self.object_id} before rev {self.rev}"


class OperationEvent(models.Model):
    """An attempted operation: writes, reads, skips and failures. Stored off the request path, kept for 90 days.

    ``count`` is how often: reads have one row a conversation and hour. ``sim`` is the best neighbour's similarity.
    """

    class Status(models.TextChoices):
        OK = "ok"
        SKIPPED = "skipped"
        ERROR = "error"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    user_id = models.UUIDField(null=True)
    thread_id = models.CharField(max_length=64, blank=True)
    node = models.CharField(max_length=20)
    op = models.CharField(max_length=20)
    status = models.CharField(max_length=10, choices=Status.choices)
    object_id = models.CharField(max_length=36, blank=True)
    category = models.CharField(max_length=50, blank=True)
    sim = models.FloatField(null=True)
    count = models.PositiveIntegerField(default=1, db_default=1)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [
            models.Index(fields=["user_id", "-at"], name="operation_by_user"),
            models.Index(fields=["node", "-at"], name="operation_by_node"),
            models.Index(fields=["at"], name="operation_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.node}.{self.op} {self.status}"


class ModelUse(models.Model):
    """Model calls and tokens in one day (UTC) for one purpose, except replies. It names nobody.

    ``input_tokens`` includes tokens read from the model server's cache.
    """

    day = models.DateField()
    purpose = models.CharField(max_length=20)
    calls = models.PositiveIntegerField(default=0)
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["day", "purpose"], name="model_use_once_per_day")]

    def __str__(self) -> str:
        return f"{self.purpose} on {self.day:%Y-%m-%d}"


class Learned(models.Model):
    """How many facts and memories were learned from a person in one hour (UTC), for the daily cap."""

    user_id = models.UUIDField()
    hour = models.DateTimeField()
    count = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "learned"
        constraints = [models.UniqueConstraint(fields=["user_id", "hour"], name="learned_once_per_hour")]
        indexes = [models.Index(fields=["hour"], name="learned_by_hour")]

    def __str__(self) -> str:
        return f"learned from {self.user_id} at {self.hour:%Y-%m-%d %H}"


class JobRun(models.Model):
    """A background job: its lease, progress and result.

    A lease is a token with an expiry time. Only the worker with the current token may write results. After expiry
    another worker may claim the job, which replaces the token.
    """

    class State(models.TextChoices):
        WAITING = "waiting"  # -> running
        RUNNING = "running"  # -> done, waiting (to be tried again), failed, cancelled
        DONE = "done"
        FAILED = "failed"  # -> waiting, when staff retry it
        CANCELLED = "cancelled"

    FINAL_ERRORS = ("bad_file", "gone")
    """Errors that are not retried or shown to staff: the job's input is broken or does not exist any more."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    kind = models.CharField(max_length=40)
    subject_id = models.CharField(max_length=64)
    user_id = models.UUIDField(null=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    not_before = models.DateTimeField(default=timezone.now)
    lease_token = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    error_code = models.CharField(max_length=60, blank=True)
    result = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = JobRunQuerySet.as_manager()

    class Meta:
        constraints = [
            # Two workers must never do the same job on the same object.
            models.UniqueConstraint(
                fields=["kind", "subject_id"],
                condition=Q(state__in=["waiting", "running"]),
                name="job_open_once_per_subject",
            ),
            models.CheckConstraint(
                condition=(Q(state="running") & Q(lease_token__isnull=False) & Q(lease_until__isnull=False))
                | (~Q(state="running") & Q(lease_token__isnull=True) & Q(lease_until__isnull=True)),
                name="job_running_means_leased",
            ),
            models.CheckConstraint(
                condition=Q(total__isnull=True) | Q(done__lte=F("total")), name="job_done_within_total"
            ),
        ]
        indexes = [
            models.Index(fields=["not_before"], condition=Q(state__in=["waiting", "running"]), name="job_open_by_time"),
            models.Index(fields=["user_id", "-created_at"], name="job_by_user"),
            models.Index(fields=["-created_at"], name="job_by_time"),
            # Jobs with an error that staff may retry: few rows of a large table.
            models.Index(
                fields=["-created_at"],
                condition=Q(state__in=["waiting", "failed"]) & ~Q(error_code=""),
                name="job_failing",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject_id} {self.state}"

    @property
    def is_final(self) -> bool:
        """Whether the job failed with an error that is not retried."""
        return self.state == self.State.FAILED and self.error_code in self.FINAL_ERRORS


class IdempotencyRecord(models.Model):
    """The result of a POST with an Idempotency-Key, stored in the transaction of the request.

    It holds ids, not text: a replay renders the current state of the objects.
    """

    owner = models.CharField(max_length=120)
    key = models.CharField(max_length=255)
    request_hash = models.CharField(max_length=64)
    status_code = models.PositiveSmallIntegerField(null=True)
    object_type = models.CharField(max_length=40, blank=True)
    object_ids = models.JSONField(default=list)
    rev = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "key"], name="idempotency_key_once_per_owner")]
        indexes = [models.Index(fields=["created_at"], name="idempotency_by_time")]

    def __str__(self) -> str:
        return f"{self.object_type} {self.created_at:%Y-%m-%d}"
