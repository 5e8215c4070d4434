"""Webhooks of agents, and their deliveries."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Exists, F, OuterRef, Q, Subquery
from django.utils import timezone

from accounts.models import Agent, AgentKey, Grant, User
from accounts.querysets import own_rows
from journal.models import Ledger

if TYPE_CHECKING:
    from accounts.principals import Principal


class WebhookQuerySet(models.QuerySet["Webhook"]):
    """Webhooks."""

    def visible_to(self, principal: Principal) -> WebhookQuerySet:
        """All for staff; the person's own; for an agent its own."""
        own = own_rows(self, principal)
        return own.filter(agent_id=principal.agent_id) if principal.kind == "agent" else own

    def due(self, now: datetime) -> WebhookQuerySet:
        """Webhooks with changes that are in no delivery yet, or with a due delivery.

        Without those of blocked agents, ended keys, and inactive people.
        """
        waiting = WebhookDelivery.objects.filter(webhook=OuterRef("pk"), state="waiting").order_by("after")
        grants = Grant.objects.filter(user_id=OuterRef("user_id"), agent_id=OuterRef("agent_id"))
        further = Ledger.objects.filter(pk=OuterRef("user_id"), rev__gt=OuterRef("reached"))
        over = Q(key__revoked_at__isnull=False) | Q(key__expires_at__lte=now)
        let_in = Q(agent__owner=F("user")) & ~Exists(grants) | Exists(grants.filter(revoked_at__isnull=True))
        rows = self.filter(~over, let_in, disabled_at__isnull=True, user__is_active=True, agent__owner__is_active=True)
        # Later deliveries wait for the first waiting one.
        timed = rows.alias(next_at=Subquery(waiting.values("not_before")[:1]))
        return timed.filter(Q(next_at__lte=now) | Q(Exists(further), next_at__isnull=True))


class DeliveryQuerySet(models.QuerySet["WebhookDelivery"]):
    """Deliveries of webhooks."""

    def visible_to(self, principal: Principal) -> DeliveryQuerySet:
        """Those of visible webhooks."""
        if principal.kind == "staff":
            return self
        hooks = Webhook.objects.visible_to(principal)
        return self.filter(webhook__in=hooks.values("pk"))


class Webhook(models.Model):
    """A URL that receives the changes of a person that one agent may see.

    ``reached`` is the person's revision up to which deliveries were created. A webhook registered with a ``key`` ends
    with it. The secret is derived, not stored; ``secret_number`` counts rotations. ``failing_since`` is the time of the
    first failure since the last success; after some days the webhook is disabled (``disabled_at``).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="webhooks", db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="webhooks")
    key = models.ForeignKey(AgentKey, on_delete=models.CASCADE, null=True, related_name="+")
    url = models.CharField(max_length=500)
    reached = models.BigIntegerField()
    secret_number = models.PositiveIntegerField(default=0, db_default=0)
    rotated_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    disabled_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "agent", "url"], name="webhook_once_per_address"),
            models.CheckConstraint(condition=Q(reached__gte=0), name="webhook_reached_not_negative"),
        ]

    def __str__(self) -> str:
        return f"webhook {self.id}"


class WebhookDelivery(models.Model):
    """A range of a person's revisions sent in one request: after ``after``, up to ``upto``.

    The payload is not stored; each attempt reads what the agent may see then. ``status_code`` and ``error`` are those
    of the last attempt.
    """

    class State(models.TextChoices):
        WAITING = "waiting"  # -> sent, dead
        SENT = "sent"
        DEAD = "dead"  # -> waiting, when somebody sends it again

    class Error(models.TextChoices):
        STATUS = "status"
        TIMED_OUT = "timed_out"
        UNREACHABLE = "unreachable"
        PRIVATE_ADDRESS = "private_address"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    after = models.BigIntegerField()
    upto = models.BigIntegerField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    not_before = models.DateTimeField(default=timezone.now)
    status_code = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=20, choices=Error.choices, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "webhook deliveries"
        constraints = [
            models.UniqueConstraint(fields=["webhook", "after"], name="webhook_delivery_once_per_revision"),
            models.CheckConstraint(condition=Q(upto__gt=F("after")), name="webhook_delivery_goes_on"),
            models.CheckConstraint(
                condition=Q(state="waiting", ended_at__isnull=True)
                | Q(state__in=["sent", "dead"], ended_at__isnull=False),
                name="webhook_delivery_ended_means_dated",
            ),
        ]
        indexes = [
            models.Index(fields=["webhook"], condition=Q(state="waiting"), name="webhook_delivery_waiting"),
            models.Index(fields=["ended_at"], condition=~Q(state="waiting"), name="webhook_delivery_by_end"),
        ]

    def __str__(self) -> str:
        return f"delivery {self.id}"
