"""Builds the model as an ONNX graph and runs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

from language.embedders.e5.weights import Floats, Weights

_OPSET = 18
_IR_VERSION = 9
_RUNTIME_DOMAIN = "com.microsoft"
"""The domain of ONNX Runtime's fused operators."""

_LARGEST_WEIGHT = 63
"""Limit of 7 bits: the sum of two products of 7 and 8 bits fits into 16 bits, as processors without VNNI need.
https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html"""

_TRAITS = (4, 6, 8)
"""The layers (from 0) whose outputs are the traits: they show the form of a text, e.g. order or statement."""

_INPUTS_PER_SCALE = 192
"""The number of inputs that share a quantisation scale. A few neurons are fifty times as large as the others, so one
scale for all loses precision: this halves the error for a sixth more time. The cosine to vectors of floats is 0.9991 on
average, and below 0.998 for one text in a hundred."""


class Network:
    """Computes vectors from tokens, in the caller's thread."""

    def __init__(self, weights: Weights) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4  # What it has to say is in its exceptions.
        self._session = onnxruntime.InferenceSession(
            _Graph(weights).model().SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        self._weights = weights
        self._positions = (
            weights.floats("emb.pos").reshape(-1, weights.width) + weights.floats("emb.type")[: weights.width]
        )

    def read(self, tokens: list[int]) -> tuple[Floats, Floats]:
        """Return the vector and the traits (outputs of inner layers) of a text from its tokens, at most 512.

        Shapes (width,) and (3 * width,); the vector and each third of the traits are of length 1.
        """
        words = self._weights.matrix("emb.word", self._weights.width, tokens)
        vectors, traits = self._session.run(
            ["vector", "traits"], {"words": (words + self._positions[: len(tokens)])[np.newaxis]}
        )
        return vectors[0], traits[0]


class _Graph:
    """Builds a BERT encoder of twelve layers: attention and two dense layers, with residuals and normalisation.

    Weights are integers with a scale per output; inputs are quantised to 8 bits dynamically. This takes a third of the
    time of floats.
    """

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: list[TensorProto] = []

    def model(self) -> ModelProto:
        weights = self.weights
        value = self.normalised("words", "emb.ln")
        axes, traits = self.constant("axes", np.array([1])), []
        for layer in range(weights.layers):
            value = self.layer(value, f"l{layer}.")
            if layer in _TRAITS:
                traits.append(self.mean(value, axes))
        vector = self.mean(value, axes, "vector")
        between = self.node("Concat", *traits, outputs=["traits"], axis=-1)
        graph = helper.make_graph(
            self.nodes,
            "multilingual-e5-small",
            [helper.make_tensor_value_info("words", TensorProto.FLOAT, [1, "tokens", weights.width])],
            [
                helper.make_tensor_value_info(vector, TensorProto.FLOAT, [1, weights.width]),
                helper.make_tensor_value_info(between, TensorProto.FLOAT, [1, len(traits) * weights.width]),
            ],
            self.constants,
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_RUNTIME_DOMAIN, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)

    def mean(self, value: str, axes: str, *outputs: str) -> str:
        """Add the mean over the tokens, normalised to length 1."""
        mean = self.node("ReduceMean", value, axes, keepdims=0)
        return self.node("LpNormalization", mean, outputs=outputs, axis=-1, p=2)

    def layer(self, value: str, at: str) -> str:
        weights = self.weights
        together = self.dense(value, f"{at}q", f"{at}k", f"{at}v")
        parts = f"{at}query", f"{at}key", f"{at}value"
        self.node("Split", together, outputs=parts, axis=-1, num_outputs=len(parts))
        attention = self.node("MultiHeadAttention", *parts, domain=_RUNTIME_DOMAIN, num_heads=weights.heads)
        value = self.normalised(self.node("Add", value, self.dense(attention, f"{at}ao")), f"{at}aln")
        inner = self.node("Gelu", self.dense(value, f"{at}fi"), domain=_RUNTIME_DOMAIN)
        return self.normalised(self.node("Add", value, self.dense(inner, f"{at}fo", columns=weights.inner)), f"{at}oln")

    def dense(self, value: str, *names: str, columns: int | None = None) -> str:
        """Add a dense layer with the concatenated weights and biases of these names."""
        weights = self.weights
        matrix = np.concatenate([weights.matrix(f"{name}.w", columns or weights.width) for name in names]).T
        bias = self.constant(f"{names[0]}.b", np.concatenate([weights.floats(f"{name}.b") for name in names]))
        parts = np.split(matrix, len(matrix) // _INPUTS_PER_SCALE)
        pieces = [f"{names[0]}.{number}" for number in range(len(parts))]
        self.node("Split", value, outputs=pieces, axis=-1, num_outputs=len(parts))
        biases = [bias] + [""] * (len(parts) - 1)
        return self.node("Sum", *map(self.product, pieces, parts, biases))

    def product(self, value: str, matrix: Floats, bias: str) -> str:
        scales = np.abs(matrix).max(axis=0) / _LARGEST_WEIGHT
        return self.node(
            "DynamicQuantizeMatMul",
            value,
            self.constant(f"{value}.w", np.rint(matrix / scales).astype(np.int8)),
            self.constant(f"{value}.scales", scales),
            "",  # What stands for zero: zero.
            bias,
            domain=_RUNTIME_DOMAIN,
        )

    def normalised(self, value: str, name: str) -> str:
        parts = (self.constant(f"{name}.{part}", self.weights.floats(f"{name}.{part}")) for part in "wb")
        return self.node("LayerNormalization", value, *parts, axis=-1, epsilon=self.weights.epsilon)

    def constant(self, name: str, values: NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, kind: str, *inputs: str, outputs: Sequence[str] = (), domain: str = "", **attributes: Any) -> str:
        """Add an operation and return the name of its first output."""
        names = list(outputs) or [f"{kind}{len(self.nodes)}"]
        self.nodes.append(helper.make_node(kind, list(inputs), names, domain=domain, **attributes))
        return names[0]
