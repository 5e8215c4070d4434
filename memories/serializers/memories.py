"""Serializers of memories and of requests about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from django.db.models import DateTimeField
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.fields import empty

from accounts.models import Agent
from accounts.policy import may_see_sources
from accounts.principals import Principal
from conversations.serializers import AlsoSaidSerializer
from statements.models import RejectionReason
from statements.policy.resembling import reason_shown
from web.history import ChangeSerializer
from web.json import MAX_VERSION, ExactSerializer

from ..actions import ADDED_AT_ONCE, MOST_AT_ONCE
from ..models import Disclosure, Kind, Memory, MemoryVersion
from ..queries import agents_of_conversations
from ..records import Addition, NewMemory, why_it_waits
from .shown import ShownTo

METADATA = "What the client keeps beside it: an object of at most 4,096 bytes as JSON. No prompt holds it."

VERBATIM = (
    "The content is kept byte for byte, up to 4,000 characters: it passes no gate of form, is taken for nothing "
    "similar, and is never merged. Every other gate binds it."
)


class MemorySerializer(ShownTo, serializers.ModelSerializer[Memory]):
    """A memory. ``written_by``: the model, rules or agent that worded it; '' for the person.

    ``agent`` is the one that added it, or whose conversation it was learned from, if the caller sees that. ``said_at``
    is when it was said, where a message says it. ``source_conversation`` is null for agents that may not read turns.
    """

    source_conversation = serializers.SerializerMethodField()
    metadata = serializers.DictField(help_text="What its client keeps beside it.")

    class Meta:
        model = Memory
        fields = [
            "id",
            "content",
            "category",
            "subject",
            "topics",
            "metadata",
            "kind",
            "field",
            "importance",
            "pinned",
            "verbatim",
            "state",
            "state_reason",
            "version",
            "written_by",
            "agent",
            "external_id",
            "run_id",
            "actor_id",
            "role",
            "source_conversation",
            "valid_from",
            "valid_to",
            "said_at",
            "expires_at",
            "reviewed_at",
            "deleted_at",
            "deleted_why",
            "purge_at",
            "created_at",
            "updated_at",
        ]

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_source_conversation(self, memory: Memory) -> str | None:
        """Return the source conversation."""
        return self.conversation_shown(memory.source_conversation_id)


MEMORY_COLUMNS = tuple(MemorySerializer.Meta.fields)
_FIELDS = {each.name: each.attname for each in Memory._meta.concrete_fields}
MEMORY_ATTRIBUTES = tuple(_FIELDS[name] for name in MEMORY_COLUMNS)
_MOMENTS = tuple(name for name in MEMORY_COLUMNS if isinstance(Memory._meta.get_field(name), DateTimeField))


def plain_memories(principal: Principal, rows: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    """Format rows of ``MEMORY_COLUMNS`` like the serializer, in a quarter of its time.

    One query finds the agents of the conversations that memories were learned from, if there are any.
    """
    shows_sources = may_see_sources(principal)
    memories = [dict(zip(MEMORY_COLUMNS, row, strict=True)) for row in rows]
    learned = [memory for memory in memories if memory["agent"] is None and memory["source_conversation"]]
    told = agents_of_conversations(principal, {memory["source_conversation"] for memory in learned})
    for memory in learned:
        memory["agent"] = told.get(memory["source_conversation"])
    for memory in memories:
        for name in _MOMENTS:
            if memory[name] is not None:
                memory[name] = memory[name].isoformat().replace("+00:00", "Z")
        source = memory["source_conversation"]
        memory["source_conversation"] = str(source) if source and shows_sources else None
        reason = reason_shown(principal, memory["state_reason"])
        memory["state_reason"] = why_it_waits(memory["state"], memory["field"], reason)
    return memories


class MemoryEvidenceSerializer(serializers.Serializer[Any]):
    """A quote as evidence, with its message."""

    quote = serializers.CharField()
    conversation = serializers.UUIDField(source="message.conversation_id")
    message = serializers.UUIDField(source="message_id")
    index = serializers.IntegerField(source="message.index")
    at = serializers.DateTimeField(source="message.at")


class MemoryVersionSerializer(ShownTo, serializers.ModelSerializer[MemoryVersion]):
    """A version, current from ``created_at`` until ``ended_at`` (null for the current one).

    ``valid_from`` and ``valid_to`` say when that was true, as far as is known.
    """

    created_at = serializers.DateTimeField(source="recorded_from")
    ended_at = serializers.DateTimeField(source="recorded_to", allow_null=True)
    actor = serializers.SerializerMethodField()
    source_conversation = serializers.SerializerMethodField()
    evidence = MemoryEvidenceSerializer(many=True)
    metadata = serializers.DictField()

    class Meta:
        model = MemoryVersion
        fields = [
            "number",
            "content",
            "category",
            "subject",
            "topics",
            "metadata",
            "created_at",
            "ended_at",
            "valid_from",
            "valid_to",
            "said_at",
            "reason",
            "written_by",
            "actor",
            "source_conversation",
            "evidence",
        ]

    def get_actor(self, version: MemoryVersion) -> str:
        """Return the kind of actor, with the id of an agent."""
        return f"agent:{version.actor_id}" if version.actor_kind == "agent" else version.actor_kind

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_source_conversation(self, version: MemoryVersion) -> str | None:
        """Return the conversation of this wording."""
        return self.conversation_shown(version.source_conversation_id)


class MemoryDetailSerializer(MemorySerializer):
    """A memory with all its versions, oldest first."""

    versions = MemoryVersionSerializer(many=True)

    class Meta(MemorySerializer.Meta):
        fields = [*MemorySerializer.Meta.fields, "versions"]


@extend_schema_serializer(many=False)
class MemoryHistorySerializer(serializers.Serializer[Any]):
    """A page of a memory's history, oldest first, with the resulting versions."""

    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = ChangeSerializer(many=True)
    versions = MemoryVersionSerializer(many=True)


