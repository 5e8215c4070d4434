"""Shapes of what may be learned from a message over REST."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from conversations.models import Message
from memories.policy import LONGEST


class MarksRequestSerializer(serializers.Serializer[Any]):
    """What is decided about a message: exactly one of ``held`` and ``declined``."""

    held = serializers.BooleanField(
        required=False, help_text="True while the person is asked about it, for a day at most; false to let it go."
    )
    declined = serializers.BooleanField(
        required=False, help_text="True: never learn from it. False takes that back, which is for the person."
    )
    candidate = serializers.CharField(
        required=False,
        max_length=LONGEST,
        help_text="With declined: what the person was asked about, as it would have been remembered. It can't be "
        "learned from anything else either, until they say it themselves.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require one decision, and a candidate only with the one that it belongs to."""
        if ("held" in attrs) == ("declined" in attrs):
            raise serializers.ValidationError("Send either held or declined.")
        if "candidate" in attrs and not attrs.get("declined"):
            raise serializers.ValidationError({"candidate": ["It goes with declined true."]})
        return attrs


class MarksSerializer(serializers.ModelSerializer[Message]):
    """What may be learned from a message. ``processed``: its memories were learned; ``held_until``: not before then."""

    class Meta:
        model = Message
        fields = ["id", "index", "held_until", "declined", "processed"]
