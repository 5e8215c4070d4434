"""Merge known memories that say the same, by their claims. Unclear cases are left alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import combinations

from language.base import KnownMemory
from language.consolidating import Condensed

from .compare import Saying, compare
from .gate import MOST_CHARACTERS
from .kinds import DEFAULT_IMPORTANCE

_FIGURE = re.compile(r"\d+(?:[.,:/-]\d+)*")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def condense(memories: Sequence[KnownMemory]) -> tuple[Condensed, ...]:
    """Merge memories of one category, subject and field where that needs no judgement.

    Equal statements become the fullest wording, if it has all figures and names of the others. Incompatible ones are
    left alone.
    """
    alike: dict[tuple[str, str, str], list[KnownMemory]] = {}
    for memory in memories:
        alike.setdefault((memory.category, memory.subject.casefold(), memory.field), []).append(memory)
    return tuple(condensed for group in alike.values() for condensed in _of_one_subject(group))


def _of_one_subject(memories: Sequence[KnownMemory]) -> Iterable[Condensed]:
    sayings = {memory.id: Saying(memory.content) for memory in memories}
    verdicts = {
        (one.id, other.id): compare(sayings[one.id], sayings[other.id]) for one, other in combinations(memories, 2)
    }
    disputed = {each for pair, verdict in verdicts.items() if verdict in {"contradicts", "replaces"} for each in pair}
    groups: list[list[KnownMemory]] = []
    for memory in (each for each in memories if each.id not in disputed):
        for group in groups:
            if all(verdicts[other.id, memory.id] == "same" for other in group):
                group.append(memory)
                break
        else:
            groups.append([memory])
    for group in groups:
        fullest = _fullest(group)
        if fullest is not None:
            sources = tuple(memory.id for memory in group)
            yield Condensed(fullest.content, fullest.category, fullest.subject, DEFAULT_IMPORTANCE, sources)


def _fullest(group: Sequence[KnownMemory]) -> KnownMemory | None:
    """The longest wording, the newest on a tie; None if another has a figure or name that it lacks."""
    fullest = max(group, key=lambda memory: (len(memory.content.split()), memory.date, memory.id))
    if len(group) < 2 or len(fullest.content) > MOST_CHARACTERS:
        return None
    telling = _figures_and_names(fullest)
    return fullest if all(_figures_and_names(memory) <= telling for memory in group) else None


def _figures_and_names(memory: KnownMemory) -> set[str]:
    """Figures and names."""
    words = _WORD.findall(memory.content)
    names = {word for place, word in enumerate(words) if word[0].isupper() and place}
    return set(_FIGURE.findall(memory.content)) | names
