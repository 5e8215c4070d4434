"""The interface of the measured systems, the timing of their calls, and the vectors.

Embedding a million texts with a model would take hours. The cost of a search depends on the number and length of other
people's vectors, but not on their values, so the vectors of people who never ask are random.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from .plan import Person, Plan

if TYPE_CHECKING:
    from language.base import Embedder

Vectors = npt.NDArray[np.float32]

MODEL_SIZE = 1_000
"""A slow embedder embeds the memories of people who ask only if they have at most this many."""


def vectors_of(plan: Plan, person: Person, embedder: Embedder, *, slow: bool) -> Vectors:
    """Return the vectors of a person's memories: shape (memories, dimensions), rows of length 1.

    With a ``slow`` embedder only memories of people who ask, up to ``MODEL_SIZE``, are embedded; other vectors are
    random with a fixed seed.
    """
    if not slow or (person.memories <= MODEL_SIZE and person in map(plan.asker, plan.sizes)):
        return embedder.embed_passages([memory.content for memory in plan.memories_of(person)])
    chance = np.random.default_rng(person.number)
    rows = chance.standard_normal((person.memories, embedder.dimensions), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


WORK = ("search", "list", "list_again", "block", "block_again", "add", "add_many")
"""The kinds of work: ``TOP`` best for a question, ``LISTED`` newest, the block, one addition, ``MANY`` additions.

``…_again`` repeats a call without changes in between, for systems that cache answers.
"""

ADDING = ("add", "add_many")
MANY = 100
TOP = 10
LISTED = 100

KEEPS_NOTHING: Mapping[str, str] = {
    "list_again": "it keeps no answers: the same as the first time",
    "block_again": "it keeps no answers: the same as the first time",
}
"""What a system without a cache lacks."""


@dataclass(frozen=True, slots=True)
class Timed:
    """The duration and the answer of a call: ids (for ``search`` the best first), or the text of a block."""

    seconds: float
    answer: Any


class System(Protocol):
    """A system, or a configuration of one.

    ``lacks`` gives the reason for each unsupported kind of work. Initial memories have the ids of the plan, whatever
    the system's own ids; added ones have any id.
    """

    name: str
    lacks: Mapping[str, str]

    def add(self, person: str, text: str) -> list[str]:
        """Add one statement, with its vector if the system stores vectors."""

    def add_many(self, person: str, texts: Sequence[str]) -> list[str]:
        """Add many statements in the system's fastest way without a language model."""

    def search(self, person: str, text: str) -> list[str]:
        """Return the ``TOP`` best for a question, including the embedding of the question."""

    def list(self, person: str) -> list[str]:
        """Return the ``LISTED`` newest, or all if there are fewer."""

    def block(self, person: str) -> str:
        """Return all memories as text for a prompt."""

    def prepare(self, work: str, *arguments: Any) -> None:
        """Prepare a call with these arguments, untimed."""

    def contents(self, person: str, ids: Sequence[str]) -> Sequence[str]:
        """Return the contents of memories in the order of the ids, untimed, to check additions."""


class Replaying(System, Protocol):
    """A system that replays the statements of another system's call."""

    def note(self, work: str, *arguments: Any) -> None:
        """Run the other system's call once and record its statements, untimed."""


def call(system: System, work: str, *arguments: Any) -> Timed:
    """Run one call and time it."""
    system.prepare(work, *arguments)
    doing = getattr(system, work)
    began = time.perf_counter()
    answer = doing(*arguments)
    return Timed(time.perf_counter() - began, answer)
