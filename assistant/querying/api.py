"""REST for ``memory.query``."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of

from .answering import Answer, memory_query
from .serializers import AnswerSerializer, QuerySerializer, read_question


class MemoryQuery(APIView):
    """A question to what is remembered."""

    reads_only = True

    @extend_schema(request=QuerySerializer, responses=AnswerSerializer)
    def post(self, request: Request) -> Response:
        """Find what helps with it, best first: memories, and facts, chunks or turns where `sources` names them.

        `score` compares across sources: what words in common and standing are worth is told on the scale of cosines,
        and `threshold` cuts it off. Related memories are dropped first when the budget is short.
        """
        question, full = read_question(request.data)
        return Response(as_plain(memory_query(principal_of(request), question), full=full))


def as_plain(answer: Answer, *, full: bool = False) -> dict[str, Any]:
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


urlpatterns = [path("memories/query/", MemoryQuery.as_view(), name="memory-query")]
