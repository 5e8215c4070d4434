"""What a language model and an embedder have to offer, and the records they exchange with the rooms.

The rooms depend on these protocols only; ``language.backends`` picks the implementation from the settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
Comparison = Literal["same", "contradicts", "different"]


class LanguageError(Exception):
    """A model or embedder could not answer. Nothing was changed; the work may be tried again later."""


class ModelUnavailable(LanguageError):
    """The language model could not be reached, was overloaded, or took too long."""


class ModelAnswerInvalid(LanguageError):
    """The language model answered, but not in the form that was asked for."""


class EmbedderUnavailable(LanguageError):
    """The embedder could not be reached or failed."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message of a conversation as a model sees it. ``index`` is its place in the conversation, from 0."""

    index: int
    role: str
    speaker: str
    content: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ExtractionRequest:
    """A batch of messages to summarise and to learn from.

    ``user_name`` is the person whose own words count (messages with role ``user``); ``legacy_name`` is the
    memorialised person the conversation is about, or ``None`` when it is about the user.
    """

    messages: Sequence[Utterance]
    user_name: str
    legacy_name: str | None
    fact_categories: Sequence[str]
    memory_categories: Sequence[str]


@dataclass(frozen=True, slots=True)
class FactCandidate:
    """Something a member said about a legacy: one third-person sentence and the user messages that say it.

    ``quote`` is a verbatim part of the content of the first message in ``indices``.
    """

    category: str
    content: str
    indices: tuple[int, ...]
    quote: str


@dataclass(frozen=True, slots=True)
class MemoryCandidate:
    """Something the user said about themselves or their world.

    ``explicit`` is true when the user asked for it to be remembered in so many words, which is consent.
    ``field`` is one of the single-valued fields of a person (``city``, ``preferred_name``, …) or empty.
    """

    category: str
    content: str
    indices: tuple[int, ...]
    quote: str
    subject: str = ""
    field: str = ""
    importance: int = 2
    explicit: bool = False


@dataclass(frozen=True, slots=True)
class EpisodeCandidate:
    """What was discussed, decided or done, in the past tense."""

    content: str
    indices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """Model tokens that one call used."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a model found in a batch. ``model`` names who found it, as stored and shown beside the output."""

    summary: str
    model: str
    facts: tuple[FactCandidate, ...] = ()
    memories: tuple[MemoryCandidate, ...] = ()
    episodes: tuple[EpisodeCandidate, ...] = ()
    usage: Usage = field(default_factory=Usage)


@runtime_checkable
class LanguageModel(Protocol):
    """A language model, or rules that stand in for one."""

    name: str
    """Stored with everything the model produced, e.g. ``offline rules 1``."""

    offline: bool
    """True when no model is called; pages and answers then say so."""

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Summarise a batch and list what it says.

        Raises ModelUnavailable or ModelAnswerInvalid; both leave the batch for a later try.
        """
        ...

    def same_fact(self, pairs: Sequence[tuple[str, str]]) -> list[Comparison]:
        """Say for each (existing, new) pair of statements whether they say the same, contradict or differ.

        Raises ModelUnavailable or ModelAnswerInvalid.
        """
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns text into vectors of length 1, so that cosine similarity is their dot product."""

    name: str
    """Stored beside every vector; vectors of different names are never compared."""

    dimensions: int

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed stored texts: an array of shape (len(texts), dimensions). Raises EmbedderUnavailable."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Embed what is searched for: an array of shape (dimensions,). Raises EmbedderUnavailable."""
        ...
