"""How much each part of the search counts, with what it was measured to be worth.

The scale is that of standard deviations: meaning and words are each told in deviations from what the owner's rows score
on average, so 1 lifts a row as much as being one deviation nearer to the question. The defaults lie in the middle of
ranges over which the figures hardly move; they were not fitted to a file. ``manage.py evaluate FORM FILE --ablate``
prints the effects anew. ``SEARCH_WEIGHTS`` overrides any of them by name (``neighbours=0.4,speaker=0``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache

from django.conf import settings


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of one search; see the comments for what each was worth."""

    vector: float = 0.7
    centre: float = 0.9
    neighbours: float = 0.5
    further_neighbours: float = 0.25
    context_words: float = 60
    speaker: float = 0.8
    machine: float = 1.0
    standing: float = 1.0
    saturation: float = 1.2
    length_share: float = 0.6

    @property
    def keyword(self) -> float:
        """The share of words, which is what meaning leaves."""
        return 1 - self.vector


NAMES = frozenset(field.name for field in fields(Weights))

PARTS: dict[str, Mapping[str, float]] = {
    "meaning": {"vector": 0.0},
    "words": {"vector": 1.0},
    "centre": {"centre": 0.0},
    "neighbours": {"neighbours": 0.0, "further_neighbours": 0.0},
    "speaker": {"speaker": 0.0},
    "machine": {"machine": 0.0},
    "standing": {"standing": 0.0},
}
"""The parts that an evaluation turns off in turn, and the weights that turn each off."""


def default_weights() -> Weights:
    """The weights of this deployment: the defaults, and over them ``SEARCH_WEIGHTS``."""
    return _weights(tuple(sorted(settings.SEARCH_WEIGHTS.items())))


def without(part: str, weights: Weights) -> Weights:
    """The weights with one of ``PARTS`` turned off."""
    return replace(weights, **PARTS[part])


def fault_in(overrides: Mapping[str, float]) -> str:
    """What is wrong with a setting like ``SEARCH_WEIGHTS``, or nothing."""
    if unknown := sorted(overrides.keys() - NAMES):
        return f"there is no weight {unknown[0]}; there are {', '.join(sorted(NAMES))}"
    for name, value in overrides.items():
        if not (math.isfinite(value) and value >= 0):
            return f"{name} must not be negative"
        if name in {"vector", "centre", "length_share"} and value > 1:
            return f"{name} must be from 0 to 1"
    return ""


@lru_cache(maxsize=1)
def _weights(overrides: tuple[tuple[str, float], ...]) -> Weights:
    return Weights(**dict(overrides))
