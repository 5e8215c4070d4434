"""Reranks messages by their speaker and by the scores of neighbouring messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .text import QuestionNames
from .weights import SearchWeights


@dataclass(frozen=True, slots=True)
class TurnColumns:
    """The names of the columns for a row's conversation, its position there from 0, and its speaker's name."""

    talk: str
    place: str
    speaker: str


@dataclass(frozen=True, slots=True)
class RerankCandidate:
    """A row to rerank.

    ``found`` is its score for the question, in standard deviations from the mean. ``prior`` is its score whatever the
    question. ``level`` and ``unit`` are those of its ``Hit``. ``words`` is its number of words.
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
    """Return the scores of the candidates, in their order.

    A short turn ("Yes, last May!") has little content, so it gets a share of its neighbours' scores. The share falls
    with its length; with ``context_words`` words it is half. Neighbours that score below the mean, or are not
    candidates, count as 0, so no other rows have to be read.
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
    """Return the share of its neighbours' scores that a row with this many words gets, from 0 to 1."""
    return context_words / (context_words + words) if context_words > 0 else 0.0
