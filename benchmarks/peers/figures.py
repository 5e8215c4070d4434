"""Statistics of durations, text tables, and the correctness of answers, since a fast wrong answer must not win."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .plan import Person


@dataclass(frozen=True, slots=True)
class Spread:
    """Times in milliseconds: median, 95th percentile and count."""

    median: float
    p95: float
    count: int


def spread(seconds: Sequence[float]) -> Spread:
    """Return the spread of durations. Raises ValueError for none."""
    if not seconds:
        raise ValueError("There are no times.")
    ordered = sorted(seconds)
    # Nearest rank, without interpolation: always a measured value, for few values the maximum.
    place = -(-len(ordered) * 95 // 100) - 1
    return Spread(statistics.median(ordered) * 1_000, ordered[place] * 1_000, len(ordered))


def ratio(time: Spread, to: Spread) -> float:
    """Return the ratio of the medians."""
    return time.median / to.median


def best(times: Mapping[str, Spread], recalls: Mapping[str, float], at_least: float) -> str | None:
    """Return the fastest system with a recall of at least ``at_least``, or None."""
    right = [name for name in times if recalls.get(name, 0.0) >= at_least]
    return min(right, key=lambda name: times[name].median, default=None)


def milliseconds(value: float) -> str:
    """Format with three significant digits, or all digits before the point."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a text table: the first column left-aligned, the others right-aligned."""
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
"""Cosines that differ by less are treated as equal, since some systems store 16-bit floats."""


def nearest(vectors: npt.NDArray[np.float32], question: npt.NDArray[np.float32], first: int, top: int) -> set[str]:
    """Return the ids of the ``top`` rows nearest to the question, including ties with the last of them.

    ``vectors`` has the shape (rows, dimensions); rows and question have length 1. The first row has the number
    ``first``. Returns all rows if there are fewer than ``top``.
    """
    cosines = vectors @ question
    most = min(top, len(cosines))
    last = np.partition(cosines, len(cosines) - most)[len(cosines) - most]
    return {f"{first + int(row):08d}" for row in np.flatnonzero(cosines >= last - _ROUNDING)}


def recall(answer: Sequence[str], right: Collection[str], wanted: int) -> float:
    """Return the share of the ``wanted`` best in the answer. With ties, ``right`` may hold more ids than wanted.

    Duplicate ids and ids after the first ``wanted`` are ignored.
    """
    if not wanted:
        return 1.0
    return len(set(answer[:wanted]).intersection(right)) / wanted


def foreign(answer: Sequence[str], person: Person) -> list[str]:
    """Return the ids in an answer that don't belong to the person, to whom nothing was added."""
    return [each for each in answer if not person.owns(each)]


def block_holds(text: str, contents: Sequence[str]) -> bool:
    """Whether the block contains every statement."""
    return all(content in text for content in contents)
