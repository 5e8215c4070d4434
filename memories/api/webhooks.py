"""REST API of webhooks and deliveries."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import claimed_by, principal_of
from accounts.principals import Principal
from journal.exceptions import must_find
from journal.models import IdempotencyRecord
from web.idempotency import IdempotentView
from web.json import require_empty_body, validated

from .. import actions
from ..models import Webhook, WebhookDelivery
from ..serializers.webhooks import (
    DeliverySerializer,
    NewWebhookSerializer,
    RegisteredWebhookSerializer,
    WebhookSerializer,
    shown_webhook,
)
from ..webhooks import secret_of


class Webhooks(IdempotentView[Principal], ListAPIView):
    """List the webhooks: an agent's own, or those of all the person's agents."""

    serializer_class = WebhookSerializer
    queryset = Webhook.objects.none()

    def get_queryset(self) -> QuerySet[Webhook]:
        """Those that the principal may see."""
        return Webhook.objects.visible_to(principal_of(self.request)).order_by("created_at", "id")

    @extend_schema(request=NewWebhookSerializer, responses={201: RegisteredWebhookSerializer})
    def post(self, request: Request) -> Response:
        """Register a URL for future changes that an agent may see.

        The response contains the `secret` that signs deliveries, shown once. A webhook registered with a key ends with
        it.
        """
        principal = self.caller(request)
        body = validated(NewWebhookSerializer(data=request.data))
        agent_id = body.get("agent") or principal.agent_id
        if agent_id is None:
            raise ValidationError({"agent": ["Name one of your agents."]})
        key, _ = claimed_by(request._request) if principal.kind == "agent" else ("", "")
        webhook = actions.webhook_create(principal, agent_id, body["url"], key=key)
        return Response(shown_webhook(webhook, secret_of(webhook)), status=201)

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """Return the current webhook, with its secret, which a retried request has not seen."""
        webhook = _find(principal_of(request), UUID(record.object_ids[0]))
        return Response(shown_webhook(webhook, secret_of(webhook)), status=201)


class WebhookDetail(APIView):
    """One webhook."""

    @extend_schema(responses=WebhookSerializer)
    def get(self, request: Request, webhook_id: UUID) -> Response:
        """Read a webhook, without its secret."""
        return Response(shown_webhook(_find(principal_of(request), webhook_id)))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, webhook_id: UUID) -> Response:
        """Delete a webhook."""
        actions.webhook_remove(principal_of(request), webhook_id)
        return Response(status=204)


class WebhookRotate(IdempotentView[Principal]):
    """Rotating the secret."""

    @extend_schema(request=None, responses=RegisteredWebhookSerializer)
    def post(self, request: Request, webhook_id: UUID) -> Response:
        """Create a new `secret`, shown once. For a day messages are also signed with the old one."""
        principal = self.caller(request)
        require_empty_body(request)
        webhook = actions.webhook_rotate(principal, webhook_id)
        return Response(shown_webhook(webhook, secret_of(webhook)))

    def render_result(self, principal: Principal, object_ids: list[str]) -> dict[str, object]:
        """Return the current webhook, with its secret, which a retried request has not seen."""
        webhook = _find(principal, UUID(object_ids[0]))
        return shown_webhook(webhook, secret_of(webhook))


class WebhookResume(IdempotentView[Principal]):
    """Enabling a webhook."""

    @extend_schema(request=None, responses=WebhookSerializer)
    def post(self, request: Request, webhook_id: UUID) -> Response:
        """Enable a disabled webhook, and deliver what happened since; pending retries are sent at once."""
        principal = self.caller(request)
        require_empty_body(request)
        return Response(shown_webhook(actions.webhook_resume(principal, webhook_id)))

    def render_result(self, principal: Principal, object_ids: list[str]) -> dict[str, object]:
        """The webhook as it is now."""
        return shown_webhook(_find(principal, UUID(object_ids[0])))


class DeliveryFilters(filters.FilterSet):
    """Filters of deliveries."""

    state = filters.ChoiceFilter(choices=WebhookDelivery.State.choices, help_text="`dead` are those given up.")


class WebhookDeliveries(ListAPIView):
    """List the deliveries, latest first."""

    serializer_class = DeliverySerializer
    filterset_class = DeliveryFilters
    queryset = WebhookDelivery.objects.none()

    def get_queryset(self) -> QuerySet[WebhookDelivery]:
        """Those of the webhook."""
        if "webhook_id" not in self.kwargs:
            return self.queryset  # While generating the schema.
        webhook = _find(principal_of(self.request), self.kwargs["webhook_id"])
        return WebhookDelivery.objects.filter(webhook=webhook).order_by("-after")


class DeliveryResend(IdempotentView[Principal]):
    """Resending a delivery."""

    @extend_schema(request=None, responses=DeliverySerializer)
    def post(self, request: Request, webhook_id: UUID, delivery_id: UUID) -> Response:
        """Retry a dead delivery."""
        principal = self.caller(request)
        require_empty_body(request)
        return Response(DeliverySerializer(actions.delivery_resend(principal, webhook_id, delivery_id)).data)

    def render_result(self, principal: Principal, object_ids: list[str]) -> object:
        """The delivery as it is now."""
        rows = WebhookDelivery.objects.visible_to(principal).filter(pk=object_ids[0])
        delivery = must_find(rows.first(), "delivery")
        return DeliverySerializer(delivery).data


def _find(principal: Principal, webhook_id: UUID) -> Webhook:
    return must_find(Webhook.objects.visible_to(principal).filter(pk=webhook_id).first(), "webhook")
