"""Serializers of places."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from web.json import MAX_VERSION, ExactSerializer

from ..models import Place, PlaceMention
from .waiting import ProposalSerializer


class PlaceSerializer(serializers.ModelSerializer[Place]):
    """A place. ``place_id``: the caller's id; ``conversations``: number of conversations that mention it."""

    conversations = serializers.IntegerField()

    class Meta:
        model = Place
        fields = [
            "id",
            "place_id",
            "name",
            "notes",
            "version",
            "conversations",
            "added_at",
            "updated_at",
            "deleted_at",
            "purge_at",
        ]


class NewPlaceSerializer(ExactSerializer):
    """A new or renamed place, mentioned in ``message``, or in the newest message of ``conversation``."""

    place_id = serializers.CharField(max_length=200)
    name = serializers.CharField(max_length=200)
    notes = serializers.CharField(max_length=500, required=False, default="", allow_blank=True)
    conversation = serializers.UUIDField(required=False, allow_null=True, source="conversation_id")
    message = serializers.UUIDField(required=False, allow_null=True, source="message_id")


class EditPlaceSerializer(ExactSerializer):
    """A new name or notes; ``version``: the one that the caller saw."""

    name = serializers.CharField(max_length=200, required=False)
    notes = serializers.CharField(max_length=500, required=False, allow_blank=True)
    version = serializers.IntegerField(min_value=1, max_value=MAX_VERSION, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require something to change."""
        if not {"name", "notes"} & set(attrs):
            raise serializers.ValidationError("Send name, notes or both.")
        return attrs


class ProposedPlaceSerializer(serializers.Serializer[Any]):
    """A proposal, and the current place (null for a new one)."""

    place = PlaceSerializer(allow_null=True)
    proposal = ProposalSerializer()


class NewPlaceMentionSerializer(ExactSerializer):
    """The message that names a place."""

    message = serializers.UUIDField()


class PlaceMentionSerializer(serializers.ModelSerializer[PlaceMention]):
    """A mention of a place; ``at``: when it was stored."""

    conversation = serializers.UUIDField(source="message.conversation_id")
    index = serializers.IntegerField(source="message.index")

    class Meta:
        model = PlaceMention
        fields = ["conversation", "message", "index", "at"]
