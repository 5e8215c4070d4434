"""REST serializers of conversations, messages, chunks, withheld words and checkpoints."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from web.json import MAX_VERSION, ExactSerializer, as_json, decoded

from .actions import Blob, NewMessage
from .actions.withholding import MOST_PASSAGES
from .models import Checkpoint, CheckpointWrite, Conversation, ConversationChunk, Message, Withheld

MOST_WRITES = 500
MOST_NAMES = 100


class ConversationSerializer(ExactSerializer, serializers.ModelSerializer[Conversation]):
    """A conversation, and the fields accepted when one is created."""

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
        # The action handles uniqueness: a known external id returns its conversation.
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
        """Return the validated messages for the action."""
        data = self.validated_data
        if "messages" in data:
            return [NewMessage(**message) for message in data["messages"]]
        return [NewMessage(data["role"], data["content"], data["speaker"], data["at"])]


class RefusalSerializer(serializers.Serializer[Any]):
    """A message in which the person refuses that something be kept."""

    index = serializers.IntegerField()
    withheld = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="The indices of the person's messages out of which words were taken for it. Don't keep them either.",
    )


class MessagesSerializer(serializers.Serializer[Any]):
    """The response to appending: the messages as stored."""

    messages = MessageSerializer(many=True)
    refusals = RefusalSerializer(many=True)


class ChunkSerializer(serializers.ModelSerializer[ConversationChunk]):
    """The summary of a range of messages; ``written_by`` is the model, or names the rules."""

    class Meta:
        model = ConversationChunk
        fields = ["id", "content", "written_by", "message_range_start", "message_range_end", "created_at"]


class PassageSerializer(ExactSerializer):
    """A passage of a message: its index and its words; without words the whole message.

    The index null is the conversation's title.
    """

    conversation = serializers.UUIDField(source="conversation_id")
    index = serializers.IntegerField(min_value=0, max_value=2**31 - 1, allow_null=True)
    quote = serializers.CharField(max_length=500, required=False, default="", allow_blank=True)


class WithholdSerializer(ExactSerializer):
    """The passages to withhold."""

    passages = serializers.ListField(child=PassageSerializer(), min_length=1, max_length=MOST_PASSAGES)


class WithheldSerializer(serializers.ModelSerializer[Withheld]):
    """Withheld words of a message, before they are erased."""

    conversation = serializers.UUIDField(source="conversation_id")
    index = serializers.IntegerField(source="message.index")

    class Meta:
        model = Withheld
        fields = ["id", "conversation", "index", "text", "cause_type", "cause_id", "created_at", "erase_at"]


class AlsoSaidSerializer(serializers.Serializer[Any]):
    """Another place that says the same; ``surely`` is false if only the meaning is similar.

    A message (with its conversation and index) or a title (index null) is withheld by `POST withheld/`. Memories and
    facts are rejected, and notes of places edited, with their own calls.
    """

    object_type = serializers.ChoiceField(choices=["message", "title", "memory", "fact", "place"])
    object = serializers.CharField(source="object_id")
    conversation = serializers.UUIDField(source="conversation_id", allow_null=True)
    index = serializers.IntegerField(allow_null=True)
    quote = serializers.CharField()
    surely = serializers.BooleanField()


class WithheldPassagesSerializer(serializers.Serializer[Any]):
    """The response to withholding: all withheld passages of the given messages. ``also_said``: what else says them."""

    withheld = WithheldSerializer(many=True)
    also_said = AlsoSaidSerializer(many=True)


# --- The states of agents' work ---------------------------------------------------------------------------------------


@extend_schema_field({"description": "Any JSON."})
class _AnyJson(serializers.JSONField):
    """Any JSON; null counts as a value."""

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        """Accept null as a value."""
        return (True, None) if data is None else super().validate_empty_values(data)


class AgentQuerySerializer(ExactSerializer):
    """The agent whose thread it is."""

    agent = serializers.UUIDField(
        required=False, default=None, help_text="For the person: the agent whose thread it is. An agent has its own."
    )


class ThreadSerializer(serializers.Serializer[Any]):
    """A thread. ``version`` is that of its newest simple state; null if it has graph states only."""

    thread = serializers.CharField()
    agent: Any = serializers.UUIDField(source="agent_id", allow_null=True)
    version = serializers.IntegerField(allow_null=True)
    at = serializers.DateTimeField()
    states = serializers.IntegerField()


class NewStateSerializer(ExactSerializer):
    """A new state (any JSON), and the version that the caller loaded; 0 for none. Without one nothing is compared."""

    state = _AnyJson()
    version = serializers.IntegerField(min_value=0, max_value=MAX_VERSION, required=False, allow_null=True)


class SavedStateSerializer(serializers.Serializer[Any]):
    """The response to saving a state."""

    thread = serializers.CharField()
    version = serializers.IntegerField()
    at = serializers.DateTimeField()


class StateSerializer(SavedStateSerializer):
    """A state."""

    state = _AnyJson()


def shown_state(state: Checkpoint) -> dict[str, Any]:
    """Serialise a simple state."""
    told = SavedStateSerializer({"thread": state.thread, "version": state.version, "at": state.at}).data
    return {**told, "state": decoded(bytes(state.data))}


class BlobSerializer(ExactSerializer):
    """Bytes in base64, and their type as declared by the writer."""

    type = serializers.CharField(max_length=40)
    base64 = serializers.CharField(allow_blank=True, trim_whitespace=False)


def read_blob(sent: Mapping[str, str]) -> Blob:
    """Decode the bytes. Raises ValidationError for invalid base64."""
    try:
        return Blob(sent["type"], base64.b64decode(sent["base64"], validate=True))
    except (binascii.Error, ValueError) as error:
        raise ValidationError({"blob": ["This is not base64."]}) from error


def _blob(row: Checkpoint | CheckpointWrite) -> dict[str, str]:
    return {"type": row.type, "base64": base64.b64encode(row.data).decode()}


class _GraphsSerializer(ExactSerializer):
    """A body with a graph's own ids, in which null means the default: graphs name no namespace or parent that way."""

    thread = serializers.CharField(max_length=255, trim_whitespace=False)
    namespace = serializers.CharField(
        max_length=255, default="", allow_blank=True, allow_null=True, trim_whitespace=False
    )
    checkpoint_id = serializers.CharField(max_length=100)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Replace null by the field's default."""
        return {name: self.fields[name].get_default() if value is None else value for name, value in attrs.items()}


