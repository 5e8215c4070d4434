"""How much each part of the search counts, with what it was measured to be worth.

The scale is that of standard deviations: meaning and words are each told in deviations from what the owner's rows score
on average, so 1 lifts a row as much as being one deviation nearer to the question. The defaults lie in the middle of
ranges over which the figures hardly move; the ranges were measured with the model in floats, whose figures differ by
half a point. ``manage.py evaluate FORM FILE --ablate`` prints the effects anew. ``SEARCH_WEIGHTS`` overrides any of
them by name (``neighbours=0.4,speaker=0``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import lru_cache

from django.conf import settings


@dataclass(frozen=True, slots=True)
class SearchWeights:
    """The weights of one search.

    Beside each: what recall@5, @10 and @20 lose without it, in points, on three conversations of LoCoMo (540 questions)
    and on four chats of BEAM 100K (70), with the bundled embedder.
    """

    # The share of meaning; the rest is that of words. Without meaning: 7.7, 7.4, 7.9 and 13.5, 11.2, 6.1; without
    # words: 13.6, 12.0, 10.9 and 2.9, 4.5, 3.2. From 0.6 to 0.8 LoCoMo moves by a point and BEAM by up to three.
    vector: float = 0.7
    # How much of the mean of the owner's vectors is taken from the question: 3.3, 1.9, 1.8 and -0.4, 0.1, 1.9. When the
    # other parts were not there yet it gave BEAM four points of recall@20. From 0.7 to 1 all move by up to 1.5.
    centre: float = 0.9
    # What the next turn on each side passes on of its score, and the one after: 7.3, 5.8, 5.6 and 1.7, 1.4, 2.9. More
    # helps talks of short turns and costs chats of long ones: from 0.3 to 0.7 recall@10 goes from 77.3 to 79.2 on
    # LoCoMo and from 69.4 to 68.6 on BEAM, recall@5 there from 62.0 to 56.4.
    neighbours: float = 0.5
    further_neighbours: float = 0.25
    # With so many words a turn takes half of what its neighbours pass on. From 40 to 100 recall@10 moves by a point.
    context_words: float = 60
    # For the turns of whom the question names: 2.1, 1.0, 1.3; BEAM names no speakers. 0.6 to 1.2 are alike.
    speaker: float = 0.8
    # Against what a nameless assistant or a tool said: LoCoMo has none; 2.1, 3.2, 3.2. 1 to 2 differ by up to 1.5.
    machine: float = 1.0
    # For what the person wants from now on: 0, -0.1, -0.1 and 2.0, 0.8, 2.7. 0.9 to 2 differ by up to two.
    standing: float = 1.0
    # BM25's k1, how soon another occurrence of a word in one text stops counting (0.8 to 1.6 are alike), and b, how
    # much a longer text is marked down, from 0 to 1 (0.4 to 0.75 are alike).
    saturation: float = 1.2
    length_share: float = 0.6

    @property
    def keyword(self) -> float:
        """The share of words, which is what meaning leaves."""
        return 1 - self.vector


NAMES = frozenset(field.name for field in fields(SearchWeights))

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


_replacement: SearchWeights | None = None


def default_weights() -> SearchWeights:
    """The weights of this deployment: the defaults, and over them ``SEARCH_WEIGHTS``."""
    return _replacement or _weights(tuple(sorted(settings.SEARCH_WEIGHTS.items())))


@contextmanager
def override_weights(weights: SearchWeights) -> Iterator[None]:
    """Let every search go by other weights meanwhile, in the whole process: for commands, not for servers."""
    global _replacement  # noqa: PLW0603
    _replacement = weights
    try:
        yield
    finally:
        _replacement = None


def without(part: str, weights: SearchWeights) -> SearchWeights:
    """The weights with one of ``PARTS`` turned off."""
    return replace(weights, **PARTS[part])


def weights_error(overrides: Mapping[str, float]) -> str:
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
def _weights(overrides: tuple[tuple[str, float], ...]) -> SearchWeights:
    return SearchWeights(**dict(overrides))
