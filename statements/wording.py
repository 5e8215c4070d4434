"""A text and all that is derived from it, made before the transaction that stores it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol
from uuid import UUID

import numpy as np
import structlog

from accounts.principals import Principal
from language.backends import get_embedder
from language.base import EmbedderUnavailable, Vectors
from language.embedders.e5.embedder import BundledEmbedder
from language.gates.judging import Meaning, kind_of
from language.gates.passages import passages
from language.reading.compare import Saying
from language.tokens import count_tokens
from retrieval.text import Prepared, prepare

from .policy import fingerprint

log = structlog.get_logger(__name__)

DOUBTS = {
    "": "",
    "order": "This may be meant for an assistant, not say something of a person.",
    "secret": "This may hold a password or a code.",
}
"""Why a statement waits for the person, by what it reads like. It may be wrong, so that nothing is refused for it."""


class Worded(Protocol):
    """A row that says something: its text, what it is known again by, and what searches read."""

    content: str
    fingerprint: str
    tokens: int
    search_text: str
    search_config: str
    search_length: int
    embedding: list[float] | None
    embedding_model: str


@dataclass(frozen=True, slots=True)
class Wording:
    """A content in its stored form, with its fingerprint, words, vector and length in tokens."""

    content: str
    fingerprint: str
    prepared: Prepared
    tokens: int
    embedding: list[float] | None
    embedding_model: str

    @classmethod
    def of(
        cls,
        principal: Principal,
        user_id: UUID,
        content: str,
        vector: Vectors | None,
        embedding_model: str,
        *,
        heading: str = "",
    ) -> Wording:
        """Derive everything from a content in its stored form. ``vector`` is None while the embedder is away.

        The words of ``heading`` are found by searches too. ``tokens`` are those of the content alone.
        """
        return cls(
            content=content,
            fingerprint=fingerprint(user_id, content),
            prepared=prepare(content, principal.language, heading=heading),
            tokens=count_tokens(content),
            embedding=None if vector is None else vector.tolist(),
            embedding_model="" if vector is None else embedding_model,
        )

    def put_on(self, row: Worded) -> None:
        """Set the columns that the wording decides."""
        row.content = self.content
        row.fingerprint = self.fingerprint
        row.tokens = self.tokens
        self.prepared.put_on(row)
        row.embedding = self.embedding
        row.embedding_model = self.embedding_model


@dataclass(frozen=True)
class Embedded:
    """A content in its stored form and its vector by the model that is named, None while the embedder is away.

    ``said`` is the message that says it, which may tell what was wrong before. ``traits`` tell how it is said, where
    the bundled embedder has just read it. ``verbatim``: it need not be a statement, so that not the whole is judged,
    but each of its ``passages``, where the bundled embedder has just read those.
    """

    content: str
    vector: Vectors | None
    embedding_model: str
    said: str = ""
    traits: Vectors | None = None
    verbatim: bool = False
    passages: tuple[Meaning, ...] = ()

    @cached_property
    def saying(self) -> Saying:
        """The content as it is compared with others: parsed once, before a lock if it is asked before."""
        return Saying(self.content, self.said)

    @property
    def meaning(self) -> Meaning | None:
        """What the gates can judge by, if there is such a thing."""
        if self.vector is None or self.embedding_model != BundledEmbedder.name:
            return None
        return Meaning(self.vector, self.traits)

    @property
    def statement(self) -> Meaning | None:
        """The meaning, of what is a statement."""
        return None if self.verbatim else self.meaning

    @property
    def doubt(self) -> str:
        """Why it has to wait for the person, unless it is their own word: it may be no statement. Else empty."""
        if self.verbatim:
            return next(
                (DOUBTS[kind] for kind in (kind_of(each, in_document=True) for each in self.passages) if kind), ""
            )
        return "" if self.meaning is None else DOUBTS[kind_of(self.meaning)]

    def as_document(self, beside: int = 0) -> Embedded:
        """The same as what is kept as it is, with what its passages mean. Call it before the transaction.

        ``beside`` is how many others are read in the same call.
        """
        said = passages(self.content, beside) if self.meaning is not None else []
        if said == [self.content.strip()]:
            return self  # One sentence is a statement.
        read = [each.meaning for each in self.of_each(said)]
        return replace(self, verbatim=True, passages=tuple(each for each in read if each is not None))

    @classmethod
    def of(cls, content: str, *, verbatim: bool = False) -> Embedded:
        """Ask the embedder. Call it before the transaction."""
        (text,) = cls.of_each([content])
        return text.as_document() if verbatim else text

    @classmethod
    def of_row(cls, row: Worded | Wording, *, verbatim: bool = False) -> Embedded:
        """What a row says, with the vector that it has."""
        vector = None if row.embedding is None else np.asarray(row.embedding, dtype=np.float32)
        return cls(row.content, vector, row.embedding_model, verbatim=verbatim)

    @classmethod
    def of_each(cls, contents: Sequence[str]) -> list[Embedded]:
        """Ask the embedder once for several. Call it before the transaction."""
        try:
            return cls.read_each(contents)
        except EmbedderUnavailable as error:
            log.warning("stored_without_vector", error=type(error).__name__)
            return [cls(content, None, "") for content in contents]

    @classmethod
    def read_each(cls, contents: Sequence[str]) -> list[Embedded]:
        """As ``of_each``, for those who wait for the embedder. Raises EmbedderUnavailable."""
        embedder = get_embedder()
        if not contents:
            return []
        if isinstance(embedder, BundledEmbedder):
            read = zip(contents, *embedder.read_passages(contents), strict=True)
            return [cls(content, vector, embedder.name, traits=traits) for content, vector, traits in read]
        vectors = embedder.embed_passages(contents)
        return [cls(content, vector, embedder.name) for content, vector in zip(contents, vectors, strict=True)]

    @classmethod
    def again(cls, content: str, embedding: Sequence[float] | None, embedding_model: str) -> Embedded:
        """A content that was stored before, with the vector that it had if the present embedder made that one.

        The embedder is not asked, so it may be called inside a transaction; another vector comes later.
        """
        if embedding is None or embedding_model != get_embedder().name:
            return cls(content, None, "")
        return cls(content, np.asarray(embedding, dtype=np.float32), embedding_model)

    def worded(self, principal: Principal, user_id: UUID, heading: str = "") -> Wording:
        """All that is derived from it; the words of ``heading`` are found by searches too."""
        return Wording.of(principal, user_id, self.content, self.vector, self.embedding_model, heading=heading)
