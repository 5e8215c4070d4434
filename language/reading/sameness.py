"""Whether two statements about a person say the same, by linear models.

Their features are ``alignment.features_of``, ``differences.doubts`` and, with the bundled embedder, vector
similarities. With it, a second model decides, which also has what the entailment network says; as that takes longer
than all else, only pairs are given to it that the first one finds possible. The weights are trained by
``benchmarks.sameness.train``. The rules of ``differences`` overrule them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from language.backends import get_embedder
from language.base import Vectors
from language.embedders.e5.embedder import TRAITS, BundledEmbedder
from language.embedders.http import EmbedderUnavailable
from language.likeness import likeness

from .abbreviations import spelled_out
from .alignment import Alignment, features_of
from .content import Content
from .differences import differ, differ_in_wording, doubts, stay_doubtful
from .entailed import SEEN, entailed_features
from .turns import differs_in_small_words, is_phrased_otherwise, is_reworded

WEIGHTS = Path(__file__).with_name("sameness.npz")
LEAST_PROBABILITY = 0.02
"""From this probability on the entailment network is asked: the first model gives less to hardly any duplicate."""
LEAST_IN_ONE_PLACE, LEAST_REWORDED = 0.985, 0.88
"""From these probabilities on two are the same that share most of their words and differ in one place.

The second: if that is a turn of phrase. Otherwise most such pairs differ, and the network tells no difference.
"""
LEAST_OF_NEAR, LEAST_IN_DOUBT = 0.1, 0.34
"""From these probabilities on a language model is asked about two that share most of their words.

The second: of those that differ in a word, but in no particular.
"""


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
        return Alignment(*spelled_out(self.first, self.second))

    @cached_property
    def features(self) -> dict[str, float]:
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
        """Whether a difference keeps them apart unless a language model knows better.

        One in wording does so where they share most of their words, or where no vectors tell what is meant.
        """
        near = self._alignment.is_near or self._is_worded
        return self.differs_exactly or (near and differ_in_wording(self._alignment))

    @cached_property
    def differs_exactly(self) -> bool:
        """Whether a difference keeps them apart whatever any model says."""
        return differ(self._alignment)

    @property
    def _is_worded(self) -> bool:
        return self.first.vectors is None or self.second.vectors is None

    @property
    def may_be_duplicate(self) -> bool:
        """Whether they may say the same, so that a model should be asked."""
        if self.differs_exactly or (self._is_worded and self.differs):
            return False
        least = LEAST_IN_DOUBT if self.differs else LEAST_OF_NEAR if self._alignment.is_near else 0
        return self.probability >= max(self._weights.ask, least)

    @property
    def is_duplicate(self) -> bool:
        """Whether they say the same, as far as can be decided without a language model."""
        pair = self._alignment
        if self.differs or self.probability < LEAST_PROBABILITY:
            return False
        is_in_one_place = pair.is_near and len(pair.changed_places) <= 1
        is_turn = is_in_one_place and is_reworded(pair)
        if stay_doubtful(pair) and not (is_turn and is_phrased_otherwise(pair)):
            return False
        is_close = is_in_one_place or differs_in_small_words(pair)
        entailed = None if self._is_worded else entailed_features(self.first.text, self.second.text)
        if entailed is None:
            return self.probability >= self._weights.same and (is_turn or not is_close)
        weights = _load_weights("entailed")
        least = LEAST_REWORDED if is_turn else LEAST_IN_ONE_PLACE if is_close else weights.same
        return weights.probability(self.features_with(entailed)) >= least

    def features_with(self, entailed: Mapping[str, float]) -> dict[str, float]:
        """The features and the network's.

        Each but the network's traits is there again for two that share most words: there it tells something else.
        """
        found = {**self.features, **entailed}
        near = float(self._alignment.is_near)
        again = {f"near_{name}": near * value for name, value in found.items() if not name.startswith(SEEN)}
        return found | again | {"near": near}

    @property
    def has_vector_features(self) -> bool:
        """Whether the vector features are available."""
        return "likeness" in self.features

    @property
    def _weights(self) -> Weights:
        return _load_weights("meant" if self.has_vector_features else "worded")

    @cached_property
    def probability(self) -> float:
        """The probability that they say the same, from 0 to 1, without the entailment network."""
        return self._weights.probability(self.features)


@dataclass(frozen=True)
class Weights:
    """A model: feature names, weights, bias, and the thresholds for "same" and for asking a language model."""

    names: list[str]
    weights: Vectors
    bias: float
    same: float
    ask: float

    def probability(self, features: Mapping[str, float]) -> float:
        """The probability of "same" by these features, from 0 to 1."""
        values = np.array([features[name] for name in self.names])
        return float(1 / (1 + np.exp(-(values @ self.weights + self.bias))))


@cache
def _load_weights(kind: Literal["worded", "meant", "entailed"]) -> Weights:
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        names = bytes(stored[f"{kind}_names"]).decode().split()
        return Weights(names, stored[f"{kind}_weights"], *stored[f"{kind}_limits"].tolist())
