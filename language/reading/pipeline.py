"""Loads spaCy's English pipeline from an installed package's folder, as data: no code of that package runs.

Layers are replaced by ones that compute the same without what only training needs. This saves a fifth of the time.
"""

from __future__ import annotations

from functools import reduce
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from django.core.exceptions import ImproperlyConfigured

from language.base import Vectors
from language.reading.words import ENGLISH, KIN

if TYPE_CHECKING:
    from spacy.language import Language

NEEDED = ("tagger", "parser", "attribute_ruler", "lemmatizer", "ner")
"""The pipeline components that readers rely on."""


def load(name: str) -> Language:
    """Load the pipeline of that name. Raises ImproperlyConfigured if it is not installed or lacks a component."""
    folder = _folder(name)
    if folder is None:
        raise ImproperlyConfigured(f"KEEPSAKE_READING_MODEL is {name!r}, and no pipeline of that name is installed.")
    # Imported here: it takes more than a second, and most processes never parse.
    from spacy.util import load_model_from_path  # noqa: PLC0415

    pipeline = load_model_from_path(folder)
    missing = [part for part in NEEDED if part not in pipeline.pipe_names]
    if missing:
        raise ImproperlyConfigured(f"KEEPSAKE_READING_MODEL is {name!r}, which lacks {', '.join(missing)}.")
    # spaCy's stubs declare any callable here; it is a Tokenizer, a compiled class without types.
    tokenizer: Any = pipeline.tokenizer
    for word in KIN:
        if "-" in word:
            tokenizer.add_special_case(word, [{"ORTH": word}])
    pipeline.make_doc(" ".join(sorted(ENGLISH | KIN.keys())))  # Outside a memory zone, so these words are kept.
    parts: list[Any] = [part for _, part in pipeline.pipeline]
    for model in filter(None, (getattr(part, "model", None) for part in parts)):
        for layer in model.walk():
            if layer.name in _QUICKER:
                layer._func = _QUICKER[layer.name]
    return pipeline


def _folder(name: str) -> Path | None:
    """The folder of an installed pipeline package, found without importing it; None if there is none."""
    if not name.isidentifier():
        return None
    spec = find_spec(name)
    roots = [Path(root) for root in (spec and spec.submodule_search_locations) or ()]
    return next((config.parent for root in roots for config in sorted(root.glob("*/config.cfg"))), None)


def _maxout(layer: Any, rows: Vectors, *, is_train: bool) -> tuple[Vectors, None]:
    """The largest of a layer's pieces: rows (n, inputs) become (n, outputs)."""
    if "pieces" not in layer.attrs:
        weights, bias = layer.get_param("W"), layer.get_param("b")  # (outputs, pieces, inputs), (outputs, pieces)
        together = np.ascontiguousarray(weights.transpose(2, 1, 0).reshape(weights.shape[2], -1))
        layer.attrs["pieces"] = together, np.ravel(bias.T), weights.shape[0]
    together, bias, width = layer.attrs["pieces"]
    found = rows @ together
    found += bias
    return reduce(np.maximum, (found[:, start : start + width] for start in range(0, found.shape[1], width))), None


def _layer_norm(layer: Any, rows: Vectors, *, is_train: bool) -> tuple[Vectors, None]:
    """Each row with mean 0 and variance 1, scaled and shifted."""
    found = rows - rows.mean(axis=1, keepdims=True)
    found /= np.sqrt(np.einsum("ij,ij->i", found, found)[:, np.newaxis] / rows.shape[1] + _LEAST_VARIANCE)
    found *= layer.get_param("G")
    found += layer.get_param("b")
    return found, None


_LEAST_VARIANCE = 1e-8
"""As in thinc's layer."""
_QUICKER = {"maxout": _maxout, "layernorm": _layer_norm}
"""Forward functions by the names of thinc's layers. Their second result is for training."""