class NewGraphStateSerializer(_GraphsSerializer):
    """A new state of a graph, with the graph's ids. ``channels`` are the names of those in the blob."""

    parent_id = serializers.CharField(max_length=100, default="", allow_blank=True, allow_null=True)
    metadata = serializers.DictField(default=dict, allow_null=True)
    channels = serializers.ListField(
        child=serializers.CharField(max_length=255), max_length=10_000, default=list, allow_null=True
    )
    blob = BlobSerializer()

    def validate_metadata(self, value: dict[str, Any] | None) -> dict[str, Any] | None:
        """Reject what the database can't store."""
        if b"\\u0000" in as_json(value):
            raise ValidationError("The metadata holds a NUL, which can't be stored.")
        return value


class GraphWriteSerializer(ExactSerializer):
    """A task's write to a channel, with its number ``index``; one below 0 replaces an earlier write with that index."""

    index = serializers.IntegerField(min_value=-100, max_value=MAX_VERSION)
    channel = serializers.CharField(max_length=255)
    blob = BlobSerializer()


class GraphWritesSerializer(_GraphsSerializer):
    """The writes of a task after a state, to be stored."""

    task_id = serializers.CharField(max_length=100)
    task_path = serializers.CharField(max_length=255, default="", allow_blank=True, allow_null=True)
    writes = serializers.ListField(child=GraphWriteSerializer(), max_length=MOST_WRITES)


class WriteSerializer(serializers.Serializer[Any]):
    """A stored write of a task after a state."""

    task_id = serializers.CharField()
    task_path = serializers.CharField()
    index = serializers.IntegerField()
    channel = serializers.CharField()
    blob = BlobSerializer()

    def to_representation(self, write: CheckpointWrite) -> dict[str, Any]:
        """As plain values: a blob may have a megabyte."""
        return {
            "task_id": write.task_id,
            "task_path": write.task_path,
            "index": write.index,
            "channel": write.channel,
            "blob": _blob(write),
        }


class GraphStateSerializer(serializers.Serializer[Any]):
    """A state of a graph, with its writes in order."""

    thread = serializers.CharField()
    namespace = serializers.CharField()
    checkpoint_id = serializers.CharField()
    parent_id = serializers.CharField()
    metadata = serializers.DictField()
    blob = BlobSerializer()
    writes = WriteSerializer(many=True)

    def to_representation(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        """As plain values: a blob may have a megabyte."""
        state: Checkpoint = shown["state"]
        return {
            "thread": state.thread,
            "namespace": state.namespace,
            "checkpoint_id": state.checkpoint_id,
            "parent_id": state.parent_id,
            "metadata": state.metadata,
            "blob": _blob(state),
            "writes": WriteSerializer(shown["writes"], many=True).data,
        }


class GraphQuerySerializer(serializers.Serializer[Any]):
    """Filters of a query for states."""

    thread = serializers.CharField(
        max_length=255, required=False, trim_whitespace=False, help_text="Only those of this thread."
    )
    namespace = serializers.CharField(
        max_length=255,
        required=False,
        allow_blank=True,
        trim_whitespace=False,
        help_text="Only those of this namespace; a blank one is the graph's own.",
    )
    checkpoint_id = serializers.CharField(max_length=100, required=False, help_text="Only those with this id.")
    before = serializers.CharField(max_length=100, required=False, help_text="Only those with a lower id.")
    metadata = serializers.CharField(required=False, help_text="JSON: keys and values that the metadata has.")


class CopyGraphSerializer(ExactSerializer):
    """A thread and the name of its copy."""

    thread = serializers.CharField(max_length=255, trim_whitespace=False)
    to = serializers.CharField(max_length=255, trim_whitespace=False)


class PruneGraphsSerializer(ExactSerializer):
    """Threads to prune, and what to keep of them."""

    threads = serializers.ListField(child=serializers.CharField(max_length=255), max_length=MOST_NAMES)
    strategy = serializers.ChoiceField(choices=["keep_latest", "delete"], required=False, default="keep_latest")


class DeleteRunsSerializer(ExactSerializer):
    """Runs of graphs."""

    runs = serializers.ListField(child=serializers.CharField(max_length=255), max_length=MOST_NAMES)
