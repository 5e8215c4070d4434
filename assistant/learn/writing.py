"""Writes a plan: all that it needs the embedder and a model for first, then the rows under the ledger's lock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np
from django.conf import settings

from accounts.policy import must_act_for
from accounts.principals import Principal
from conversations.models import Conversation, Message
from journal.actions import LedgerWrite, note_learned, write_part
from journal.exceptions import Refused
from journal.operation_actions import note_operation
from language.base import Comparison, LanguageModel, MemoryCandidate
from language.reading.compare import Saying, read_together
from language.reading.refusals import says_yes
from memories import queries
from memories.actions import (
    memories_relate,
    prepare_new,
    record_archive,
    record_new,
    record_update,
)
from memories.models import Kind
from memories.policy import writing as filing
from memories.records import QUOTE_CHARACTERS, NewMemory, PreparedMemory, Said, WritePolicy
from statements.actions import candidate_keep
from statements.policy import urgency
from statements.wording import Embedded

from .plan import Adding, Removing, Rewording, Step

WRITES = ("add", "update", "archive", "propose", "quarantine")
"""What the log of operations calls something that was learned; all else that it tells of extraction changed nothing."""
WAITING = "waiting"
"""What it calls something that is over a cap, and is written later."""
_OPERATIONS = {
    "created": "add",
    "updated": "update",
    "reinforced": "duplicate",
    "proposed": "propose",
    "quarantined": "quarantine",
}
_OPERATION_CHARACTERS = 20
RUN_CHARACTERS = 100
"""As many as the column of a memory's run has."""


@dataclass(frozen=True, slots=True)
class ReadyAddition:
    """Something to be remembered as it will be stored. ``verdicts``: what it is to the wordings near it, if asked."""

    step: Adding
    prepared: PreparedMemory
    verdicts: Mapping[str, Comparison] | None = None


@dataclass(frozen=True, slots=True)
class ReadyRewording:
    """Another wording of a memory with its vector."""

    step: Rewording
    text: Embedded


@dataclass(frozen=True, slots=True)
class ReadyRemoval:
    """A memory that is to be archived."""

    step: Removing


Ready = ReadyAddition | ReadyRewording | ReadyRemoval

# --- Before the transaction -------------------------------------------------------------------------------------


def make_ready(
    principal: Principal, model: LanguageModel, steps: Sequence[Step], said: Mapping[int, str], *, decides: bool
) -> list[Ready]:
    """Do everything that the steps need the embedder and the model for. Call it outside any transaction.

    ``said`` holds the messages by index. With ``decides`` the model judges what a new statement is to those near it,
    where their grammar doesn't tell, so that it can become another wording of one or take its place; otherwise it
    stands beside them. What is held back no model reads. With the embedder away the vectors come later, and what needs
    them. Raises ModelUnavailable, ModelAnswerInvalid.
    """
    user_id = must_act_for(principal)
    texts = iter(Embedded.of_each([_content(step) for step in steps if not isinstance(step, Removing)]))
    ready: list[Ready] = []
    for step in steps:
        if isinstance(step, Removing):
            ready.append(ReadyRemoval(step))
        elif isinstance(step, Rewording):
            ready.append(ReadyRewording(step, next(texts)))
        else:
            text = replace(next(texts), said=said[step.quotes[0].index])
            prepared = prepare_new(principal, user_id, step.new, text, written_by=model.name, held_back=step.held_back)
            ready.append(ReadyAddition(step, prepared))
    return _judged(principal, user_id, model, ready, decides=decides)


def _content(step: Adding | Rewording) -> str:
    return step.new.content if isinstance(step, Adding) else step.content


def _judged(
    principal: Principal, user_id: UUID, model: LanguageModel, ready: Sequence[Ready], *, decides: bool
) -> list[Ready]:
    """Compare each new statement with the wordings near it, and ask the model once where their grammar doesn't tell."""
    told: dict[int, dict[str, Comparison]] = {}
    earlier: list[ReadyAddition] = []
    unsure: list[tuple[dict[str, Comparison], str, str]] = []
    for each in ready:
        if isinstance(each, ReadyAddition) and not each.step.held_back and each.step.new.kind == Kind.SEMANTIC:
            text, others = each.prepared.text, _surroundings(principal, user_id, each, earlier)
            sayings = [Saying(other) for other in others]
            read_together([(text.saying, other) for other in sayings])
            verdicts = told[id(each)] = {other.content: text.saying.to(other) for other in sayings}
            unsure += [(verdicts, other, text.content) for other in others if verdicts[other] == "different"]
            earlier.append(each)
    if not decides:
        return list(ready)
    if unsure and not model.offline:
        answers = model.same_fact([(other, content) for _, other, content in unsure]).verdicts
        for (verdicts, other, _), answer in zip(unsure, answers, strict=True):
            verdicts[other] = answer
    return [
        replace(each, verdicts=told[id(each)]) if isinstance(each, ReadyAddition) and id(each) in told else each
        for each in ready
    ]


