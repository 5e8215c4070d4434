"""Agents' checkpoints by thread: the state from which a graph or a supervisor resumes."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Agent, User

from ..querysets import CheckpointQuerySet, CheckpointWriteQuerySet


class _Blob(models.Model):
    """Opaque bytes of the writer, with the serialisation type that it named."""

    type = models.CharField(max_length=40)
    data = models.BinaryField()

    class Meta:
        abstract = True


class Checkpoint(_Blob):
    """The state of a thread at one moment.

    With a ``version`` it is a simple state: JSON, and the newest version is current. Without one it is a graph's state:
    ``namespace``, ``checkpoint_id`` and ``parent_id`` are the graph's own, ``channels`` names the channels whose values
    are in ``data``.
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
    """A graph task's write between two checkpoints. It may be saved before the checkpoint that it follows."""

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
