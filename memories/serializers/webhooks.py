"""Serializers of webhooks and deliveries."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from web.json import ExactSerializer

from ..models import Webhook, WebhookDelivery
from ..webhooks import LONGEST_URL


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """A webhook. ``reached``: the revision up to which deliveries were created.

    ``failing_since`` and ``disabled_at`` are null while deliveries come through.
    """

    agent = serializers.UUIDField(source="agent_id")

    class Meta:
        model = Webhook
        fields = ["id", "agent", "url", "reached", "failing_since", "disabled_at", "created_at"]


class NewWebhookSerializer(ExactSerializer):
    """A new webhook. ``agent``: the caller, or one of the person's agents."""

    url = serializers.CharField(max_length=LONGEST_URL, help_text="An https address on the public internet.")
    agent = serializers.UUIDField(required=False)


class RegisteredWebhookSerializer(WebhookSerializer):
    """A webhook with its secret, shown once."""

    secret = serializers.CharField()

    class Meta(WebhookSerializer.Meta):
        fields = [*WebhookSerializer.Meta.fields, "secret"]


class DeliverySerializer(serializers.ModelSerializer[WebhookDelivery]):
    """A delivery: its range of revisions, the number of attempts, and the last result."""

    status_code = serializers.IntegerField(allow_null=True)

    class Meta:
        model = WebhookDelivery
        fields = [
            "id",
            "after",
            "upto",
            "state",
            "attempts",
            "not_before",
            "status_code",
            "error",
            "created_at",
            "ended_at",
        ]


def shown_webhook(webhook: Webhook, secret: str = "") -> dict[str, Any]:
    """Format a webhook, optionally with its secret."""
    shown = dict(WebhookSerializer(webhook).data)
    return {**shown, "secret": secret} if secret else shown
