"""What a language model and an embedder have to offer, and the records they exchange with the rooms.

The rooms depend on these protocols only; ``language.backends`` picks the implementation from the settings.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from language.consolidating import Compared, Condensing
    from language.insights import InsightRequest, Insights

Vectors = npt.NDArray[np.float32]
Comparison = Literal["same", "replaces", "contradicts", "different"]
"""What a new statement does to an existing one: say the same, how it is instead, or what can't be true beside it.

One that replaces the other tells a change or a correction; where nothing tells which of the two holds, they contradict.
"""


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
    """Model tokens that one call used. Of ``input_tokens``, ``cached_tokens`` came out of the server's prompt cache."""

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
    """What a model found in a batch. ``model`` names who found it, as stored and shown beside the output."""

    summary: str
    model: str
    facts: tuple[FactCandidate, ...] = ()
    memories: tuple[MemoryCandidate, ...] = ()
    episodes: tuple[EpisodeCandidate, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """What is remembered already, as a model sees it. ``field`` is empty for all but the single-valued fields."""

    id: str
    category: str
    subject: str
    content: str
    field: str
    date: date


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as any model takes it; ``input_schema`` is the JSON schema of its arguments, an object."""

    name: str
    description: str
    input_schema: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asks for. ``id`` is unique within one loop; the arguments have not been checked.

    ``echo`` is the model's own, what it wants to see again before this call in later rounds: pass the call on whole.
    """

    id: str
    name: str
    arguments: Mapping[str, object]
    echo: tuple[Mapping[str, object], ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of the call ``call_id``: text that the model can act on, and whether the call was taken."""

    call_id: str
    content: str
    ok: bool


@dataclass(frozen=True, slots=True)
class ToolRound:
    """One earlier round of the same loop: its calls in the order they were made, and a result for each."""

    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A part of a conversation that is read for what to remember, change or forget.

    ``messages`` holds all roles; only those with role ``user`` are evidence, and ``user_name`` is whose they are.
    ``memories`` is what is remembered of them already. ``most_calls`` holds for all rounds of the loop together. What
    is said about the memorialised person ``legacy_name``, if there is one, is kept elsewhere.
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
        """How many calls the coming rounds may make, never below 0."""
        return max(0, self.most_calls - sum(len(earlier.calls) for earlier in self.rounds))


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The calls of one round; none means that the model is done."""

    calls: tuple[ToolCall, ...]
    model: str
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Source:
    """A statement that was found for a message of a talk, as it is told to the person, and where it comes from.

    ``quoted``: it is not what is remembered, but what was said once. ``of_legacy``: it is about a memorialised person.
    """

    text: str
    origin: str
    quoted: bool = False
    of_legacy: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """What a message of a talk comes to that a model which is none has read; statements are as the person is told them.

    ``new`` they said in passing, ``noted`` they asked to be remembered or agreed to, ``changed`` reads otherwise now
    (until now, from now on), ``told`` is about the memorialised person. ``refused``: they asked that something be not
    kept. ``agreed``: they said yes to what they were asked. ``about`` names whom the talk is about, if others.
    ``secret`` is the kind of number or code in it that is never remembered.
    """

    new: tuple[str, ...] = ()
    noted: tuple[str, ...] = ()
    changed: tuple[tuple[str, str], ...] = ()
    told: tuple[str, ...] = ()
    refused: bool = False
    agreed: bool = False
    about: str = ""
    secret: str = ""


@dataclass(frozen=True, slots=True)
class ReplyRound:
    """One earlier round of the same reply: what the model answered, and what came of its calls."""

    answer: ReplyAnswer
    results: tuple[ToolResult, ...]


@dataclass(frozen=True, slots=True)
class ReplyRequest:
    """What the next message of a talk is made from.

    ``system`` are blocks as the Messages API takes them, whose first ends at the cache boundary, and ``messages`` the
    talk in the same form; the last one is what the person said. With ``may_call`` false the tools are there for what
    was called before, and none is called now. ``most_tokens`` bounds this round.

    A model that is none is given what it answers from: ``question``, the words of the person, what was ``found`` for
    them, what they were ``heard`` to say, and of which fields and categories nothing is known (``unknown``).
    ``is_first`` is true for the first reply of a talk. Where nothing is recalled or kept, ``closed`` says why.
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


@dataclass(frozen=True, slots=True)
class ReplyAnswer:
    """The end of a round: its calls, none when the reply is done, and what it used. ``cut`` at the most tokens.

    ``asks``: the person is asked in it whether what they said may be remembered. ``blocks`` is the answer in the
    model's own form, for the next round.
    """

    calls: tuple[ToolCall, ...]
    model: str
    usage: Usage = field(default_factory=Usage)
    cut: bool = False
    asks: bool = False
    blocks: tuple[Mapping[str, object], ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that was found for a question, as a model sees it. ``id`` is the caller's and unique in one call."""

    id: str
    text: str


@runtime_checkable
class LanguageModel(Protocol):
    """A language model, or rules that stand in for one. What asks it raises ModelUnavailable or ModelAnswerInvalid."""

    name: str
    """Stored with everything the model produced, e.g. ``offline rules 1``."""

    offline: bool
    """True when no model is called; pages and answers then say so."""

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Summarise a batch and list what it says.

        Raises ModelUnavailable or ModelAnswerInvalid; both leave the batch for a later try.
        """
        ...

    def same_fact(self, pairs: Sequence[tuple[str, str]]) -> Compared:
        """Say for each (existing, new) pair of statements what the new one is to the existing one: ``Comparison``."""
        ...

    def choose_tools(self, request: ToolRequest) -> ToolAnswer:
        """Choose which tools to call, given what was said, what is known and what came of earlier calls.

        At most ``request.calls_left`` calls come back, with ids that no call of an earlier round has. The arguments
        are the model's own: the caller checks them, and answers a call of an unknown tool as an error.
        Raises ModelUnavailable or ModelAnswerInvalid; the loop is then begun again later.
        """
        ...

    def reply(self, request: ReplyRequest) -> AsyncIterator[str | ReplyAnswer]:
        """Answer in a talk: the text piece by piece as it comes, in the end what the round came to.

        Closing it ends the call. Raises ModelUnavailable or ModelAnswerInvalid, also after some of the text.
        """
        ...

    def condense(self, memories: Sequence[KnownMemory]) -> Condensing:
        """Say in fewer memories what can be said in fewer, without losing any of it; the rest is left alone.

        No memory is a source of two answers, and no memory with a field of one without.
        Raises ModelUnavailable or ModelAnswerInvalid.
        """
        ...

    def select(self, question: str, passages: Sequence[Passage], most: int) -> tuple[str, ...]:
        """Choose the passages that help to answer a question: ids of theirs, each once, at most ``most``, or none."""
        ...

    def insights(self, request: InsightRequest) -> Insights:
        """Guess what lies behind what was noted and said of late: at most three things, or none."""
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
