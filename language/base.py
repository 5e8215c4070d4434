"""Protocols of language models and embedders, and their request and response types.

Rooms depend on these protocols only; ``language.backends`` selects the implementation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from language.heard import Heard

if TYPE_CHECKING:
    from pydantic import BaseModel

    from language.consolidating import Compared, Condensing
    from language.insights import InsightRequest, Insights

Vectors = npt.NDArray[np.float32]
Comparison = Literal["same", "replaces", "contradicts", "different"]
"""What a new statement does to an existing one: say the same, how it is instead, or what can't be true beside it.

One that replaces the other tells a change or a correction; where nothing tells which of the two holds, they contradict.
"""


class LanguageError(Exception):
    """A model or embedder failed. Nothing was changed; retry later."""


class ModelUnavailable(LanguageError):
    """The language model could not be reached, was overloaded, or took too long."""


class ModelAnswerInvalid(LanguageError):
    """The language model's answer has an invalid form. ``usage``: the tokens of its call, where they are known."""

    usage: Usage | None = None


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
    """A batch of messages to summarise and extract from.

    ``user_name`` is the person whose own words count (messages with role ``user``); ``legacy_name`` is the
    memorialised person the conversation is about, or ``None`` when it is about the user. ``known``: what is remembered
    already, which tells whose names these are.
    """

    messages: Sequence[Utterance]
    user_name: str
    legacy_name: str | None
    fact_categories: Sequence[str]
    memory_categories: Sequence[str]
    known: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FactCandidate:
    """A statement about a legacy: one third-person sentence, with its user messages.

    ``quote``: a verbatim part of the first message in ``indices``.
    """

    category: str
    content: str
    indices: tuple[int, ...]
    quote: str


