"""Webhooks on the page of an agent: list, failed deliveries, buttons."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import Prefetch
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from accounts.models import Agent
from accounts.principals import Principal, rare
from memories.actions import delivery_resend, webhook_remove, webhook_resume, webhook_rotate
from memories.models import Webhook, WebhookDelivery
from memories.webhooks import LONGEST_URL, secret_of

from ..page import PageRequest, for_person, telling_refusals

MOST_LISTED = 20


class WebhookForm(forms.Form):
    """The URL of a webhook."""

    url = forms.CharField(
        max_length=LONGEST_URL,
        label=gettext_lazy("Address"),
        widget=forms.URLInput({"autocomplete": "off", "placeholder": "https://"}),
    )


def webhooks_of(principal: Principal, agent_id: UUID) -> list[Webhook]:
    """Return an agent's webhooks, each with its latest ``dead`` deliveries."""
    given_up = WebhookDelivery.objects.filter(state="dead").order_by("-after")[:MOST_LISTED]
    rows = Webhook.objects.visible_to(principal).filter(agent_id=agent_id).order_by("created_at", "pk")
    return list(rows.prefetch_related(Prefetch("deliveries", given_up, to_attr="dead")))


def stopped_webhooks(principal: Principal) -> list[Webhook]:
    """Return webhooks disabled after failures, for the notice on the home page."""
    rows = rare(
        principal, "stopped webhooks", lambda who: Webhook.objects.visible_to(who).filter(disabled_at__isnull=False)
    )
    return [] if rows is None else list(rows.select_related("agent").order_by("-disabled_at")[:MOST_LISTED])


def show_secret(request: PageRequest, principal: Principal, agent: Agent, webhook: Webhook) -> HttpResponse:
    """Show a webhook's new secret."""
    context = {"principal": principal, "agent": agent, "webhook": webhook, "secret": secret_of(webhook)}
    return render(request, "desk/agent_webhook.html", context)


@require_POST
@for_person
def remove(request: PageRequest, principal: Principal, agent_id: UUID, webhook_id: UUID) -> HttpResponse:
    """Delete a webhook."""
    told = _("That webhook is removed: nothing is sent to it any more.")
    return _do(request, agent_id, lambda: webhook_remove(principal, webhook_id), told)


@require_POST
@for_person
def resume(request: PageRequest, principal: Principal, agent_id: UUID, webhook_id: UUID) -> HttpResponse:
    """Enable a disabled webhook."""
    told = _("What happened since is sent in a moment.")
    return _do(request, agent_id, lambda: webhook_resume(principal, webhook_id), told)


@require_POST
@for_person
def rotate(request: PageRequest, principal: Principal, agent_id: UUID, webhook_id: UUID) -> HttpResponse:
    """Rotate the secret, and show it."""
    webhook = webhook_rotate(principal, webhook_id)
    return show_secret(request, principal, webhook.agent, webhook)


@require_POST
@for_person
def resend(
    request: PageRequest, principal: Principal, agent_id: UUID, webhook_id: UUID, delivery_id: UUID
) -> HttpResponse:
    """Retry a dead delivery."""
    told = _("It is sent again in a moment.")
    return _do(request, agent_id, lambda: delivery_resend(principal, webhook_id, delivery_id), told)


def _do(request: PageRequest, agent_id: UUID, act: Callable[[], object], told: str) -> HttpResponse:
    with telling_refusals(request):
        act()
        messages.success(request, told)
    return redirect("agent-page", agent_id)


_WEBHOOK = "agents/<uuid:agent_id>/webhooks/<uuid:webhook_id>/"
webhook_addresses = [
    path(f"{_WEBHOOK}remove/", remove, name="agent-webhook-remove"),
    path(f"{_WEBHOOK}resume/", resume, name="agent-webhook-resume"),
    path(f"{_WEBHOOK}rotate/", rotate, name="agent-webhook-rotate"),
    path(f"{_WEBHOOK}deliveries/<uuid:delivery_id>/resend/", resend, name="agent-webhook-resend"),
]
