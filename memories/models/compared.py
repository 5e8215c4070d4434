"""Which pairs of memories were compared lately, so that no model is asked about them again."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from accounts.models import User

from .memory import Memory


class ComparedPair(models.Model):
    """Two memories that consolidation compared, in the wordings that they had, kept 14 days.

    ``kept`` is the one that would stand for both if they are the same. ``score`` is their cosine similarity in
    hundredths; ``asked`` says that a model was asked and not rules. ``verdict`` says what
    the dropped one is to the kept one; settled: they are the same, and were merged or shown to the person.
    """

    class Verdict(models.TextChoices):
        SAME = "same"
        REPLACES = "replaces"
        CONTRADICTS = "contradicts"
        DIFFERENT = "different"
        SETTLED = "settled"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    kept = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+")
    dropped = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+")
    kept_version = models.PositiveIntegerField()
    dropped_version = models.PositiveIntegerField()
    score = models.PositiveSmallIntegerField()
    verdict = models.CharField(max_length=12, choices=Verdict.choices)
    asked = models.BooleanField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kept", "dropped", "kept_version", "dropped_version"], name="compared_pair_once"
            ),
            models.CheckConstraint(condition=~Q(kept=F("dropped")), name="compared_pair_of_two"),
            models.CheckConstraint(
                condition=Q(verdict__in=["same", "replaces", "contradicts", "different", "settled"]),
                name="compared_verdict_known",
            ),
        ]
        indexes = [
            models.Index(fields=["user", "-at"], name="compared_pair_by_user"),
            models.Index(fields=["at"], name="compared_pair_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.kept_id} and {self.dropped_id}: {self.verdict}"
