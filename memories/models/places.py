"""Places of a person, versions and mentions."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from accounts.models import User
from conversations.models import Message

from ..querysets import PlaceQuerySet


class Place(models.Model):
    """A place of a person, with the id that its creator uses.

    ``name`` and ``notes`` are those of the current version. ``tokens`` are those of its line in the memory block.
    ``active_rev`` is the person's revision at which it was last added, restored or withheld from; None if removed.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="places", db_index=False)
    place_id = models.CharField(max_length=200)
    name = models.CharField(max_length=200)
    notes = models.CharField(max_length=500, blank=True)
    tokens = models.PositiveIntegerField()
    version = models.PositiveIntegerField(default=1)
    active_rev = models.BigIntegerField(null=True)
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
                condition=Q(deleted_at__isnull=True, purge_at__isnull=True, active_rev__isnull=False)
                | Q(deleted_at__isnull=False, purge_at__isnull=False, active_rev__isnull=True),
                name="place_gone_means_dated",
            ),
        ]
        indexes = [models.Index(fields=["purge_at"], condition=Q(purge_at__isnull=False), name="place_by_purge")]

    def __str__(self) -> str:
        return f"place {self.id}"


class PlaceVersion(models.Model):
    """A wording of a place, valid between two of the person's revisions, for pinned prompts.

    ``written_by`` is its author, empty for the person; None for wordings from before this was stored.
    """

    place = models.ForeignKey(Place, on_delete=models.CASCADE, related_name="versions", db_index=False)
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    notes = models.CharField(max_length=500, blank=True)
    written_by = models.CharField(max_length=80, blank=True, null=True)  # noqa: DJ001 - unknown is not the person
    recorded_from_rev = models.BigIntegerField()
    recorded_to_rev = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["place", "number"], name="place_version_once"),
            models.UniqueConstraint(
                fields=["place"], condition=Q(recorded_to_rev__isnull=True), name="place_version_current_once"
            ),
            models.CheckConstraint(condition=Q(number__gt=0), name="place_version_from_one"),
            models.CheckConstraint(
                condition=Q(recorded_to_rev__isnull=True) | Q(recorded_to_rev__gt=F("recorded_from_rev")),
                name="place_version_recorded_in_order",
            ),
        ]

    def __str__(self) -> str:
        return f"version {self.number} of place {self.place_id}"


class PlaceMention(models.Model):
    """A message that names a place. ``rev`` is the person's revision of the mention."""

    place = models.ForeignKey(Place, on_delete=models.CASCADE, related_name="mentions", db_index=False)
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="+")
    rev = models.BigIntegerField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["place", "message"], name="place_mention_once")]

    def __str__(self) -> str:
        return f"mention of {self.place_id}"
