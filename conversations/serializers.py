"""Shapes of conversations, messages and chunks over REST."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers

from web.json import ExactSerializer

from .actions import NewMessage
from .actions.withholding import MOST_PASSAGES
from .models import Conversation, ConversationChunk, Message, Withheld


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


class RefusalSerializer(serializers.Serializer[Any]):
    """A message in which the person says that something is not to be kept."""

    index = serializers.IntegerField()
    withheld = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="The indices of the person's messages out of which words were taken for it. Don't keep them either.",
    )


class MessagesSerializer(serializers.Serializer[Any]):
    """What appending answers. The messages read as they are kept."""

    messages = MessageSerializer(many=True)
    refusals = RefusalSerializer(many=True)


class ChunkSerializer(serializers.ModelSerializer[ConversationChunk]):
    """The summary of a range of messages; ``written_by`` says by which model, or that rules did it."""

    class Meta:
        model = ConversationChunk
        fields = ["id", "content", "written_by", "message_range_start", "message_range_end", "created_at"]


class PassageSerializer(ExactSerializer):
    """Where something was said, and the words that say it; without them all of the message is meant.

    The index null means the conversation's title.
    """

    conversation = serializers.UUIDField(source="conversation_id")
    index = serializers.IntegerField(min_value=0, max_value=2**31 - 1, allow_null=True)
    quote = serializers.CharField(max_length=500, required=False, default="", allow_blank=True)


class WithholdSerializer(ExactSerializer):
    """What is to be taken out of the record."""

    passages = serializers.ListField(child=PassageSerializer(), min_length=1, max_length=MOST_PASSAGES)


class WithheldSerializer(serializers.ModelSerializer[Withheld]):
    """Words that were taken out of a message, until they are erased for good."""

    conversation = serializers.UUIDField(source="conversation_id")
    index = serializers.IntegerField(source="message.index")

    class Meta:
        model = Withheld
        fields = ["id", "conversation", "index", "text", "cause_type", "cause_id", "created_at", "erase_at"]


class WithheldPassagesSerializer(serializers.Serializer[Any]):
    """What withholding answers: all that is withheld now of the messages that were named."""

    withheld = WithheldSerializer(many=True)


class AlsoSaidSerializer(serializers.Serializer[Any]):
    """What says the same elsewhere; not ``surely``, but perhaps, where only the meaning is near.

    A message (with its conversation and index) and the title of a conversation (index null) are withheld by
    `POST withheld/`; a memory and a fact are rejected, and the notes of a place changed, at their own addresses.
    """

    object_type = serializers.ChoiceField(choices=["message", "title", "memory", "fact", "place"])
    object = serializers.CharField(source="object_id")
    conversation = serializers.UUIDField(source="conversation_id", allow_null=True)
    index = serializers.IntegerField(allow_null=True)
    quote = serializers.CharField()
    surely = serializers.BooleanField()
