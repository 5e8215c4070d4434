"""What a statement means for the gates, judged by small networks from its vector; for what no rule of words catches.

They read vectors of the bundled embedder alone and take some microseconds. ``benchmarks.gates.train`` makes them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from language.base import Vectors

WEIGHTS = Path(__file__).with_name("judging.npz")
KINDS = ("", "order", "secret")
FIELDS = ("", "preferred_name", "pronouns", "city", "language", "tone", "goal")

_LEAST = {"order": 0.0, "secret": 0.0}
_LEAST_OF_A_FIELD = 0.5


class Layers(NamedTuple):
    """A network with one hidden layer: 384 numbers in, one for each class out."""

    hidden: Vectors
    hidden_bias: Vectors
    out: Vectors
    out_bias: Vectors


def scores(layers: Layers, vector: Vectors) -> Vectors:
    """How much speaks for each class, as logarithms."""
    made: Vectors = np.tanh(vector @ layers.hidden + layers.hidden_bias) @ layers.out + layers.out_bias
    return made


def kind_of(vector: Vectors) -> str:
    """ "order" for what reads like an order to a model, "secret" for a password or code, else empty."""
    judged = scores(_layers("kind"), vector)
    number = int(judged[1:].argmax()) + 1
    return KINDS[number] if judged[number] - judged[0] >= _LEAST[KINDS[number]] else ""


def field_by(vector: Vectors) -> str:
    """The field of the person that a statement gives, empty when it gives none."""
    judged = scores(_layers("field"), vector)
    number = int(judged[1:].argmax()) + 1
    return FIELDS[number] if judged[number] - judged[0] >= _LEAST_OF_A_FIELD else ""


@cache
def _layers(name: str) -> Layers:
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        return Layers(*(stored[f"{name}_{part}"].astype(np.float32) for part in Layers._fields))
