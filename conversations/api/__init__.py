"""REST endpoints of conversations, messages, chunks and withheld words. Those of checkpoints are in ``checkpoints``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView, get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import principal_of
from accounts.principals import Principal
from web.idempotency import IdempotentView
from web.json import validated
from web.pagination import Cursor

from .. import actions
from ..echoes import withheld_said_again
from ..models import Conversation, ConversationChunk, Message, Withheld
from ..querysets import ChunkQuerySet, ConversationQuerySet, MessageQuerySet, WithheldQuerySet
from ..serializers import (
    AlsoSaidSerializer,
    AppendSerializer,
    ChunkSerializer,
    ConversationSerializer,
    MessageSerializer,
    MessagesSerializer,
    WithheldPassagesSerializer,
    WithheldSerializer,
    WithholdSerializer,
)
from . import checkpoints


class Conversations(IdempotentView[Principal], ListAPIView):
    """List the person's conversations, the latest first."""

    serializer_class = ConversationSerializer
    queryset = Conversation.objects.none()

    def get_queryset(self) -> ConversationQuerySet:
        """Return the conversations that the principal may see."""
        return Conversation.objects.visible_to(principal_of(self.request)).order_by("-created_at", "id")

    @extend_schema(request=ConversationSerializer, responses={201: ConversationSerializer})
    def post(self, request: Request) -> Response:
        """Open a conversation, about a legacy or about nobody in particular."""
        principal = self.caller(request)
        body = validated(ConversationSerializer(data=request.data))
        conversation = actions.conversation_create(principal, **body)
        return Response(ConversationSerializer(conversation).data, status=201)

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """Return the created conversation."""
        return ConversationSerializer(_visible(principal, UUID(object_ids[0]))).data


class ConversationDetail(IdempotentView[Principal]):
    """One conversation."""

    @extend_schema(responses=ConversationSerializer)
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """Read a conversation's counts and marks."""
        return Response(ConversationSerializer(_visible(principal_of(request), conversation_id)).data)


class ByIndex(Cursor):
    """Cursor pagination of messages by index."""

    ordering = "index"
    max_page_size = 500


class Messages(IdempotentView[Principal], ListAPIView):
    """Read the messages of a conversation, in order."""

    serializer_class = MessageSerializer
    pagination_class = ByIndex
    queryset = Message.objects.none()

    def get_queryset(self) -> MessageQuerySet:
        """Return the messages of a conversation that the principal may see."""
        conversation = _visible(principal_of(self.request), self.kwargs["conversation_id"])
        return Message.objects.visible_to(principal_of(self.request)).filter(conversation=conversation)

    @extend_schema(request=AppendSerializer, responses={201: MessagesSerializer})
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Append one message or many to a conversation. Indexing and summarising follow in the background.

        What the person says there not to keep is withheld at once, and `refusals` says so.
        """
        principal = self.caller(request)
        body = AppendSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        messages = actions.messages_append(principal, conversation_id, body.new_messages())
        return Response(_appended(messages), status=201)

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """Return the appended messages."""
        messages = list(Message.objects.visible_to(principal).filter(pk__in=object_ids).order_by("index"))
        return _appended(messages)


class Chunks(ListAPIView):
    """List the summaries of a conversation, in order."""

    serializer_class = ChunkSerializer
    queryset = ConversationChunk.objects.none()

    def get_queryset(self) -> ChunkQuerySet:
        """Return the summaries of a conversation that the principal may see."""
        principal = principal_of(self.request)
        conversation = _visible(principal, self.kwargs["conversation_id"])
        chunks = ConversationChunk.objects.visible_to(principal).filter(conversation=conversation)
        return chunks.order_by("message_range_start")


class WithheldList(IdempotentView[Principal], ListAPIView):
    """Words that the person took out of the record."""

    serializer_class = WithheldSerializer
    queryset = Withheld.objects.none()

    def get_queryset(self) -> WithheldQuerySet:
        """Return the words that can still be restored, the latest first."""
        return _withheld(principal_of(self.request)).order_by("-created_at", "id")

    @extend_schema(request=WithholdSerializer, responses={201: WithheldPassagesSerializer})
    def post(self, request: Request) -> Response:
        """Take passages out of the record: nobody is shown them, and nothing is learned from them.

        Answers with what was taken out of the messages named. What the assistant said of it later goes along; what else
        says the same is named in `also_said`. Needs a session or a key with the scope admin.
        """
        principal = self.caller(request)
        body = validated(WithholdSerializer(data=request.data))
        places = [actions.PassagePlace(**each) for each in body["passages"]]
        ids = actions.passages_withhold(principal, places)
        said = AlsoSaidSerializer(withheld_said_again(principal, ids), many=True).data
        return Response(self.render_result(principal, [str(pk) for pk in ids]) | {"also_said": said}, status=201)

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """Return what is withheld of the messages; `also_said` is only in the first response."""
        rows = _withheld(principal).filter(message_id__in=object_ids).order_by("message__index", "start")
        return WithheldPassagesSerializer({"withheld": rows, "also_said": []}).data


class WithheldDetail(IdempotentView[Principal]):
    """Words that the person took out of the record."""

    @extend_schema(responses={204: None})
    def delete(self, request: Request, withheld_id: UUID) -> Response:
        """Put words back, with all that went with them. Needs a session or a key with the scope admin."""
        actions.withheld_restore(principal_of(request), withheld_id)
        return Response(status=204)


def _appended(messages: Sequence[Message]) -> Any:
    return MessagesSerializer({"messages": messages, "refusals": actions.refusals_of(messages)}).data


def _withheld(principal: Principal) -> WithheldQuerySet:
    return Withheld.objects.visible_to(principal).restorable().passages().one_per_span().select_related("message")


def _visible(principal: Principal, conversation_id: UUID) -> Conversation:
    return get_object_or_404(Conversation.objects.visible_to(principal), pk=conversation_id)


urlpatterns = [
    path("conversations/", Conversations.as_view(), name="conversations"),
    path("conversations/<uuid:conversation_id>/", ConversationDetail.as_view(), name="conversation"),
    path("conversations/<uuid:conversation_id>/messages/", Messages.as_view(), name="messages"),
    path("conversations/<uuid:conversation_id>/chunks/", Chunks.as_view(), name="chunks"),
    path("withheld/", WithheldList.as_view(), name="withheld"),
    path("withheld/<uuid:withheld_id>/", WithheldDetail.as_view(), name="withheld-detail"),
    *checkpoints.urlpatterns,
]
