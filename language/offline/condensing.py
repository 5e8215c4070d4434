"""Saying several known memories in fewer, by rule. In doubt they are left alone."""

from __future__ import annotations

from collections.abc import Sequence

from language.base import Condensed, KnownMemory
from language.offline.categories import DEFAULT_IMPORTANCE
from language.offline.compare import Sense, compare_senses, sense_of


def condense(memories: Sequence[KnownMemory]) -> tuple[Condensed, ...]:
    """Put memories of one category, subject and field that say the same into the fullest of their wordings."""
    groups: list[list[tuple[KnownMemory, Sense]]] = []
    for memory in memories:
        sense = sense_of(memory.content)
        for group in groups:
            if all(
                _kept_alike(known, memory) and compare_senses(known_sense, sense) == "same"
                for known, known_sense in group
            ):
                group.append((memory, sense))
                break
        else:
            groups.append([(memory, sense)])
    return tuple(_condensed([memory for memory, _ in group]) for group in groups if len(group) > 1)


def _kept_alike(one: KnownMemory, other: KnownMemory) -> bool:
    return (one.category, one.subject.casefold(), one.field) == (other.category, other.subject.casefold(), other.field)


def _condensed(group: Sequence[KnownMemory]) -> Condensed:
    fullest = max(group, key=lambda memory: (len(memory.content.split()), memory.date))
    return Condensed(
        fullest.content,
        fullest.category,
        fullest.subject,
        DEFAULT_IMPORTANCE,
        tuple(memory.id for memory in group),
    )
