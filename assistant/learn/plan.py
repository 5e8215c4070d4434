"""The plan of an extraction: validates and answers each tool call of a model, without writing.

Conflicts that show only under the lock (suppressions, budget, concurrent changes) are handled by ``writing``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from accounts.principals import Principal
from accounts.scope import acting_name
from journal.exceptions import Gated, Refused
from language.base import EpisodeCandidate, KnownMemory, MemoryCandidate, ToolCall, ToolResult, Vectors
from language.gates import is_masked
from memories.actions import admit_new
from memories.models import Kind
from memories.policy import writing as filing
from memories.records import NewMemory
from retrieval.text import list_words
from statements.policy import LONGEST_EXTRACTED, check_form
from statements.policy.naming import as_of_user

from . import tools

EPISODES = "history"
"""The category of what was discussed, decided or done."""
MOST_EPISODES = 2


@dataclass(frozen=True, slots=True)
class Known:
    """A memory shown to the model, with its version, and its vector by the current embedder, if stored."""

    id: str
    category: str
    subject: str
    content: str
    field: str
    noted: date
    version: int
    kind: str
    vector: Vectors | None = None

    def shown(self) -> KnownMemory:
        """The representation for the model, which calls the person acted for "the user"."""
        content = as_of_user(self.content, acting_name())
        return KnownMemory(self.id, self.category, self.subject, content, self.field, self.noted, self.vector)


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote from a message of the user, with its index."""

    index: int
    words: str


@dataclass(frozen=True, slots=True)
class Adding:
    """A new memory that passed the gates without database; ``held_back``: the reason for quarantine."""

    new: NewMemory
    held_back: str
    consent: bool
    quotes: tuple[Quote, ...]
    op: Literal["add"] = "add"


@dataclass(frozen=True, slots=True)
class Rewording:
    """A new wording of an existing memory."""

    known: Known
    content: str
    correction: bool
    consent: bool
    quotes: tuple[Quote, ...]
    op: Literal["update"] = "update"


@dataclass(frozen=True, slots=True)
class Removing:
    """An existing memory to archive."""

    known: Known
    consent: bool
    quotes: tuple[Quote, ...]
    op: Literal["archive"] = "archive"


@dataclass(frozen=True, slots=True)
class Doubting:
    """An existing memory that may be out of date, for the person to decide about."""

    known: Known
    quotes: tuple[Quote, ...]
    consent: Literal[False] = False
    op: Literal["doubt"] = "doubt"


Step = Adding | Rewording | Removing | Doubting


class NotTaken(Exception):
    """A refused call: a message for the model, and a short code for the log."""

    def __init__(self, detail: str, why: str) -> None:
        super().__init__(detail)
        self.detail = detail
        self.why = why


