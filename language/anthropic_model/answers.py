"""The JSON schemas of the model's answers, and their conversion to candidates.

An invalid document (no JSON, a missing key, a wrong type, an empty summary, the index of an unknown message) raises
ModelAnswerInvalid, and the batch waits for a retry. A single candidate that breaks a rule of ``_CandidateReader`` is
dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar

from anthropic import transform_schema
from pydantic import BaseModel, ConfigDict, ValidationError

from language.base import (
    Comparison,
    EpisodeCandidate,
    Extraction,
    ExtractionRequest,
    FactCandidate,
    MemoryCandidate,
    ModelAnswerInvalid,
    Usage,
)
from language.fencing import DIRECTION_MARKS, WIDE_BRACKETS, unescaped

LONGEST_CONTENT = 280
LONGEST_SUBJECT = 200
MOST_EPISODES = 2
NO_FIELD = "none"
FIELDS = ("preferred_name", "pronouns", "city", "language", "tone", "goal")

_LONGEST_LOOSE_QUOTE = 1_000
_MARKDOWN_BLOCK = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL)
_BRACKETS = tuple(plain + wide for plain, wide in WIDE_BRACKETS.items())
_LOOKALIKES = {character: f"[{group}]" for group in ("'’‘ʼ", '"“”„«»', "-‐‑–—", *_BRACKETS) for character in group}
_MARKS = f"[{DIRECTION_MARKS}]*"


class Shape(BaseModel):
    """A part of an answer, with strict types."""

    model_config = ConfigDict(strict=True, frozen=True)


ShapeT = TypeVar("ShapeT", bound=Shape)


class FactShape(Shape):
    quote: str
    messages: list[int]
    category: str
    content: str


class MemoryShape(Shape):
    quote: str
    messages: list[int]
    category: str
    subject: str
    field: str
    content: str
    importance: int
    explicit: bool


class EpisodeShape(Shape):
    messages: list[int]
    content: str


class ExtractionShape(Shape):
    summary: str
    facts: list[FactShape]
    memories: list[MemoryShape]
    episodes: list[EpisodeShape]


class VerdictShape(Shape):
    pair: int
    verdict: Comparison


class VerdictsShape(Shape):
    verdicts: list[VerdictShape]


def extraction_schema(fact_categories: Sequence[str], memory_categories: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of an extraction: equal for all batches of a deployment, so that the server can cache it."""
    schema = transform_schema(ExtractionShape)
    facts, memories = (schema["$defs"][shape.__name__]["properties"] for shape in (FactShape, MemoryShape))
    facts["category"] = {"type": "string", "enum": list(fact_categories)}
    memories["category"] = {"type": "string", "enum": list(memory_categories)}
    memories["field"] = {"type": "string", "enum": [*FIELDS, NO_FIELD]}
    memories["importance"] = {"type": "integer", "enum": [1, 2, 3, 4, 5]}
    return schema


def verdicts_schema() -> dict[str, Any]:
    """The JSON schema of the verdicts on pairs."""
    return transform_schema(VerdictsShape)


def read_extraction(text: str, request: ExtractionRequest, *, model: str, usage: Usage) -> tuple[Extraction, int]:
    """Convert the model's answer to an Extraction. Returns it with the number of dropped candidates.

    Raises ModelAnswerInvalid for an invalid document.
    """
    document = validated(ExtractionShape, text)
    summary = document.summary.strip()
    if not summary:
        raise ModelAnswerInvalid("The summary is empty.")
    reading = _CandidateReader(request)
    facts = [fact for shape in document.facts if (fact := reading.fact(shape))]
    memories = [memory for shape in document.memories if (memory := reading.memory(shape))]
    episodes = [episode for shape in document.episodes if (episode := reading.episode(shape))][:MOST_EPISODES]
    extraction = Extraction(summary, model, tuple(facts), tuple(memories), tuple(episodes), usage)
    listed = len(document.facts) + len(document.memories) + len(document.episodes)
    return extraction, listed - len(facts) - len(memories) - len(episodes)


def read_verdicts(text: str, pairs: int) -> list[Comparison]:
    """Convert the model's answer to one verdict for each of ``pairs`` pairs, in their order.

    Raises ModelAnswerInvalid unless each number from 0 has exactly one verdict.
    """
    answered = validated(VerdictsShape, text).verdicts
    verdicts = {verdict.pair: verdict.verdict for verdict in answered}
    if len(answered) != pairs or set(verdicts) != set(range(pairs)):
        raise ModelAnswerInvalid(f"{pairs} pairs were asked about, {len(answered)} verdicts came back.")
    return [verdicts[number] for number in range(pairs)]


