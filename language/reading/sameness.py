"""Whether two statements about a person say one thing, weighed from how their words go together and what they mean.

A linear model over ``alignment.figures_of``, ``differences.doubts`` and, with the bundled embedder, over how alike they
are as vectors; its weights are learned from pairs by ``benchmarks.sameness.train``. What ``differences`` finds has the
last word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from language.backends import get_embedder
from language.base import Vectors
from language.embedders.e5.embedder import TRAITS, BundledEmbedder
from language.embedders.http import EmbedderUnavailable
from language.likeness import likeness

from .alignment import Alignment, figures_of
from .content import Content
from .differences import differ, doubts, may_differ

WEIGHTS = Path(__file__).with_name("sameness.npz")


class Statement(Content):
    """A statement with its vectors, which are made once and only when they are needed."""

    @cached_property
    def vectors(self) -> tuple[Vectors, Vectors] | None:
        """As the bundled embedder has it, with its traits; None with another embedder, or while it can't be loaded."""
        embedder = get_embedder()
        if not isinstance(embedder, BundledEmbedder):
            return None
        try:
            vectors, traits = embedder.read_passages([self.text])
        except EmbedderUnavailable:
            return None
        return vectors[0], traits[0]


@dataclass(frozen=True)
class Pair:
    """Two statements that may be one."""

    one: Statement
    other: Statement

    @cached_property
    def _alignment(self) -> Alignment:
        return Alignment(self.one, self.other)

    @cached_property
    def figures(self) -> Mapping[str, float]:
        """What is weighed."""
        return figures_of(self._alignment) | doubts(self._alignment) | self._meant()

    def _meant(self) -> dict[str, float]:
        one, other = self.one.vectors, self.other.vectors
        if one is None or other is None:
            return {}
        found = {"likeness": likeness(one[0], other[0]), "cosine": float(one[0] @ other[0])}
        parts = zip(np.split(one[1], TRAITS), np.split(other[1], TRAITS), strict=True)
        return found | {f"trait_{at}": float(first @ second) for at, (first, second) in enumerate(parts)}

    @cached_property
    def differs(self) -> bool:
        """Whether something said exactly keeps them apart, whoever says that they are one."""
        return differ(self._alignment)

    @property
    def may_be_one(self) -> bool:
        """Whether they may say one thing, which a model can tell."""
        return not self.differs and self.chance >= _weights(self.is_meant).ask

    @property
    def is_one(self) -> bool:
        """Whether they say one thing, as far as can be told without a model."""
        return not self.differs and not may_differ(self._alignment) and self.chance >= _weights(self.is_meant).same

    @property
    def is_meant(self) -> bool:
        """Whether their vectors are known."""
        return "likeness" in self.figures

    @cached_property
    def chance(self) -> float:
        """How likely it is that they say one thing, from 0 to 1."""
        weights = _weights(self.is_meant)
        values = np.array([self.figures[name] for name in weights.names])
        return float(1 / (1 + np.exp(-(values @ weights.weights + weights.bias))))


@dataclass(frozen=True)
class Weights:
    """What each number counts for, and from which chance on two statements are one, and may be."""

    names: list[str]
    weights: Vectors
    bias: float
    same: float
    ask: float


@cache
def _weights(is_meant: bool) -> Weights:
    kind = "meant" if is_meant else "worded"
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        names = bytes(stored[f"{kind}_names"]).decode().split()
        bias, same, ask = stored[f"{kind}_limits"].tolist()
        return Weights(names, stored[f"{kind}_weights"], bias, same, ask)
