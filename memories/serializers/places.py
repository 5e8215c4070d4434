"""Shapes of places over REST."""

from __future__ import annotations

from rest_framework import serializers

from ..models import Place, PlaceMention


class PlaceSerializer(serializers.ModelSerializer[Place]):
    """A place. ``place_id`` is what whoever named it first calls it; ``conversations`` is how many mention it."""

    conversations = serializers.IntegerField(read_only=True)

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


class PlaceMentionSerializer(serializers.ModelSerializer[PlaceMention]):
    """A message that names a place."""

    conversation = serializers.UUIDField(source="message.conversation_id")
    index = serializers.IntegerField(source="message.index")

    class Meta:
        model = PlaceMention
        fields = ["conversation", "message", "index", "at"]