class TopicsSerializer(serializers.Serializer[Any]):
    """The topics of memories, in alphabetical order."""

    topics = serializers.ListField(child=serializers.CharField())


class ContentField(serializers.CharField):
    """The content, with surrounding white space; the form gate strips it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)

    def run_validation(self, data: Any = empty) -> Any:
        """Refuse blank text like other fields."""
        if isinstance(data, str) and not data.strip():
            self.fail("blank")
        return super().run_validation(data)


class NewMemorySerializer(ExactSerializer):
    """A new memory: one statement of 5 to 500 characters (a procedure: up to 4,000).

    ``category`` may be an alias, such as preferences. ``external_id`` is the client's own id for it. ``field`` says
    that it is the person's preferred name, pronouns, city, language, tone or a goal of theirs. ``insist`` remembers it
    although there is something similar, or something about the same subject. ``conversation`` and ``message`` say where
    it was said.
    """

    content = ContentField()
    category = serializers.CharField(max_length=50)
    subject = serializers.CharField(max_length=200, required=False, allow_blank=True)
    topics = serializers.ListField(child=serializers.CharField(max_length=50), max_length=100, required=False)
    importance = serializers.IntegerField(min_value=1, max_value=5, required=False)
    kind = serializers.ChoiceField(choices=Kind.choices, required=False)
    field = serializers.ChoiceField(choices=Memory.Field.choices, required=False, allow_blank=True)
    external_id = serializers.CharField(max_length=255, required=False, allow_blank=True)
    run_id = serializers.CharField(max_length=100, required=False, allow_blank=True)
    actor_id = serializers.CharField(max_length=100, required=False, allow_blank=True)
    role = serializers.CharField(max_length=20, required=False, allow_blank=True)
    pinned = serializers.BooleanField(required=False)
    verbatim = serializers.BooleanField(required=False, help_text=VERBATIM)
    valid_from = serializers.DateTimeField(required=False, allow_null=True)
    valid_to = serializers.DateTimeField(required=False, allow_null=True)
    expires_at = serializers.DateTimeField(required=False, allow_null=True)
    metadata = serializers.DictField(required=False, help_text=METADATA)
    insist = serializers.BooleanField(required=False, default=False)
    conversation = serializers.UUIDField(required=False, allow_null=True, default=None)
    message = serializers.UUIDField(required=False, allow_null=True, default=None)


def read_addition(data: Any) -> Addition:
    """Parse a new memory for the action. Raises ValidationError."""
    values = dict(_new_memory().run_validation(data))
    beside = {name: values.pop(name) for name in ("insist", "conversation", "message")}
    new = NewMemory(**{**values, "topics": tuple(values.get("topics", ()))})
    return Addition(new, beside["insist"], beside["conversation"], beside["message"])


@cache
def _new_memory() -> NewMemorySerializer:
    """Return a shared serializer, since creating its fields takes longer than validating."""
    return NewMemorySerializer()


@extend_schema_field(NewMemorySerializer(many=True))
class _NewMemoriesField(serializers.ListField):
    """A list of new memories, each validated on its own."""


class ManyNewMemoriesSerializer(ExactSerializer):
    """Up to 1,000 new memories."""

    items = _NewMemoriesField(min_length=1, max_length=ADDED_AT_ONCE)


class PreviousSerializer(serializers.Serializer[Any]):
    """The previous wording of a memory."""

    content = serializers.CharField()
    version = serializers.IntegerField()


class RewordSerializer(ExactSerializer):
    """A new wording. ``version``: the one that the caller saw.

    The old wording was true until ``valid_from``, which is now unless it is given; with ``correction`` it never was.
    """

    content = ContentField()
    version = serializers.IntegerField(min_value=1, max_value=MAX_VERSION, required=False)
    correction = serializers.BooleanField(required=False)
    valid_from = serializers.DateTimeField(required=False, allow_null=True)
    reason = serializers.CharField(max_length=200, required=False, allow_blank=True)
    conversation = serializers.UUIDField(required=False, allow_null=True, source="conversation_id")
    message = serializers.UUIDField(required=False, allow_null=True, source="message_id")
    metadata = serializers.DictField(required=False, help_text=METADATA)
    verbatim = serializers.BooleanField(required=False, help_text=VERBATIM)


class AmendSerializer(ExactSerializer):
    """Changed fields other than the wording. ``version``: the one that the caller saw."""

    subject = serializers.CharField(max_length=200, required=False, allow_blank=True)
    topics = serializers.ListField(child=serializers.CharField(max_length=50), max_length=100, required=False)
    category = serializers.CharField(max_length=50, required=False)
    importance = serializers.IntegerField(min_value=1, max_value=5, required=False)
    expires_at = serializers.DateTimeField(required=False, allow_null=True)
    metadata = serializers.DictField(required=False, help_text=METADATA)
    version = serializers.IntegerField(min_value=1, max_value=MAX_VERSION, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require something to change."""
        if not set(attrs) - {"version"}:
            raise serializers.ValidationError("Send subject, topics, category, importance, expires_at or metadata.")
        return attrs


