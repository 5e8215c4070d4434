"""Places that a person cares about, and where they came up."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from conversations.models import Message

from ..querysets import PlaceQuerySet


class Place(models.Model):
    """A place of a person, under the id that whoever named it first uses for it.

    ``tokens`` is what its line in the memory block costs.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="places", db_index=False)
    place_id = models.CharField(max_length=200)
    name = models.CharField(max_length=200)
    notes = models.CharField(max_length=500, blank=True)
    tokens = models.PositiveIntegerField()
    version = models.PositiveIntegerField(default=1)
    added_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    deleted_at = models.DateTimeField(null=True)
    purge_at = models.DateTimeField(null=True)

    objects = PlaceQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "place_id"], name="place_once_per_user"),
            models.CheckConstraint(condition=~Q(place_id="") & ~Q(name=""), name="place_named"),
            models.CheckConstraint(
                condition=Q(deleted_at__isnull=True, purge_at__isnull=True)
                | Q(deleted_at__isnull=False, purge_at__isnull=False),
                name="place_gone_means_dated",
            ),
        ]
        indexes = [models.Index(fields=["purge_at"], condition=Q(purge_at__isnull=False), name="place_by_purge")]

    def __str__(self) -> str:
        return f"place {self.id}"


class PlaceMention(models.Model):
    """A message that names a place."""

    place = models.ForeignKey(Place, on_delete=models.CASCADE, related_name="mentions", db_index=False)
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["place", "message"], name="place_mention_once")]

    def __str__(self) -> str:
        return f"mention of {self.place_id}"
