"""A text with everything derived from it, computed before the transaction that stores it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Protocol
from uuid import UUID

import numpy as np
import structlog
from django.utils.translation import gettext_noop

from accounts.principals import Principal
from accounts.scope import acting_name
from language.backends import get_embedder
from language.base import EmbedderUnavailable, Vectors
from language.embedders.e5.embedder import BundledEmbedder
from language.gates import find_instructions
from language.gates.judging import Kept, Meaning, kind_of, kind_of_step
from language.gates.passages import is_json, most_judged
from language.gates.passages import passages as passages_of
from language.gates.unwrapped import unwrapped
from language.reading.compare import Saying
from language.shown import as_shown
from language.third_person import SHORT_CHARACTERS, about_the_user
from retrieval.text import PreparedText, prepare

from .policy import fingerprint, steps_of
from .policy.naming import as_of_user

log = structlog.get_logger(__name__)

REVIEW_REASONS = {
    "": "",
    "order": gettext_noop("This may be meant for an assistant, not say something of a person."),
    "secret": gettext_noop("This may hold a password or a code."),
}
"""Reasons for review by the kind that a classifier gives a text. It can be wrong, so nothing is refused for it."""


class WordedRow(Protocol):
    """A row with a text, its fingerprint, and its columns for searches."""

    content: str
    fingerprint: str
    search_text: str
    search_config: str
    search_length: int
    embedding: list[float] | None
    embedding_model: str


@dataclass(frozen=True, slots=True)
class Wording:
    """A text in its stored form, with its fingerprint, search columns and vector."""

    content: str
    fingerprint: str
    prepared: PreparedText
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
        """Derive everything from a content in its stored form. ``vector`` is None if the embedder is unavailable.

        Searches find the words of ``heading`` too.
        """
        return cls(
            content=content,
            fingerprint=fingerprint(user_id, content),
            prepared=prepare(content, principal.language, heading=heading),
            embedding=None if vector is None else vector.tolist(),
            embedding_model="" if vector is None else embedding_model,
        )

    def put_on(self, row: WordedRow) -> None:
        """Set the columns of a row."""
        row.content = self.content
        row.fingerprint = self.fingerprint
        self.prepared.put_on(row)
        row.embedding = self.embedding
        row.embedding_model = self.embedding_model


@dataclass(frozen=True)
class Embedded:
    """A content in its stored form, with its vector by ``embedding_model``; None if the embedder is unavailable.

    ``said`` is the message that says it, which may name an earlier value as wrong. ``traits`` are further features
    for the classifier, if the bundled embedder has just read the text. With ``verbatim``, the text need not be a
    statement, so its ``passages`` are classified one by one, as the ``steps`` of a procedure are. ``free``: its
    form was not checked, so it may be in the first person or no sentence. ``as_user`` is the text as one about "the
    user", if that was embedded, too. ``beside`` are sentences of a verbatim text, of its subject, topics and
    metadata, to compare with what was rejected.
    """

    content: str
    vector: Vectors | None
    embedding_model: str
    said: str = ""
    traits: Vectors | None = None
    verbatim: bool = False
    free: bool = False
    passages: tuple[Meaning, ...] = ()
    steps: tuple[Meaning, ...] = ()
    as_user: Embedded | None = None
    beside: tuple[Embedded, ...] = ()

    @property
    def shown(self) -> str:
        """The content without characters that are not shown, to compare it with others."""
        return as_shown(self.content)

    @property
    def readings(self) -> list[str]:
        """The content as it is shown, and what it says in an encoding or without markup."""
        return [self.shown, *unwrapped(self.content)]

    @cached_property
    def saying(self) -> Saying:
        """The content parsed for comparisons. Access it before taking a lock, as it is computed once."""
        return Saying(self.shown, self.said)

    @property
    def said_of_user(self) -> Embedded | None:
        """The content with "the user" in place of the name of the person acted for; None if it does not name them.

        Of a short free text, the statement about the user that it may stand for.
        """
        if self.as_user is not None:
            return self.as_user
        content = as_of_user(self.content, acting_name())
        if content == self.content and self.free and len(content) <= SHORT_CHARACTERS and not is_json(content):
            content = about_the_user(content)
        return None if content == self.content else Embedded(content, None, "", verbatim=self.verbatim)

    @property
    def meaning(self) -> Meaning | None:
        """The input of the classifier; None unless the vector is the bundled embedder's."""
        if self.vector is None or self.embedding_model != BundledEmbedder.name:
            return None
        return Meaning(self.vector, self.traits)

    @property
    def statement(self) -> Meaning | None:
        """``meaning``, or None for a verbatim text."""
        return None if self.verbatim else self.meaning

    @property
    def review_reason(self) -> str:
        """Why a text by somebody else than the person has to be reviewed: it may not be a statement. Otherwise ""."""
        steps = () if self.verbatim else steps_of(self.content)
        # The rules for statements stand in for the network where it does not judge each step.
        told = ["order"] if len(steps) > len(self.steps) and find_instructions(self.content) else []
        if self.steps:
            kinds = (
                kind_of_step(meaning, by_rule=bool(find_instructions(step)))
                for step, meaning in zip(steps, self.steps, strict=False)
            )
        elif self.passages or self.verbatim:
            kinds = (kind_of(each, "document") for each in self.passages)
        else:  # Stored steps have no vectors of their own: they are judged together.
            kept: Kept = "document" if len(steps) > 1 else "statement"
            kinds = (kind_of(each, kept) for each in filter(None, [self.meaning]))
        return next((REVIEW_REASONS[kind] for kind in chain(told, kinds) if kind), "")

    def as_document(self, beside: int = 0) -> Embedded:
        """Return it as a verbatim text with embedded passages. Call it before the transaction.

        ``beside`` is how many other documents the same call embeds.
        """
        free = replace(self, free=True)
        said = passages_of(self.content, beside) if self.meaning is not None else []
        stated = [each.content for each in [free.said_of_user] if each is not None and each.vector is None]
        read = self.of_each([*said, *stated])
        if stated:
            free = replace(free, as_user=read.pop())
        if said == [self.content.strip()]:
            return free  # A single sentence is treated as a statement.
        return replace(free, verbatim=True, passages=_meanings(read), beside=tuple(read))

    def as_steps(self, beside: int = 0) -> Embedded:
        """Return it as a procedure with embedded steps. Call it before the transaction."""
        steps = steps_of(self.content)[: most_judged(beside)] if self.meaning is not None else []
        return replace(self, steps=_meanings(self.of_each(steps)))

    @classmethod
    def of(cls, content: str, *, verbatim: bool = False) -> Embedded:
        """Embed one text. Call it before the transaction."""
        (text,) = cls.of_each([content])
        return text.as_document() if verbatim else text

    @classmethod
    def of_row(cls, row: WordedRow | Wording, *, verbatim: bool = False) -> Embedded:
        """Return the content and vector of a row."""
        vector = None if row.embedding is None else np.asarray(row.embedding, dtype=np.float32)
        return cls(row.content, vector, row.embedding_model, verbatim=verbatim, free=verbatim)

    @classmethod
    def of_each(cls, contents: Sequence[str]) -> list[Embedded]:
        """Embed several texts in one call; without vectors if the embedder is unavailable. Not in a transaction."""
        try:
            return cls.read_each(contents)
        except EmbedderUnavailable as error:
            log.warning("stored_without_vector", error=type(error).__name__)
            return [cls(content, None, "") for content in contents]

    @classmethod
    def read_each(cls, contents: Sequence[str]) -> list[Embedded]:
        """Like ``of_each``, but raises EmbedderUnavailable."""
        name = acting_name()
        of_user = {place: said for place, each in enumerate(contents) if (said := as_of_user(each, name)) != each}
        read = cls._read([*contents, *of_user.values()])
        for (place, _), named in zip(of_user.items(), read[len(contents) :], strict=True):
            read[place] = replace(read[place], as_user=named)
        return read[: len(contents)]

    @classmethod
    def _read(cls, contents: Sequence[str]) -> list[Embedded]:
        embedder = get_embedder()
        if not contents:
            return []
        shown = [as_shown(content) for content in contents]
        if isinstance(embedder, BundledEmbedder):
            read = zip(contents, *embedder.read_passages(shown), strict=True)
            return [cls(content, vector, embedder.name, traits=traits) for content, vector, traits in read]
        vectors = embedder.embed_passages(shown)
        return [cls(content, vector, embedder.name) for content, vector in zip(contents, vectors, strict=True)]

    @classmethod
    def again(cls, content: str, embedding: Sequence[float] | None, embedding_model: str) -> Embedded:
        """Return a stored content with its vector, if the current embedder made that; otherwise without a vector.

        The embedder is not called, so this is allowed in a transaction. A missing vector is computed later.
        """
        if embedding is None or embedding_model != get_embedder().name:
            return cls(content, None, "")
        return cls(content, np.asarray(embedding, dtype=np.float32), embedding_model)

    def worded(self, principal: Principal, user_id: UUID, heading: str = "") -> Wording:
        """Return the Wording of this content; searches find the words of ``heading`` too."""
        return Wording.of(principal, user_id, self.content, self.vector, self.embedding_model, heading=heading)


def _meanings(texts: Sequence[Embedded]) -> tuple[Meaning, ...]:
    return tuple(each.meaning for each in texts if each.meaning is not None)
