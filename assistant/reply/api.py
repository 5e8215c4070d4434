"""REST for talking with the assistant: say something and follow the answer, follow it again, try it again."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID, uuid4

from django.conf import settings
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import path
from django.utils import translation
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import PersonSessionAuthentication, principal_factory, principal_of
from accounts.principals import Principal
from conversations.models import Conversation, Message
from journal.models import IdempotencyRecord
from language.base import Usage
from web.idempotency import IdempotentView
from web.json import ExactSerializer, OrjsonRenderer, require_empty_body, validated
from web.streaming import FIRST_ID, EventStreamRenderer, StreamEvent, read_event_id

from ..models import Reply
from ..serializers import CommandDataSerializer
from ..tools.command import CommandAnswer, parse, repeat_answer, run_command
from .actions import Begun, ReplyOutcome, Wanted, find_reply, reply_begin, reply_retry, reply_stop, spoken_language
from .following import as_told
from .running import HEADERS, reply_stream

HEADER = "Keepsake-Reply"
EVENTS = {(200, "text/event-stream"): OpenApiTypes.STR}


class ReplyRequestSerializer(ExactSerializer):
    """What the person says, and how it is to be answered."""

    content = serializers.CharField(
        max_length=settings.MESSAGE_MAX_CHARACTERS,
        trim_whitespace=False,
        help_text="What the person has just said. It is saved as their message.",
    )
    mode = serializers.ChoiceField(
        Reply.Mode.choices,
        required=False,
        default=Reply.Mode.AGENT.value,
        help_text="`agent`: the model remembers, changes and looks up by the memory tools. `chat`: one answer without "
        "tools, memory and recall included. `council`: several models answer side by side (`member`), a "
        "merged answer follows.",
    )
    models = serializers.ListField(
        child=serializers.CharField(max_length=80),
        required=False,
        max_length=5,
        default=list,
        help_text="Of a council: which of the models that there are; all unless given.",
    )
    has_memory = serializers.BooleanField(
        required=False,
        default=True,
        help_text="False: nothing is remembered of this message and nothing recalled for it, as with the person's "
        "preference of that name.",
    )
    agentic_memory = serializers.BooleanField(
        required=False,
        default=True,
        help_text="False: no tools are offered for this message, as with the person's preference of that name.",
    )


class Replies(IdempotentView[Principal]):
    """Talking with the assistant."""

    renderer_classes = [OrjsonRenderer, EventStreamRenderer]

    @extend_schema(
        parameters=[OpenApiParameter("format", exclude=True)], request=ReplyRequestSerializer, responses=EVENTS
    )
    def post(self, request: Request, conversation_id: UUID) -> HttpResponseBase:
        """Say something to the assistant and follow its answer.

        Server-sent events: `memory_used`, `member`, `token`, `tool`, `memory_update_started`,
        `memory_update_completed`, `error`, and `done` last. The header `Keepsake-Reply` has the id by which to follow
        it again.

        `/memory` and its like, as `command/` takes them, are run without a model: `command`, `token` and `done`, whose
        `index` is null. Neither the command nor its answer is saved.
        """
        principal = self.caller(request)
        asked = validated(ReplyRequestSerializer(data=request.data))
        if parse(asked["content"]) is not None:
            Conversation.objects.visible_to(principal).must_find(conversation_id)
            principal = principal.with_memory(asked["has_memory"])
            return _answer_command(request, lambda: run_command(principal, asked["content"]))
        wanted = Wanted(asked["mode"], asked["agentic_memory"], asked["has_memory"], tuple(asked["models"]))
        reply_id = uuid4()
        return _answer(
            request, reply_id, lambda: reply_begin(principal, reply_id, conversation_id, asked["content"], wanted)
        )

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """Follow the reply that the first request began, from its beginning; of a command, tell its outcome."""
        principal = principal_of(request)
        content = validated(ReplyRequestSerializer(data=request.data))["content"]
        if parse(content) is not None:
            return _answer_command(request, lambda: repeat_answer(principal, content, record))  # type: ignore[return-value]  # a header is set on it
        said = get_object_or_404(Message.objects.visible_to(principal), pk=record.object_ids[0])
        reply = get_object_or_404(
            Reply.objects.visible_to(principal), conversation=said.conversation_id, message_index=said.index
        )
        return _answer(request, reply.pk, lambda: reply)  # type: ignore[return-value]  # a header is set on it


class ReplyDetail(APIView):
    """A reply that was begun."""

    renderer_classes = [OrjsonRenderer, EventStreamRenderer]

    @extend_schema(
        parameters=[
            OpenApiParameter("format", exclude=True),
            OpenApiParameter("after", str, description="The id of the last event known; none: from the beginning."),
            OpenApiParameter("Last-Event-ID", str, OpenApiParameter.HEADER, description="The same, as browsers send."),
        ],
        responses=EVENTS,
    )
    def get(self, request: Request, conversation_id: UUID, reply_id: UUID) -> HttpResponseBase:
        """Follow a reply, from the beginning or after an event.

        For ten minutes. Later there is `done` alone; what was said is among the messages.
        """
        reply = find_reply(principal_of(request), conversation_id, reply_id)
        after = read_event_id(request) or FIRST_ID
        return _answer(request, reply.pk, lambda: reply, after)


class ReplyRetry(APIView):
    """Another attempt at a reply."""

    renderer_classes = [OrjsonRenderer, EventStreamRenderer]

    @extend_schema(parameters=[OpenApiParameter("format", exclude=True)], request=None, responses=EVENTS)
    def post(self, request: Request, conversation_id: UUID, reply_id: UUID) -> HttpResponseBase:
        """Try a reply again that failed or was stopped before a word was said, once, and follow it.

        409: `reply_not_retryable`, `conversation_moved` where something was said since, or `reply_running`.
        """
        principal = principal_of(request)
        require_empty_body(request)
        return _answer(request, reply_id, lambda: reply_retry(principal, conversation_id, reply_id))


class ReplyStop(APIView):
    """Ending a reply."""

    @extend_schema(request=None, responses={202: None})
    def post(self, request: Request, conversation_id: UUID, reply_id: UUID) -> Response:
        """Stop a reply that is being made. What was said by then is saved; its stream ends with `done` as always."""
        require_empty_body(request)
        reply_stop(principal_of(request), conversation_id, reply_id)
        return Response(status=202)


def _answer(
    request: Request, reply_id: UUID, begin: Callable[[], Begun | Reply], after: str = FIRST_ID
) -> StreamingHttpResponse:
    with translation.override(_language(request)):
        stream = reply_stream(principal_of(request), principal_factory(request), reply_id, begin, after)
    return StreamingHttpResponse(stream, content_type="text/event-stream", headers={**HEADERS, HEADER: str(reply_id)})


def _language(request: Request) -> str:
    """Return the language of a reply if the person chose none: the browser's on a page, English for agents."""
    from_page = isinstance(request.successful_authenticator, PersonSessionAuthentication)
    return translation.get_language_from_request(request._request) if from_page else settings.LANGUAGE_CODE


def _answer_command(request: Request, run: Callable[[], CommandAnswer]) -> HttpResponse:
    """Return the answer to a command as a complete stream. Nothing of it is saved, so it can't be followed again."""
    with (
        translation.override(_language(request)),
        translation.override(spoken_language(principal_of(request).language)),
    ):
        answer = run()
    told = {
        "command": CommandDataSerializer(answer.data).data,
        "token": {"text": answer.text},
        "done": as_told(ReplyOutcome(Reply.State.DONE, "", Usage(), 0), None),
    }
    body = b"".join(StreamEvent(FIRST_ID, name, data).sent for name, data in told.items())
    return HttpResponse(body, content_type="text/event-stream", headers=HEADERS)


urlpatterns = [
    path("conversations/<uuid:conversation_id>/reply/", Replies.as_view(), name="replies"),
    path("conversations/<uuid:conversation_id>/reply/<uuid:reply_id>/", ReplyDetail.as_view(), name="reply"),
    path("conversations/<uuid:conversation_id>/reply/<uuid:reply_id>/retry/", ReplyRetry.as_view(), name="reply-retry"),
    path("conversations/<uuid:conversation_id>/reply/<uuid:reply_id>/stop/", ReplyStop.as_view(), name="reply-stop"),
]
