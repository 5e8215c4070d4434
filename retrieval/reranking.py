"""Puts what was said into its place again: who said it, and what was said around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .text import QuestionNames
from .weights import SearchWeights


@dataclass(frozen=True, slots=True)
class TurnColumns:
    """The columns that say where a row was said and by whom: which talk, its place there from 0, the speaker's name."""

    talk: str
    place: str
    speaker: str


@dataclass(frozen=True, slots=True)
class RerankCandidate:
    """A row that may be among the best.

    ``found`` is what the question alone makes of it, in deviations from the average; ``prior`` what speaks for it
    whatever is asked; ``level`` and ``unit`` are those of its hit; ``words`` how many it has.
    """

    id: Any
    found: float
    prior: float
    similarity: float | None
    keyword: float | None
    level: float | None = None
    unit: float = 0.0
    talk: Any = None
    place: int = 0
    speaker: str = ""
    words: int = 0


def scores_in_context(candidates: Sequence[RerankCandidate], question: str, weights: SearchWeights) -> list[float]:
    """The score of each candidate, in their order.

    A short turn ("Yes, last May!") says little by itself, so it takes a share of what its neighbours score, the less
    the longer it is: with ``context_words`` words it takes half of the weight. Neighbours only ever help: one that is
    below the average, or that is no candidate, counts nothing. So nothing but the candidates has to be read.
    """
    near, further = weights.neighbours, weights.further_neighbours
    talks: dict[Any, dict[int, float]] = {}
    for candidate in candidates:
        talks.setdefault(candidate.talk, {})[candidate.place] = max(candidate.found, 0.0)
    names = QuestionNames(question)
    scores = []
    for candidate in candidates:
        found = talks[candidate.talk]
        place, get = candidate.place, found.get
        around = near * get(place - 1, 0.0) + near * get(place + 1, 0.0)
        around = around + further * get(place - 2, 0.0) + further * get(place + 2, 0.0)
        score = candidate.found + candidate.prior + around * _openness(candidate.words, weights.context_words)
        scores.append(score + weights.speaker * names.contain(candidate.speaker))
    return scores


def _openness(words: int, context_words: float) -> float:
    """How far a row of so many words is understood from its neighbours, from 0 to 1."""
    return context_words / (context_words + words) if context_words > 0 else 0.0
