"""Shapes of ``memory.query`` over REST."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers

from accounts.serializers import ExactSerializer

from .question import MEMORIES, SOURCES, Filters, Question

MODES = ("ranked", "agentic")
FORMS = ("bullets", "full")
LONGEST_QUERY = 4_000


def _open(field: type[serializers.Field], **options: Any) -> Any:
    return field(required=False, allow_null=True, default=None, **options)


class FiltersSerializer(ExactSerializer):
    """What rows have to be. A source whose rows have no such thing gives none of them."""

    unknown = "There is no such filter."

    user_id = _open(serializers.CharField, max_length=255, help_text="The person's own id; another one's is a 404.")
    agent_id = _open(serializers.UUIDField, help_text="The agent that added it, or that it was said to.")
    run_id = _open(serializers.CharField, max_length=100)
    actor_id = _open(serializers.CharField, max_length=100)
    role = _open(serializers.CharField, max_length=20, help_text="Who said it: user, assistant, …")
    category = _open(serializers.CharField, max_length=50, help_text="A category of memories, or of facts.")
    pinned = _open(serializers.BooleanField)
    importance_min = _open(serializers.IntegerField, min_value=1, max_value=5)
    importance_max = _open(serializers.IntegerField, min_value=1, max_value=5)
    updated_after = _open(serializers.DateTimeField, help_text="From this moment on.")
    updated_before = _open(serializers.DateTimeField, help_text="Before this moment.")


class QuerySerializer(ExactSerializer):
    """A question. Only ``query`` is needed."""

    query = serializers.CharField(max_length=LONGEST_QUERY, allow_blank=True)
    agent = serializers.CharField(
        max_length=40,
        required=False,
        allow_null=True,
        allow_blank=True,
        default="",
        help_text="A role of categories.yaml to narrow to.",
    )
    categories = serializers.ListField(
        child=serializers.CharField(max_length=50),
        max_length=100,
        allow_empty=False,
        required=False,
        allow_null=True,
        default=None,
        help_text="Categories or aliases of memories; one that the caller may not see is a 403 that names it.",
    )
    filters = FiltersSerializer(required=False, allow_null=True, default=dict)
    legacy = _open(serializers.UUIDField, help_text="Whom facts, chunks and turns are about.")
    conversation = _open(serializers.UUIDField, help_text="The conversation that asks, to be told what changed.")
    top_k = serializers.IntegerField(
        min_value=1, max_value=settings.QUERY_MOST_RESULTS, required=False, default=settings.QUERY_TOP_K
    )
    threshold = _open(serializers.FloatField, min_value=-1, max_value=1, help_text="Scores below it are left out.")
    budget_tokens = serializers.IntegerField(
        min_value=1, max_value=settings.QUERY_MOST_TOKENS, required=False, default=settings.QUERY_BUDGET_TOKENS
    )
    as_of = _open(serializers.DateTimeField, help_text="What was true then.")
    known_at = _open(serializers.DateTimeField, help_text="What was recorded then, also what was put away since.")
    sources = serializers.ListField(
        child=serializers.ChoiceField(SOURCES), min_length=1, max_length=len(SOURCES), required=False
    )
    mode = serializers.ChoiceField(MODES, required=False, default=MODES[0], help_text="agentic: the model chooses.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """With ``return``, which no attribute can be called."""
        form = serializers.ChoiceField(FORMS, required=False, default=FORMS[0])
        return {**super().get_fields(), "return": form}


_SHAPE = QuerySerializer()
"""Made once: to make all its fields anew takes longer than to read a question with them."""


def read_question(sent: Any) -> tuple[Question, bool]:
    """What was asked, and whether all there is of each result was asked for. Raises ValidationError."""
    read = _SHAPE.run_validation({} if sent is None else sent)  # A bare null lacks a query like an empty object.
    filters = {name: value for name, value in (read["filters"] or {}).items() if value is not None}
    question = Question(
        query=read["query"],
        agent=read["agent"] or "",
        categories=tuple(read["categories"] or ()),
        filters=Filters(**filters),
        legacy=read["legacy"],
        conversation=read["conversation"],
        top_k=read["top_k"],
        threshold=read["threshold"],
        budget_tokens=read["budget_tokens"],
        as_of=read["as_of"],
        known_at=read["known_at"],
        sources=tuple(read.get("sources") or (MEMORIES,)),
        agentic=read["mode"] == "agentic",
    )
    return question, read["return"] == "full"


class RelatedSerializer(serializers.Serializer[Any]):
    """A memory that a result is related to."""

    id = serializers.CharField()
    category = serializers.CharField()
    text = serializers.CharField()
    type = serializers.CharField()


class ResultSerializer(serializers.Serializer[Any]):
    """One result. ``return: full`` adds what else there is of it, by source: its content, version, dates, …"""

    id = serializers.CharField()
    category = serializers.CharField(allow_null=True)
    text = serializers.CharField()
    score = serializers.FloatField()
    source = serializers.ChoiceField(SOURCES)  # type: ignore[assignment]  # a field, not the argument
    related = RelatedSerializer(many=True)


class AnswerSerializer(serializers.Serializer[Any]):
    """What was found, best first. ``tokens`` is what all lines cost, ``revision`` the person's revision."""

    results = ResultSerializer(many=True)
    delta = serializers.CharField(allow_null=True)
    tokens = serializers.IntegerField()
    revision = serializers.IntegerField()
