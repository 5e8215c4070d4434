"""The lines that teach what a person refuses to have kept: a label, what the assistant said before, and the message.

``dialogues.tsv`` has whole messages; ``answers.tsv`` answers to the question whether to keep something;
``refusals.txt`` sentences and clauses by kind, which are given something that an assistant said, or nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

GATES = Path(__file__).parent.parent / "gates"
MOST_WORDS = 45
"""Of longer messages the network reads the beginning, which may lack the request."""


def refused_lines() -> list[list[str]]:
    """Return lines of a label ("no" if something is refused, else "yes"), the assistant's words, and the message."""
    lines = [each for each in _refused(Random(5)) if len(each[2].split()) <= MOST_WORDS]
    return [list(each) for each in dict.fromkeys(map(tuple, lines))]


def _refused(random: Random) -> Iterator[tuple[str, str, str]]:
    for name in ("dialogues.tsv", "answers.tsv"):
        for line in _lines(name):
            label, before, said = line.split("\t")
            yield label, before, said
    asking, other = _sections("asking.txt")
    points, no, neither, _ = _sections("refusals.txt")
    for number, text in enumerate(points):
        yield "no", random.choice(other) if number % 3 == 0 else "", text
    for text in no:
        yield "no", random.choice(asking), text
    for number, text in enumerate(neither):
        yield "yes", (random.choice(asking), "", "", random.choice(other))[number % 4], text
    for number, text in enumerate(_lines("talk.txt")):
        yield "yes", (random.choice(asking), "", random.choice(other))[number % 3], text


def _sections(name: str) -> list[list[str]]:
    """Return the lines of a file below each of its headings."""
    found: list[list[str]] = []
    for line in _lines(name):
        if line.startswith("# "):
            found.append([])
        else:
            found[-1].append(line)
    return found


def _lines(name: str) -> list[str]:
    return [line for line in (GATES / name).read_text(encoding="utf-8").splitlines() if line]
