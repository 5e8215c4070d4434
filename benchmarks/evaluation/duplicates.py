"""Count duplicate statements about a person before and after offline consolidation.

The statements are the observations of a LoCoMo file. A model wrote them for each session separately, so topics of
several sessions occur repeatedly. They are compared as consolidation compares memories: by vector similarity, shared
words, and then by the rules.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

from django.conf import settings

from conversations.imports.records import Node, parse_json
from language.base import Embedder
from language.reading.sameness import EmbeddedStatement
from memories.policy.alike import may_be_at_odds, may_be_one, says_the_same

Pair = tuple[str, str]


class PairsError(ValueError):
    """The file contains no valid pairs."""


@dataclass(frozen=True, slots=True)
class Told:
    """The observations of one speaker of a conversation."""

    conversation: str
    person: str
    statements: Sequence[str]


@dataclass(frozen=True, slots=True)
class Found:
    """The pairs of one person's statements that are near, that were merged, and that need a model's verdict."""

    told: Told
    near: int
    merged: Sequence[Pair]
    left: int
    asked: Sequence[Pair]

    @property
    def calls(self) -> int:
        """The number of model calls on the first day, which is the maximum of any day."""
        return math.ceil(min(len(self.asked), settings.CONSOLIDATE_PAIRS_PER_DAY) / settings.CONSOLIDATE_PAIRS_PER_CALL)


def labelled(path: Path) -> tuple[list[Pair], list[Pair]]:
    """Parse labelled pairs: lines of "same" or "differ" and two texts, separated by tabs. Returns (same, differing).

    Raises PairsError for an invalid file.
    """
    found: dict[str, list[Pair]] = {"same": [], "differ": []}
    for line in path.read_text(encoding="utf-8").splitlines():
        kind, *pair = line.split("\t")
        if kind not in found or len(pair) != 2:
            raise PairsError(f"{path} has a line that is no pair.")
        found[kind].append((pair[0], pair[1]))
    return found["same"], found["differ"]


def observed(text: str) -> Iterator[Told]:
    """Yield the observations of a LoCoMo file. Raises ImportFileError for an invalid file."""
    for sample in Node(parse_json(text)).as_items():
        of: dict[str, dict[str, None]] = {}
        for session in sample["observation"].as_object():
            observation = sample["observation"][session]
            for person in observation.as_object():
                told = [item.as_items()[0].as_text() for item in observation[person].as_items()]
                of.setdefault(person, {}).update(dict.fromkeys(told))
        for person, statements in of.items():
            yield Told(sample["sample_id"].as_text(), person, list(statements))


def consolidated(told: Told, embedder: Embedder) -> Found:
    """Compare all pairs of statements and merge duplicates. Raises EmbedderUnavailable."""
    read = cache(EmbeddedStatement)
    near = [pair for pair in _near(told.statements, embedder) if _is_near_enough(read, pair)]
    same = [pair for pair in near if says_the_same(*map(read, pair))]
    gone: set[str] = set()
    merged = []
    for kept, dropped in same:
        if not gone & {kept, dropped}:
            gone.add(dropped)
            merged.append((kept, dropped))
    left = sum(not gone & set(pair) for pair in same)
    known = set(same)
    return Found(
        told, len(near), merged, left, [pair for pair in near if pair not in known and may_be_one(*map(read, pair))]
    )


@dataclass(frozen=True, slots=True)
class Scored:
    """The outcome for labelled pairs: those merged by the rules, and those that need a model's verdict."""

    same: Sequence[Pair]
    apart: Sequence[Pair]
    merged: frozenset[Pair]
    asked: frozenset[Pair]
    milliseconds: float

    def count(self, pairs: Sequence[Pair], *, asks: bool) -> int:
        """Count the merged pairs; with ``asks`` also those for a model, if it calls them the same."""
        return sum(pair in self.merged or (asks and pair in self.asked) for pair in pairs)


def scored(path: Path, embedder: Embedder) -> Scored:
    """Judge each pair of a file as consolidation does, the longer text first.

    Raises PairsError, EmbedderUnavailable.
    """
    same, apart = labelled(path)
    began, merged, asked = time.process_time(), set(), set()
    for pair in [*same, *apart]:
        one, other = embedder.embed_passages(pair)
        kept, dropped = (EmbeddedStatement(text) for text in sorted(pair, key=len, reverse=True))
        if float(one @ other) < settings.MEMORY_FALLBACK_LOW_SIMILARITY:
            continue
        if says_the_same(kept, dropped):
            merged.add(pair)
        elif may_be_one(kept, dropped):
            asked.add(pair)
    took = 1000 * (time.process_time() - began) / max(1, len(same) + len(apart))
    return Scored(same, apart, frozenset(merged), frozenset(asked), took)


def _is_near_enough(read: Callable[[str], EmbeddedStatement], pair: Pair) -> bool:
    return may_be_at_odds(*pair) or may_be_one(*map(read, pair))


def _near(statements: Sequence[str], embedder: Embedder) -> list[Pair]:
    """Return the near pairs of statements, the nearest first; in each pair the longer one first."""
    vectors = embedder.embed_passages(statements)
    found = [
        (float(vectors[one] @ vectors[other]), one, other) for one, other in combinations(range(len(statements)), 2)
    ]
    found = sorted((each for each in found if each[0] >= settings.MEMORY_FALLBACK_LOW_SIMILARITY), reverse=True)
    return [
        (max(statements[one], statements[other], key=len), min(statements[other], statements[one], key=len))
        for _, one, other in found
    ]
