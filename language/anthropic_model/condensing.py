"""What the model has to answer when it says memories in fewer, and how that is checked against them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from anthropic import transform_schema

from language.anthropic_model.answers import LONGEST_CONTENT, LONGEST_SUBJECT, Shape, validated
from language.base import KnownMemory, Passage
from language.consolidating import Condensed

_FIGURE = re.compile(r"\d+(?:[.,:/]\d+)*")


class CondensedShape(Shape):
    sources: list[str]
    content: str
    category: str
    subject: str
    importance: int


class CondensedListShape(Shape):
    memories: list[CondensedShape]


def condensed_schema() -> dict[str, Any]:
    """The JSON schema of the answer: the same for all memories, so that the server can keep it."""
    schema = transform_schema(CondensedListShape)
    schema["$defs"][CondensedShape.__name__]["properties"]["importance"] = {"type": "integer", "enum": [1, 2, 3, 4, 5]}
    return schema


def read_condensed(text: str, memories: Sequence[KnownMemory]) -> tuple[tuple[Condensed, ...], int]:
    """Turn the model's answer into memories that stand for several, and say how many were dropped.

    Dropped is one with fewer than two sources, a source that was not shown or that an earlier one has taken, sources
    with different fields, a category of none of its sources, empty or too long a content or subject, an importance that
    is none, or figures that are not exactly those of its sources.
    Raises ModelAnswerInvalid for a broken document.
    """
    listed = validated(CondensedListShape, text).memories
    shown = {memory.id: memory for memory in memories}
    taken: set[str] = set()
    condensed = []
    for shape in listed:
        if one := _condensed(shape, shown, taken):
            taken.update(one.sources)
            condensed.append(one)
    return tuple(condensed), len(listed) - len(condensed)


def _condensed(shape: CondensedShape, shown: Mapping[str, KnownMemory], taken: Collection[str]) -> Condensed | None:
    ids = tuple(dict.fromkeys(shape.sources))
    if len(ids) < 2 or not all(source in shown and source not in taken for source in ids):
        return None
    sources = [shown[source] for source in ids]
    content, subject = " ".join(shape.content.split()), " ".join(shape.subject.split())
    sound = (
        0 < len(content) <= LONGEST_CONTENT
        and len(subject) <= LONGEST_SUBJECT
        and 1 <= shape.importance <= 5
        and shape.category in {source.category for source in sources}
        and len({source.field for source in sources}) == 1
        and _figures(content) == _figures(" ".join(source.content for source in sources))
    )
    return Condensed(content, shape.category, subject, shape.importance, ids) if sound else None


def _figures(text: str) -> set[str]:
    return set(_FIGURE.findall(text))


class SelectedShape(Shape):
    ids: list[str]


def selected_schema() -> dict[str, Any]:
    """The JSON schema of the answer: the same for all questions, so that the server can keep it."""
    return transform_schema(SelectedShape)


def read_selected(text: str, passages: Sequence[Passage], most: int) -> tuple[tuple[str, ...], int]:
    """The ids that the model chose, each once, at most ``most``, and how many of its answer were dropped.

    Dropped is an id that was not shown or that stands there already. Raises ModelAnswerInvalid for a broken document.
    """
    listed = validated(SelectedShape, text).ids
    shown = {passage.id for passage in passages}
    chosen = tuple(dict.fromkeys(each for each in listed if each in shown))[:most]
    return chosen, len(listed) - len(chosen)
