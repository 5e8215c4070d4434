"""Computes spaCy's vectors of words as its own layers do, without what only training needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from language.base import Vectors

if TYPE_CHECKING:
    from spacy.tokens import Doc

_DENSE = "maxout>>layernorm>>dropout"
_RESIDUAL = re.escape(f"residual(expand_window>>{_DENSE})")
_WORD_VECTORS = re.compile(
    r"extract_features>>list2ragged>>with_array\((?:ints-getitem>>hashembed\|?)+\)"
    rf">>with_array\({_DENSE}\)>>ragged2list>>with_array\({_RESIDUAL}(?:>>{_RESIDUAL})*\)"
)
"""The name of thinc's model of word vectors, which tells all of its layers."""
_LEAST_VARIANCE = 1e-8
"""As in thinc's layer."""


def computes_word_vectors(model: Any) -> bool:
    """Whether a layer of thinc is a model that ``WordVectors`` computes."""
    if not _WORD_VECTORS.fullmatch(model.name):
        return False
    return all(layer.attrs["window_size"] == 1 for layer in model.walk() if layer.name == "expand_window")


class WordVectors:
    """The forward function of a model of word vectors: hashed features, mixed, then with the words beside them.

    thinc's own calls some fifty layers for it, each with a function to train it.
    """

    def __init__(self, model: Any) -> None:
        embed, encode = model.layers
        extract, _, tables, mixed, _ = embed.layers
        self._features = extract.attrs["columns"]
        self._tables = [
            (get.attrs["index"][1], table.get_param("E"), table.attrs["seed"])
            for get, table in (each.layers for each in tables.layers[0].layers)
        ]
        self._mix = _Dense(mixed.layers[0])
        self._beside = [_Dense(each.layers[0].layers[1]) for each in encode.layers[0].layers]
        self._space = encode.attrs["pad"]
        self._ops = model.ops

    def __call__(self, _model: Any, docs: Sequence[Doc], *, is_train: bool) -> tuple[list[Vectors], None]:
        """Return the vectors (tokens, width) of each text."""
        mixed = self._mix(self._embedded(np.concatenate([doc.to_array(self._features) for doc in docs])))
        width, space, spans = mixed.shape[1], self._space, []
        end = 0
        for doc in docs:
            spans.append((end + space, end + space + len(doc)))
            end += (space + len(doc)) if len(doc) else 0
        # Each row with the one before and the one after it; rows of zeros stand between texts.
        rows = np.zeros((end + space + 2, 3 * width), dtype=np.float32)
        beside, middle = rows[1:-1], rows[1:-1, width : 2 * width]
        middle[[place for span in spans for place in range(*span)]] = mixed
        for dense in self._beside:
            rows[2:, :width] = rows[:-2, 2 * width :] = middle
            middle += dense(beside)
        return [middle[start:stop].copy() for start, stop in spans], None

    def _embedded(self, features: Any) -> Vectors:
        """The sums of the vectors that the hashes of each token's features lead to: (tokens, features * width)."""
        ops = self._ops
        found = [
            ops.gather_add(table, ops.hash(np.ascontiguousarray(features[:, column]), seed) % len(table))
            for column, table, seed in self._tables
        ]
        return np.concatenate(found, axis=1)


class _Dense:
    """The largest of a layer's pieces, normalised to mean 0 and variance 1, scaled and shifted."""

    def __init__(self, model: Any) -> None:
        maxout, norm = model.layers[0].layers
        weights, bias = maxout.get_param("W"), maxout.get_param("b")  # (outputs, pieces, inputs), (outputs, pieces)
        self._width = weights.shape[0]
        self._weights = np.ascontiguousarray(weights.transpose(2, 1, 0).reshape(weights.shape[2], -1))
        self._bias = np.ravel(bias.T)
        self._scale, self._shift = norm.get_param("G"), norm.get_param("b")

    def __call__(self, rows: Vectors) -> Vectors:
        """Rows (n, inputs) become (n, outputs)."""
        pieces, width = rows @ self._weights, self._width
        pieces += self._bias
        found = reduce(np.maximum, (pieces[:, start : start + width] for start in range(0, pieces.shape[1], width)))
        found = found - found.mean(axis=1, keepdims=True)
        found /= np.sqrt(np.einsum("ij,ij->i", found, found)[:, np.newaxis] / width + _LEAST_VARIANCE)
        found *= self._scale
        found += self._shift
        return found
