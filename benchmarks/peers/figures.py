"""Figures out of seconds, with the tables that show them, and whether answers are right: a fast wrong one would win."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .plan import Person


@dataclass(frozen=True, slots=True)
class Spread:
    """Times in milliseconds: the middle, the 95th percentile and how many there were."""

    median: float
    p95: float
    count: int


def spread(seconds: Sequence[float]) -> Spread:
    """The spread of some times. Raises ValueError for none."""
    if not seconds:
        raise ValueError("There are no times.")
    ordered = sorted(seconds)
    # The smallest one that 95 % are not above: of few times the worst, never one that nobody measured.
    place = -(-len(ordered) * 95 // 100) - 1
    return Spread(statistics.median(ordered) * 1_000, ordered[place] * 1_000, len(ordered))


def ratio(time: Spread, to: Spread) -> float:
    """How many times as long the one takes as the other, in the middle."""
    return time.median / to.median


def best(times: Mapping[str, Spread], recalls: Mapping[str, float], at_least: float) -> str | None:
    """The quickest of those whose answers are right often enough; None when none's are."""
    right = [name for name in times if recalls.get(name, 0.0) >= at_least]
    return min(right, key=lambda name: times[name].median, default=None)


def milliseconds(value: float) -> str:
    """With three digits that count, or all before the point."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lines with columns: the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = []
    for row in (head, *rows):
        cells = [
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


_ROUNDING = 1e-3
"""Vectors are kept with 16 bits a number by some systems, so cosines this near are taken for the same."""


def nearest(vectors: npt.NDArray[np.float32], question: npt.NDArray[np.float32], first: int, top: int) -> set[str]:
    """The ids of the ``top`` rows nearest to the question, and of those that are as near as the last of them.

    ``vectors`` has the shape (rows, dimensions), rows and question are of length 1; the first row has the number
    ``first``. With fewer rows than ``top``, all of them.
    """
    cosines = vectors @ question
    most = min(top, len(cosines))
    last = np.partition(cosines, len(cosines) - most)[len(cosines) - most]
    return {f"{first + int(row):08d}" for row in np.flatnonzero(cosines >= last - _ROUNDING)}


def recall(answer: Sequence[str], right: Collection[str], wanted: int) -> float:
    """Which part of the ``wanted`` best is in the answer. More may be right than are wanted, when some are equal.

    An answer counts each id once, and only as many ids as are wanted.
    """
    if not wanted:
        return 1.0
    return len(set(answer[:wanted]).intersection(right)) / wanted


def foreign(answer: Sequence[str], person: Person) -> list[str]:
    """The ids in an answer that are none of the person's, to whom nothing was added."""
    return [each for each in answer if not person.owns(each)]


def block_holds(text: str, contents: Sequence[str]) -> bool:
    """Whether every statement stands in the text for a prompt."""
    return all(content in text for content in contents)
