"""Similarity of meaning of two statements about the user, from vectors of the bundled embedder.

These vectors are concentrated: any two sentences have a cosine of about 0.8. Their mean is subtracted and the main
components are scaled down, so that unrelated statements become orthogonal. A common name or a common language other
than English makes any two similar, so the measure is useless there.
``benchmarks.gates.train`` makes the weights.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from language.base import Vectors
from language.gates.judging import Layers, scores
from language.reading.compare import shared_words
from language.reading.stems import words_of

WEIGHTS = Path(__file__).with_name("likeness.npz")
DIRECTIONS = 64


class Frame(NamedTuple):
    """The mean, the main components as columns, and the share of each that is removed."""

    mean: Vectors
    directions: Vectors
    less: Vectors


def frame_of(vectors: Vectors) -> Frame:
    """Fit the frame to a sample of vectors."""
    mean = vectors.mean(axis=0)
    spread, directions = np.linalg.eigh(np.cov((vectors - mean).T))
    rest = spread[:-DIRECTIONS].mean() + spread.mean()
    less = 1 - np.sqrt(rest / (spread[-DIRECTIONS:] + spread.mean()))
    return Frame(*(np.asarray(each, np.float32) for each in (mean, directions[:, -DIRECTIONS:], less)))


def likeness(one: Vectors, other: Vectors, frame: Frame | None = None) -> float:
    """Return the similarity from -1 to 1: about 0 for unrelated statements, mostly at least 0.4 for paraphrases."""
    first, second = _seen(one, frame or _frame()), _seen(other, frame or _frame())
    return float(first @ second / np.sqrt((first @ first) * (second @ second) + 1e-12))


def sameness(rejected: str, said: str, similarity: float, alike: float) -> float:
    """How much speaks for a statement's saying what was rejected, as a logarithm, by its words and its vectors.

    ``similarity`` is the cosine of their vectors, ``alike`` their likeness.
    """
    made = scores(_layers(), traits_of_pair(rejected, said, similarity, alike))
    return float(made[1] - made[0])


def traits_of_pair(rejected: str, said: str, similarity: float, alike: float) -> Vectors:
    """What a pair is judged by: how near it is, which words it shares, and how many only one of them has."""
    first, second = set(words_of(rejected)), set(words_of(said))
    both, telling = len(first & second), shared_words(rejected, said)
    return np.array(
        [
            similarity,
            alike,
            telling,
            both / max(1, min(len(first), len(second))),
            both / max(1, len(first | second)),
            abs(len(first) - len(second)) / 5,
            len(first - second) / 5,
            len(second - first) / 5,
            similarity**8,
            alike * telling,
        ],
        dtype=np.float32,
    )


def seen(vector: Vectors) -> Vectors:
    """A vector as it is compared."""
    return _seen(vector, _frame())


def _seen(vector: Vectors, frame: Frame) -> Vectors:
    off = vector - frame.mean
    return np.asarray(off - (off @ frame.directions * frame.less) @ frame.directions.T, dtype=np.float32)


@cache
def _frame() -> Frame:
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        return Frame(*(stored[part].astype(np.float32) for part in Frame._fields))


@cache
def _layers() -> Layers:
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        return Layers(*(stored[f"pair_{part}"].astype(np.float32) for part in Layers._fields))