class RevertSerializer(ExactSerializer):
    """The version to restore, and the one that the caller saw."""

    number = serializers.IntegerField(min_value=1, max_value=MAX_VERSION)
    version = serializers.IntegerField(min_value=1, max_value=MAX_VERSION, required=False)


class PinSerializer(ExactSerializer):
    """Whether a memory is pinned."""

    pinned = serializers.BooleanField(default=True)


class ApproveMemorySerializer(ExactSerializer):
    """Optional changes. ``version``: the one that the caller saw."""

    content = serializers.CharField(required=False)
    category = serializers.CharField(max_length=50, required=False)
    subject = serializers.CharField(max_length=200, required=False, allow_blank=True)
    version = serializers.IntegerField(min_value=1, max_value=MAX_VERSION, required=False)


class RejectMemorySerializer(ExactSerializer):
    """The reason: not true, or not to be kept (then the source words are withheld)."""

    reason = serializers.ChoiceField(choices=RejectionReason.choices, required=False, default=RejectionReason.NOT_TRUE)
    version = serializers.IntegerField(min_value=1, max_value=MAX_VERSION, required=False)


class RejectedMemorySerializer(MemorySerializer):
    """A rejected memory. ``also_said``: other places with the same content."""

    also_said = AlsoSaidSerializer(many=True)

    class Meta(MemorySerializer.Meta):
        fields = [*MemorySerializer.Meta.fields, "also_said"]


class BulkDeleteSerializer(ExactSerializer):
    """The memories to archive."""

    ids = serializers.ListField(child=serializers.CharField(max_length=64), min_length=1, max_length=MOST_AT_ONCE)


class BulkItemSerializer(serializers.Serializer[Any]):
    """The outcome of one id: archived, proposed (waits for the person), skipped (gone already), not_found."""

    id = serializers.CharField()
    outcome = serializers.ChoiceField(choices=["archived", "proposed", "skipped", "not_found"])


class BulkResultSerializer(serializers.Serializer[Any]):
    """The outcomes of the ids, in order."""

    results = BulkItemSerializer(many=True)


class ShownToSerializer(serializers.ModelSerializer[Agent]):
    """The agent of a disclosure."""

    class Meta:
        model = Agent
        fields = ["id", "name"]
        read_only_fields = ["id", "name"]


class DisclosureSerializer(serializers.ModelSerializer[Disclosure]):
    """A disclosure of the memory to an agent.

    ``by`` says what the agent had asked for: query (it searched), context (the memory block) or turn (a whole prompt).
    ``conversation`` is null where none was named, or when it is gone.
    """

    agent = ShownToSerializer()
    conversation: Any = serializers.UUIDField(source="conversation_id", allow_null=True)

    class Meta:
        model = Disclosure
        fields = ["id", "agent", "by", "conversation", "at"]
        read_only_fields = ["id", "by", "at"]
