"""A cache of vectors on disk, so that a second evaluation of the same texts is fast."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from language.base import Embedder, Vectors

BATCH = 16


class VectorCacheError(Exception):
    """The cache file can't be used."""


class CachingEmbedder:
    """An embedder that caches another one's vectors in a file, by the model's name and the text's SHA-256.

    The file holds no text. Raises VectorCacheError when the file can't be used.
    """

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self.name = embedder.name
        self.dimensions = embedder.dimensions
        self._embedder = embedder
        self._path = path
        with self._told():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=30)
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS vectors (model TEXT, kind TEXT, digest BLOB, vector BLOB NOT NULL, "
                "PRIMARY KEY (model, kind, digest)) WITHOUT ROWID"
            )

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed stored texts: an array of shape (len(texts), dimensions). Raises EmbedderUnavailable."""
        return self._embed("passage", texts, self._embedder.embed_passages)

    def embed_query(self, text: str) -> Vectors:
        """Embed a query: an array of shape (dimensions,). Raises EmbedderUnavailable."""
        row: Vectors = self._embed("query", [text], lambda texts: self._embedder.embed_query(texts[0])[np.newaxis])[0]
        return row

    def time_query(self, text: str) -> float:
        """Embed a query, even if it is cached, cache its vector and return the seconds that it took."""
        started = time.perf_counter()
        vector = self._embedder.embed_query(text)
        seconds = time.perf_counter() - started
        if self._read("query", text) is None:
            self._write("query", [(text, vector)])
        return seconds

    def _embed(self, kind: str, texts: Sequence[str], embed: Callable[[Sequence[str]], Vectors]) -> Vectors:
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        missing = []
        for place, text in enumerate(texts):
            known = self._read(kind, text)
            if known is None:
                missing.append(place)
            else:
                vectors[place] = known
        for start in range(0, len(missing), BATCH):
            places = missing[start : start + BATCH]
            vectors[places] = embed([texts[place] for place in places])
            self._write(kind, [(texts[place], vectors[place]) for place in places])
        return vectors

    def _read(self, kind: str, text: str) -> Vectors | None:
        statement = "SELECT vector FROM vectors WHERE model = ? AND kind = ? AND digest = ?"
        with self._told():
            row = self._database.execute(statement, (self.name, kind, _digest(text))).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype="<f4")

    def _write(self, kind: str, pairs: Sequence[tuple[str, Vectors]]) -> None:
        with self._told(), self._database:
            self._database.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)",
                [(self.name, kind, _digest(text), vector.astype("<f4").tobytes()) for text, vector in pairs],
            )

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise VectorCacheError(
                f"{self._path} can't be used: {error}. It may be deleted; the next run makes it anew."
            ) from error


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
