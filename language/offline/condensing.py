"""Saying several known memories in fewer, by rule. In doubt they are left alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from language.base import Condensed, KnownMemory
from language.offline.categories import DEFAULT_IMPORTANCE
from language.offline.compare import Sense, compare_senses, sense_of
from language.offline.joining import Parts, joined_parts, parts_of
from language.offline.lexicon import verbs
from language.offline.rewrite import MAX_CONTENT

_FIGURE = re.compile(r"\d+(?:[.,:/-]\d+)*")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class _Read:
    memory: KnownMemory
    sense: Sense
    past: bool


def condense(memories: Sequence[KnownMemory]) -> tuple[Condensed, ...]:
    """Say memories of one category, subject and field in fewer where that needs no judgement.

    Those that say the same become the fullest of their wordings, if it has every figure and name of the others. Of the
    rest, those without a field that say one thing each of the same person become one sentence. What contradicts another
    is left alone.
    """
    kept_alike: dict[tuple[str, str, str], list[_Read]] = {}
    for memory in memories:
        alike = (memory.category, memory.subject.casefold(), memory.field)
        kept_alike.setdefault(alike, []).append(_read(memory))
    return tuple(condensed for reads in kept_alike.values() for condensed in _of_one_subject(reads))


def _of_one_subject(reads: Sequence[_Read]) -> Iterable[Condensed]:
    disputed = {
        read.memory.id
        for pair in combinations(reads, 2)
        if compare_senses(pair[0].sense, pair[1].sense) == "contradicts"
        for read in pair
    }
    left: list[KnownMemory] = []
    for group in _saying_the_same([read for read in reads if read.memory.id not in disputed]):
        fullest = _fullest(group)
        if fullest is None:
            left.extend(group if len(group) == 1 else ())
        else:
            yield _condensed(fullest.content, fullest, group)
    if not left or left[0].field:
        return
    yield from _joined(left)


def _read(memory: KnownMemory) -> _Read:
    words = _WORD.findall(memory.content.lower())
    return _Read(memory, sense_of(memory.content), any(verbs.is_past(word) for word in words))


def _saying_the_same(reads: Sequence[_Read]) -> list[list[KnownMemory]]:
    groups: list[list[_Read]] = []
    for read in reads:
        for group in groups:
            if all(other.past == read.past and compare_senses(other.sense, read.sense) == "same" for other in group):
                group.append(read)
                break
        else:
            groups.append([read])
    return [[read.memory for read in group] for group in groups]


def _fullest(group: Sequence[KnownMemory]) -> KnownMemory | None:
    """The wording with the most words, the newest of them, if nothing that counts stands in another one only."""
    if len(group) < 2:
        return None
    fullest = max(group, key=lambda memory: (len(memory.content.split()), memory.date, memory.id))
    if len(fullest.content) > MAX_CONTENT:
        return None
    telling = _telling(fullest)
    return fullest if all(_telling(memory) <= telling for memory in group) else None


def _telling(memory: KnownMemory) -> set[str]:
    """Figures and names."""
    words = _WORD.findall(memory.content)
    names = {word for place, word in enumerate(words) if word[0].isupper() and place}
    return set(_FIGURE.findall(memory.content)) | names


def _joined(memories: Sequence[KnownMemory]) -> Iterable[Condensed]:
    """As many into each sentence as it can hold, in the order given."""
    alike: dict[tuple[str, str], list[tuple[KnownMemory, Parts]]] = {}
    for memory in memories:
        parts = parts_of(memory.content)
        if parts is not None:
            alike.setdefault((parts.who, parts.verb), []).append((memory, parts))
    for told in alike.values():
        group: list[tuple[KnownMemory, Parts]] = []
        for one in told:
            if group and joined_parts([parts for _, parts in (*group, one)]) is None:
                yield from _one_sentence(group)
                group = []
            group.append(one)
        yield from _one_sentence(group)


def _one_sentence(group: Sequence[tuple[KnownMemory, Parts]]) -> Iterable[Condensed]:
    content = joined_parts([parts for _, parts in group])
    if content is not None:
        yield _condensed(content, group[0][0], [memory for memory, _ in group])


def _condensed(content: str, kept: KnownMemory, group: Sequence[KnownMemory]) -> Condensed:
    return Condensed(content, kept.category, kept.subject, DEFAULT_IMPORTANCE, tuple(memory.id for memory in group))
