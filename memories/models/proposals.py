"""Proposals that wait for the person, their evidence, and signals of fields."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Agent, User
from conversations.models import Conversation
from statements.models import Evidence

from ..querysets import ProposalQuerySet
from .memory import Memory


class Proposal(models.Model):
    """A change by an agent or extraction that waits for the person. It expires after 7 days.

    ``values`` are the changed columns of the memory. They are deleted at expiry, after a decision, too, which can be
    undone until then. A create has its text in a memory with the state proposed. ``memory_version`` is the version that
    an update or archive was made for. A proposal about a place has only ``values``. ``reason`` says why an update
    waits, unless it is the review preference; it contains no quotes.
    """

    class Kind(models.TextChoices):
        CREATE = "create"
        UPDATE = "update"
        ARCHIVE = "archive"
        MERGE = "merge"
        PREFERENCE = "preference"
        PLACE = "place"

    class State(models.TextChoices):
        WAITING = "waiting"
        APPROVED = "approved"
        REJECTED = "rejected"
        LAPSED = "lapsed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="proposals", db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.SET_NULL, null=True, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, null=True, related_name="proposals")
    memory_version = models.PositiveIntegerField(null=True)
    values = models.JSONField(default=dict)
    written_by = models.CharField(max_length=80, blank=True)
    reason = models.CharField(max_length=200, blank=True, default="", db_default="")
    source_conversation = models.ForeignKey(Conversation, on_delete=models.SET_NULL, null=True, related_name="+")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)

    objects = ProposalQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["create", "update", "archive", "merge", "preference", "place"]),
                name="proposal_kind_known",
            ),
            models.CheckConstraint(
                condition=Q(state="waiting", decided_at__isnull=True)
                | Q(state__in=["approved", "rejected"], decided_at__isnull=False)
                | Q(state="lapsed", decided_at__isnull=False, values={}),
                name="proposal_lapsed_holds_no_text",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["merge", "preference", "place"]) | Q(memory__isnull=False),
                name="proposal_has_target",
            ),
            models.UniqueConstraint(
                fields=["memory"], condition=Q(kind="create", state="waiting"), name="proposal_create_once"
            ),
        ]
        indexes = [
            models.Index(fields=["user", "state", "-created_at"], name="proposal_by_user"),
            models.Index(fields=["expires_at"], condition=Q(state="waiting"), name="proposal_by_expiry"),
            models.Index(
                fields=["expires_at"],
                condition=Q(state__in=["approved", "rejected"]) & ~Q(values={}),
                name="proposal_to_forget",
            ),
        ]

    def __str__(self) -> str:
        return f"proposal {self.id}"


class ProposalEvidence(Evidence):
    """Evidence of a proposal: the message and the quote."""

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="evidence")

    class Meta:
        verbose_name_plural = "proposal evidence"
        constraints = [models.UniqueConstraint(fields=["proposal", "message"], name="proposal_evidence_once")]

    def __str__(self) -> str:
        return f"evidence of {self.proposal_id}"


class FieldSignal(models.Model):
    """A tone or a goal found in a conversation, without an explicit request.

    Equal signals from two conversations activate the value. ``digest`` is a keyed hash of the value.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="+")
    field = models.CharField(max_length=20)
    digest = models.CharField(max_length=64)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "field", "digest", "conversation"], name="field_signal_once"),
            models.CheckConstraint(condition=Q(field__in=["tone", "goal"]), name="field_signal_field_known"),
        ]

    def __str__(self) -> str:
        return f"signal {self.pk}"
