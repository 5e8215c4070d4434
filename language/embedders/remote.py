"""Embedders over HTTP: OpenAI, servers with the same API, and Voyage."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast
from zlib import crc32

import numpy as np
import structlog
from django.conf import settings

from language.base import EmbedderUnavailable, Vectors
from language.embedders.choice import EmbedderChoice
from language.embedders.http import EmbedderAnswerInvalid, EmbedderCallRejected, EmbedderTimedOut, Endpoint, post
from language.tokens import count_tokens, cut_to_tokens

log = structlog.get_logger(__name__)

PATH = "embeddings"
REQUEST_TOKENS = 90_000
"""Maximum cl100k tokens of one call. The lowest limit of these servers is 120,000 tokens of their own tokenizer."""

SHORTEST_TOKENS = 32
"""A refused text is not truncated below this: its length can't be the reason then."""

NO_TEXT = "-"
"""Replaces blank texts, which these servers refuse."""

BYTES_PER_NUMBER = 40
"""Maximum bytes of a number in JSON; in base64 it takes 5.4."""

ENVELOPE_BYTES = 65_536

Use = Literal["passage", "query"]


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a call: ``texts`` per call, and ``text_tokens`` from the start of each text.

    ``passage_seconds`` and ``query_seconds`` limit ``embed_passages`` and ``embed_query`` including retries and waits.
    """

    texts: int
    text_tokens: int
    passage_seconds: float
    query_seconds: float


class RemoteEmbedder:
    """Embeds on a server. Stateless and thread-safe; the constructor opens no connection.

    Long texts are truncated. A rejected call is repeated in halves, and a rejected text with half of its length, so
    that smaller limits of a server need no setting. Failures are subclasses of EmbedderUnavailable
    (``language.embedders.http``).
    """

    def __init__(
        self,
        choice: EmbedderChoice,
        endpoint: Endpoint,
        limits: Limits,
        *,
        send_dimensions: bool = True,
        query_prefix: str = "",
        passage_prefix: str = "",
    ) -> None:
        self.choice = choice
        self.dimensions = choice.dimensions
        self.endpoint = endpoint
        self.limits = limits
        self.send_dimensions = send_dimensions
        self.prefixes: dict[Use, str] = {"passage": passage_prefix, "query": query_prefix}
        # Vectors with another prefix are not comparable, so the prefix is part of the name.
        self.name = choice.name + (f":{crc32(passage_prefix.encode()):08x}" if passage_prefix else "")

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed stored texts: an array of shape (len(texts), dimensions), rows of length 1. Raises EmbedderUnavailable.

        All or none: if one call fails, the vectors of the earlier calls are discarded.
        """
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        began = time.monotonic()
        ends = began + self.limits.passage_seconds
        done = 0
        for batch in self._batches(texts):
            rows[done : done + len(batch)] = self._embed(batch, "passage", ends)
            done += len(batch)
        if done:
            log.info("embedder_called", embedder=self.name, texts=done, seconds=round(time.monotonic() - began, 2))
        return rows

    def embed_query(self, text: str) -> Vectors:
        """Embed a search query: an array of shape (dimensions,) of length 1. Raises EmbedderUnavailable."""
        (batch,) = self._batches([text])
        row: Vectors = self._embed(batch, "query", time.monotonic() + self.limits.query_seconds)[0]
        return row

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Yield the truncated texts in batches for as few calls as the limits allow."""
        batch: list[str] = []
        tokens = 0
        for text in texts:
            cut = cut_to_tokens(text, self.limits.text_tokens)
            cut = cut if cut.strip() else NO_TEXT
            size = count_tokens(cut)
            if batch and (len(batch) == self.limits.texts or tokens + size > REQUEST_TOKENS):
                yield batch
                batch, tokens = [], 0
            batch.append(cut)
            tokens += size
        if batch:
            yield batch

    def _embed(self, texts: list[str], use: Use, ends: float) -> Vectors:
        try:
            return self._call(texts, use, ends)
        except EmbedderCallRejected as error:
            smaller = _smaller(texts)
            if not smaller:
                raise
            log.info("embedder_call_made_smaller", embedder=self.name, texts=len(texts), answer=str(error))
        return np.concatenate([self._embed(part, use, ends) for part in smaller])

    def _call(self, texts: list[str], use: Use, ends: float) -> Vectors:
        seconds = ends - time.monotonic()
        try:
            if seconds <= 0:
                raise EmbedderTimedOut("The embedder took longer than it may.")
            most_bytes = ENVELOPE_BYTES + len(texts) * self.dimensions * BYTES_PER_NUMBER
            answer = post(self.endpoint, PATH, self._body(texts, use), seconds=seconds, most_bytes=most_bytes)
            return read_vectors(answer, len(texts), self.dimensions)
        except EmbedderUnavailable as error:
            log.warning("embedder_call_failed", embedder=self.name, code=type(error).__name__, texts=len(texts))
            raise

    def _body(self, texts: list[str], use: Use) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.choice.model,
            "input": [self.prefixes[use] + text for text in texts],
            # A quarter of the bytes. Servers without base64 send numbers, which are accepted as well.
            "encoding_format": "base64",
        }
        if self.choice.kind == "voyage":
            body["input_type"] = "document" if use == "passage" else "query"
            body["truncation"] = True
        if self.send_dimensions:
            body["output_dimension" if self.choice.kind == "voyage" else "dimensions"] = self.dimensions
        return body


def _smaller(texts: list[str]) -> list[list[str]]:
    """Split a batch in halves, or truncate a single text; none if it can't get smaller."""
    if len(texts) > 1:
        middle = len(texts) // 2
        return [texts[:middle], texts[middle:]]
    tokens = count_tokens(texts[0])
    return [[cut_to_tokens(texts[0], tokens // 2)]] if tokens // 2 >= SHORTEST_TOKENS else []


def read_vectors(answer: Any, count: int, dimensions: int) -> Vectors:
    """Read the answer to ``count`` texts: an array of shape (count, dimensions), in their order, rows of length 1.

    Raises EmbedderAnswerInvalid unless it holds one vector for each text, of these dimensions, finite and not zero.
    """
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise EmbedderAnswerInvalid("The answer holds no list of vectors.")
    if len(data) != count or {_index(item) for item in data} != set(range(count)):
        raise EmbedderAnswerInvalid(f"The answer does not hold one vector for each of {count} texts.")
    rows = np.empty((count, dimensions), dtype=np.float32)
    for item in data:
        row = _numbers(item.get("embedding"))
        if row.shape != (dimensions,):
            raise EmbedderAnswerInvalid(f"A vector has the shape {row.shape}; {dimensions} dimensions were expected.")
        rows[_index(item)] = row
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise EmbedderAnswerInvalid("A vector holds something that is no number, or only zeros.")
    return cast(Vectors, (rows / lengths).astype(np.float32))


def _index(item: dict[str, Any]) -> int:
    index = item.get("index")
    return index if type(index) is int else -1


def _numbers(embedding: Any) -> Vectors:
    """Decode a vector from base64 of little-endian 32-bit floats, or from a list of numbers."""
    try:
        if isinstance(embedding, str):
            return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
        if isinstance(embedding, list) and all(type(number) in {int, float} for number in embedding):
            with np.errstate(over="ignore"):  # What is too large becomes infinite, which is looked for below.
                return np.asarray(embedding, dtype=np.float32)
    except (binascii.Error, ValueError, OverflowError):
        pass
    raise EmbedderAnswerInvalid("A vector is neither a list of numbers nor base64 of them.")


def from_settings(choice: EmbedderChoice) -> RemoteEmbedder:
    """Create the embedder of a choice, with its URL, key and limits from the settings."""
    openai = choice.kind == "openai"
    send = settings.OPENAI_SEND_DIMENSIONS if openai else None
    return RemoteEmbedder(
        choice,
        Endpoint(
            base_url=settings.OPENAI_BASE_URL if openai else settings.VOYAGE_BASE_URL,
            api_key=settings.OPENAI_API_KEY if openai else settings.VOYAGE_API_KEY,
            retries=settings.KEEPSAKE_EMBEDDER_RETRIES,
        ),
        Limits(
            texts=settings.KEEPSAKE_EMBEDDER_BATCH,
            text_tokens=settings.KEEPSAKE_EMBEDDER_TEXT_TOKENS,
            passage_seconds=settings.KEEPSAKE_EMBEDDER_TIMEOUT_SECONDS,
            query_seconds=settings.KEEPSAKE_EMBEDDER_QUERY_TIMEOUT_SECONDS,
        ),
        send_dimensions=choice.can_be_shortened if send is None else send,
        query_prefix=settings.OPENAI_QUERY_PREFIX if openai else "",
        passage_prefix=settings.OPENAI_PASSAGE_PREFIX if openai else "",
    )
