"""How much of what conversations say the built-in reading finds, and what it drops for which reason.

A conversation is a text file: ``# legacy: NAME; user: NAME`` (``-`` for no legacy), then a turn a line after ``U:`` or
``A:``, with ``\\n`` for a line break, and under a turn of the user's what it says, after ``= L:`` of the legacy and
``= U:`` of the user. What ends in "(optional)" counts neither way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from language.base import ExtractionRequest, Utterance
from language.reading.statements import read

LEAST_SHARED = 0.6
"""The share of an expected statement's words that one found for its message must have to count as it."""

_FIRST = re.compile(r"# legacy: (?P<legacy>.+?); user: (?P<user>.+)")
_LIGHT = frozenset("a an the of to in on at for with by and was is has had s his her their it that user".split())  # noqa: SIM905
_AT = datetime(2026, 11, 20, 18, tzinfo=UTC)


class ReadingFileError(Exception):
    """A file of the folder is no conversation; the message says where."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A statement that message ``index`` makes, as somebody wrote it down."""

    index: int
    text: str
    optional: bool


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation with what it says."""

    name: str
    request: ExtractionRequest
    expected: tuple[Expected, ...]


@dataclass(slots=True)
class Judged:
    """What was found: pairs of expected and found, and on each side what has no match, with the messages' indices."""

    found: list[tuple[Expected, str]] = field(default_factory=list)
    missed: list[Expected] = field(default_factory=list)
    unmatched: list[tuple[int, str]] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)


def talks_of(folder: Path) -> Iterator[Talk]:
    """The conversations of a folder's text files, by name. Raises ReadingFileError."""
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
    """Read a conversation and match what comes out with what was expected, by the words they share."""
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
    words = re.findall(r"[^\W_]+", re.sub(r"\([^)]*\)", "", text.lower()))
    return {word[:5] for word in words if word not in _LIGHT}


def figures(judged: Sequence[Judged]) -> tuple[int, int, int]:
    """How many statements were found, were expected, and came out without having been expected."""
    found = sum(len(each.found) for each in judged)
    return found, found + sum(len(each.missed) for each in judged), sum(len(each.unmatched) for each in judged)
