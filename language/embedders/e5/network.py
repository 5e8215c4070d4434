"""Builds the model as an ONNX graph and runs it."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from language.base import Vectors
from language.embedders.e5.weights import Weights
from language.networks.graph import RUNTIME_DOMAIN, Graph

_TRAITS = (4, 6, 8)
"""The layers (from 0) whose outputs are the traits: they show the form of a text, e.g. order or statement."""


class Network:
    """Computes vectors from tokens, in the caller's thread."""

    def __init__(self, weights: Weights) -> None:
        width = weights.width
        self._session = _Encoder(weights).session(
            "multilingual-e5-small",
            [helper.make_tensor_value_info("words", TensorProto.FLOAT, [1, "tokens", width])],
            [
                helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, width]),
                helper.make_tensor_value_info("traits", TensorProto.FLOAT, [1, len(_TRAITS) * width]),
            ],
        )
        self._weights = weights
        self._positions = weights.floats("emb.pos").reshape(-1, width) + weights.floats("emb.type")[:width]

    def read(self, tokens: list[int]) -> tuple[Vectors, Vectors]:
        """Return the vector and the traits (outputs of inner layers) of a text from its tokens, at most 512.

        Shapes (width,) and (3 * width,); the vector and each third of the traits are of length 1.
        """
        words = self._weights.matrix("emb.word", self._weights.width, tokens)
        vectors, traits = self._session.run(
            ["vector", "traits"], {"words": (words + self._positions[: len(tokens)])[np.newaxis]}
        )
        return vectors[0], traits[0]


class _Encoder(Graph):
    """A BERT encoder of twelve layers: attention and two dense layers, with residuals and normalisation."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.weights = weights
        value = self._normalised("words", "emb.ln")
        axes, traits = self.constant("axes", np.array([1])), []
        for layer in range(weights.layers):
            value = self._layer(value, f"l{layer}.")
            if layer in _TRAITS:
                traits.append(self._mean(value, axes))
        self._mean(value, axes, "vector")
        self.node("Concat", *traits, outputs=["traits"], axis=-1)

    def _mean(self, value: str, axes: str, *outputs: str) -> str:
        """Add the mean over the tokens, normalised to length 1."""
        mean = self.node("ReduceMean", value, axes, keepdims=0)
        return self.node("LpNormalization", mean, outputs=outputs, axis=-1, p=2)

    def _layer(self, value: str, at: str) -> str:
        weights = self.weights
        together = self._dense(value, f"{at}q", f"{at}k", f"{at}v")
        parts = f"{at}query", f"{at}key", f"{at}value"
        self.node("Split", together, outputs=parts, axis=-1, num_outputs=len(parts))
        attention = self.node("MultiHeadAttention", *parts, domain=RUNTIME_DOMAIN, num_heads=weights.heads)
        value = self._normalised(self.node("Add", value, self._dense(attention, f"{at}ao")), f"{at}aln")
        inner = self.node("Gelu", self._dense(value, f"{at}fi"), domain=RUNTIME_DOMAIN)
        outer = self._dense(inner, f"{at}fo", columns=weights.inner)
        return self._normalised(self.node("Add", value, outer), f"{at}oln")

    def _dense(self, value: str, *names: str, columns: int | None = None) -> str:
        """Add a dense layer with the concatenated weights and biases of these names."""
        weights = self.weights
        matrix = np.concatenate([weights.matrix(f"{name}.w", columns or weights.width) for name in names]).T
        return self.dense(value, names[0], matrix, np.concatenate([weights.floats(f"{name}.b") for name in names]))

    def _normalised(self, value: str, name: str) -> str:
        weight, bias = (self.weights.floats(f"{name}.{part}") for part in "wb")
        return self.normalised(value, name, weight, bias, self.weights.epsilon)
