"""Whether answers are right: a fast wrong one would win every race."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from .plan import Person

_ROUNDING = 1e-3
"""Vectors are kept with 16 bits a number by some systems, so cosines this near are taken for the same."""


def nearest(vectors: npt.NDArray[np.float32], question: npt.NDArray[np.float32], first: int, top: int) -> set[str]:
    """The ids of the ``top`` rows nearest to the question, and of those that are as near as the last of them.

    ``vectors`` has the shape (rows, dimensions), rows and question are of length 1; the first row has the number
    ``first``. With fewer rows than ``top``, all of them.
    """
    cosines = vectors @ question
    most = min(top, len(cosines))
    last = np.partition(cosines, len(cosines) - most)[len(cosines) - most]
    return {f"{first + int(row):08d}" for row in np.flatnonzero(cosines >= last - _ROUNDING)}


def recall(answer: Sequence[str], right: Collection[str], wanted: int) -> float:
    """Which part of the ``wanted`` best is in the answer. More may be right than are wanted, when some are equal.

    An answer counts each id once, and only as many ids as are wanted.
    """
    if not wanted:
        return 1.0
    return len(set(answer[:wanted]).intersection(right)) / wanted


def foreign(answer: Sequence[str], person: Person) -> list[str]:
    """The ids in an answer that are none of the person's, to whom nothing was added."""
    return [each for each in answer if not person.owns(each)]


def block_holds(text: str, contents: Sequence[str]) -> bool:
    """Whether every statement stands in the text for a prompt."""
    return all(content in text for content in contents)
