"""Figures out of seconds: middles, spreads and ratios, and the tables that show them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


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
