"""How many statements about one person say what another one says, before consolidation and after it, offline.

The statements are the observations of a LoCoMo file, which a model wrote of each session on its own, so that what came
up in several is there several times. They are compared as consolidation compares memories: near as vectors, with words
in common, and then by the rules.
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
from language.reading.sameness import Statement
from memories.policy.alike import may_be_at_odds, may_be_one, says_the_same

Pair = tuple[str, str]


class PairsError(ValueError):
    """A file holds no pairs."""


@dataclass(frozen=True, slots=True)
class Told:
    """What was observed of one person, by the name of the conversation and theirs."""

    conversation: str
    person: str
    statements: Sequence[str]


@dataclass(frozen=True, slots=True)
class Found:
    """Of one person's statements: pairs that are near, pairs that were merged, pairs that a model is asked about."""

    told: Told
    near: int
    merged: Sequence[Pair]
    left: int
    asked: Sequence[Pair]

    @property
    def calls(self) -> int:
        """How many calls of a model that takes on the first day, of which there are no more on any."""
        return math.ceil(min(len(self.asked), settings.CONSOLIDATE_PAIRS_PER_DAY) / settings.CONSOLIDATE_PAIRS_PER_CALL)


def labelled(path: Path) -> tuple[list[Pair], list[Pair]]:
    """The pairs of a file that say the same and those that differ: "same" or "differ" and two texts, by tabs.

    Raises PairsError for what is none.
    """
    found: dict[str, list[Pair]] = {"same": [], "differ": []}
    for line in path.read_text(encoding="utf-8").splitlines():
        kind, *pair = line.split("\t")
        if kind not in found or len(pair) != 2:
            raise PairsError(f"{path} has a line that is no pair.")
        found[kind].append((pair[0], pair[1]))
    return found["same"], found["differ"]


def observed(text: str) -> Iterator[Told]:
    """The observations in a LoCoMo file. Raises ImportFileError for what is none."""
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
    """Compare each statement with each other, and merge what says the same. Raises EmbedderUnavailable."""
    read = cache(Statement)
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
    """What becomes of written pairs: without a model, with one that knows them, with one that calls all the same."""

    same: Sequence[Pair]
    apart: Sequence[Pair]
    merged: frozenset[Pair]
    asked: frozenset[Pair]
    milliseconds: float

    def count(self, pairs: Sequence[Pair], *, asks: bool) -> int:
        """How many of them are merged, if whoever is asked calls them the same."""
        return sum(pair in self.merged or (asks and pair in self.asked) for pair in pairs)


def scored(path: Path, embedder: Embedder) -> Scored:
    """Look at each pair of a file as consolidation does, the longer text first.

    Raises PairsError, EmbedderUnavailable.
    """
    same, apart = labelled(path)
    began, merged, asked = time.process_time(), set(), set()
    for pair in [*same, *apart]:
        one, other = embedder.embed_passages(pair)
        kept, dropped = (Statement(text) for text in sorted(pair, key=len, reverse=True))
        if float(one @ other) < settings.MEMORY_FALLBACK_LOW_SIMILARITY:
            continue
        if says_the_same(kept, dropped):
            merged.add(pair)
        elif may_be_one(kept, dropped):
            asked.add(pair)
    took = 1000 * (time.process_time() - began) / max(1, len(same) + len(apart))
    return Scored(same, apart, frozenset(merged), frozenset(asked), took)


def _is_near_enough(read: Callable[[str], Statement], pair: Pair) -> bool:
    return may_be_at_odds(*pair) or may_be_one(*map(read, pair))


def _near(statements: Sequence[str], embedder: Embedder) -> list[Pair]:
    """Pairs of statements that are near, the nearest first; of each the longer one first."""
    vectors = embedder.embed_passages(statements)
    found = [
        (float(vectors[one] @ vectors[other]), one, other) for one, other in combinations(range(len(statements)), 2)
    ]
    found = sorted((each for each in found if each[0] >= settings.MEMORY_FALLBACK_LOW_SIMILARITY), reverse=True)
    return [
        (max(statements[one], statements[other], key=len), min(statements[other], statements[one], key=len))
        for _, one, other in found
    ]
