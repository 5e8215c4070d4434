"""Builds the network as an ONNX graph and runs it.

The attention is DeBERTa's (https://arxiv.org/abs/2006.03654): besides the words, it compares words with distances,
which have vectors of their own. Among ``MOST_TOKENS`` tokens each distance has its own vector; the model would put
longer ones into buckets.
"""

from __future__ import annotations

import math

import numpy as np
from onnx import TensorProto, helper

from language.base import Vectors
from language.entailment import CLASSES, TRAITS, WITHIN
from language.entailment.weights import Weights
from language.networks.graph import RUNTIME_DOMAIN, Graph

MOST_TOKENS = 128
_LAYERS = 12
_HEADS = 6
_SIZE = TRAITS // _HEADS
_EPSILON = 1e-7
_SPAN = 256
"""The row of distance 0 among the vectors of distances."""
_SCALE = 1 / math.sqrt(3 * _SIZE)
"""Of each of the three products whose sum is the attention."""


class Network:
    """Computes the classes of a pair of texts from its tokens, in the caller's thread."""

    def __init__(self, weights: Weights) -> None:
        self._session = _Encoder(weights).session(
            "deberta-v3-nli",
            [
                helper.make_tensor_value_info("words", TensorProto.FLOAT, ["tokens", TRAITS]),
                helper.make_tensor_value_info("distances", TensorProto.INT64, [_HEADS, "tokens", "tokens"]),
            ],
            [
                helper.make_tensor_value_info("traits", TensorProto.FLOAT, [TRAITS]),
                helper.make_tensor_value_info("classes", TensorProto.FLOAT, [CLASSES]),
                helper.make_tensor_value_info("within", TensorProto.FLOAT, ["tokens", TRAITS]),
            ],
        )
        self._words = weights.words

    def read(self, tokens: list[int]) -> tuple[Vectors, Vectors, Vectors]:
        """Return the classes, the traits and the inner vectors of a pair's tokens, of which there are at most 128.

        Shapes (2,), logits: the texts have little to do with each other, they contradict each other; (384,); and
        (tokens, 384), after ``WITHIN`` layers.
        """
        places = np.arange(len(tokens))
        distances = places[:, np.newaxis] - places + MOST_TOKENS - 1
        classes, traits, within = self._session.run(
            ["classes", "traits", "within"],
            {
                "words": self._words.vectors(tokens),
                "distances": np.broadcast_to(distances, (_HEADS, *distances.shape)),
            },
        )
        return classes, traits, within


class _Encoder(Graph):
    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.weights = weights
        self.apart = self.constant("heads", np.array([0, _HEADS, _SIZE]))
        self.together = self.constant("width", np.array([0, TRAITS]))
        near = slice(_SPAN - MOST_TOKENS + 1, _SPAN + MOST_TOKENS)
        self.between = _normalised(
            weights.floats("deberta.encoder.rel_embeddings.weight")[near], *self._norm("encoder")
        )
        value = self._normalised("words", "embeddings")
        for layer in range(_LAYERS):
            value = self._layer(value, f"encoder.layer.{layer}.")
            if layer + 1 == WITHIN:
                self.node("Identity", value, outputs=["within"])
        rows = self.constant("rows", np.array([0]))
        first = self.node("Gemm", self.node("Gather", value, rows, axis=0), *self._head("pooler.dense"))
        pooled = self.node("Gelu", first, domain=RUNTIME_DOMAIN)
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
        seen = self.between @ self.weights.matrix(name) + self.weights.floats(f"deberta.{name}.bias")
        return self.constant(f"{name}.distances", seen.reshape(-1, _HEADS, _SIZE).transpose(1, 2, 0))

    def _dense(self, value: str, name: str) -> str:
        return self.dense(value, name, self.weights.matrix(name), self.weights.floats(f"deberta.{name}.bias"))

    def _head(self, name: str) -> tuple[str, str]:
        matrix = self.constant(f"{name}.weight", self.weights.matrix(name))
        return matrix, self.constant(f"{name}.bias", self.weights.floats(f"{name}.bias"))

    def _normalised(self, value: str, name: str) -> str:
        return self.normalised(value, f"{name}.norm", *self._norm(name), _EPSILON)

    def _norm(self, name: str) -> tuple[Vectors, Vectors]:
        weight, bias = (self.weights.floats(f"deberta.{name}.LayerNorm.{part}") for part in ("weight", "bias"))
        return weight, bias


def _normalised(rows: Vectors, weight: Vectors, bias: Vectors) -> Vectors:
    off = rows - rows.mean(axis=1, keepdims=True)
    return np.asarray(off / np.sqrt((off**2).mean(axis=1, keepdims=True) + _EPSILON) * weight + bias, np.float32)