@dataclass
class Plan:
    """Collects the changes.

    ``said``: the usable messages of the user by index, as read; ``others``: why other indices are not usable. At most
    ``most`` steps are accepted.
    """

    principal: Principal
    said: Mapping[int, str]
    known: Sequence[Known]
    most: int
    now: datetime
    others: Mapping[int, str] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def answer(self, call: ToolCall) -> ToolResult:
        """Accept a call, or return what is wrong with it."""
        try:
            self._take(call)
        except NotTaken as error:
            self.refused.append(error.why)
            return ToolResult(call.id, f"Not taken. {error.detail}", ok=False)
        return ToolResult(call.id, "Taken. Don't repeat it.", ok=True)

    def add_candidate(self, candidate: MemoryCandidate) -> bool:
        """Accept a finding made without tools. Returns whether it was accepted."""
        new = NewMemory(
            candidate.content,
            candidate.category,
            subject=candidate.subject,
            field=candidate.field,
            importance=candidate.importance,
        )
        try:
            quotes = self._quotes(candidate.indices, candidate.quote)
            self._add(new, consent=candidate.explicit, quotes=quotes)
        except NotTaken as error:
            self.refused.append(error.why)
            return False
        return True

    def add_episode(self, candidate: EpisodeCandidate, at: Mapping[int, datetime]) -> bool:
        """Accept an episode (what was discussed, decided or done). ``at``: when each message was said."""
        indices = [index for index in dict.fromkeys(candidate.indices) if index in self.said]
        try:
            if not indices:
                raise NotTaken("It rests on no message of the user's.", "evidence")
            since = min(at[index] for index in indices)
            new = NewMemory(candidate.content, EPISODES, kind=Kind.EPISODIC, valid_from=since)
            self._add(new, consent=False, quotes=tuple(Quote(index, self.said[index]) for index in indices))
        except NotTaken as error:
            self.refused.append(error.why)
            return False
        return True

    def _take(self, call: ToolCall) -> None:
        try:
            sent = tools.read(call.name, call.arguments)
        except ValueError as error:
            raise NotTaken(str(error), "arguments") from error
        quotes = self._quotes((sent.evidence.index,), sent.evidence.quote)
        if isinstance(sent, tools.Addition):
            new = NewMemory(
                sent.content, sent.category, subject=sent.subject, field=sent.field, importance=sent.importance
            )
            self._add(new, consent=sent.explicit, quotes=quotes, insist=sent.insist)
        elif isinstance(sent, tools.Change):
            self._update(sent, quotes)
        elif isinstance(sent, tools.Removal):
            self._append(Removing(self._named(sent.memory_id), sent.explicit, quotes))
        else:
            self._append(Doubting(self._named(sent.memory_id), quotes))

    # --- One check each -------------------------------------------------------------------------------------------

    def _add(self, new: NewMemory, *, consent: bool, quotes: tuple[Quote, ...], insist: bool = True) -> None:
        admitted, held_back = self._admitted(new)
        if admitted.kind == Kind.PROCEDURAL and not consent:
            raise NotTaken("Steps are remembered when the user asks for it in so many words.", "procedure")
        words = list_words(admitted.content)
        if any(isinstance(step, Adding) and list_words(step.new.content) == words for step in self.steps) or any(
            isinstance(step, Rewording) and list_words(step.content) == words for step in self.steps
        ):
            raise NotTaken("The same was taken already.", "repeated")
        if not insist and not held_back:
            self._check_subject(admitted, words)
        self._append(Adding(admitted, held_back, consent, quotes))

    def _admitted(self, new: NewMemory) -> tuple[NewMemory, str]:
        try:
            admitted, held_back = admit_new(self.principal, new, self.now)
            if admitted.kind != Kind.PROCEDURAL:
                check_form(admitted.content, longest=LONGEST_EXTRACTED)
        except Refused as error:
            raise NotTaken(error.detail, _why(error)) from error
        self._check_masked(admitted.content)
        return admitted, held_back

    def _check_subject(self, new: NewMemory, words: list[str]) -> None:
        """Refuse a second memory about a subject, naming the existing one, unless the texts are equal."""
        for known in self.known:
            if list_words(known.content) == words and not filing.are_apart(known.subject, new.subject):
                return
        for known in self.known:
            if self._is_in_the_way(known, new):
                raise NotTaken(
                    f"There is a memory about this already (subject_exists): [id:{known.id}] {known.content} If this "
                    "is news about it, call update_memory with that id and the whole statement as it holds now. If it "
                    "is another thing, call add_to_memory again with insist.",
                    "subject",
                )

    def _is_in_the_way(self, known: Known, new: NewMemory) -> bool:
        if self._is_touched(known):
            return False
        if filing.single_valued(new.field):
            return known.field == new.field
        key = filing.subject_key(new.subject)
        return bool(key) and known.category == new.category and filing.subject_key(known.subject) == key

    def _update(self, sent: tools.Change, quotes: tuple[Quote, ...]) -> None:
        known = self._named(sent.memory_id)
        try:
            content = filing.admitted(sent.content, known.kind, own_word=False)
            check_form(content, longest=LONGEST_EXTRACTED)
        except Refused as error:
            raise NotTaken(error.detail, _why(error)) from error
        self._check_masked(content)
        if list_words(content) == list_words(known.content):
            raise NotTaken("The memory says so already.", "repeated")
        self._append(Rewording(known, content, sent.correction, sent.explicit, quotes))

    def _named(self, memory_id: str) -> Known:
        known = next((known for known in self.known if known.id == memory_id), None)
        if known is None:
            raise NotTaken("There is no memory with that id among those you were shown.", "unknown_id")
        if self._is_touched(known):
            raise NotTaken("This memory is changed by a call that was taken already.", "repeated")
        return known

    def _is_touched(self, known: Known) -> bool:
        return any(not isinstance(step, Adding) and step.known.id == known.id for step in self.steps)

    def _check_masked(self, content: str) -> None:
        if is_masked(content):
            raise NotTaken("What it tells is something sensitive that was removed. Such data is not stored.", "gate")

    def _quotes(self, indices: Sequence[int], quote: str) -> tuple[Quote, ...]:
        """Validate the evidence: usable messages of the user, and quotes contained in them."""
        if not indices:
            raise NotTaken("It rests on no message of the user's.", "evidence")
        for index in indices:
            if index not in self.said:
                told = self.others.get(index, "is not in this part of the conversation")
                raise NotTaken(f"Message {index} {told}. Only the user's own words count.", "evidence")
        quote = quote.strip()
        if not quote or quote not in self.said[indices[0]]:
            raise NotTaken(f"The quote is not in message {indices[0]}. Copy its words letter by letter.", "evidence")
        others = (index for index in dict.fromkeys(indices) if index != indices[0])
        return (Quote(indices[0], quote), *(Quote(index, self.said[index]) for index in others))

    def _append(self, step: Step) -> None:
        if len(self.steps) >= self.most:
            raise NotTaken(f"Not more than {self.most} changes can come of this part. Make no more calls.", "cap")
        self.steps.append(step)


def _why(error: Refused) -> str:
    return "gate" if isinstance(error, Gated) else error.code
