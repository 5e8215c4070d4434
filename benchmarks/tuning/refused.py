"""The lines that teach what a person refuses to have kept: a label, what the assistant said before, and the message.

``dialogues.tsv`` has whole messages; ``answers.tsv`` answers to the question whether to keep something;
``refusals.txt`` sentences and clauses by kind, which are given something that an assistant said, or nothing;
``mistaken.txt`` messages of ``outdated.tsv`` and its neighbours that an earlier tuning took for refusals, or nearly.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from benchmarks.lines import labelled_lines, lines, sections

MOST_WORDS = 45
"""Of longer messages the network reads the beginning, which may lack the request."""


def refused_lines() -> list[list[str]]:
    """Return lines of a label ("no" if something is refused, else "yes"), the assistant's words, and the message."""
    found = (each for each in _refused(Random(5)) if len(each[2].split()) <= MOST_WORDS)
    return [list(each) for each in dict.fromkeys(found)]


def _refused(random: Random) -> Iterator[tuple[str, ...]]:
    yield from map(tuple, labelled_lines("gates/dialogues.tsv"))
    yield from map(tuple, labelled_lines("gates/answers.tsv"))
    asking, other = (sections("gates/asking.txt")[kind] for kind in ("asks", "neither"))
    told = sections("gates/refusals.txt")
    for number, text in enumerate(told["points"]):
        yield "no", random.choice(other) if number % 3 == 0 else "", text
    for text in told["no"]:
        yield "no", random.choice(asking), text
    for number, text in enumerate(told["neither"]):
        yield "yes", (random.choice(asking), "", "", random.choice(other))[number % 4], text
    for number, text in enumerate(lines("gates/talk.txt")):
        yield "yes", (random.choice(asking), "", random.choice(other))[number % 3], text
    for text in lines("gates/mistaken.txt"):
        yield "yes", "", text
