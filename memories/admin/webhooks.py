"""Admin of webhooks: owner, failures, queue, without URLs."""

from __future__ import annotations

from django.contrib import admin

from accounts.models import Agent
from web.admin import label_column, link_column

from ..models import Webhook, WebhookDelivery
from .memories import OfPersonAdmin


@admin.register(Webhook)
class WebhookAdmin(OfPersonAdmin):
    """Admin of webhooks."""

    id_fields = ("pk", "user_id", "agent_id")
    list_display = ["id", "agent_link", "reached", "failing_since", "disabled_at", "person"]
    list_filter = ["failing_since", "disabled_at"]
    list_select_related = ["user"]
    fields = ["id", "agent_link", "reached", "failing_since", "disabled_at", "created_at", "person"]
    readonly_fields = ["agent_link", "person"]
    deferred = ("url",)

    agent_link = link_column(Agent, "agent_id", "agent")


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(OfPersonAdmin):
    """Admin of deliveries."""

    id_fields = ("pk", "webhook_id")
    user_field = "webhook__user_id"
    list_display = ["id", "webhook_link", "labelled_state", "attempts", "status_code", "error", "not_before"]
    list_filter = ["state", "error"]
    fields = [
        "id",
        "webhook_link",
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
    readonly_fields = ["webhook_link"]

    labelled_state = label_column("state", {"waiting": "info", "sent": "success", "dead": "danger"})

    webhook_link = link_column(Webhook, "webhook_id", "webhook")
