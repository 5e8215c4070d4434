"""Shapes of the agent's side over REST."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers

from conversations.serializers import RefusalSerializer
from journal.counting import OperationCount
from journal.models import JobRun, OperationEvent
from memories.models import Memory
from web.json import ExactSerializer

from .recall.turn import FORMATS
from .tools.command import LONGEST_ANSWER


class TurnRequestSerializer(ExactSerializer):
    """What a turn is prepared for. Only ``content`` is needed."""

    content = serializers.CharField(
        max_length=settings.MESSAGE_MAX_CHARACTERS,
        trim_whitespace=False,
        help_text="What the person has just said. It becomes the last message, whole.",
    )
    budget_tokens = serializers.IntegerField(
        min_value=200,
        max_value=1_000_000,
        required=False,
        default=settings.TURN_BUDGET_TOKENS,
        help_text="What the prompt may cost in all. What does not fit is left out and named in `dropped`; instructions "
        "and `content` never are: 422 `budget` when they alone cost more.",
    )
    instructions = serializers.CharField(
        max_length=200_000,
        required=False,
        default="",
        allow_blank=True,
        trim_whitespace=False,
        help_text="The agent's own system prompt, which opens the prompt. Empty: that of a companion in conversation.",
    )
    format = serializers.ChoiceField(
        choices=FORMATS,
        required=False,
        default=FORMATS[0],
        help_text="The shape of `messages`. `anthropic`: the Messages API's, to go with `system`. `openai`: with the "
        "instructions as their first, `role: system`. `gemini`: as `contents`, to go with `system_instruction`. "
        "`text`: as for anthropic; what is wanted is `text`. `json`: role, speaker and content of each, none joined.",
    )
    save = serializers.BooleanField(  # type: ignore[assignment]  # a field, not the method
        required=False,
        default=False,
        help_text="True stores `content` as the person's message, as POST messages/ would, and needs the scope write. "
        "Store the model's reply with POST messages/. False stores nothing; asked again, it answers the same.",
    )


class UsedSerializer(serializers.Serializer[Any]):
    """The ids of what went into the prompt, by where it comes from."""

    facts = serializers.ListField(child=serializers.CharField())
    memories = serializers.ListField(child=serializers.CharField(), help_text="Those of the block and those recalled.")
    chunks = serializers.ListField(child=serializers.CharField(), help_text="Summaries of conversations.")
    turns = serializers.ListField(child=serializers.CharField(), help_text="Messages of other conversations.")


class DroppedSerializer(serializers.Serializer[Any]):
    """Something the budget left out."""

    kind = serializers.CharField()
    id = serializers.CharField(required=False)
    count = serializers.IntegerField(
        required=False, help_text="So many of the oldest messages, or of the places, in place of their ids."
    )


class TurnSerializer(serializers.Serializer[Any]):
    """Everything one model call needs. ``messages`` has the shape of the format that was asked for."""

    format = serializers.ChoiceField(choices=FORMATS)
    system = serializers.ListField(
        child=serializers.DictField(),
        help_text="Two blocks of the Messages API. The first keeps its bytes while nothing in it changes, and ends at "
        "the cache boundary (`cache_control`); the second holds the time and what was recalled for this message.",
    )
    text = serializers.CharField(help_text="The whole prompt as plain text, in every format.")
    messages = serializers.ListField(child=serializers.DictField())
    system_instruction = serializers.DictField(required=False, help_text="With the format gemini only.")
    used = UsedSerializer()
    dropped = DroppedSerializer(many=True)
    difference = serializers.CharField(
        allow_null=True,
        help_text="What the prompt tells first below the cache boundary: what is true now and stands otherwise, or not "
        "at all, in the first block. Null when nothing differs.",
    )
    delta = serializers.CharField(
        allow_null=True, help_text="What the prompt tells of changes since the conversation last looked, or null."
    )
    tokens = serializers.IntegerField(help_text="What the prompt costs, as cl100k_base counts.")
    revision = serializers.IntegerField(help_text="The person's revision that it was made at: see changes/.")
    recalled_again = serializers.BooleanField(
        help_text="Nothing that was found at first was likely to fit, so there was a second, wider look."
    )
    waiting = serializers.IntegerField(
        help_text="So much was found in what the person said and is over a cap. It is written next, health first."
    )
    refusals = RefusalSerializer(
        many=True,
        help_text="With `save`: what the person says is not to be kept. Don't keep it either.",
    )


def progress_of(done: int | None, total: int | None) -> float | None:
    """How far a job is, from 0 to 1, or None when it does not say."""
    return None if done is None or not total else round(done / total, 3)


class NothingLeftSerializer(serializers.Serializer[Any]):
    """A conversation that was finished without a job."""

    detail = serializers.CharField()


class OperationCountSerializer(serializers.Serializer[OperationCount]):
    """How often an operation of a node ended so."""

    node = serializers.CharField()
    op = serializers.CharField()
    status = serializers.ChoiceField(OperationEvent.Status.choices)
    count = serializers.IntegerField()


class OperationsSerializer(serializers.Serializer[Any]):
    """What was attempted since a moment, by node, operation and status."""

    since = serializers.DateTimeField()
    counts = OperationCountSerializer(many=True)


class JobSerializer(serializers.ModelSerializer[JobRun]):
    """A background job: how far it is and how it ended. ``result`` holds numbers."""

    progress = serializers.SerializerMethodField()
    result = serializers.SerializerMethodField()

    def get_result(self, job: JobRun) -> dict[str, int]:
        """The numbers among what it came to: why it stopped is for staff."""
        return {name: int(value) for name, value in job.result.items() if isinstance(value, int)}

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


class CommandSerializer(ExactSerializer):
    """What somebody typed."""

    text = serializers.CharField(max_length=LONGEST_ANSWER, trim_whitespace=False, help_text="Such as `/memory list`.")


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
