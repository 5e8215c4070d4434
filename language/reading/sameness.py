"""Whether two statements about a person say the same, by a linear model.

Its features are ``alignment.features_of``, ``differences.doubts`` and, with the bundled embedder, vector similarities.
The weights are trained by ``benchmarks.sameness.train``. The rules of ``differences`` overrule it.
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

from .alignment import Alignment, features_of
from .content import Content
from .differences import differ, differ_in_wording, doubts, may_differ

WEIGHTS = Path(__file__).with_name("sameness.npz")


class EmbeddedStatement(Content):
    """A statement with its vectors, computed once on demand."""

    @cached_property
    def vectors(self) -> tuple[Vectors, Vectors] | None:
        """The bundled embedder's vector and traits; None with another embedder, or if it can't be loaded."""
        embedder = get_embedder()
        if not isinstance(embedder, BundledEmbedder):
            return None
        try:
            vectors, traits = embedder.read_passages([self.text])
        except EmbedderUnavailable:
            return None
        return vectors[0], traits[0]


class Worded(EmbeddedStatement):
    """A statement that is compared by its words alone, without calling the embedder."""

    vectors = None


@dataclass(frozen=True)
class StatementPair:
    """Two statements that may say the same."""

    first: EmbeddedStatement
    second: EmbeddedStatement

    @cached_property
    def _alignment(self) -> Alignment:
        return Alignment(self.first, self.second)

    @cached_property
    def features(self) -> Mapping[str, float]:
        """The features."""
        return features_of(self._alignment) | doubts(self._alignment) | self._vector_features()

    def _vector_features(self) -> dict[str, float]:
        first_vectors, second_vectors = self.first.vectors, self.second.vectors
        if first_vectors is None or second_vectors is None:
            return {}
        found = {
            "likeness": likeness(first_vectors[0], second_vectors[0]),
            "cosine": float(first_vectors[0] @ second_vectors[0]),
        }
        parts = zip(np.split(first_vectors[1], TRAITS), np.split(second_vectors[1], TRAITS), strict=True)
        return found | {f"trait_{at}": float(first @ second) for at, (first, second) in enumerate(parts)}

    @cached_property
    def differs(self) -> bool:
        """Whether an exact difference keeps them apart, whatever a model says.

        Without vectors that tell what is meant, so does any difference in wording.
        """
        return differ(self._alignment) or (self._is_worded and differ_in_wording(self._alignment))

    @property
    def _is_worded(self) -> bool:
        return self.first.vectors is None or self.second.vectors is None

    @property
    def may_be_duplicate(self) -> bool:
        """Whether they may say the same, so that a model should be asked."""
        if self.differs:
            return False
        weights = self._weights
        return self.probability >= (weights.ask_near if self._alignment.is_near else weights.ask)

    @property
    def is_duplicate(self) -> bool:
        """Whether they say the same, as far as can be decided without a model."""
        return not self.differs and not may_differ(self._alignment) and self.probability >= self._weights.same

    @property
    def has_vector_features(self) -> bool:
        """Whether the vector features are available."""
        return "likeness" in self.features

    @property
    def _weights(self) -> Weights:
        return _load_weights(has_vector_features=self.has_vector_features)

    @cached_property
    def probability(self) -> float:
        """The probability that they say the same, from 0 to 1."""
        weights = self._weights
        values = np.array([self.features[name] for name in weights.names])
        return float(1 / (1 + np.exp(-(values @ weights.weights + weights.bias))))


@dataclass(frozen=True)
class Weights:
    """The model: feature names, weights, bias, and the thresholds for "same" and for asking a model.

    Of two that share most words, the words tell more of a difference: a model is asked from ``ask_near`` on.
    """

    names: list[str]
    weights: Vectors
    bias: float
    same: float
    ask: float
    ask_near: float


@cache
def _load_weights(*, has_vector_features: bool) -> Weights:
    kind = "meant" if has_vector_features else "worded"
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        names = bytes(stored[f"{kind}_names"]).decode().split()
        return Weights(names, stored[f"{kind}_weights"], *stored[f"{kind}_limits"].tolist())
