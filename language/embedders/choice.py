"""Parses the setting that chooses the embedder, without loading it."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.exceptions import ImproperlyConfigured

MOST_DIMENSIONS = 1_260
"""Maximum for the covering indexes: 2,704 bytes a row, two bytes a dimension, beside the longest name."""

MOST_NAME_CHARACTERS = 80
LOCAL = ("bundled", "hashing")
REMOTE = {"openai": "text-embedding-3-small", "voyage": "voyage-4"}
"""The embedders over HTTP, with their default models."""

USUAL_DIMENSIONS = 1_024
_CAN_BE_SHORTENED = ("text-embedding-3-", "voyage-")


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """A choice of an embedder: its kind and, over HTTP, the model and the dimensions of its vectors."""

    kind: str
    model: str = ""
    dimensions: int = 0

    @property
    def name(self) -> str:
        """The name stored with vectors, without the suffix for a passage prefix."""
        return f"{self.kind}:{self.model}:{self.dimensions}"

    @property
    def can_be_shortened(self) -> bool:
        """Whether the model supports a ``dimensions`` parameter."""
        return self.model.startswith(_CAN_BE_SHORTENED)


def read_choice(setting: str, value: object) -> EmbedderChoice:
    """Read ``bundled``, ``hashing``, or ``kind[:model[:dimensions]]`` with a kind of ``REMOTE``.

    A model's name may contain colons; a number after the last one is the dimensions. Raises ImproperlyConfigured with
    the setting's name for anything else, or for dimensions that can't be stored.
    """
    kind, _, rest = value.partition(":") if isinstance(value, str) else ("", "", "")
    if kind in LOCAL and not rest:
        return EmbedderChoice(kind)
    if kind not in REMOTE:
        choices = ", ".join(sorted([*LOCAL, *(f"{remote}[:model[:dimensions]]" for remote in REMOTE)]))
        raise ImproperlyConfigured(f"{setting} is {value!r}; choose one of {choices}.")
    model, _, digits = rest.rpartition(":")
    if not digits.isdecimal():
        model, digits = rest, ""
    choice = EmbedderChoice(kind, model or REMOTE[kind])
    if not digits and not choice.can_be_shortened:
        raise ImproperlyConfigured(f"{setting} has to say how many dimensions {model} gives: {kind}:{model}:1024.")
    choice = EmbedderChoice(kind, choice.model, int(digits or USUAL_DIMENSIONS))
    if not 1 <= choice.dimensions <= MOST_DIMENSIONS:
        raise ImproperlyConfigured(f"{setting} asks for {digits} dimensions; 1 to {MOST_DIMENSIONS:,} can be searched.")
    if len(choice.name) > MOST_NAME_CHARACTERS or any(map(str.isspace, choice.name)):
        raise ImproperlyConfigured(f"{setting} is no name of at most {MOST_NAME_CHARACTERS} characters without spaces.")
    return choice
