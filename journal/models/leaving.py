"""Exports of personal data and receipts of erasures."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from datetime import datetime, timedelta
from functools import reduce
from operator import or_

from django.db import models
from django.db.models import Q
from django.utils import timezone

from .log import Change


class ExportQuerySet(models.QuerySet["Export"]):
    """Queries over exports."""

    def of_user(self, user_id: uuid.UUID) -> ExportQuerySet:
        """Return one person's exports, the latest first."""
        return self.filter(user_id=user_id).order_by("-created_at", "pk")

    def whole(self, at: datetime) -> ExportQuerySet:
        """Return the finished exports that have not expired."""
        return self.filter(expires_at__gt=at)

    def over(self, at: datetime, kept: timedelta) -> ExportQuerySet:
        """Return expired exports, and unfinished ones created more than ``kept`` ago, which count as abandoned."""
        return self.filter(Q(expires_at__lte=at) | Q(expires_at__isnull=True, created_at__lte=at - kept))


class Export(models.Model):
    """A person's export file, with the id of the job that writes it. ``expires_at`` is null until it is complete.

    It is stored in the database, in parts, because the worker may run on another machine than the web server.
    """

    id = models.UUIDField(primary_key=True)
    user_id = models.UUIDField()
    size = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True)

    objects = ExportQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["user_id", "-created_at"], name="export_by_user"),
            models.Index(fields=["created_at"], name="export_by_time"),
        ]

    def __str__(self) -> str:
        return f"export {self.id}"


class ExportPart(models.Model):
    """A megabyte of an export's file; the last part may be smaller."""

    export = models.ForeignKey(Export, on_delete=models.CASCADE, related_name="parts", db_index=False)
    number = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["export", "number"], name="export_part_once")]

    def __str__(self) -> str:
        return f"part {self.number} of export {self.export_id}"


class ErasureQuerySet(models.QuerySet["Erasure"]):
    """Queries over erasures."""

    def waiting(self, scope: str) -> ErasureQuerySet:
        """Filter for those of this scope that can still be withdrawn."""
        return self.filter(scope=scope, state=Erasure.State.WAITING)

    def keeping_away(self, user_id: uuid.UUID, object_type: str, ids: Collection[str]) -> set[str]:
        """Return the ids of those of a person's objects that an erasure which has not ended put away."""
        erasures = self.filter(user_id=user_id, state__in=Erasure.OPEN)
        spans = [Q(rev__range=span) for hidden in erasures.values_list("hidden", flat=True) for span in hidden]
        put_away = Change.objects.of_owner(user_id).filter(reduce(or_, spans, Q(pk__in=[])), event=Change.Event.DELETE)
        return set(put_away.filter(object_type=object_type, object_id__in=ids).values_list("object_id", flat=True))


class Erasure(models.Model):
    """An erasure and its receipt, with the same id. It holds no text, and stays after the person's account is deleted.

    It can be withdrawn until ``due_at``, when it starts. ``removed`` counts rows by kind. ``also``: pairs of the kind
    and the id of what says the same and is erased with it. ``hidden``: spans of the revisions that hid it meanwhile.
    """

    class State(models.TextChoices):
        WAITING = "waiting"  # -> erasing, withdrawn
        ERASING = "erasing"  # -> done
        DONE = "done"
        WITHDRAWN = "withdrawn"

    OPEN = (State.WAITING, State.ERASING)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    user_id = models.UUIDField()
    scope = models.CharField(max_length=12)
    object_id = models.CharField(max_length=36, blank=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    also = models.JSONField(default=list, db_default=[])
    hidden = models.JSONField(default=list, db_default=[])
    removed = models.JSONField(default=dict)
    at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True)

    objects = ErasureQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["user_id", "-at"], name="erasure_by_user")]

    def __str__(self) -> str:
        return f"erasure {self.id} {self.state}"


class ErasedQuerySet(models.QuerySet["Erased"]):
    """Queries over what was erased."""

    def seen_with(
        self, categories: Collection[str] | None, sources: Collection[str], agent_id: uuid.UUID | None
    ) -> ErasedQuerySet:
        """Return those that an agent with these categories (None: all) and sources may have known of."""
        of_sources = {"facts": ["fact"], "turns": ["message", "conversation"]}
        hidden = Q(kind__in=[kind for source, kinds in of_sources.items() if source not in sources for kind in kinds])
        if categories is not None:
            hidden |= Q(kind__in=["memory", "place"]) & ~Q(category__in=sorted(categories))
        hidden |= Q(kind__in=["message", "conversation"]) & ~Q(category__in=["", str(agent_id)])
        return self.exclude(hidden)


class Erased(models.Model):
    """The id of an erased object, or a keyed digest of an agent's name for a person. Kept for 90 days.

    ``category``: that of a memory, or that places go with; of a conversation or message that was private or said with
    memory switched off the agent's id, or "-". Agents which don't see it are not told that it existed.
    """

    erasure = models.ForeignKey(Erasure, on_delete=models.CASCADE, related_name="objects_erased", db_index=False)
    kind = models.CharField(max_length=20)
    object_id = models.CharField(max_length=64)
    category = models.CharField(max_length=40, blank=True, default="", db_default="")

    objects = ErasedQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "erased"
        constraints = [models.UniqueConstraint(fields=["object_id", "erasure", "kind"], name="erased_once")]
        indexes = [models.Index(fields=["erasure"], name="erased_by_erasure")]

    def __str__(self) -> str:
        return f"{self.kind} {self.object_id}"