def find_quote(content: str, quote: str) -> str:
    """Return the verbatim part of ``content`` that ``quote`` is copied from, or "".

    Tolerates what prompts and models change: escaped characters, wide brackets, direction marks, line breaks,
    typographic quotes and dashes.
    """
    quote = quote.strip()
    for candidate in (quote, unescaped(quote)):
        if candidate and candidate in content:
            return candidate
    words = unescaped(quote).split()
    if not words or len(quote) > _LONGEST_LOOSE_QUOTE:
        return ""
    between = _MARKS if not content.isascii() else ""
    letters = ([_LOOKALIKES.get(letter) or re.escape(letter) for letter in word] for word in words)
    found = re.search(rf"{between}\s+{between}".join(between.join(word) for word in letters), content)
    return found.group() if found else ""


class _CandidateReader:
    """Validates the candidates of one answer against its batch.

    A candidate is dropped if it cites no user message; if its quote is in none of the cited messages (facts, memories);
    if its content is empty or longer than 280 characters; if its category, field or importance is unknown; if its
    subject is longer than 200 characters. Facts are dropped without a legacy, and episodes after the second. Indices of
    other speakers are removed from facts and memories.
    """

    def __init__(self, request: ExtractionRequest) -> None:
        self.request = request
        self.shown = {message.index: message for message in request.messages}

    def fact(self, shape: FactShape) -> FactCandidate | None:
        """The candidate, or None if it is dropped."""
        evidence, content = self._evidence(shape.messages, shape.quote), _content(shape.content)
        known = shape.category in self.request.fact_categories
        if not (evidence and content and known) or self.request.legacy_name is None:
            return None
        return FactCandidate(shape.category, content, *evidence)

    def memory(self, shape: MemoryShape) -> MemoryCandidate | None:
        """The candidate, or None if it is dropped."""
        evidence, content = self._evidence(shape.messages, shape.quote), _content(shape.content)
        subject = " ".join(shape.subject.split())
        known = shape.category in self.request.memory_categories and shape.field in {*FIELDS, NO_FIELD}
        if not (evidence and content and known) or len(subject) > LONGEST_SUBJECT or not 1 <= shape.importance <= 5:
            return None
        return MemoryCandidate(
            shape.category,
            content,
            *evidence,
            subject=subject,
            field="" if shape.field == NO_FIELD else shape.field,
            importance=shape.importance,
            explicit=shape.explicit,
        )

    def episode(self, shape: EpisodeShape) -> EpisodeCandidate | None:
        """The candidate, or None if it is dropped. It may also cite other speakers, if it cites the user."""
        indices, content = self._known(shape.messages), _content(shape.content)
        if not content or not self._own(indices):
            return None
        return EpisodeCandidate(content, tuple(indices))

    def _evidence(self, indices: Sequence[int], quote: str) -> tuple[tuple[int, ...], str] | None:
        """The cited user messages, the quoted one first, and the verbatim quote; None without a match."""
        own = self._own(self._known(indices))
        for index in own:
            if found := find_quote(self.shown[index].content, quote):
                return (index, *(other for other in own if other != index)), found
        return None

    def _own(self, indices: Sequence[int]) -> list[int]:
        return [index for index in indices if self.shown[index].role == "user"]

    def _known(self, indices: Sequence[int]) -> list[int]:
        """The indices without repetitions. Raises ModelAnswerInvalid for an unknown one: then none is reliable."""
        if not set(indices) <= set(self.shown):
            raise ModelAnswerInvalid("The answer cites a message that is not in the batch.")
        return list(dict.fromkeys(indices))


def _content(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_CONTENT else ""


def validated(shape: type[ShapeT], text: str) -> ShapeT:
    """Parse and validate a document. A server that ignores the schema may wrap it in a Markdown block.

    Raises ModelAnswerInvalid, whose message does not quote the answer.
    """
    wrapped = _MARKDOWN_BLOCK.fullmatch(text)
    try:
        return shape.model_validate_json(wrapped[1] if wrapped else text)
    except ValidationError as error:
        # The error's message quotes the answer, so only paths and types are used.
        faults = [f"{_place(fault['loc'])}: {fault['type']}" for fault in error.errors(include_input=False)[:3]]
    raise ModelAnswerInvalid(f"The answer does not follow the schema ({'; '.join(faults)}).")


def _place(path: tuple[int | str, ...]) -> str:
    return ".".join(map(str, path)) or "document"
