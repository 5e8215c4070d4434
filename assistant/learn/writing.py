"""Executes a plan: first calls of the embedder and the model, then writes under the ledger lock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from uuid import UUID

import numpy as np
from django.conf import settings
from django.utils import timezone

from accounts.policy import must_act_for
from accounts.principals import Principal
from conversations.models import Conversation, Message
from journal.actions import LedgerWrite, count_use, note_learned, write_part
from journal.exceptions import Refused
from journal.operation_actions import note_operation
from language.base import Comparison, LanguageModel, MemoryCandidate
from language.reading.compare import Saying, parse_pairs
from language.reading.refusals import asks_about, says_yes
from memories import queries
from memories.actions import memories_relate, prepare_new, record_archive, record_doubt, record_new, record_update
from memories.models import Kind
from memories.policy import writing as filing
from memories.records import QUOTE_CHARACTERS, NewMemory, PreparedMemory, Said, WritePolicy
from statements.actions import candidate_keep
from statements.policy import urgency
from statements.wording import Embedded

from .plan import Adding, Doubting, Removing, Rewording, Step

WRITES = ("add", "update", "archive", "propose", "quarantine", "doubt")
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
    """A prepared new memory. ``verdicts``: the model's comparison with similar wordings, if asked."""

    step: Adding
    prepared: PreparedMemory
    verdicts: Mapping[str, Comparison] | None = None


@dataclass(frozen=True, slots=True)
class ReadyRewording:
    """A prepared new wording of a memory, with its vector."""

    step: Rewording
    text: Embedded


@dataclass(frozen=True, slots=True)
class ReadyRemoval:
    """A memory to archive."""

    step: Removing


@dataclass(frozen=True, slots=True)
class ReadyDoubt:
    """A memory to ask the person about."""

    step: Doubting


Ready = ReadyAddition | ReadyRewording | ReadyRemoval | ReadyDoubt

# --- Before the transaction -------------------------------------------------------------------------------------


def make_ready(
    principal: Principal, model: LanguageModel, steps: Sequence[Step], said: Mapping[int, str], *, decides: bool
) -> list[Ready]:
    """Call the embedder and the model for the steps. Call it outside any transaction.

    ``said``: messages by index. With ``decides`` the model compares new statements with similar ones where grammar
    can't decide, so that one can reword or replace another; else they are added beside them. Quarantined text is not
    shown to a model. If the embedder is unavailable, vectors and what depends on them follow later. Raises
    ModelUnavailable, ModelAnswerInvalid.
    """
    user_id = must_act_for(principal)
    texts = iter(Embedded.of_each([_content(step) for step in steps if isinstance(step, Adding | Rewording)]))
    ready: list[Ready] = []
    for step in steps:
        if isinstance(step, Removing):
            ready.append(ReadyRemoval(step))
        elif isinstance(step, Doubting):
            ready.append(ReadyDoubt(step))
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
    """Compare each new statement with similar wordings by grammar, and ask the model once about the undecided ones."""
    told: dict[int, dict[str, Comparison]] = {}
    earlier: list[ReadyAddition] = []
    unsure: list[tuple[dict[str, Comparison], str, str]] = []
    for each in ready:
        if isinstance(each, ReadyAddition) and not each.step.held_back and each.step.new.kind == Kind.SEMANTIC:
            text, others = each.prepared.text, _surroundings(principal, user_id, each, earlier)
            sayings = [Saying(other) for other in others]
            parse_pairs([(text.saying, other) for other in sayings])
            verdicts = told[id(each)] = {other.content: text.saying.to(other) for other in sayings}
            unsure += [(verdicts, other, text.content) for other in others if verdicts[other] == "different"]
            earlier.append(each)
    if not decides:
        return list(ready)
    if unsure and not model.offline:
        answer = count_use("compare", model.same_fact, [(other, content) for _, other, content in unsure])
        for (verdicts, other, _), verdict in zip(unsure, answer.verdicts, strict=True):
            verdicts[other] = verdict
    return [
        replace(each, verdicts=told[id(each)]) if isinstance(each, ReadyAddition) and id(each) in told else each
        for each in ready
    ]


def _surroundings(
    principal: Principal, user_id: UUID, ready: ReadyAddition, earlier: Sequence[ReadyAddition]
) -> list[str]:
    """Return the similar wordings, stored or earlier in the plan, that a new statement must be compared with."""
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


def _has_lapsed(message: Message) -> bool:
    """Whether a hold ended by itself: one that was released ends earlier."""
    until = message.held_until
    return until is not None and until - message.created_at >= timedelta(seconds=settings.HOLD_SECONDS)


def _cosine(one: Embedded, other: Embedded) -> float:
    return float(np.dot(one.vector, other.vector)) if one.vector is not None and other.vector is not None else 0.0


# --- Inside the transaction -------------------------------------------------------------------------------------


