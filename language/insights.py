"""What a language model is asked to guess of a person, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from language.base import KnownMemory, Usage, Utterance

MOST_INSIGHTS = 3
LONGEST_INSIGHT = 280
"""Characters."""


@dataclass(frozen=True, slots=True)
class InsightRequest:
    """What an insight may rest on: a few memories, and messages of the person out of one conversation."""

    memories: Sequence[KnownMemory]
    messages: Sequence[Utterance]


@dataclass(frozen=True, slots=True)
class Insight:
    """A guess about the person: what moves them, whom they trust, how what they like changes.

    ``memories`` and ``messages`` are the ids and the indices of what it rests on, at least one of them together.
    """

    content: str
    topics: tuple[str, ...]
    importance: int
    memories: tuple[str, ...]
    messages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Insights:
    """At most ``MOST_INSIGHTS`` of them, and what the model used."""

    found: tuple[Insight, ...] = ()
    usage: Usage = field(default_factory=Usage)
