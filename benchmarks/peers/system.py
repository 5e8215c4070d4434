"""What is measured of every system, and how: the clock stands around the call and nothing else. And the vectors.

A model that embeds takes milliseconds for a text, so a million would take hours. What a search costs does not hang on
what others' vectors say, only on how many there are and how long they are: those of people who never ask are random.
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
"""Of people who ask and have at most so many memories, a slow embedder embeds each."""


def vectors_of(plan: Plan, person: Person, embedder: Embedder, *, slow: bool) -> Vectors:
    """The vectors of a person's memories, of shape (memories, dimensions), rows of length 1.

    A ``slow`` embedder embeds those of the people who ask, up to ``MODEL_SIZE`` memories; others' are random, the same
    in every run.
    """
    if not slow or (person.memories <= MODEL_SIZE and person in map(plan.asker, plan.sizes)):
        return embedder.embed_passages([memory.content for memory in plan.memories_of(person)])
    chance = np.random.default_rng(person.number)
    rows = chance.standard_normal((person.memories, embedder.dimensions), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


WORK = ("search", "list", "list_again", "block", "block_again", "add", "add_many")
"""The ``TOP`` best for a question, the ``LISTED`` newest, the text for a prompt, one new memory, ``MANY`` new ones.

``…_again`` is the same call while nothing has changed since the last, for systems that keep answers.
"""

ADDING = ("add", "add_many")
MANY = 100
TOP = 10
LISTED = 100

KEEPS_NOTHING: Mapping[str, str] = {
    "list_again": "it keeps no answers: the same as the first time",
    "block_again": "it keeps no answers: the same as the first time",
}
"""What a system lacks that reads everything anew each time."""


@dataclass(frozen=True, slots=True)
class Timed:
    """How long a call took, and what it answered: ids (of ``search`` the best first), or the text of a block."""

    seconds: float
    answer: Any


class System(Protocol):
    """One system, or one setting of one.

    ``lacks`` says of each kind of work that it does not have, why. Filled memories are known by the ids of the plan,
    whatever the system calls them; what is added has any id.
    """

    name: str
    lacks: Mapping[str, str]

    def add(self, person: str, text: str) -> list[str]:
        """Remember one statement, with its vector where the system keeps one."""

    def add_many(self, person: str, texts: Sequence[str]) -> list[str]:
        """Remember many, in the quickest way that the system offers for statements that need no model."""

    def search(self, person: str, text: str) -> list[str]:
        """The ``TOP`` best for a question, the embedding of the question included."""

    def list(self, person: str) -> list[str]:
        """The ``LISTED`` newest, or all when there are fewer."""

    def block(self, person: str) -> str:
        """All that is remembered, as the text that a prompt carries."""

    def prepare(self, work: str, *arguments: Any) -> None:
        """Whatever has to be so before a call, which is told with its arguments; not timed."""

    def contents(self, person: str, ids: Sequence[str]) -> Sequence[str]:
        """What memories say, in the order of the ids; not timed, to check what was added."""


class Replaying(System, Protocol):
    """One that sends again what another system's call has sent."""

    def note(self, work: str, *arguments: Any) -> None:
        """Let the other do it once, and note what it sends; not timed."""


def call(system: System, work: str, *arguments: Any) -> Timed:
    """Do one piece of work and time it."""
    system.prepare(work, *arguments)
    doing = getattr(system, work)
    began = time.perf_counter()
    answer = doing(*arguments)
    return Timed(time.perf_counter() - began, answer)
