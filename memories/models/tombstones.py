"""What must not come back."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from pgvector.django import HalfVectorField

from accounts.models import Legacy, User

from ..querysets import TombstoneQuerySet


class Tombstone(models.Model):
    """Marks something a person rejected or deleted, so that extraction can't bring it back.

    It holds no text: a keyed fingerprint of the normalised words and the vector. When the person says the thing again
    themselves, the tombstone is lifted.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tombstones")
    legacy = models.ForeignKey(Legacy, on_delete=models.CASCADE, null=True, related_name="+")
    fingerprint = models.CharField(max_length=64)
    object_id = models.CharField(max_length=36)
    embedding = HalfVectorField(null=True, editable=False)
    embedding_model = models.CharField(max_length=80, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)

    objects = TombstoneQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "legacy", "fingerprint"], name="tombstone_once", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=models.Q(embedding__isnull=True, embedding_model="")
                | models.Q(embedding__isnull=False) & ~models.Q(embedding_model=""),
                name="tombstone_vector_named",
            ),
        ]

    def __str__(self) -> str:
        return f"tombstone of {self.object_id}"
