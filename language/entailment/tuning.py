"""Reads what was tuned of the network for a question of our own.

A tuning adds to each dense layer after the first ``SHARED`` the product of two thin matrices (LoRA,
https://arxiv.org/abs/2106.09685), and has a classifier of one logit in place of the network's. ``benchmarks.tuning``
fits it.

A question may have several, which are averaged: fitted apart, each errs in its own way.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from language.base import Vectors
from language.entailment.weights import Weights

TUNINGS = Path(__file__).with_name("tunings")
MARK = "encoder.layer.11.output.dense"
"""The matrix whose first row tells whether a tuning was made for these weights."""


class Tuning:
    """What a file of ``tunings`` adds to the weights of the network it was made for."""

    def __init__(self, path: Path) -> None:
        with np.load(path, allow_pickle=False) as stored:
            self._stored = {name: stored[name].astype(np.float32) for name in stored.files}

    def fits(self, weights: Weights) -> bool:
        """Whether it was made for these weights."""
        return np.allclose(self._stored["mark"], weights.matrix(MARK)[0], atol=1e-3)

    def matrix(self, name: str, weights: Weights) -> Vectors:
        """Return the matrix of a dense layer as it was tuned: (inputs, outputs)."""
        if name == "classifier":
            return self._stored["classifier.weight"]
        added = self._stored[f"{name}.down"] @ self._stored[f"{name}.up"]
        return np.asarray(weights.matrix(name) + added, np.float32)

    def bias(self, name: str, weights: Weights) -> Vectors:
        """Return the bias of a dense layer as it was tuned: (outputs,)."""
        if name == "classifier.bias":
            return self._stored[name]
        return np.asarray(weights.floats(name) + self._stored.get(name, 0.0), np.float32)


def tuning_path(question: str, member: int) -> Path:
    """Return the file of one of a question's tunings, which are counted from 1."""
    return TUNINGS / f"{question}.{member}.npz"


def tunings_for(weights: Weights) -> dict[str, list[Tuning]]:
    """Return the tunings that were made for these weights, by question: with a network of one's own there are none."""
    found: dict[str, list[Tuning]] = {}
    for path in sorted(TUNINGS.glob("*.npz")):
        if (each := Tuning(path)).fits(weights):
            found.setdefault(path.name.split(".")[0], []).append(each)
    return found
