"""Recall and precision of the built-in (offline) extraction on labelled conversations.

A conversation is a text file: ``# legacy: NAME; user: NAME`` (``-`` for no legacy), then one turn per line after ``U:``
or ``A:``, with ``\\n`` for a line break. The expected statements follow the user's turn: ``= L:`` for the legacy,
``= U:`` for the user. Those ending in "(optional)" count neither way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from language.base import ExtractionRequest, Utterance
from language.reading.figures import normalise_figures
from language.reading.parse import irregular
from language.reading.statements import read
from language.reading.words import listed

LEAST_SHARED = 0.6
"""The share of an expected statement's words that a found one must contain to match it."""

_FIRST = re.compile(r"# legacy: (?P<legacy>.+?); user: (?P<user>.+)")
_LIGHT = listed(
    """a an the of to in on at for with by and be is was were am are been has had have do does did s he she they him
    them his her their himself herself themselves it that user"""
)
"""Function words: a statement may be told by another tense or by a name in place of a pronoun."""
_NOT = re.compile(r"(?:(?<=ca)n|n)['’]t\b")
_AT = datetime(2026, 11, 20, 18, tzinfo=UTC)


class ReadingFileError(Exception):
    """A file is not a valid conversation; the message names the place."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A labelled statement of message ``index``."""

    index: int
    text: str
    optional: bool


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation with its expected statements."""

    name: str
    request: ExtractionRequest
    expected: tuple[Expected, ...]


@dataclass(slots=True)
class Judged:
    """The result: matched pairs of expected and found, and the unmatched of both sides, with message indices."""

    found: list[tuple[Expected, str]] = field(default_factory=list)
    missed: list[Expected] = field(default_factory=list)
    unmatched: list[tuple[int, str]] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)


def talks_of(folder: Path) -> Iterator[Talk]:
    """Yield the conversations of a folder's text files, sorted by name. Raises ReadingFileError."""
    paths = sorted(folder.glob("*.txt"))
    if not paths:
        raise ReadingFileError(f"{folder} holds no text file.")
    for path in paths:
        yield _talk(path)


def _talk(path: Path) -> Talk:
    lines = path.read_text(encoding="utf-8").splitlines()
    first = _FIRST.fullmatch(lines[0].strip()) if lines else None
    if first is None:
        raise ReadingFileError(f"{path.name}: the first line is not '# legacy: NAME; user: NAME'.")
    legacy = None if first["legacy"] == "-" else first["legacy"]
    messages: list[Utterance] = []
    expected: list[Expected] = []
    for number, line in enumerate(lines[1:], start=2):
        mark, text = line[:3], line[3:].strip().replace("\\n", "\n")
        if mark in {"U: ", "A: "}:
            role, speaker = ("user", first["user"]) if mark == "U: " else ("assistant", "Guide")
            at = _AT + timedelta(minutes=len(messages))
            messages.append(Utterance(len(messages), role, speaker, text, at))
        elif line.startswith("= ") and messages:
            said = re.sub(r"^[LU]: ", "", line[2:])
            expected.append(Expected(len(messages) - 1, said, "(optional" in said))
        elif line.strip():
            raise ReadingFileError(f"{path.name}, line {number}: it is no turn and no statement.")
    return Talk(path.name, ExtractionRequest(messages, first["user"], legacy, (), ()), tuple(expected))


def judge(talk: Talk) -> Judged:
    """Extract from a conversation and match the statements with the expected ones by shared words."""
    reading = read(talk.request)
    judged = Judged(dropped=reading.dropped)
    used: set[int] = set()
    for each in talk.expected:
        near = [(place, one) for place, one in enumerate(reading.statements) if one.index == each.index]
        shares = [(_shared(each.text, one.content), place) for place, one in near]
        share, place = max(shares, default=(0.0, -1))
        if share >= LEAST_SHARED:
            used.add(place)
            if not each.optional:
                judged.found.append((each, reading.statements[place].content))
        elif not each.optional:
            judged.missed.append(each)
    judged.unmatched = [(one.index, one.content) for place, one in enumerate(reading.statements) if place not in used]
    return judged


def _shared(expected: str, found: str) -> float:
    wanted, words = _stems(expected), _stems(found)
    return len(wanted & words) / len(wanted) if wanted else 0.0


def _stems(text: str) -> set[str]:
    """The beginnings of its lemmas, with numerals as digits and contractions parted: "isn't" gives "not"."""
    plain = normalise_figures(_NOT.sub(" not", re.sub(r"\([^)]*\)", "", text))).lower()
    words = (word for word in re.findall(r"[^\W_]+", plain) if word not in _LIGHT)
    return {irregular(word)[:5] for word in words}


def figures(judged: Sequence[Judged]) -> tuple[int, int, int]:
    """Return the numbers of found, expected and unexpected statements."""
    found = sum(len(each.found) for each in judged)
    return found, found + sum(len(each.missed) for each in judged), sum(len(each.unmatched) for each in judged)