@dataclass(frozen=True, slots=True)
class MemoryCandidate:
    """A statement about the user or their world.

    ``explicit``: the user explicitly asked to remember it, which is consent. ``field``: a single-valued field of a
    person (``city``, ``preferred_name``, …), or ''.
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
    """Tokens used by one call. ``cached_tokens`` of the ``input_tokens`` came from the prompt cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class Extraction:
    """The findings in a batch. ``model``: name of the model, stored with the output."""

    summary: str
    model: str
    facts: tuple[FactCandidate, ...] = ()
    memories: tuple[MemoryCandidate, ...] = ()
    episodes: tuple[EpisodeCandidate, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """An existing memory, as shown to a model. ``field``: a single-valued field, or ''.

    ``vector``: the embedding of its content by the current embedder, if stored, so that it is not embedded again.
    """

    id: str
    category: str
    subject: str
    content: str
    field: str
    date: date
    vector: Vectors | None = dataclasses.field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool definition; ``input_schema``: JSON schema of its arguments."""

    name: str
    description: str
    input_schema: Mapping[str, object]


@cache
def arguments_schema(arguments: type[BaseModel]) -> Mapping[str, Any]:
    """Return pydantic's JSON schema of a tool's arguments; it is shared, so copy what you change.

    Made once in a process: it takes milliseconds, and every reply and every extraction needs several.
    """
    return arguments.model_json_schema()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call by a model. ``id`` is unique within a loop; the arguments are unchecked.

    ``echo``: blocks that the model must see again before this call in later rounds.
    """

    id: str
    name: str
    arguments: Mapping[str, object]
    echo: tuple[Mapping[str, object], ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of the call ``call_id``: text for the model, and whether the call was accepted."""

    call_id: str
    content: str
    ok: bool


@dataclass(frozen=True, slots=True)
class ToolRound:
    """An earlier round of the loop: its calls in order, with results."""

    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A part of a conversation to extract changes of memories from.

    ``messages`` of all roles; only those of the role ``user``, by ``user_name``, are evidence. ``memories``: existing
    ones. ``most_calls``: limit over all rounds. Statements about the legacy ``legacy_name`` become facts, not memories.
    """

    messages: Sequence[Utterance]
    user_name: str
    memories: Sequence[KnownMemory]
    tools: Sequence[ToolSpec]
    memory_categories: Sequence[str]
    most_calls: int
    rounds: Sequence[ToolRound] = ()
    legacy_name: str | None = None

    @property
    def calls_left(self) -> int:
        """The number of calls left for the next rounds."""
        return max(0, self.most_calls - sum(len(earlier.calls) for earlier in self.rounds))


@dataclass(frozen=True, slots=True)
class ChosenCalls:
    """The calls of one round; none if the model is done."""

    calls: tuple[ToolCall, ...]
    model: str
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Source:
    """A statement found for a message, worded for the person, with its origin.

    ``quoted``: a quote from a message, not a memory. ``of_legacy``: it is about a legacy. ``stored``: the stored
    wording, by which it is compared with others; ``at``: when it was learned or said. ``stands_out``: it is much
    nearer in meaning to the question than anything else that was found.
    """

    text: str
    origin: str
    quoted: bool = False
    of_legacy: bool = False
    stored: str = ""
    at: datetime | None = None
    stands_out: bool = False


@dataclass(frozen=True, slots=True)
class ReplyRound:
    """An earlier round of a reply: the model's answer, and the results of its calls."""

    answer: ReplyAnswer
    results: tuple[ToolResult, ...]


@dataclass(frozen=True, slots=True)
class ReplyRequest:
    """The input of one round of a reply.

    ``system``: blocks of the Messages API, the first ending at the cache boundary; ``messages``: the conversation, the
    last one by the person. ``may_call=False``: tools are only defined for earlier calls. ``most_tokens``: limit of this
    round.

    For the offline model: ``question``, the person's message; ``found`` statements; ``heard``, the interpretation of
    the message; ``unknown`` fields and categories; ``is_first`` reply of the conversation; ``closed``: why nothing is
    recalled or stored, or ''; ``language`` of its fixed sentences; ``remembered``: how many memories there are, if the
    question is about the person in general.
    """

    system: Sequence[Mapping[str, object]]
    messages: Sequence[Mapping[str, object]]
    tools: Sequence[ToolSpec] = ()
    rounds: Sequence[ReplyRound] = ()
    may_call: bool = True
    most_tokens: int = 2_000
    question: str = ""
    found: Sequence[Source] = ()
    heard: Heard = field(default_factory=Heard)
    unknown: Sequence[str] = ()
    is_first: bool = False
    closed: Literal["private", "off", ""] = ""
    language: str = "en"
    remembered: int = 0


@dataclass(frozen=True, slots=True)
class ReplyAnswer:
    """The end of a round: its calls (none if the reply is done), and its usage. ``cut``: at the token limit.

    ``asks``: it asks the person for consent to remember something. ``blocks``: the answer in the model's format, for
    the next round.
    """

    calls: tuple[ToolCall, ...]
    model: str
    usage: Usage = field(default_factory=Usage)
    cut: bool = False
    asks: bool = False
    blocks: tuple[Mapping[str, object], ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage found for a question. ``id``: the caller's, unique per call."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Selected:
    """The ids of selected passages, and the usage."""

    ids: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


@runtime_checkable
class LanguageModel(Protocol):
    """A language model, or the rules that replace one. Calls raise ModelUnavailable or ModelAnswerInvalid."""

    name: str
    """Stored with everything the model produced, e.g. ``offline rules 1``."""

    offline: bool
    """True when no model is called; pages and answers then say so."""

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Summarise a batch and extract candidates.

        Raises ModelUnavailable or ModelAnswerInvalid; both leave the batch for a later try.
        """
        ...

    def same_fact(self, pairs: Sequence[tuple[str, str]]) -> Compared:
        """Classify for each (existing, new) pair of statements the new one relative to the existing one."""
        ...

    def choose_tools(self, request: ToolRequest) -> ChosenCalls:
        """Choose tool calls, given the messages, existing memories and results of earlier calls.

        At most ``request.calls_left`` calls, with new ids. The caller validates arguments and tool names.
        Raises ModelUnavailable or ModelAnswerInvalid; the loop is then begun again later.
        """
        ...

    def reply(self, request: ReplyRequest) -> AsyncIterator[str | ReplyAnswer]:
        """Generate a reply: yields pieces of text, finally the ReplyAnswer.

        Closing the iterator cancels the call. Raises ModelUnavailable or ModelAnswerInvalid, also after some of the
        text.
        """
        ...

    def condense(self, memories: Sequence[KnownMemory]) -> Condensing:
        """Merge memories without losing information.

        No memory is a source of two merges, and memories with a field are merged only with their like.
        Raises ModelUnavailable or ModelAnswerInvalid.
        """
        ...

    def select(self, question: str, passages: Sequence[Passage], most: int) -> Selected:
        """Return the ids of at most ``most`` passages that help to answer a question."""
        ...

    def insights(self, request: InsightRequest) -> Insights:
        """Return at most three insights from recent memories and messages."""
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
