"""The entailment network in JAX, as ``language.entailment.network`` builds it in ONNX, with what is tuned of it.

Shapes: n pairs of t tokens, 384 wide. Weights are floats here and 7-bit integers there, so logits differ by some 0.2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from language.entailment import LAYERS, SHARED, TRAITS
from language.entailment.weights import Weights

_HEADS, _EPSILON = 6, 1e-7
_SIZE = TRAITS // _HEADS
_SPAN = 256
_SCALE = 1 / math.sqrt(3 * _SIZE)
_QUERY, _KEY, _VALUE = (f"attention.self.{part}_proj" for part in ("query", "key", "value"))
_ATTENDED, _INNER, _OUTER = "attention.output.dense", "intermediate.dense", "output.dense"
_DENSE = (_QUERY, _KEY, _VALUE, _ATTENDED, _INNER, _OUTER)
_POOLER = "pooler.dense"

Tuned = dict[str, Any]
"""What is tuned, by the names of ``language.entailment.tuning``."""


class Layer(NamedTuple):
    """A layer's dense matrices with their biases by name, and its two normalisations (weight, bias)."""

    dense: Mapping[str, tuple[Any, Any]]
    norms: Mapping[str, tuple[Any, Any]]


class TunedNetwork:
    """The layers of the network. ``beginning`` are those that stay as they are."""

    def __init__(self, weights: Weights) -> None:
        self._words = weights.words
        self._embedded = _norm(weights, "embeddings")
        self._distances = normalised(weights.floats("deberta.encoder.rel_embeddings.weight"), _norm(weights, "encoder"))
        self.layers = [_layer(weights, f"encoder.layer.{number}.") for number in range(LAYERS)]
        self.pooler = weights.matrix(_POOLER), weights.floats(f"{_POOLER}.bias")

    def begun(self, tokens: np.ndarray) -> Any:
        """Return what the first layers make of tokens (n, t), of which 0 is none: (n, t, 384)."""
        words = np.stack([self._words.vectors(list(row)) for row in tokens])
        value = normalised(jnp.asarray(words), self._embedded)
        return _run(value, jnp.asarray(tokens > 0), self.layers[:SHARED], self._near(tokens.shape[1]))

    def logits(self, tuned: Tuned, begun: Any, mask: Any, kept: Any = 1.0) -> Any:
        """Return the logits (n,) of pairs from ``begun``. ``kept``, (n, 384): what is left of the pooled vectors."""
        layers = [
            each._replace(
                dense={part: _tuned(tuned, f"encoder.layer.{at}.{part}", *dense) for part, dense in each.dense.items()}
            )
            for at, each in enumerate(self.layers[SHARED:], start=SHARED)
        ]
        value = _layers(begun, mask, layers, self._near(begun.shape[1]))
        matrix, bias = _tuned(tuned, _POOLER, *self.pooler)
        pooled = jax.nn.gelu(value[:, 0] @ matrix + bias, approximate=False) * kept
        return (pooled @ tuned["classifier.weight"] + tuned["classifier.bias"])[:, 0]

    def _near(self, length: int) -> Any:
        return jnp.asarray(self._distances[_SPAN - length + 1 : _SPAN + length])


def untuned(rank: int, key: Any) -> Tuned:
    """Return what tuning begins with: products that are zero, and a classifier that tells nothing."""
    made: Tuned = {}
    sizes = dict.fromkeys(_DENSE, (TRAITS, TRAITS)) | {_INNER: (TRAITS, 4 * TRAITS), _OUTER: (4 * TRAITS, TRAITS)}
    names = {f"encoder.layer.{layer}.{name}": size for layer in range(SHARED, LAYERS) for name, size in sizes.items()}
    for name, (inputs, outputs) in (names | {_POOLER: (TRAITS, TRAITS)}).items():
        key, own = jax.random.split(key)
        made[f"{name}.down"] = jax.random.normal(own, (inputs, rank)) / math.sqrt(inputs)
        made[f"{name}.up"] = jnp.zeros((rank, outputs))
        made[_bias_of(name)] = jnp.zeros(outputs)
    made["classifier.weight"], made["classifier.bias"] = jnp.zeros((TRAITS, 1)), jnp.zeros(1)
    return made


def normalised(value: Any, norm: tuple[Any, Any]) -> Any:
    """Normalise the last axis."""
    off = value - value.mean(-1, keepdims=True)
    return off * jax.lax.rsqrt((off**2).mean(-1, keepdims=True) + _EPSILON) * norm[0] + norm[1]


def _bias_of(name: str) -> str:
    return f"{name}.bias" if name == _POOLER else f"deberta.{name}.bias"


def _tuned(tuned: Tuned, name: str, matrix: Any, bias: Any) -> tuple[Any, Any]:
    return matrix + tuned[f"{name}.down"] @ tuned[f"{name}.up"], bias + tuned[_bias_of(name)]


def _norm(weights: Weights, name: str) -> tuple[Any, Any]:
    weight, bias = (jnp.asarray(weights.floats(f"deberta.{name}.LayerNorm.{part}")) for part in ("weight", "bias"))
    return weight, bias


def _layer(weights: Weights, at: str) -> Layer:
    dense = {
        name: (jnp.asarray(weights.matrix(at + name)), jnp.asarray(weights.floats(f"deberta.{at}{name}.bias")))
        for name in _DENSE
    }
    return Layer(dense, {name: _norm(weights, at + name) for name in ("attention.output", "output")})


def _layers(value: Any, mask: Any, layers: list[Layer], near: Any) -> Any:
    for each in layers:
        value = _one(value, mask, each, near)
    return value


_run = jax.jit(_layers)


def _one(value: Any, mask: Any, layer: Layer, near: Any) -> Any:
    length = value.shape[1]
    places = jnp.arange(length)
    distances = places[:, None] - places + length - 1
    query, key, content = (_heads(_dense(layer, name, value)) for name in (_QUERY, _KEY, _VALUE))
    from_words, to_words = (
        jnp.einsum("nhts,hsd->nhtd", each, _dense(layer, name, near).reshape(-1, _HEADS, _SIZE).transpose(1, 2, 0))
        for each, name in ((query, _KEY), (key, _QUERY))
    )
    away, back = from_words[:, :, places[:, None], distances], to_words[:, :, places[None, :], distances]
    weights = (query @ key.transpose(0, 1, 3, 2) + away + back) * _SCALE
    weights = jax.nn.softmax(jnp.where(mask[:, None, None, :], weights, -1e9), -1)
    attended = (weights @ content).transpose(0, 2, 1, 3).reshape(value.shape)
    value = normalised(value + _dense(layer, _ATTENDED, attended), layer.norms["attention.output"])
    inner = jax.nn.gelu(_dense(layer, _INNER, value), approximate=False)
    return normalised(value + _dense(layer, _OUTER, inner), layer.norms["output"])


def _heads(value: Any) -> Any:
    return value.reshape(*value.shape[:2], _HEADS, _SIZE).transpose(0, 2, 1, 3)


def _dense(layer: Layer, name: str, value: Any) -> Any:
    matrix, bias = layer.dense[name]
    return value @ matrix + bias
