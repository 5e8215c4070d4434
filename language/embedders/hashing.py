"""An embedder without a model: words and pieces of words hashed into a fixed number of dimensions.

Texts that share words, or parts of words, come out alike; meaning beyond that is not seen. It is exact, quick and the
same everywhere, which is what tests and benchmarks need.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from zlib import crc32

import numpy as np

from language.base import Vectors

_WORD = re.compile(r"\w+")
_MAX_CHARACTERS = 4_000
_GRAM = 3
_GRAM_WEIGHT = 0.4


class HashingEmbedder:
    """Feature hashing of words and character trigrams; deterministic across processes and machines."""

    def __init__(self, dimensions: int = 384) -> None:
        if dimensions < 1:
            raise ValueError("dimensions must be positive")
        self.dimensions = dimensions
        self.name = f"hashing:{dimensions}"

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return an array of shape (len(texts), dimensions), each row of length 1."""
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            self._fill(row, text)
        return rows

    def embed_query(self, text: str) -> Vectors:
        """Return an array of shape (dimensions,) of length 1; passages and queries are treated alike."""
        row = np.zeros(self.dimensions, dtype=np.float32)
        self._fill(row, text)
        return row

    def _fill(self, row: Vectors, text: str) -> None:
        for feature, weight in _features(text):
            digest = crc32(feature)
            # The lowest bit chooses the sign, so that features that collide cancel out on average.
            row[(digest >> 1) % self.dimensions] += weight if digest & 1 else -weight
        length = float(np.linalg.norm(row))
        if length == 0.0:
            row[0] = 1.0
        else:
            row /= length


def _features(text: str) -> Iterator[tuple[bytes, float]]:
    folded = unicodedata.normalize("NFKC", text[:_MAX_CHARACTERS]).casefold()
    for word in _WORD.findall(folded):
        yield b"w" + word.encode("utf-8", "replace"), 1.0
        padded = f"<{word}>"
        for start in range(len(padded) - _GRAM + 1):
            yield b"g" + padded[start : start + _GRAM].encode("utf-8", "replace"), _GRAM_WEIGHT
