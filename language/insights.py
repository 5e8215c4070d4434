"""Types of insights: request and answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from language.base import KnownMemory, Usage, Utterance

MOST_INSIGHTS = 3
LONGEST_INSIGHT = 280
"""Characters."""


@dataclass(frozen=True, slots=True)
class InsightRequest:
    """The basis of insights: some memories, and the person's messages of one conversation."""

    memories: Sequence[KnownMemory]
    messages: Sequence[Utterance]


@dataclass(frozen=True, slots=True)
class Insight:
    """A guess about the person: motives, trust, changing preferences.

    ``memories`` and ``messages``: ids and indices of its basis, at least one.
    """

    content: str
    topics: tuple[str, ...]
    importance: int
    memories: tuple[str, ...]
    messages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Insights:
    """At most ``MOST_INSIGHTS`` insights, and the usage."""

    found: tuple[Insight, ...] = ()
    usage: Usage = field(default_factory=Usage)
