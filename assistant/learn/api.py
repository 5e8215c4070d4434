"""REST: what may be learned from a message, and the stream of updates of a person's memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import path
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from redis.exceptions import RedisError
from rest_framework import serializers
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of
from accounts.policy import must_read
from conversations.echoes import withheld_said_again
from conversations.models import Conversation, Message
from conversations.serializers import AlsoSaidSerializer
from statements.policy import LONGEST
from web.json import ExactSerializer, validated
from web.streaming import FIRST_ID, EventStreamRenderer, Stream, read_event_id

from . import actions
from .updates import last_update, updates


class MarksRequestSerializer(ExactSerializer):
    """What is decided about a message: exactly one of ``held`` and ``declined``."""

    held = serializers.BooleanField(
        required=False, help_text="True while the person is asked about it, for a day at most; false to let it go."
    )
    declined = serializers.BooleanField(
        required=False, help_text="True: never learn from it. False takes that back, which is for the person."
    )
    candidate = serializers.CharField(
        required=False,
        max_length=LONGEST,
        help_text="With declined: what the person was asked about, as it would have been remembered. It can't be "
        "learned from anything else either, until they say it themselves.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require one decision, and a candidate only with the one that it belongs to."""
        if ("held" in attrs) == ("declined" in attrs):
            raise serializers.ValidationError("Send either held or declined.")
        if "candidate" in attrs and not attrs.get("declined"):
            raise serializers.ValidationError({"candidate": ["It goes with declined true."]})
        return attrs


class MarksSerializer(serializers.ModelSerializer[Message]):
    """What may be learned from a message. ``processed``: its memories were learned; ``held_until``: not before then."""

    held_until = serializers.SerializerMethodField()

    class Meta:
        model = Message
        fields = ["id", "index", "held_until", "declined", "processed"]

    @extend_schema_field(serializers.DateTimeField(allow_null=True))
    def get_held_until(self, message: Message) -> str | None:
        """Until when, while it is held."""
        until = message.held_until
        return until.isoformat() if until is not None and until > timezone.now() else None


class DecidedMarksSerializer(MarksSerializer):
    """A message that was just decided about. ``also_said``: what else says what the person declined; for them only."""

    also_said = AlsoSaidSerializer(many=True)

    class Meta(MarksSerializer.Meta):
        fields = [*MarksSerializer.Meta.fields, "also_said"]


class Marks(APIView):
    """What may be learned from one message."""

    @extend_schema(request=MarksRequestSerializer, responses=DecidedMarksSerializer)
    def patch(self, request: Request, conversation_id: UUID, index: int) -> Response:
        """Decide what may be learned from a message.

        Hold it while the person is asked whether to remember it, release it, or never learn from it. To whoever
        decides for the person, `also_said` then names what else says the same.
        """
        principal, decided = principal_of(request), validated(MarksRequestSerializer(data=request.data))
        if decided.get("held"):
            message = actions.message_hold(principal, conversation_id, index)
        elif decided.get("declined"):
            message = actions.message_decline(principal, conversation_id, index, decided.get("candidate", ""))
        else:
            message = actions.message_release(principal, conversation_id, index)
        asks = message.declined and principal.decides_what_returns
        said = withheld_said_again(principal, [message.pk]) if asks else []
        return Response(MarksSerializer(message).data | {"also_said": AlsoSaidSerializer(said, many=True).data})


class Updates(APIView):
    """The updates of a person's memory that come of a conversation, as they happen."""

    renderer_classes = [*APIView.renderer_classes, EventStreamRenderer]

    @extend_schema(
        parameters=[
            OpenApiParameter("format", exclude=True),
            OpenApiParameter("after", str, description="The id of the last update known; 0: from the oldest kept."),
            OpenApiParameter("Last-Event-ID", str, OpenApiParameter.HEADER, description="The same, as browsers send."),
        ],
        responses={(200, "text/event-stream"): OpenApiTypes.STR},
    )
    def get(self, request: Request, conversation_id: UUID) -> HttpResponseBase:
        """Follow what is learned from a conversation.

        Server-sent events ``memory_update_started`` and ``memory_update_completed``, with counts, for 30 seconds.

        They are kept for ten minutes. Without ``after``: what happens from now on.
        """
        principal = principal_of(request)
        must_read(principal)
        get_object_or_404(Conversation.objects.visible_to(principal), pk=conversation_id)
        after = read_event_id(request) or _now(conversation_id)
        stream = Stream(principal.user_id, partial(_events, conversation_id, after))
        # Proxies would keep back what is not to wait.
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        return StreamingHttpResponse(stream, content_type="text/event-stream", headers=headers)


async def _events(conversation_id: UUID, after: str) -> AsyncIterator[bytes | None]:
    async for update in updates(conversation_id, after, settings.UPDATES_STREAM_SECONDS):
        yield update.sent if update else None


def _now(conversation_id: UUID) -> str:
    try:
        return last_update(conversation_id)
    except (RedisError, OSError):
        return FIRST_ID  # The stream will say that it has nothing to tell.


urlpatterns = [
    path("conversations/<uuid:conversation_id>/messages/<int:index>/", Marks.as_view(), name="message-marks"),
    path("conversations/<uuid:conversation_id>/updates/", Updates.as_view(), name="updates"),
]
