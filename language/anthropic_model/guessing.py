"""The JSON schema of insights, and their validation."""

from __future__ import annotations

from typing import Any

from anthropic import transform_schema

from language.anthropic_model.answers import Shape, validated
from language.fencing import unescaped
from language.insights import LONGEST_INSIGHT, MOST_INSIGHTS, Insight, InsightRequest

MOST_INSIGHT_TOKENS = 220
"""Token limit of the answer. The prompt asks for less; a truncated answer is discarded without a retry."""
MOST_TAGS = 3
LONGEST_TAG = 50


class InsightShape(Shape):
    summary: str
    tags: list[str]
    importance: int
    memories: list[str]
    messages: list[int]


class InsightsShape(Shape):
    insights: list[InsightShape]


def insights_schema() -> dict[str, Any]:
    """The JSON schema of the answer: equal for everybody, so that the server can cache it."""
    schema = transform_schema(InsightsShape)
    schema["$defs"][InsightShape.__name__]["properties"]["importance"] = {"type": "integer", "enum": [1, 2, 3]}
    return schema


def read_insights(text: str, request: InsightRequest) -> tuple[tuple[Insight, ...], int]:
    """Convert the model's answer to insights. Returns them with the number of dropped ones.

    An insight is dropped if it cites nothing or something unknown, or is empty or too long; only the first
    ``MOST_INSIGHTS`` are kept. Raises ModelAnswerInvalid for an invalid document.
    """
    listed = validated(InsightsShape, text).insights
    read = [found for shape in listed if (found := _insight(shape, request)) is not None][:MOST_INSIGHTS]
    return tuple(read), len(listed) - len(read)


def _insight(shape: InsightShape, request: InsightRequest) -> Insight | None:
    content = " ".join(unescaped(shape.summary).split())
    memories, messages = tuple(dict.fromkeys(shape.memories)), tuple(dict.fromkeys(shape.messages))
    sound = (
        0 < len(content) <= LONGEST_INSIGHT
        and 1 <= shape.importance <= 3
        and (memories or messages)
        and {each.id for each in request.memories}.issuperset(memories)
        and {each.index for each in request.messages}.issuperset(messages)
    )
    tags = dict.fromkeys(" ".join(unescaped(tag).split())[:LONGEST_TAG].strip() for tag in shape.tags)
    topics = tuple(tag for tag in tags if tag)[:MOST_TAGS]
    return Insight(content, topics, shape.importance, memories, messages) if sound else None
