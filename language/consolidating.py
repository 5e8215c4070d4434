"""Types of comparing and merging statements."""

from __future__ import annotations

from dataclasses import dataclass, field

from language.base import Comparison, Usage


@dataclass(frozen=True, slots=True)
class Condensed:
    """A merged memory. ``sources``: ids of at least two memories."""

    content: str
    category: str
    subject: str
    importance: int
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """The verdicts on pairs of statements in order, and the usage."""

    verdicts: tuple[Comparison, ...]
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Condensing:
    """Merged memories, and the usage."""

    memories: tuple[Condensed, ...] = ()
    usage: Usage = field(default_factory=Usage)
