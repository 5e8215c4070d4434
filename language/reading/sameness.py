"""Whether two statements about a person say the same, by a linear model and a network.

Their features are ``alignment.features_of``, ``differences.doubts`` and, with the bundled embedder, vector
similarities. With it, the entailment network decides, tuned for this question (``benchmarks.tuning``); as that takes
longer than all else, only pairs are given to it that the linear model finds possible. Its weights are trained by
``benchmarks.sameness.train``. The rules of ``differences`` overrule both.
"""

from __future__ import annotations

import math
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
from .differences import differ, differ_in_telling, differ_in_wording, doubts, leave_much_over, stay_doubtful
from .entailed import sameness_logit
from .turns import is_phrased_otherwise, is_reordered, is_reworded

WEIGHTS = Path(__file__).with_name("sameness.npz")
LEAST_PROBABILITY = 0.004
"""From this probability on the entailment network is asked: the linear model gives less to hardly any duplicate."""
LEAST_LOGIT, LEAST_LOGIT_OF_MORE = 2.6, 3.7
"""From these logits of the network on two are the same. The second: of those that leave much over."""
MOST_WORDS_OF_MORE = 10
"""Of longer texts that leave much over the network sees too little: of LoCoMo's it took 40 pairs for the same, most of
them wrongly."""
LEAST_ASKED_LOGIT, LEAST_TOLD_OTHERWISE = 0.0, 3.5
"""From these logits on a language model is asked, whatever the linear model finds. The second: of two that
``differ_in_telling`` keeps apart."""
LEAST_REWORDED = 0.7
"""From this probability on two that differ in a listed turn of phrase, or only in order, are the same.

The network takes even such changes for a difference: of two like these it mostly learned that they differ.
"""
LEAST_OF_NEAR, LEAST_IN_DOUBT = 0.1, 0.34
"""From these probabilities on a language model is asked about two that share most of their words, unless the entailment
network tends to "the same".

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
        """Whether a difference keeps them apart if no language model is asked.

        One in wording does so where they share most of their words, or where no vectors tell what is meant.
        """
        if self.differs_exactly or self._differs_in_telling:
            return True
        return (self._alignment.is_near or self._is_worded) and differ_in_wording(self._alignment)

    @cached_property
    def differs_exactly(self) -> bool:
        """Whether a difference keeps them apart whatever any model says."""
        return differ(self._alignment)

    @cached_property
    def _differs_in_telling(self) -> bool:
        return differ_in_telling(self._alignment)

    @property
    def _is_worded(self) -> bool:
        return self.first.vectors is None or self.second.vectors is None

    @property
    def may_be_duplicate(self) -> bool:
        """Whether they may say the same, so that a model should be asked."""
        if self.differs_exactly or (self._is_worded and self.differs):
            return False
        if self._differs_in_telling:
            return self._logit is not None and self._logit >= LEAST_TOLD_OTHERWISE
        least = LEAST_IN_DOUBT if self.differs else LEAST_OF_NEAR if self._alignment.is_near else 0
        if self.probability >= max(self._weights.ask, least):
            return True
        return self._logit is not None and self._logit >= LEAST_ASKED_LOGIT

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
        leaves_much = leave_much_over(pair)
        if leaves_much and max(len(each.text.split()) for each in (self.first, self.second)) > MOST_WORDS_OF_MORE:
            return False
        is_rephrased = not self._is_worded and (is_turn or is_reordered(pair))
        if is_rephrased and not leaves_much and self.probability >= LEAST_REWORDED:
            return True
        if self._logit is not None:
            return self._logit >= (LEAST_LOGIT_OF_MORE if leaves_much else LEAST_LOGIT)
        may_be_words_alone = is_turn or not is_in_one_place
        return not leaves_much and may_be_words_alone and self.probability >= self._weights.same

    @property
    def likelihood(self) -> float:
        """The probability, or what the network gives a pair for which the linear model would ask nobody."""
        if self.probability >= self._weights.ask or self._logit is None:
            return self.probability
        return 1 / (1 + math.exp(-self._logit))

    @cached_property
    def _logit(self) -> float | None:
        """What the entailment network gives; None without it, without vectors, or for hardly any probability."""
        if self._is_worded or self.probability < LEAST_PROBABILITY:
            return None
        return sameness_logit(self.first.text, self.second.text)

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
def _load_weights(kind: Literal["worded", "meant"]) -> Weights:
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        names = bytes(stored[f"{kind}_names"]).decode().split()
        return Weights(names, stored[f"{kind}_weights"], *stored[f"{kind}_limits"].tolist())
