"""Admin of webhooks: owner, failures, queue, without URLs."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from accounts.admin import moderator
from accounts.models import Agent
from web.admin import link_column

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

    def get_queryset(self, request: HttpRequest) -> QuerySet[Webhook]:
        """All of them."""
        return Webhook.objects.visible_to(moderator(request)).defer("url")

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

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookDelivery]:
        """All of them."""
        return WebhookDelivery.objects.visible_to(moderator(request))

    @display(description="state", ordering="state", label={"waiting": "info", "sent": "success", "dead": "danger"})
    def labelled_state(self, delivery: WebhookDelivery) -> tuple[str, str]:
        """Where it stands."""
        return delivery.state, delivery.get_state_display()

    webhook_link = link_column(Webhook, "webhook_id", "webhook")
