"""Builds the network as an ONNX graph and runs it.

The attention is DeBERTa's (https://arxiv.org/abs/2006.03654): besides the words, it compares words with distances,
which have vectors of their own. Among ``MOST_TOKENS`` tokens each distance has its own vector; the model would put
longer ones into buckets.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from language.base import Vectors
from language.entailment import CLASSES, LAYERS, SHARED, TRAITS
from language.entailment.tuning import Tuning
from language.entailment.weights import Weights
from language.networks.graph import RUNTIME_DOMAIN, Graph

MOST_TOKENS = 128
_HEADS = 6
_SIZE = TRAITS // _HEADS
_EPSILON = 1e-7
_SPAN = 256
"""The row of distance 0 among the vectors of distances."""
_SCALE = 1 / math.sqrt(3 * _SIZE)
"""Of each of the three products whose sum is the attention."""


class Network:
    """Computes the classes of a pair of texts from its tokens, in the caller's thread.

    Its first ``SHARED`` layers are computed once; the rest is there as it came, and as ``tunings`` change it by name.
    """

    def __init__(self, weights: Weights, tunings: Mapping[str, Sequence[Tuning]]) -> None:
        distances = helper.make_tensor_value_info("distances", TensorProto.INT64, [_HEADS, "tokens", "tokens"])
        words, begun = (_vectors_of_tokens(name) for name in ("words", "begun"))
        beginning = _Encoder(weights)
        beginning.begin()
        self._beginning = beginning.session("beginning", [words, distances], [begun])
        whole = _Encoder(weights)
        whole.end()
        self._whole = whole.session(
            "deberta-v3-nli",
            [begun, distances],
            [_vector("traits", TRAITS), _vector("classes", CLASSES)],
        )
        self._tuned: dict[str, list[Any]] = {}
        for name, members in tunings.items():
            for tuning in members:
                tuned = _Encoder(weights, tuning)
                tuned.end()
                session = tuned.session(name, [begun, distances], [_vector("classes", 1)])
                self._tuned.setdefault(name, []).append(session)
        self._words = weights.words

    @property
    def tunings(self) -> Collection[str]:
        """The names that ``judge`` knows."""
        return self._tuned.keys()

    def read(self, tokens: list[int]) -> tuple[Vectors, Vectors]:
        """Return the classes and the traits of a pair's tokens, of which there are at most 128.

        Shapes (2,), logits: the texts have little to do with each other, they contradict each other; and (384,).
        """
        classes, traits = self._whole.run(["classes", "traits"], self._begun(tokens))
        return classes, traits

    def judge(self, tuning: str, tokens: list[int]) -> float:
        """Return the mean logit that the networks of a tuning give a pair. Raises KeyError if there is none."""
        begun = self._begun(tokens)
        return float(np.mean([each.run(["classes"], begun)[0] for each in self._tuned[tuning]]))

    def _begun(self, tokens: list[int]) -> dict[str, Any]:
        places = np.arange(len(tokens))
        distances = np.broadcast_to(
            places[:, np.newaxis] - places + MOST_TOKENS - 1, (_HEADS, len(tokens), len(tokens))
        )
        words = self._words.vectors(tokens)
        [begun] = self._beginning.run(["begun"], {"words": words, "distances": distances})
        return {"begun": begun, "distances": distances}


def _vectors_of_tokens(name: str) -> Any:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["tokens", TRAITS])


def _vector(name: str, size: int) -> Any:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [size])


class _Encoder(Graph):
    def __init__(self, weights: Weights, tuning: Tuning | None = None) -> None:
        super().__init__()
        self.weights, self.tuning = weights, tuning
        self.apart = self.constant("heads", np.array([0, _HEADS, _SIZE]))
        self.together = self.constant("width", np.array([0, TRAITS]))
        near = slice(_SPAN - MOST_TOKENS + 1, _SPAN + MOST_TOKENS)
        self.between = _normalised(
            weights.floats("deberta.encoder.rel_embeddings.weight")[near], *self._norm("encoder")
        )

    def begin(self) -> None:
        """Add the layers that all tunings share."""
        value = self._normalised("words", "embeddings")
        for layer in range(SHARED):
            value = self._layer(value, f"encoder.layer.{layer}.")
        self.node("Identity", value, outputs=["begun"])

    def end(self) -> None:
        """Add the other layers, and what they tell."""
        value = "begun"
        for layer in range(SHARED, LAYERS):
            value = self._layer(value, f"encoder.layer.{layer}.")
        rows = self.constant("rows", np.array([0]))
        first = self.node("Gemm", self.node("Gather", value, rows, axis=0), *self._head("pooler.dense"))
        pooled = self.node("Gelu", first, domain=RUNTIME_DOMAIN)
        if self.tuning is None:
            self.node("Squeeze", pooled, rows, outputs=["traits"])
        self.node("Squeeze", self.node("Gemm", pooled, *self._head("classifier")), rows, outputs=["classes"])

    def _layer(self, value: str, at: str) -> str:
        attention = self._dense(self._attention(value, f"{at}attention.self."), f"{at}attention.output.dense")
        value = self._normalised(self.node("Add", value, attention), f"{at}attention.output")
        inner = self.node("Gelu", self._dense(value, f"{at}intermediate.dense"), domain=RUNTIME_DOMAIN)
        outer = self._dense(inner, f"{at}output.dense")
        return self._normalised(self.node("Add", value, outer), f"{at}output")

    def _attention(self, value: str, at: str) -> str:
        """Add the sum of three products as weights of the values: words with words, words with distances and back."""
        query, key, content = (
            self._heads(self._dense(value, f"{at}{part}_proj")) for part in ("query", "key", "value")
        )
        scale = self.constant(f"{at}scale", np.array(_SCALE, dtype=np.float32))
        query, scaled_key = self.node("Mul", query, scale), self.node("Mul", key, scale)
        words = self.node("MatMul", query, self.node("Transpose", key, perm=[0, 2, 1]))
        from_words = self.node("MatMul", query, self._distances(f"{at}key_proj"))
        to_words = self.node("MatMul", scaled_key, self._distances(f"{at}query_proj"))
        # The distance of i from j is that of j from i with the other sign: read from the other end, then transposed.
        away = self.node("GatherElements", from_words, "distances", axis=2)
        turned = self.node("Transpose", "distances", perm=[0, 2, 1])
        back = self.node("Transpose", self.node("GatherElements", to_words, turned, axis=2), perm=[0, 2, 1])
        weights = self.node("Softmax", self.node("Sum", words, away, back), axis=-1)
        found = self.node("Transpose", self.node("MatMul", weights, content), perm=[1, 0, 2])
        return self.node("Reshape", found, self.together)

    def _heads(self, value: str) -> str:
        return self.node("Transpose", self.node("Reshape", value, self.apart), perm=[1, 0, 2])

    def _distances(self, name: str) -> str:
        """Add the vectors of the distances as a layer sees them: (heads, size of a head, distances)."""
        seen = self.between @ self._matrix(name) + self._bias(f"deberta.{name}.bias")
        return self.constant(f"{name}.distances", seen.reshape(-1, _HEADS, _SIZE).transpose(1, 2, 0))

    def _dense(self, value: str, name: str) -> str:
        return self.dense(value, name, self._matrix(name), self._bias(f"deberta.{name}.bias"))

    def _head(self, name: str) -> tuple[str, str]:
        matrix = self.constant(f"{name}.weight", self._matrix(name))
        return matrix, self.constant(f"{name}.bias", self._bias(f"{name}.bias"))

    def _matrix(self, name: str) -> Vectors:
        return self.weights.matrix(name) if self.tuning is None else self.tuning.matrix(name, self.weights)

    def _bias(self, name: str) -> Vectors:
        return self.weights.floats(name) if self.tuning is None else self.tuning.bias(name, self.weights)

    def _normalised(self, value: str, name: str) -> str:
        return self.normalised(value, f"{name}.norm", *self._norm(name), _EPSILON)

    def _norm(self, name: str) -> tuple[Vectors, Vectors]:
        weight, bias = (self.weights.floats(f"deberta.{name}.LayerNorm.{part}") for part in ("weight", "bias"))
        return weight, bias


def _normalised(rows: Vectors, weight: Vectors, bias: Vectors) -> Vectors:
    off = rows - rows.mean(axis=1, keepdims=True)
    return np.asarray(off / np.sqrt((off**2).mean(axis=1, keepdims=True) + _EPSILON) * weight + bias, np.float32)
