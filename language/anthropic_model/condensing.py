"""The JSON schemas of merged memories and of selected passages, and their validation."""

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
    """The JSON schema of merged memories: always equal, so that the server can cache it."""
    schema = transform_schema(CondensedListShape)
    schema["$defs"][CondensedShape.__name__]["properties"]["importance"] = {"type": "integer", "enum": [1, 2, 3, 4, 5]}
    return schema


def read_condensed(text: str, memories: Sequence[KnownMemory]) -> tuple[tuple[Condensed, ...], int]:
    """Convert the model's answer to merged memories. Returns them with the number of dropped ones.

    A merged memory is dropped if it has fewer than two sources; if a source is unknown or already used; if its sources
    have different fields; if none has its category; if its content or subject is empty or too long; if its importance
    is invalid; if its figures are not exactly those of its sources. Raises ModelAnswerInvalid for an invalid document.
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
    """The JSON schema of selected passages: always equal, so that the server can cache it."""
    return transform_schema(SelectedShape)


def read_selected(text: str, passages: Sequence[Passage], most: int) -> tuple[tuple[str, ...], int]:
    """Return at most ``most`` of the ids that the model chose, and the number of dropped ones.

    Unknown and repeated ids are dropped. Raises ModelAnswerInvalid for an invalid document.
    """
    listed = validated(SelectedShape, text).ids
    shown = {passage.id for passage in passages}
    chosen = tuple(dict.fromkeys(each for each in listed if each in shown))[:most]
    return chosen, len(listed) - len(chosen)
