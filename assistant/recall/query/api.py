"""REST for ``memory.query``."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of
from facts.models import LegacyFact
from memories.conditions import MOST_TESTS
from memories.models import Kind
from retrieval.filters import Filters, declared
from web.json import ExactSerializer

from .answering import QueryAnswer, memory_query
from .question import SOURCES, Question

MODES = ("ranked", "agentic")
FORMS = ("bullets", "full")
LONGEST_QUERY = 4_000


def _open(field: type[serializers.Field], **options: Any) -> Any:
    return field(required=False, allow_null=True, default=None, **options)


class FiltersSerializer(ExactSerializer):
    """What rows have to be. A source whose rows have no such thing gives none of them.

    ``AND``, ``OR``, ``NOT`` and ``metadata`` are about memories: docs/memories.md names their fields and operators.
    """

    unknown = "There is no such filter."

    fields_of: ClassVar[dict[type, type[serializers.Field]]] = {
        str: serializers.CharField,
        UUID: serializers.UUIDField,
        bool: serializers.BooleanField,
        int: serializers.IntegerField,
        datetime: serializers.DateTimeField,
    }

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """One for each filter that there is."""
        return {
            name: _open(self.fields_of[of], help_text=told.meaning, **told.bounds)
            for name, (of, told) in declared().items()
        } | {
            "AND": _open(
                serializers.ListField,
                child=serializers.DictField(),
                max_length=MOST_TESTS,
                help_text="All of these hold.",
            ),
            "OR": _open(
                serializers.ListField,
                child=serializers.DictField(),
                max_length=MOST_TESTS,
                help_text="Any of these holds.",
            ),
            "NOT": _open(
                serializers.ListField,
                child=serializers.DictField(),
                max_length=MOST_TESTS,
                help_text="None of these holds.",
            ),
            "metadata": _open(serializers.DictField, help_text="Keys of the metadata and what each has to be."),
        }


class QuerySerializer(ExactSerializer):
    """A question. Only ``query`` is needed."""

    query = serializers.CharField(
        max_length=LONGEST_QUERY, allow_blank=True, help_text="Words or a question. A blank one finds nothing."
    )
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
        min_value=1,
        max_value=settings.QUERY_MOST_RESULTS,
        required=False,
        default=settings.QUERY_TOP_K,
        help_text="At most so many results.",
    )
    threshold = _open(serializers.FloatField, min_value=-1, max_value=1, help_text="Scores below it are left out.")
    budget_tokens = serializers.IntegerField(
        min_value=1,
        max_value=settings.QUERY_MOST_TOKENS,
        required=False,
        default=settings.QUERY_BUDGET_TOKENS,
        help_text="What the lines may cost together; a line that is too long for it is cut.",
    )
    as_of = _open(serializers.DateTimeField, help_text="What was true then.")
    known_at = _open(serializers.DateTimeField, help_text="What was recorded then, also what was archived since.")
    sources = serializers.ListField(
        child=serializers.ChoiceField(SOURCES),
        min_length=1,
        max_length=len(SOURCES),
        required=False,
        default=list,
        help_text="Where to look: everywhere that the caller may, unless it is named, but in memories alone where "
        "a category is. An agent needs a role or a grant for all but memories: 403 `source_not_allowed`.",
    )
    mode = serializers.ChoiceField(
        MODES, required=False, default=MODES[0], help_text="agentic: the model chooses among the first 50."
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """With ``return``, which no attribute can be called."""
        form = serializers.ChoiceField(
            FORMS, required=False, default=FORMS[0], help_text="full adds what else there is of each result."
        )
        return {**super().get_fields(), "return": form}


_SHAPE = QuerySerializer()
"""Made once: to make all its fields anew takes longer than to read a question with them."""


def read_question(sent: Any) -> tuple[Question, bool]:
    """What was asked, and whether all there is of each result was asked for. Raises ValidationError."""
    read = _SHAPE.run_validation({} if sent is None else sent)  # A bare null lacks a query like an empty object.
    given = {name: value for name, value in (read["filters"] or {}).items() if value is not None}
    filters = {name: value for name, value in given.items() if name in declared()}
    question = Question(
        query=read["query"],
        agent=read["agent"] or "",
        categories=tuple(read["categories"] or ()),
        filters=Filters(**filters),
        where={name: value for name, value in given.items() if name not in filters},
        legacy=read["legacy"],
        conversation=read["conversation"],
        top_k=read["top_k"],
        threshold=read["threshold"],
        budget_tokens=read["budget_tokens"],
        as_of=read["as_of"],
        known_at=read["known_at"],
        sources=tuple(read["sources"]),
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
    """One result. What follows ``related`` comes with ``return: full``, as far as its source has such a thing."""

    id = serializers.CharField(help_text="Unique within its source.")
    category = serializers.CharField(allow_null=True, help_text="Null for chunks and turns.")
    text = serializers.CharField(help_text="A line for a prompt, escaped.")
    score = serializers.FloatField(min_value=-1, max_value=1)
    source = serializers.ChoiceField(SOURCES)  # type: ignore[assignment]  # a field, not the argument
    related = RelatedSerializer(many=True)
    content = serializers.CharField(required=False, help_text="The words as they are, whole.")
    version = serializers.IntegerField(required=False)
    updated_at = serializers.DateTimeField(required=False)
    created_at = serializers.DateTimeField(required=False)
    kind = serializers.ChoiceField(choices=Kind.choices, required=False)
    subject = serializers.CharField(required=False)
    topics = serializers.ListField(child=serializers.CharField(), required=False)
    metadata = serializers.DictField(required=False, help_text="What the client that wrote it keeps beside it.")
    importance = serializers.IntegerField(required=False)
    pinned = serializers.BooleanField(required=False)
    valid_from = serializers.DateTimeField(required=False, allow_null=True)
    valid_to = serializers.DateTimeField(required=False, allow_null=True)
    said_at = serializers.DateTimeField(required=False, allow_null=True)
    legacy = serializers.UUIDField(required=False)
    visibility = serializers.ChoiceField(choices=LegacyFact.Visibility.choices, required=False)
    extracted_at = serializers.DateTimeField(required=False)
    conversation = serializers.UUIDField(required=False)
    message_range_start = serializers.IntegerField(required=False)
    message_range_end = serializers.IntegerField(required=False)
    index = serializers.IntegerField(required=False)
    role = serializers.CharField(required=False)
    speaker = serializers.CharField(required=False)
    at = serializers.DateTimeField(required=False)


class AnswerSerializer(serializers.Serializer[Any]):
    """What was found, best first. ``tokens`` is what all lines cost, ``revision`` the person's revision."""

    results = ResultSerializer(many=True)
    delta = serializers.CharField(
        allow_null=True, help_text="What changed since the conversation that asks last looked; null without one."
    )
    tokens = serializers.IntegerField()
    revision = serializers.IntegerField()


