"""The vectors of what is remembered: those of the embedder, or of any direction where nobody asks.

A model that reads takes milliseconds for a text, so a million would take hours. What a search costs does not hang on
what others' vectors say, only on how many there are and how long they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
