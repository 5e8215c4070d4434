"""Metrics per question, and their means with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .datasets import APART

RANKS = (5, 10, 20)
DEPTH = max(RANKS)
METRICS = (*(f"recall@{rank}" for rank in RANKS), *(f"any@{rank}" for rank in RANKS), "mrr", "ndcg@10")
RESAMPLES = 2_000
SEED = 20_260_214


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one question: its metrics in the order of ``METRICS``, and its times.

    ``seconds`` is the time of the answer without the embedding, ``embedding_seconds`` that of the embedding.
    """

    category: str
    values: tuple[float, ...]
    seconds: float
    embedding_seconds: float


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a file. ``model`` names the embedder, ``skipped`` counts questions without valid evidence.

    ``without`` holds the results of an ablation by the disabled part of the search.
    """

    model: str
    outcomes: Sequence[Outcome]
    skipped: int
    without: Mapping[str, Sequence[Outcome]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return metrics from 0 to 1, each group with its number of questions and 95% intervals."""
        overall = _counted(self.outcomes)
        names = sorted({outcome.category for outcome in self.outcomes})
        return {
            "overall": _means(overall),
            "intervals": _intervals(overall),
            "categories": {name: self._category(name) for name in names},
            "questions": len(overall),
            "skipped": self.skipped,
            "model": self.model,
            "without": {part: _means(_counted(outcomes)) for part, outcomes in self.without.items()},
            "search_ms": milliseconds([outcome.seconds for outcome in self.outcomes]),
            "query_ms": milliseconds([outcome.seconds + outcome.embedding_seconds for outcome in self.outcomes]),
        }

    def _category(self, name: str) -> dict[str, Any]:
        outcomes = [outcome for outcome in self.outcomes if outcome.category == name]
        return {**_means(outcomes), "intervals": _intervals(outcomes), "questions": len(outcomes)}


def milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    """Return the median and the 95th percentile in milliseconds of at least one duration in seconds."""
    return {f"p{part}": round(1_000 * float(np.percentile(seconds, part)), 2) for part in (50, 95)}


def score(ranking: Sequence[int], gold: frozenset[int]) -> tuple[float, ...]:
    """Return the metrics, in the order of ``METRICS``, of a ranking (best first) against the gold messages.

    Only the first ``DEPTH`` ranks count. ``gold`` must not be empty.
    """
    hits = [place in gold for place in ranking[:DEPTH]]
    found = [sum(hits[:rank]) for rank in RANKS]
    first = hits.index(True) + 1 if any(hits) else math.inf
    gain = sum(1 / math.log2(place + 2) for place, hit in enumerate(hits[:10]) if hit)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(len(gold), 10)))
    return (*(count / len(gold) for count in found), *(float(count > 0) for count in found), 1 / first, gain / ideal)


def _counted(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome.category not in APART]


def _means(outcomes: Sequence[Outcome]) -> dict[str, float]:
    if not outcomes:
        return dict.fromkeys(METRICS, 0.0)
    means = np.mean([outcome.values for outcome in outcomes], axis=0)
    return {name: round(float(mean), 4) for name, mean in zip(METRICS, means, strict=True)}


def _intervals(outcomes: Sequence[Outcome]) -> dict[str, list[float]]:
    """Return bootstrap percentile intervals over the questions, with a fixed seed."""
    if not outcomes:
        return {name: [0.0, 0.0] for name in METRICS}
    values = np.array([outcome.values for outcome in outcomes])
    random = np.random.default_rng(SEED)
    means = np.array([values[random.integers(len(values), size=len(values))].mean(axis=0) for _ in range(RESAMPLES)])
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    return {name: [round(float(low[i]), 4), round(float(high[i]), 4)] for i, name in enumerate(METRICS)}