@dataclass
class PlanWriter:
    """Executes the prepared steps in a transaction that holds the person's ledger lock.

    ``principal`` was built inside the transaction, so recent decisions count. ``messages``: usable messages by index.
    At most ``most`` additions and changes, most important first; others wait; deletions don't count. A refused step
    (suppressed, over budget, concurrent change) is skipped. ``counts``: results, named as in the operation log.
    ``remembered``: ids of new memories. ``asked``: messages that may request remembering. ``agreed``: messages that the
    person was asked about and confirmed; ``reported``: those whose yes an agent relays. ``unanswered``: those they were
    asked about without a yes, until it lapsed; ``asking``: those they are asked about now.
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
    reported: set[int] = field(default_factory=set)
    unanswered: set[int] = field(default_factory=set)
    asking: set[int] = field(default_factory=set)

    @property
    def writes(self) -> int:
        """How many changes were made."""
        return sum(self.counts[op] for op in WRITES)

    def consents(self, step: Step) -> bool:
        """Whether the person requested it explicitly, or confirmed it when asked.

        Earlier, imported and bulk messages don't count, nor messages reported by an agent, except in the turns of its
        own conversation (``Message.voice``).
        """
        message = self.messages[step.quotes[0].index]
        return message.index in (self.asked if step.consent else self.agreed)

    def is_relayed(self, step: Step) -> bool:
        """Whether an agent reported the message, or the yes to it: the person may not have said so."""
        message = self.messages[step.quotes[0].index]
        return message.voice != Message.Voice.OWN or message.index in self.reported

    def _policy(self, step: Step) -> WritePolicy:
        return WritePolicy(
            consent=self.consents(step),
            relayed=self.is_relayed(step),
            unanswered=step.quotes[0].index in self.unanswered,
        )

    def find_consent(self, ready: Sequence[Ready]) -> None:
        """Determine which messages may contain requests, and which the person confirmed."""
        asking = {each.step.quotes[0].index for each in ready if each.step.consent}
        held = {index for index, message in self.messages.items() if message.held_until is not None}
        said = {index: self.messages[index] for index in (asking | held) & self.messages.keys()}
        self.asked = {index for index, message in said.items() if message.voice}
        for index in held:
            message = said[index]
            if not message.is_open(timezone.now()):  # The person is being asked.
                self.asking.add(index)
            elif message.held_until is not None and message.held_until <= message.at:  # Released with consent.
                self.agreed |= {index} & self.asked
            else:
                self._find_answer(index, message)

    def _find_answer(self, index: int, message: Message) -> None:
        question, answer = self._asked_and_answered(index)
        if answer is None or not says_yes(answer.content) or not asks_about(question, message.content):
            if _has_lapsed(message):
                self.unanswered.add(index)
        elif answer.voice:
            self.agreed |= {index} & self.asked
            self.reported |= set() if answer.voice == Message.Voice.OWN else {index}

    def _asked_and_answered(self, index: int) -> tuple[str, Message | None]:
        """Return the person's next message after a held one, and what the assistant said last before it, or ''."""
        rows = Message.objects.filter(conversation=self.conversation, index__gt=index).order_by("index")
        answer = rows.filter(role=Message.Role.USER).only("index", "content", "voice").first()
        if answer is None:
            return "", None
        asked = rows.filter(role=Message.Role.ASSISTANT, index__lt=answer.index).values_list("content", flat=True)
        return asked.last() or "", answer

    def write_all(self, ready: Sequence[Ready]) -> None:
        """Execute the steps, most important first, and relate new memories to similar ones."""
        self.find_consent(ready)
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
        """Execute one step. Returns the outcome, and the memory."""
        said = self._said(ready.step)
        if not said:
            return "unsupported", ""
        is_asked = ready.step.quotes[0].index in self.asking and not self.consents(ready.step)
        if is_asked and isinstance(ready, ReadyAddition):
            return "asked", ""
        if self.writes >= self.most and isinstance(ready, ReadyAddition | ReadyRewording):
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
            policy = replace(self._policy(ready.step), insist=True, verdicts=verdicts, among_others=True)
            # Their own word sets no field by its meaning alone: a liking for a singer would replace their name.
            own = policy.consent and not policy.relayed
            new = ready.step.new if own else ready.prepared.new
            prepared = replace(ready.prepared, new=self._attributed(new, ready.step))
            outcome = record_new(
                self.write, self.principal, prepared, policy, conversation_id=self.conversation.pk, said=said
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
                self._policy(ready.step),
                version=known.version,
                correction=ready.step.correction,
                written_by=self.written_by,
                conversation_id=self.conversation.pk,
                said=said,
            )
            return "propose" if updated.proposal else "update", known.id
        if isinstance(ready, ReadyDoubt):
            record_doubt(
                self.write,
                self.principal,
                known.id,
                version=known.version,
                conversation_id=self.conversation.pk,
                said=said[0],
            )
            return "doubt", known.id
        archived = record_archive(
            self.write,
            self.principal,
            known.id,
            self._policy(ready.step),
            version=known.version,
            written_by=self.written_by,
            conversation_id=self.conversation.pk,
            agent_id=self.conversation.agent_id,
            said=said,
        )
        return "propose" if archived.proposal else "archive", known.id

    def _wait(self, step: Step) -> str:
        """Store a statement as a candidate, except episodes, which the summary covers."""
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
        """Return the memory with speaker, role, and run (the conversation's external id)."""
        message = self.messages[step.quotes[0].index]
        run_id = self.conversation.external_id or str(self.conversation.pk)
        return replace(new, role=message.role, actor_id=message.speaker, run_id=run_id[:RUN_CHARACTERS])

    def _said(self, step: Step) -> list[Said]:
        """Return the evidence, best quote first; none if its message is not usable any more."""
        needed = step.quotes if isinstance(step, Adding) and step.new.kind == Kind.EPISODIC else step.quotes[:1]
        if any(quote.index not in self.messages for quote in needed):
            return []
        quotes = [quote for quote in step.quotes if quote.index in self.messages]
        said = [(self.messages[quote.index], quote.words[:QUOTE_CHARACTERS]) for quote in quotes]
        return [Said(message.pk, words, message.at) for message, words in said]


def _urgency(ready: Ready) -> int:
    step = ready.step
    if isinstance(step, Removing | Doubting):
        return -1
    return urgency(_content(step), step.new.importance if isinstance(step, Adding) else 2)


def _category(step: Step) -> str:
    return step.new.category if isinstance(step, Adding) else step.known.category
