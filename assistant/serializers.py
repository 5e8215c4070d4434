"""Shapes of the agent's side over REST."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers

from accounts.serializers import ExactSerializer
from journal.models import JobRun
from memories.models import Memory

from .command import LONGEST_ANSWER
from .turn import FORMATS


class TurnRequestSerializer(ExactSerializer):
    """What a turn is prepared for."""

    content = serializers.CharField(max_length=settings.MESSAGE_MAX_CHARACTERS, trim_whitespace=False)
    budget_tokens = serializers.IntegerField(min_value=200, max_value=1_000_000, required=False)
    instructions = serializers.CharField(max_length=200_000, required=False, allow_blank=True, trim_whitespace=False)
    format = serializers.ChoiceField(choices=FORMATS, required=False)
    save = serializers.BooleanField(required=False)  # type: ignore[assignment]  # a field, not the method


class UsedSerializer(serializers.Serializer[Any]):
    """The ids that went into the prompt."""

    facts = serializers.ListField(child=serializers.CharField())
    memories = serializers.ListField(child=serializers.CharField())
    chunks = serializers.ListField(child=serializers.CharField())
    turns = serializers.ListField(child=serializers.CharField())


class DroppedSerializer(serializers.Serializer[Any]):
    """Something the budget left out."""

    kind = serializers.CharField()
    id = serializers.CharField(required=False)
    count = serializers.IntegerField(
        required=False, help_text="So many of the oldest messages, or of the places, in place of their ids."
    )


class TurnSerializer(serializers.Serializer[Any]):
    """Everything one model call needs. ``messages`` has the shape of the format that was asked for."""

    format = serializers.CharField()
    system = serializers.ListField(child=serializers.DictField())
    text = serializers.CharField()
    messages = serializers.ListField(child=serializers.DictField())
    system_instruction = serializers.DictField(required=False)
    used = UsedSerializer()
    dropped = DroppedSerializer(many=True)
    delta = serializers.CharField(allow_null=True, help_text="What the text tells of changes in memory, or null.")
    tokens = serializers.IntegerField()
    revision = serializers.IntegerField()
    recalled_again = serializers.BooleanField(
        help_text="Nothing that was found at first was likely to fit, so there was a second, wider look."
    )


def progress_of(done: int | None, total: int | None) -> float | None:
    """How far a job is, from 0 to 1, or None when it does not say."""
    return None if done is None or not total else round(done / total, 3)


class JobSerializer(serializers.ModelSerializer[JobRun]):
    """A background job: how far it is and how it ended. ``result`` holds numbers."""

    progress = serializers.SerializerMethodField()
    result = serializers.DictField(child=serializers.IntegerField())

    class Meta:
        model = JobRun
        fields = [
            "id",
            "kind",
            "subject_id",
            "state",
            "done",
            "total",
            "progress",
            "attempts",
            "not_before",
            "error_code",
            "result",
            "created_at",
            "finished_at",
        ]

    def get_progress(self, job: JobRun) -> float | None:
        """How far it is, from 0 to 1; null when that is not known."""
        return progress_of(job.done, job.total)


class CommandSerializer(serializers.Serializer[Any]):
    """What somebody typed."""

    text = serializers.CharField(max_length=LONGEST_ANSWER, trim_whitespace=False)


class CommandMemorySerializer(serializers.ModelSerializer[Memory]):
    """A memory as the command tells of it. ``purge_at`` is until when an archived one can be restored."""

    class Meta:
        model = Memory
        fields = ["id", "category", "subject", "content", "state", "purge_at"]


class CommandDataSerializer(serializers.Serializer[Any]):
    """What came of a command. A list has its page, a change the memory and what became of it."""

    command = serializers.ChoiceField(choices=["list", "delete", "restore", "help"])
    category = serializers.CharField(required=False, help_text="Of a list; empty for all.")
    page = serializers.IntegerField(required=False)
    pages = serializers.IntegerField(required=False)
    count = serializers.IntegerField(required=False, help_text="So many are active on all pages together.")
    memories = CommandMemorySerializer(many=True, required=False)
    outcome = serializers.ChoiceField(choices=["archived", "restored", "unchanged", "waiting"], required=False)
    memory = CommandMemorySerializer(required=False)


class CommandAnswerSerializer(serializers.Serializer[Any]):
    """What to show, at most 4,096 characters of plain text, and the same for programs."""

    text = serializers.CharField()
    data = CommandDataSerializer()  # type: ignore[assignment]  # a field, not the property
