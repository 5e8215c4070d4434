"""Which memories agents were shown, for the person to read."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Agent, User
from conversations.models import Conversation

from ..querysets import DisclosureQuerySet


class Disclosure(models.Model):
    """What one answer told an agent: the ids of the memories, in their order, and no text.

    ``by`` says how it got them: the agent searched, asked for the memory block, or for a whole turn. Written after the
    answer was given, and kept as long as operations are.
    """

    class By(models.TextChoices):
        QUERY = "query"
        CONTEXT = "context"
        TURN = "turn"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="disclosures", db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="+")
    conversation = models.ForeignKey(Conversation, on_delete=models.SET_NULL, null=True, related_name="+")
    by = models.CharField(max_length=10, choices=By.choices)
    memories = ArrayField(models.CharField(max_length=8))
    at = models.DateTimeField(default=timezone.now)

    objects = DisclosureQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(by__in=["query", "context", "turn"]), name="disclosure_by_known"),
        ]
        indexes = [
            models.Index(fields=["user", "-at"], name="disclosure_by_user"),
            models.Index(fields=["at"], name="disclosure_by_time"),
            # Who saw one memory, out of the many thousand answers that an agent may be given in three months.
            GinIndex(fields=["memories"], name="disclosure_by_memory"),
        ]

    def __str__(self) -> str:
        return f"disclosure {self.pk}"