def _surroundings(
    principal: Principal, user_id: UUID, ready: ReadyAddition, earlier: Sequence[ReadyAddition]
) -> list[str]:
    """The wordings that something new has to be compared with: what is near of the stored, and of what comes before."""
    text, new = ready.prepared.text, ready.step.new
    found = queries.neighbours(principal, user_id, text, kind=new.kind, subject=new.subject)
    contents = [neighbour.content for neighbour in found if not neighbour.apart]
    contents += [
        other.prepared.text.content
        for other in earlier
        if not filing.are_apart(other.step.new.subject, new.subject)
        and _cosine(text, other.prepared.text) >= settings.MEMORY_LINK_MIN_SIMILARITY
    ]
    return [content for content in dict.fromkeys(contents) if content != text.content]


def _cosine(one: Embedded, other: Embedded) -> float:
    return float(np.dot(one.vector, other.vector)) if one.vector is not None and other.vector is not None else 0.0


# --- Inside the transaction -------------------------------------------------------------------------------------


@dataclass
class PlanWriter:
    """Carries out what is ready, inside a transaction that holds the person's ledger.

    ``principal`` was built inside it too, so what the person has decided meanwhile counts. ``messages`` are those that
    may still teach something, by index. At most ``most`` things are learned, what matters most first; what is over that
    waits, and forgetting counts for nothing. Left out by itself is what is refused now: suppressed, over the budget,
    changed by somebody else. ``counts`` says what became
    of all of it, by the names of the log of operations; ``remembered`` holds the ids of the new memories. ``asked`` are
    the messages that may ask for something to be remembered, ``agreed`` those that the person said yes about.
    """

    write: LedgerWrite
    principal: Principal
    conversation: Conversation
    messages: Mapping[int, Message]
    written_by: str
    most: int
    counts: Counter[str] = field(default_factory=Counter)
    remembered: list[str] = field(default_factory=list)
    asked: set[int] = field(default_factory=set)
    agreed: set[int] = field(default_factory=set)

    @property
    def writes(self) -> int:
        """How many changes were made."""
        return sum(self.counts[op] for op in WRITES)

    def consents(self, step: Step) -> bool:
        """Whether the person asked for it in so many words, or said yes to being asked.

        What they said elsewhere or before, and what came in as one of many, asks for nothing now. Nor does what an
        agent says that they said, unless in the turns of a conversation that it holds (``Message.voice``).
        """
        message = self.messages[step.quotes[0].index]
        return message.index in (self.asked if step.consent else self.agreed)

    def has_agreed(self, step: Step) -> bool:
        """Whether the person was asked about it, word for word, and said yes themselves."""
        return self.messages[step.quotes[0].index].index in self.agreed and not self.is_relayed(step)

    def is_relayed(self, step: Step) -> bool:
        """Whether an agent told what the person said: that lifts nothing that they rejected."""
        return self.messages[step.quotes[0].index].voice != Message.Voice.OWN

    def weigh_consent(self, ready: Sequence[Ready]) -> None:
        """Find out which messages may ask for something, and which the person was asked about and said yes."""
        asking = {each.step.quotes[0].index for each in ready if each.step.consent}
        held = {index for index, message in self.messages.items() if message.held_until is not None}
        said = {index: self.messages[index] for index in (asking | held) & self.messages.keys()}
        self.asked = {index for index, message in said.items() if message.voice}
        theirs = Message.objects.filter(conversation=self.conversation, role=Message.Role.USER).order_by("index")
        for index in self.asked & held:
            answer = theirs.filter(index__gt=index).only("content", "voice").first()
            if answer is not None and answer.voice and says_yes(answer.content):
                self.agreed.add(index)

    def write_all(self, ready: Sequence[Ready]) -> None:
        """Carry out what can be, the most urgent first, and relate what is new to what is near it."""
        self.weigh_consent(ready)
        before = self.writes
        for each in sorted(ready, key=_urgency):
            op, memory_id = self._try(each)
            self.counts[op] += 1
            note_operation(
                "extract",
                op[:_OPERATION_CHARACTERS],
                "ok" if op in WRITES else "skipped",
                user_id=self.conversation.user_id,
                thread_id=self.conversation.pk,
                object_id=memory_id,
                category=_category(each.step),
            )
        note_learned(self.conversation.user_id, self.writes - before)
        memories_relate(self.write, self.conversation.user_id, self.remembered)

    def _try(self, ready: Ready) -> tuple[str, str]:
        """Carry one out. Returns the name of what happened, and the memory that it happened to."""
        said = self._said(ready.step)
        if not said:
            return "unsupported", ""
        if self.writes >= self.most and not isinstance(ready, ReadyRemoval):
            return self._wait(ready.step), ""
        if not isinstance(ready, ReadyAddition) and not self.principal.agentic_memory:
            return "switched_off", ""
        try:
            with write_part(self.write):
                return self._do(ready, said)
        except Refused as error:
            return "suppressed" if error.code == "rejected_before" else error.code, ""

    def _do(self, ready: Ready, said: Sequence[Said]) -> tuple[str, str]:
        if isinstance(ready, ReadyAddition):
            verdicts = ready.verdicts if self.principal.agentic_memory else None
            policy = WritePolicy(
                consent=self.consents(ready.step),
                agreed=self.has_agreed(ready.step),
                relayed=self.is_relayed(ready.step),
                insist=True,
                verdicts=verdicts,
                among_others=True,
            )
            prepared = replace(ready.prepared, new=self._attributed(ready.prepared.new, ready.step))
            outcome = record_new(
                self.write,
                self.principal,
                prepared,
                policy,
                conversation_id=self.conversation.pk,
                said=said,
            )
            if outcome.outcome in {"created", "proposed", "quarantined"}:
                self.remembered.append(outcome.memory.pk)
            return _OPERATIONS[outcome.outcome], outcome.memory.pk
        known = ready.step.known
        if isinstance(ready, ReadyRewording):
            updated = record_update(
                self.write,
                self.principal,
                known.id,
                ready.text,
                version=known.version,
                correction=ready.step.correction,
                consent=self.consents(ready.step),
                agreed=self.has_agreed(ready.step),
                relayed=self.is_relayed(ready.step),
                written_by=self.written_by,
                conversation_id=self.conversation.pk,
                said=said,
            )
            return "propose" if updated.proposal else "update", known.id
        archived = record_archive(
            self.write,
            self.principal,
            known.id,
            version=known.version,
            consent=self.consents(ready.step),
            relayed=self.is_relayed(ready.step),
            written_by=self.written_by,
            conversation_id=self.conversation.pk,
            said=said,
        )
        return "propose" if archived.proposal else "archive", known.id

    def _wait(self, step: Step) -> str:
        """Let a statement wait to be written. An account of a talk doesn't: its summary tells it."""
        if isinstance(step, Adding) and step.new.kind == Kind.SEMANTIC:
            new, content = step.new, step.new.content
        elif isinstance(step, Rewording):
            known, content = step.known, step.content
            new = NewMemory(content, known.category, subject=known.subject, field=known.field)
        else:
            return "cap"
        quote = step.quotes[0]
        found = MemoryCandidate(
            new.category,
            content,
            (quote.index,),
            quote.words,
            subject=new.subject,
            field=new.field,
            importance=new.importance,
            explicit=step.consent,
        )
        candidate_keep(self.messages[quote.index], found, self.written_by)
        return WAITING

    def _attributed(self, new: NewMemory, step: Adding) -> NewMemory:
        """The same with who said it, in which role, and in which run: the conversation, by its id at the client."""
        message = self.messages[step.quotes[0].index]
        run_id = self.conversation.external_id or str(self.conversation.pk)
        return replace(new, role=message.role, actor_id=message.speaker, run_id=run_id[:RUN_CHARACTERS])

    def _said(self, step: Step) -> list[Said]:
        """The evidence, the words that say it first; none when their message may not teach anything any more."""
        needed = step.quotes if isinstance(step, Adding) and step.new.kind == Kind.EPISODIC else step.quotes[:1]
        if any(quote.index not in self.messages for quote in needed):
            return []
        quotes = [quote for quote in step.quotes if quote.index in self.messages]
        said = [(self.messages[quote.index], quote.words[:QUOTE_CHARACTERS]) for quote in quotes]
        return [Said(message.pk, words, message.at) for message, words in said]


def _urgency(ready: Ready) -> int:
    step = ready.step
    if isinstance(step, Removing):
        return -1
    return urgency(_content(step), step.new.importance if isinstance(step, Adding) else 2)


def _category(step: Step) -> str:
    return step.new.category if isinstance(step, Adding) else step.known.category
