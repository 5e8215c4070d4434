"""The weights of the parts of a search, with their measured effects.

The scale is standard deviations: scores by vector and by words are standardised over the owner's rows, so 1 ranks a row
as much higher as one standard deviation. The defaults are in the middle of ranges over which the figures hardly change.
The ranges were measured with the embedder in 32-bit floats, whose figures differ by half a point. ``manage.py evaluate
FORM FILE --ablate`` measures the effects again. ``SEARCH_WEIGHTS`` overrides weights by name
(``neighbours=0.4,speaker=0``).
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

    The comments give the loss of recall@5, @10 and @20 in points without each weight, first on three conversations of
    LoCoMo (540 questions), then on four chats of BEAM 100K (70 questions), with the bundled embedder.
    """

    # The share of vectors; the rest is that of words. Without vectors: 7.7, 7.4, 7.9 and 13.5, 11.2, 6.1; without
    # words: 13.6, 12.0, 10.9 and 2.9, 4.5, 3.2. From 0.6 to 0.8 LoCoMo changes by a point and BEAM by up to three.
    vector: float = 0.7
    # How much of the mean of the owner's vectors is subtracted from the question: 3.3, 1.9, 1.8 and -0.4, 0.1, 1.9.
    # Before the other parts existed, it gave BEAM four points of recall@20. From 0.7 to 1 all change by up to 1.5.
    centre: float = 0.9
    # The share of its score that the next turn on each side adds, and the one after: 7.3, 5.8, 5.6 and 1.7, 1.4, 2.9.
    # A higher share helps conversations of short turns and harms those of long ones: from 0.3 to 0.7 recall@10 goes
    # from 77.3 to 79.2 on LoCoMo and from 69.4 to 68.6 on BEAM, recall@5 there from 62.0 to 56.4.
    neighbours: float = 0.5
    further_neighbours: float = 0.25
    # The length in words at which a turn gets half of its neighbours' share. From 40 to 100 recall@10 changes by a
    # point.
    context_words: float = 60
    # Added to turns of a speaker whom the question names: 2.1, 1.0, 1.3; BEAM names no speakers. 0.6 to 1.2 are alike.
    speaker: float = 0.8
    # Subtracted from turns of an unnamed assistant or a tool: LoCoMo has none; 2.1, 3.2, 3.2. 1 to 2 differ by up to
    # 1.5.
    machine: float = 1.0
    # Added to the person's standing instructions: 0, -0.1, -0.1 and 2.0, 0.8, 2.7. 0.9 to 2 differ by up to two.
    standing: float = 1.0
    # BM25's k1, the saturation of repeated words (0.8 to 1.6 are alike), and b, the normalisation by length from 0 to 1
    # (0.4 to 0.75 are alike).
    saturation: float = 1.2
    length_share: float = 0.6

    @property
    def keyword(self) -> float:
        """The share of words."""
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
"""The parts that an ablation turns off one by one, with the weights that do so."""


_replacement: SearchWeights | None = None


def default_weights() -> SearchWeights:
    """Return the weights of this deployment: the defaults with the overrides of ``SEARCH_WEIGHTS``."""
    return _replacement or _weights(tuple(sorted(settings.SEARCH_WEIGHTS.items())))


@contextmanager
def override_weights(weights: SearchWeights) -> Iterator[None]:
    """Use other weights in the whole process within the block. For commands, not for servers."""
    global _replacement  # noqa: PLW0603
    _replacement = weights
    try:
        yield
    finally:
        _replacement = None


def without(part: str, weights: SearchWeights) -> SearchWeights:
    """Return the weights with one of ``PARTS`` turned off."""
    return replace(weights, **PARTS[part])


def weights_error(overrides: Mapping[str, float]) -> str:
    """Return what is wrong with a value of ``SEARCH_WEIGHTS``, or ""."""
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