class MemoryQuery(APIView):
    """A question to what is remembered."""

    reads_only = True

    @extend_schema(request=QuerySerializer, responses=AnswerSerializer)
    def post(self, request: Request) -> Response:
        """Find what helps with a question, best first: memories, facts, summaries and what was said.

        `score` compares across sources: what words in common and standing are worth is told on the scale of cosines,
        and `threshold` cuts it off. Related memories are dropped first when the budget is short.
        """
        question, full = read_question(request.data)
        return Response(as_plain(memory_query(principal_of(request), question), full=full))


def as_plain(answer: QueryAnswer, *, full: bool = False) -> dict[str, Any]:
    """An answer as JSON can hold it. Plain rows: a serializer would take longer than the search."""
    results = []
    for found in answer.results:
        related = answer.related.get(found.id, []) if found.source == "memories" else []
        shown = {
            "id": found.id,
            "category": found.category,
            "text": found.text,
            "score": round(min(max(found.score, -1.0), 1.0), 4),
            "source": found.source,
            "related": [
                {"id": each.result.id, "category": each.result.category, "text": each.result.text, "type": each.type}
                for each in related
            ],
        }
        results.append(shown | found.details if full else shown)
    return {"results": results, "delta": answer.delta, "tokens": answer.tokens, "revision": answer.revision}


urlpatterns = [
    path("memories/query/", MemoryQuery.as_view(), name="memory-query"),
]
