"""What a language model says of statements that may be one, and in fewer."""

from __future__ import annotations

from dataclasses import dataclass, field

from language.base import Comparison, Usage


@dataclass(frozen=True, slots=True)
class Condensed:
    """One memory that says what several said. ``sources`` are the ids of those, at least two."""

    content: str
    category: str
    subject: str
    importance: int
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """What a model says of pairs of statements, in their order, and what it used to say so."""

    verdicts: tuple[Comparison, ...]
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Condensing:
    """What a model says in fewer memories, and what it used to say so."""

    memories: tuple[Condensed, ...] = ()
    usage: Usage = field(default_factory=Usage)
