"""Serializers of the block, the document, the feed and undo."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from journal.models import Change
from web.history import ChangeSerializer
from web.json import ExactSerializer

from .shown import ShownTo


class ContextQuerySerializer(ExactSerializer):
    """Query parameters of the block."""

    conversation = serializers.UUIDField(required=False, default=None, help_text="The conversation that it is for.")
    role = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=40, help_text="A role of categories.yaml to narrow to."
    )


class ContextSerializer(serializers.Serializer[Any]):
    """The memory block ('' without memories), and its tokens.

    ``revision`` is the person's revision that it was read as of; ask ``changes/`` for what came after it.
    ``difference`` is what is true now and stands otherwise, or not at all, in the block that a conversation is pinned
    to: put it below the block, it overrules it; null when nothing differs. ``delta`` tells a conversation what changed
    since it last looked; null when nothing is to be told.
    """

    text = serializers.CharField()
    tokens = serializers.IntegerField()
    revision = serializers.IntegerField()
    difference = serializers.CharField(allow_null=True)
    delta = serializers.CharField(allow_null=True)


class DocumentFactSerializer(serializers.Serializer[Any]):
    """One memory of the document."""

    id = serializers.CharField()
    content = serializers.CharField()
    added_at = serializers.DateTimeField()
    source_conversation_id = serializers.UUIDField(allow_null=True)
    source_message_id = serializers.UUIDField(allow_null=True)
    is_active = serializers.BooleanField()


class DocumentPlaceSerializer(serializers.Serializer[Any]):
    """A place, with ``[message, at]`` of each mention by conversation."""

    place_id = serializers.CharField()
    place_name = serializers.CharField()
    notes = serializers.CharField(allow_null=True)
    mentioned_in = serializers.DictField(
        child=serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    )
    added_at = serializers.DateTimeField()


class DocumentMetadataSerializer(serializers.Serializer[Any]):
    """Totals of the document. ``token_count``: of the memory block."""

    last_updated = serializers.DateTimeField()
    total_facts = serializers.IntegerField()
    total_active_facts = serializers.IntegerField()
    total_pois = serializers.IntegerField()
    token_count = serializers.IntegerField()
    schema_version = serializers.CharField()


class DocumentSerializer(serializers.Serializer[Any]):
    """All memories."""

    facts = DocumentFactSerializer(many=True)
    placer_user_datapoints = DocumentPlaceSerializer(many=True)
    metadata = DocumentMetadataSerializer()


class FeedQuerySerializer(ExactSerializer):
    """Query parameters of the feed."""

    after = serializers.IntegerField(
        min_value=0,
        max_value=2**63 - 1,
        required=False,
        default=0,
        help_text="The last revision that the caller knows.",
    )
    per_page = serializers.IntegerField(
        min_value=1, max_value=500, required=False, default=100, help_text="At most so many changes."
    )
    wait = serializers.IntegerField(
        min_value=0,
        max_value=settings.CHANGES_WAIT_SECONDS,
        required=False,
        default=0,
        help_text="Where there is none yet, wait so many seconds for one.",
    )


class FeedChangeSerializer(ShownTo, ChangeSerializer):
    """A change: event and object, without text. Fetch the object for its current state."""

    object = serializers.CharField(source="object_id")
    conversation = serializers.SerializerMethodField()

    class Meta(ChangeSerializer.Meta):
        fields = [
            "rev",
            "event",
            "object_type",
            "object",
            "old_version",
            "new_version",
            "actor",
            "conversation",
            "at",
            "meta",
        ]

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_conversation(self, change: Change) -> str | None:
        """Return the conversation of the change."""
        return self.conversation_shown(change.conversation_id)


class FeedSerializer(serializers.Serializer[Any]):
    """Changes, oldest first, and the revision for the next call."""

    results = FeedChangeSerializer(many=True)
    next_after = serializers.IntegerField()


class UndoSerializer(ExactSerializer):
    """The revisions to undo."""

    first = serializers.IntegerField(min_value=1, max_value=2**63 - 1, help_text="The first revision to undo.")
    last = serializers.IntegerField(min_value=1, max_value=2**63 - 1, help_text="The last one; the same for one alone.")


class LeftSerializer(serializers.Serializer[Any]):
    """A revision that was not undone."""

    rev = serializers.IntegerField()
    why = serializers.CharField(help_text="`built_on`, `similar_exists`, `budget`, `not_yours` and others.")


class UndoneSerializer(serializers.Serializer[Any]):
    """The result of an undo."""

    undone = serializers.IntegerField(help_text="How many memories, facts, places and proposals are as they were.")
    left = LeftSerializer(many=True)
    first = serializers.IntegerField(help_text="The first revision that undoing took; 0 when nothing was undone.")
    last = serializers.IntegerField(help_text="The last one.")
