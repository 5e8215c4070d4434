"""What the model has to answer, and how its answer becomes candidates.

Two kinds of fault are told apart. A document that is broken (not JSON, a key missing, a wrong type, an empty summary,
an index of a message that was not shown) says nothing reliable at all: ModelAnswerInvalid, and the batch waits. A
single candidate that breaks a rule is dropped, and the rest stays; ``_Reading`` lists those rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar

from anthropic import transform_schema
from pydantic import BaseModel, ConfigDict, ValidationError

from language.anthropic_model.prompts import unescape
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

LONGEST_CONTENT = 280
LONGEST_SUBJECT = 200
MOST_EPISODES = 2
NO_FIELD = "none"
FIELDS = ("preferred_name", "pronouns", "city", "language", "tone", "goal")

_LONGEST_LOOSE_QUOTE = 1_000
_MARKDOWN_BLOCK = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL)
_LOOKALIKES = {character: f"[{group}]" for group in ("'’‘ʼ", '"“”„«»', "-‐‑–—") for character in group}


class Shape(BaseModel):
    """A part of an answer: these keys with these types, nothing converted."""

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
    """The JSON schema of an extraction: the same for every batch of a deployment, so that the server can keep it."""
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
    """Turn the model's answer into an Extraction, and say how many candidates were dropped.

    Raises ModelAnswerInvalid for a broken document.
    """
    document = validated(ExtractionShape, text)
    summary = document.summary.strip()
    if not summary:
        raise ModelAnswerInvalid("The summary is empty.")
    reading = _Reading(request)
    facts = [fact for shape in document.facts if (fact := reading.fact(shape))]
    memories = [memory for shape in document.memories if (memory := reading.memory(shape))]
    episodes = [episode for shape in document.episodes if (episode := reading.episode(shape))][:MOST_EPISODES]
    extraction = Extraction(summary, model, tuple(facts), tuple(memories), tuple(episodes), usage)
    listed = len(document.facts) + len(document.memories) + len(document.episodes)
    return extraction, listed - len(facts) - len(memories) - len(episodes)


def read_verdicts(text: str, pairs: int) -> list[Comparison]:
    """Turn the model's answer into one verdict for each of ``pairs`` pairs, in their order.

    Raises ModelAnswerInvalid when a pair has no verdict, or two, or a number is none of theirs.
    """
    answered = validated(VerdictsShape, text).verdicts
    verdicts = {verdict.pair: verdict.verdict for verdict in answered}
    if len(answered) != pairs or set(verdicts) != set(range(pairs)):
        raise ModelAnswerInvalid(f"{pairs} pairs were asked about, {len(answered)} verdicts came back.")
    return [verdicts[number] for number in range(pairs)]


def find_quote(content: str, quote: str) -> str:
    """The stretch of ``content`` that ``quote`` is taken from, letter by letter as it stands there, or "".

    Forgives what models change while copying: escaped characters, line breaks, typographic quotes and dashes.
    """
    quote = quote.strip()
    for candidate in (quote, unescape(quote)):
        if candidate and candidate in content:
            return candidate
    words = unescape(quote).split()
    if not words or len(quote) > _LONGEST_LOOSE_QUOTE:
        return ""
    pattern = r"\s+".join("".join(_LOOKALIKES.get(letter) or re.escape(letter) for letter in word) for word in words)
    found = re.search(pattern, content)
    return found.group() if found else ""


class _Reading:
    """Reads the candidates of one answer against the batch it is about.

    Dropped is a candidate that rests on no message of the user's own; whose quote stands in none of the messages it
    names (facts, memories); whose content is empty or longer than 280 characters; whose category, field or importance
    is not one of those asked for; whose subject is longer than 200 characters; every fact when there is no legacy;
    every episode after the second. Of the indices of a fact or memory those of other speakers are left out.
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
        """The candidate, or None if it is dropped. It may rest on what others said too, if the user took part."""
        indices, content = self._known(shape.messages), _content(shape.content)
        if not content or not self._own(indices):
            return None
        return EpisodeCandidate(content, tuple(indices))

    def _evidence(self, indices: Sequence[int], quote: str) -> tuple[tuple[int, ...], str] | None:
        """The user's messages that say it, the quoted one first, and the quote as it stands there."""
        own = self._own(self._known(indices))
        for index in own:
            if found := find_quote(self.shown[index].content, quote):
                return (index, *(other for other in own if other != index)), found
        return None

    def _own(self, indices: Sequence[int]) -> list[int]:
        return [index for index in indices if self.shown[index].role == "user"]

    def _known(self, indices: Sequence[int]) -> list[int]:
        """The indices, each once. Who cites a message that was not shown has lost count, so no other index holds."""
        if not set(indices) <= set(self.shown):
            raise ModelAnswerInvalid("The answer cites a message that is not in the batch.")
        return list(dict.fromkeys(indices))


def _content(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_CONTENT else ""


def validated(shape: type[ShapeT], text: str) -> ShapeT:
    """The document, if it has the shape. A server that ignores the schema may wrap it as a Markdown block.

    Raises ModelAnswerInvalid, without a word of the answer.
    """
    wrapped = _MARKDOWN_BLOCK.fullmatch(text)
    try:
        return shape.model_validate_json(wrapped[1] if wrapped else text)
    except ValidationError as error:
        # The error's own message quotes the answer, so only places and kinds go on.
        faults = [f"{_place(fault['loc'])}: {fault['type']}" for fault in error.errors(include_input=False)[:3]]
    raise ModelAnswerInvalid(f"The answer has not the form asked for ({'; '.join(faults)}).")


def _place(path: tuple[int | str, ...]) -> str:
    return ".".join(map(str, path)) or "document"
