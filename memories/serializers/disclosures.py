"""Shapes of what agents were shown."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from accounts.models import Agent

from ..models import Disclosure


class ShownToSerializer(serializers.ModelSerializer[Agent]):
    """The agent that was shown something."""

    class Meta:
        model = Agent
        fields = ["id", "name"]
        read_only_fields = ["id", "name"]


class DisclosureSerializer(serializers.ModelSerializer[Disclosure]):
    """An answer to an agent that held the memory, and when it was given.

    ``by`` says what the agent had asked for: query (it searched), context (the memory block) or turn (a whole prompt).
    ``conversation`` is null where none was named, or when it is gone.
    """

    agent = ShownToSerializer()
    conversation: Any = serializers.UUIDField(source="conversation_id", allow_null=True)

    class Meta:
        model = Disclosure
        fields = ["id", "agent", "by", "conversation", "at"]
        read_only_fields = ["id", "by", "at"]
