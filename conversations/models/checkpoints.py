"""The states of agents' work, by thread: what a graph or a supervisor goes on from after it stopped."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Agent, User

from ..querysets import CheckpointQuerySet, CheckpointWriteQuerySet


class _Blob(models.Model):
    """Bytes that only their writer reads, and what sort of bytes it says they are."""

    type = models.CharField(max_length=40)
    data = models.BinaryField()

    class Meta:
        abstract = True


class Checkpoint(_Blob):
    """The state of one thread at one moment.

    With a ``version`` it is a simple state: JSON, the newest version is the thread's state. Without one it is a
    graph's: ``namespace``, ``checkpoint_id`` and ``parent_id`` are the graph's own, ``channels`` names those whose
    values stand in the data.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, null=True, related_name="+")
    thread = models.CharField(max_length=255)
    namespace = models.CharField(max_length=255, blank=True)
    checkpoint_id = models.CharField(max_length=100)
    parent_id = models.CharField(max_length=100, blank=True)
    version = models.PositiveIntegerField(null=True)
    metadata = models.JSONField(default=dict)
    channels = ArrayField(models.CharField(max_length=255), default=list)
    at = models.DateTimeField(default=timezone.now)

    objects = CheckpointQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "agent", "thread", "namespace", "checkpoint_id"],
                nulls_distinct=False,
                condition=Q(version__isnull=True),
                name="checkpoint_once",
            ),
            models.UniqueConstraint(
                fields=["user", "agent", "thread", "version"],
                nulls_distinct=False,
                condition=Q(version__isnull=False),
                name="checkpoint_version_once",
            ),
        ]

    def __str__(self) -> str:
        return f"checkpoint {self.id}"


class CheckpointWrite(_Blob):
    """What a task of a graph wrote after a checkpoint, before the next; it may come before the checkpoint does."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, null=True, related_name="+")
    thread = models.CharField(max_length=255)
    namespace = models.CharField(max_length=255, blank=True)
    checkpoint_id = models.CharField(max_length=100)
    task_id = models.CharField(max_length=100)
    task_path = models.CharField(max_length=255, blank=True)
    index = models.IntegerField()
    channel = models.CharField(max_length=255)

    objects = CheckpointWriteQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "agent", "thread", "namespace", "checkpoint_id", "task_id", "index"],
                nulls_distinct=False,
                name="checkpoint_write_once",
            ),
        ]

    def __str__(self) -> str:
        return f"write {self.id}"
