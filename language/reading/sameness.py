"""Whether two statements about a person say the same, by a linear model.

Its features are ``alignment.features_of``, ``differences.doubts`` and, with the bundled embedder, vector similarities.
The weights are trained by ``benchmarks.sameness.train``. The rules of ``differences`` overrule it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from language.backends import get_embedder
from language.base import Vectors
from language.embedders.e5.embedder import BundledEmbedder
from language.embedders.http import EmbedderUnavailable
from language.likeness import likeness

from .alignment import Alignment, features_of
from .content import Content
from .differences import differ, differ_in_wording, doubts, may_differ

WEIGHTS = Path(__file__).with_name("sameness.npz")


@dataclass(frozen=True)
class EmbeddedStatement(Content):
    """A statement with its vector: ``stored``, if it is of the bundled embedder, or computed once on demand."""

    stored: Vectors | None = field(default=None, compare=False, repr=False)

    @cached_property
    def vector(self) -> Vectors | None:
        """The bundled embedder's vector; None with another embedder, or if it can't be loaded."""
        embedder = get_embedder()
        if not isinstance(embedder, BundledEmbedder):
            return None
        if self.stored is not None:
            return self.stored
        try:
            return embedder.embed_passages([self.text])[0]
        except EmbedderUnavailable:
            return None


class Worded(EmbeddedStatement):
    """A statement that is compared by its words alone, without calling the embedder."""

    vector = None


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
        first, second = self.first.vector, self.second.vector
        if first is None or second is None:
            return {}
        return {"likeness": likeness(first, second), "cosine": float(first @ second)}

    @cached_property
    def differs(self) -> bool:
        """Whether an exact difference keeps them apart, whatever a model says.

        Without vectors that tell what is meant, so does any difference in wording.
        """
        is_worded = self.first.vector is None or self.second.vector is None
        return differ(self._alignment) or (is_worded and differ_in_wording(self._alignment))

    @property
    def may_be_duplicate(self) -> bool:
        """Whether they may say the same, so that a model should be asked."""
        return not self.differs and (self.has_same_words or self.probability >= self._least_probability)

    @property
    def _least_probability(self) -> float:
        """The probability from which on a model is asked: of two that share most words, they tell more."""
        weights, alignment = self._weights, self._alignment
        if not alignment.is_near:
            return weights.ask
        return weights.ask_in_one_place if alignment.differs_in_one_place else weights.ask_near

    @property
    def has_same_words(self) -> bool:
        """Whether the two are equal once amounts and phrasings have one form."""
        return self.first.normalised.lower() == self.second.normalised.lower()

    @property
    def is_duplicate(self) -> bool:
        """Whether they say the same, as far as can be decided without a model."""
        if self.differs:
            return False
        is_substituted = any(is_both for _, _, is_both in self._alignment.substitutions)
        least = self._weights.same_substituted if is_substituted else self._weights.same
        return self.has_same_words or (self.probability >= least and not may_differ(self._alignment))

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
    """The model: feature names, weights, bias, and the thresholds for "same" and for asking a model."""

    names: list[str]
    weights: Vectors
    bias: float
    same: float
    same_substituted: float
    ask: float
    ask_near: float
    ask_in_one_place: float


@cache
def _load_weights(*, has_vector_features: bool) -> Weights:
    kind = "meant" if has_vector_features else "worded"
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        names = bytes(stored[f"{kind}_names"]).decode().split()
        return Weights(names, stored[f"{kind}_weights"], *stored[f"{kind}_limits"].tolist())
