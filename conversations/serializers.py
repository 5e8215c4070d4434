"""Shapes of conversations, messages and chunks over REST."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers

from web.json import ExactSerializer

from .actions import NewMessage
from .models import Conversation, ConversationChunk, Message


class ConversationSerializer(ExactSerializer, serializers.ModelSerializer[Conversation]):
    """A conversation as it is shown, and what may be said when one is opened."""

    legacy = serializers.UUIDField(source="legacy_id", required=False, allow_null=True, default=None)

    class Meta:
        model = Conversation
        fields = [
            "id",
            "legacy",
            "title",
            "channel",
            "external_id",
            "private",
            "message_count",
            "summarized_upto",
            "finished_at",
            "last_message_at",
            "created_at",
        ]
        read_only_fields = [
            "message_count",
            "summarized_upto",
            "finished_at",
            "last_message_at",
            "created_at",
        ]
        # Uniqueness per person is the action's business: the same external id answers with the same conversation.
        validators: list[Any] = []


class MessageSerializer(serializers.ModelSerializer[Message]):
    """A stored message."""

    class Meta:
        model = Message
        fields = ["id", "index", "role", "speaker", "content", "at"]


class NewMessageSerializer(ExactSerializer):
    """One message to append."""

    role = serializers.ChoiceField(choices=Message.Role.choices)
    content = serializers.CharField(max_length=settings.MESSAGE_MAX_CHARACTERS, trim_whitespace=False)
    speaker = serializers.CharField(max_length=100, required=False, default="", allow_blank=True)
    at = serializers.DateTimeField(required=False, allow_null=True, default=None)


class AppendSerializer(ExactSerializer):
    """One message, or a list of them under ``messages``."""

    role = serializers.ChoiceField(choices=Message.Role.choices, required=False)
    content = serializers.CharField(max_length=settings.MESSAGE_MAX_CHARACTERS, trim_whitespace=False, required=False)
    speaker = serializers.CharField(max_length=100, required=False, default="", allow_blank=True)
    at = serializers.DateTimeField(required=False, allow_null=True, default=None)
    messages = serializers.ListField(
        child=NewMessageSerializer(), required=False, allow_empty=False, max_length=settings.MESSAGES_PER_REQUEST
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require exactly one of the two forms."""
        single = "role" in attrs or "content" in attrs
        if single == ("messages" in attrs):
            raise serializers.ValidationError("Send either role and content, or messages.")
        if single:
            missing = [name for name in ("role", "content") if name not in attrs]
            if missing:
                raise serializers.ValidationError({name: ["This field is required."] for name in missing})
        return attrs

    def new_messages(self) -> list[NewMessage]:
        """The validated body as the action takes it."""
        data = self.validated_data
        if "messages" in data:
            return [NewMessage(**message) for message in data["messages"]]
        return [NewMessage(data["role"], data["content"], data["speaker"], data["at"])]


class MessagesSerializer(serializers.Serializer[Any]):
    """What appending answers."""

    messages = MessageSerializer(many=True)


class ChunkSerializer(serializers.ModelSerializer[ConversationChunk]):
    """The summary of a range of messages; ``written_by`` says by which model, or that rules did it."""

    class Meta:
        model = ConversationChunk
        fields = ["id", "content", "written_by", "message_range_start", "message_range_end", "created_at"]
