"""What the model has to answer when it chooses among texts, and how that is checked against them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anthropic import transform_schema

from language.anthropic_model.answers import Shape, validated
from language.base import Passage


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
