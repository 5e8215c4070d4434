"""REST for webhooks: register, list, remove, resume, and what could not be delivered."""

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
from journal.exceptions import NotFound
from journal.models import IdempotencyRecord
from web.idempotency import WritesOnce
from web.json import read_nothing

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


class Webhooks(WritesOnce[Principal], ListAPIView):
    """List the webhooks: an agent its own, a person those of all their agents."""

    serializer_class = WebhookSerializer
    queryset = Webhook.objects.none()

    def get_queryset(self) -> QuerySet[Webhook]:
        """Those that the principal may see."""
        return Webhook.objects.visible_to(principal_of(self.request)).order_by("created_at", "id")

    @extend_schema(request=NewWebhookSerializer, responses={201: RegisteredWebhookSerializer})
    def post(self, request: Request) -> Response:
        """Have the changes from now on that an agent may see sent to an address.

        The answer holds the `secret` by which deliveries are signed; it is shown this once. One that a key registered
        ends with that key.
        """
        principal = self.caller(request)
        body = NewWebhookSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        agent_id = body.validated_data.get("agent") or principal.agent_id
        if agent_id is None:
            raise ValidationError({"agent": ["Name one of your agents."]})
        key, _ = claimed_by(request._request) if principal.kind == "agent" else ("", "")
        webhook = actions.webhook_create(principal, agent_id, body.validated_data["url"], key=key)
        return Response(shown_webhook(webhook, secret_of(webhook)), status=201)

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """The webhook as it is now: whoever repeats the request has not seen the secret."""
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
        """Send nothing to it any more, and forget it."""
        actions.webhook_remove(principal_of(request), webhook_id)
        return Response(status=204)


class WebhookRotate(WritesOnce[Principal]):
    """Another secret."""

    @extend_schema(request=None, responses=RegisteredWebhookSerializer)
    def post(self, request: Request, webhook_id: UUID) -> Response:
        """Give it another `secret`, which is shown this once. For a day messages are signed by the one before too."""
        principal = self.caller(request)
        read_nothing(request)
        webhook = actions.webhook_rotate(principal, webhook_id)
        return Response(shown_webhook(webhook, secret_of(webhook)))

    def render_result(self, principal: Principal, object_ids: list[str]) -> dict[str, object]:
        """The webhook as it is now: whoever repeats the request has not seen the secret."""
        webhook = _find(principal, UUID(object_ids[0]))
        return shown_webhook(webhook, secret_of(webhook))


class WebhookResume(WritesOnce[Principal]):
    """Switching on again."""

    @extend_schema(request=None, responses=WebhookSerializer)
    def post(self, request: Request, webhook_id: UUID) -> Response:
        """Send what happened since, after it was switched off; what waits for another attempt is tried at once."""
        principal = self.caller(request)
        read_nothing(request)
        return Response(shown_webhook(actions.webhook_resume(principal, webhook_id)))

    def render_result(self, principal: Principal, object_ids: list[str]) -> dict[str, object]:
        """The webhook as it is now."""
        return shown_webhook(_find(principal, UUID(object_ids[0])))


class DeliveryFilters(filters.FilterSet):
    """Which deliveries are wanted."""

    state = filters.ChoiceFilter(choices=WebhookDelivery.State.choices, help_text="`dead` are those given up.")


class WebhookDeliveries(ListAPIView):
    """List what a webhook told, or could not, the latest first."""

    serializer_class = DeliverySerializer
    filterset_class = DeliveryFilters
    queryset = WebhookDelivery.objects.none()

    def get_queryset(self) -> QuerySet[WebhookDelivery]:
        """Those of the webhook."""
        if "webhook_id" not in self.kwargs:
            return self.queryset  # The schema is made.
        webhook = _find(principal_of(self.request), self.kwargs["webhook_id"])
        return WebhookDelivery.objects.filter(webhook=webhook).order_by("-after")


class DeliveryResend(WritesOnce[Principal]):
    """Trying anew."""

    @extend_schema(request=None, responses=DeliverySerializer)
    def post(self, request: Request, webhook_id: UUID, delivery_id: UUID) -> Response:
        """Try a delivery anew that was given up."""
        principal = self.caller(request)
        read_nothing(request)
        return Response(DeliverySerializer(actions.delivery_resend(principal, webhook_id, delivery_id)).data)

    def render_result(self, principal: Principal, object_ids: list[str]) -> object:
        """The delivery as it is now."""
        rows = WebhookDelivery.objects.visible_to(principal).filter(pk=object_ids[0])
        delivery = rows.first()
        if delivery is None:
            raise NotFound("There is no such delivery.")
        return DeliverySerializer(delivery).data


def _find(principal: Principal, webhook_id: UUID) -> Webhook:
    webhook = Webhook.objects.visible_to(principal).filter(pk=webhook_id).first()
    if webhook is None:
        raise NotFound("There is no such webhook.")
    return webhook
