"""Extraction from single messages, and decisions about a message: hold, decline, release.

Messages are read singly if that was requested when they were saved, and after being held; batches skip them. One worker
at a time reads a conversation, in order. Marks on the messages allow to resume after a crash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import structlog
from django.conf import settings
from django.db.models import CharField, Exists, OuterRef, Q
from django.db.models.functions import Cast
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.policy import check_sensitive, must_decide, must_write
from accounts.principals import Principal
from accounts.queries import principal_for_job
from accounts.scope import acting_as
from conversations.actions import (
    Cause,
    messages_mark,
    plan_refusals,
    plan_withholding,
    refusal_of_asked,
    refusals_apply,
    words_decline,
    words_restore,
)
from conversations.models import Conversation, Message, Withheld
from conversations.policy import may_mark
from facts.actions import PreparedFact
from journal.actions import LedgerWrite, learned_within_a_day, ledger_write
from journal.exceptions import NotFound, NotYoursToDecide, Refused
from journal.leases import (
    Lease,
    finish_job,
)
from journal.models import JobRun
from journal.queue import enqueue
from journal.verdicts import compares_unlocked
from language.backends import get_model, get_model_named, get_rules
from language.base import LanguageModel, MemoryCandidate, ModelUnavailable
from language.reading.second_tries import has_correction
from statements.actions import suppression_add
from statements.policy import check_form
from statements.wording import Embedded

from ..models import Reply
from .learning import Found, Part, find_memories, learns_facts, learns_memories, note_refusals, working_on
from .mentioning import mention_places
from .telling_facts import extract, find_facts, write_facts
from .updates import telling
from .waiting import candidates_write
from .writing import PlanWriter, ReadyRemoval, ReadyRewording

log = structlog.get_logger(__name__)

JOB = "extract_messages"
TASK = "assistant.extract_messages"


def extract_messages(conversation_id: UUID) -> int:
    """Read the due single messages of a conversation in order. Returns how many were read.

    Only one worker at a time reads a conversation; others return 0. After a failure, shown on the job, the messages are
    retried later. While the model is unavailable, corrections are read by the rules.
    """
    conversation = Conversation.objects.filter(pk=conversation_id).first()
    if conversation is None:
        return 0
    waiting = JobRun.objects.filter(kind=JOB, subject_id=str(conversation_id), state=JobRun.State.WAITING)
    if not _due(conversation) and not waiting.exists():
        return 0
    read = 0
    with working_on(conversation, JOB) as lease:
        if lease is None:
            return 0
        candidates_write(conversation.user_id)
        while due := _due(conversation):
            with acting_as(principal_for_job(conversation.user_id)) as principal:
                _read(lease, principal, conversation, due)
            read += len(due)
            lease.renew()
        finish_job(lease.job, messages=read)
    # Messages that arrived meanwhile found the job taken: look again.
    if read and _due(conversation):
        enqueue(TASK, conversation_id)
    return read


def unread_conversations(limit: int) -> list[UUID]:
    """Return conversations with due single messages that no worker reads, oldest first."""
    now = timezone.now()
    taken = JobRun.objects.filter(kind=JOB, subject_id=OuterRef("subject")).filter(
        Q(state="waiting", not_before__gt=now)
        | Q(state="running", lease_until__gt=now)
        | Q(state="cancelled", finished_at__gte=OuterRef("last_message_at"))
    )
    waiting = Message.objects.due_for_extraction(now).filter(conversation=OuterRef("pk"))
    rows = Conversation.objects.filter(Exists(waiting), user__is_active=True)
    rows = rows.annotate(subject=Cast("pk", CharField())).filter(~Exists(taken))
    return list(rows.order_by("last_message_at").values_list("pk", flat=True)[:limit])


def _due(conversation: Conversation) -> list[int]:
    """Return the indices of the next messages: at most a batch, and close together."""
    waiting = Message.objects.filter(conversation=conversation).due_for_extraction(timezone.now())
    indices = list(waiting.order_by("index").values_list("index", flat=True)[: settings.SUMMARY_BATCH_MESSAGES])
    return [index for index in indices if index < indices[0] + settings.SUMMARY_BATCH_MESSAGES]


@dataclass(frozen=True, slots=True)
class _SingleMessages:
    """Single messages being read, by index, and their part of the conversation."""

    due: Sequence[int]
    part: Part


def _read(lease: Lease, principal: Principal, conversation: Conversation, due: list[int]) -> None:
    """Read messages with their context, and store the findings atomically."""
    now = timezone.now()
    around = Message.objects.filter(
        conversation=conversation, index__gte=due[0] - settings.EXTRACTION_CONTEXT_MESSAGES, index__lte=due[-1]
    )
    messages = [message for message in around.without_vectors().order_by("index") if message.is_open(now, asked=True)]
    part = Part.of(conversation, messages, lambda message: message.index in due)
    reading = _SingleMessages(due, part)
    if not part.said or not learns_memories(principal, conversation):
        _write(lease, principal, conversation, reading, Found(""))
        return
    model = _model_for(conversation, part.said)
    with telling(conversation, len(part.said)) as told:
        facts: Sequence[PreparedFact] = ()
        try:
            found = _memories(lease, principal, model, part)
            facts = _facts(lease, principal, model, conversation, part)
        except ModelUnavailable:
            found = _memories(lease, principal, get_rules(), part) if _corrects(part) else Found("")
            if not any(isinstance(each, ReadyRewording | ReadyRemoval) for each in found.ready):
                raise  # Not urgent: no prompt contains a wrong statement.
        counts = _write(lease, principal, conversation, reading, found, facts=facts)
        told.update(counts)
    note_refusals(conversation, found)
    log.info(
        "messages_read",
        conversation=str(conversation.pk),
        messages=len(part.said),
        memories=dict(counts),
        input_tokens=found.usage.input_tokens,
        output_tokens=found.usage.output_tokens,
    )


def _model_for(conversation: Conversation, indices: Collection[int]) -> LanguageModel:
    """Return the extraction model: the first one of the council that answered, else the configured one.

    The configured one, too, if the council's model was removed from the settings.
    """
    replies = Reply.objects.filter(conversation=conversation, message_index__in=indices, mode=Reply.Mode.COUNCIL)
    first = replies.order_by("message_index").values_list("model", flat=True).first()
    return get_model_named(first) if first and first in settings.KEEPSAKE_COUNCIL_MODELS else get_model()


def _memories(lease: Lease, principal: Principal, model: LanguageModel, part: Part) -> Found:
    candidates = partial(_candidates, principal, model, part)
    return find_memories(principal, model, part, candidates=candidates, keep=lease.renew)


def _facts(
    lease: Lease, principal: Principal, model: LanguageModel, conversation: Conversation, part: Part
) -> Sequence[PreparedFact]:
    if not learns_facts(principal, conversation):
        return ()
    lease.renew()
    return find_facts(principal, conversation, part.said, extract(principal, model, part))


def _corrects(part: Part) -> bool:
    """Whether the rules recognise a correction."""
    return any(map(has_correction, part.said.values()))


def _candidates(principal: Principal, model: LanguageModel, part: Part) -> Sequence[MemoryCandidate]:
    """Return the model's findings without tools."""
    return extract(principal, model, part).memories


@compares_unlocked
def _write(
    lease: Lease,
    principal: Principal,
    conversation: Conversation,
    reading: _SingleMessages,
    found: Found,
    *,
    facts: Sequence[PreparedFact] = (),
) -> Counter[str]:
    """Store the findings and mark the messages as read. Returns the counts."""
    due, part = reading.due, reading.part
    owners = [conversation.user_id, *([conversation.legacy_id] if facts and conversation.legacy_id else [])]
    with ledger_write(principal.actor, *owners) as write:
        lease.lock()
        # As for a batch: decisions of the person during the model call count.
        principal = principal_for_job(conversation.user_id)
        locked = Conversation.objects.select_for_update().get(pk=conversation.pk)
        rows = Message.objects.filter(conversation=locked, index__in=due).due_for_extraction(timezone.now())
        messages = {message.index: message for message in rows.without_vectors()}
        learns = learns_memories(principal, locked)
        now = timezone.now()
        held = (each for each in messages.values() if each.is_open(now, asked=True) and not each.is_open(now))
        asked = {each.index: each.held_until for each in held}
        kept = part.still_so(messages)
        # What was withheld in part meanwhile is read again, as it is now.
        done = [each for each in messages if each not in asked and (each in kept or each not in part.said)]
        messages_mark(locked, done, processed=learns, reading_due=None)
        for index, until in asked.items():  # What they add waits for the answer.
            messages_mark(locked, [index], reading_due=until)
        if not learns:
            return Counter()
        teaching = {index: message for index, message in kept.items() if index in part.said}
        left = settings.EXTRACTED_PER_USER_AND_DAY - learned_within_a_day(locked.user_id)
        most = min(settings.EXTRACTED_PER_USER_MESSAGE * len(teaching), left)
        most -= write_facts(write, principal, locked, facts, teaching, most=most)
        writer = PlanWriter(write, principal, locked, teaching, found.written_by, most)
        writer.write_all(found.ready)
        mention_places(write, principal, list(teaching.values()))
    return writer.counts


# --- Decisions about a message ----------------------------------------------------------------------------------


def message_hold(principal: Principal, conversation_id: UUID, index: int, *, in_part: bool = False) -> Message:
    """Hold a message, so that it is not read while the person is asked, for at most a day.

    Then, or after its release, it is read singly. ``in_part``: what it changes or orders is carried out at once, and
    only what it adds in passing waits. Read and declined messages stay unchanged. Raises NotAllowed,
    NotYoursToDecide, NotFound, Refused (400 ``not_the_users``).
    """
    with _marking(principal, conversation_id, index) as marking:
        message = marking.message
        # Batches don't mark messages, and skip those with a time for single reading.
        in_a_batch = message.index < marking.conversation.summarized_upto and message.reading_due is None
        if not (message.processed or message.declined or in_a_batch):
            until = timezone.now() + timedelta(seconds=settings.HOLD_SECONDS)
            marking.set(held_until=until, reading_due=timezone.now() if in_part else until)
    return message


def message_decline(principal: Principal, conversation_id: UUID, index: int, candidate: str = "") -> Message:
    """Decline a message: withhold it, since the person does not want it remembered.

    Unreviewed memories and facts that rest only on what is withheld are archived and suppressed. ``candidate`` is the
    proposed wording of the statement, which is suppressed, too, until the person states it. Raises NotAllowed,
    NotYoursToDecide, NotFound, Refused (400 ``not_the_users``), Gated (422).
    """
    text = _candidate_text(candidate) if candidate else None
    rows = Message.objects.visible_to(principal).filter(conversation=conversation_id, index=index, declined=False)
    told = list(rows.values_list("pk", "legacy_id"))
    ahead = {Cause("message", str(pk)): [(pk, "")] for pk, _ in told}
    legacies = [legacy_id for _, legacy_id in told if legacy_id is not None]
    with (
        plan_withholding(must_write(principal), ahead),
        _marking(principal, conversation_id, index, *legacies) as marking,
    ):
        message, write = marking.message, marking.write
        if text is not None:
            suppression_add(write, message.user_id, text, message.pk, is_stored=False)
        if not message.declined:
            marking.set(declined=True, held_until=None, reading_due=None)
            relayed_by = None if principal.speaks_as_person else principal.agent_id
            cause = Cause("message", str(message.pk))
            words_decline(write, message.user_id, cause, [(message.pk, "")], relayed_by=relayed_by)
    return message


def message_refuse(principal: Principal, conversation_id: UUID, index: int) -> bool:
    """Refuse what the assistant asks about a held message, as a no in the talk does. Returns whether it is all of it.

    Where the message also changed or stored something, only what was asked about is withheld, and the rest is read.
    Otherwise the message is declined. Refusing a part again changes nothing. Raises as ``message_decline``.
    """
    talk = Conversation.objects.visible_to(principal).filter(pk=conversation_id).first()
    said = Message.objects.visible_to(principal).filter(conversation_id=conversation_id, index=index, declined=False)
    message = said.without_vectors().first()
    is_held = message is not None and _is_asked_about(message)
    if message is not None and not is_held and Withheld.objects.because_of("message", [message.pk]).exists():
        return False
    heard = refusal_of_asked(principal, talk, message) if is_held and talk is not None and message is not None else None
    if heard is None:
        message_decline(principal, conversation_id, index)
        return True
    legacies = list(heard.legacies)
    with (
        plan_refusals(must_write(principal), [heard]),
        _marking(principal, conversation_id, index, *legacies) as marking,
    ):
        if is_open := _is_asked_about(marking.message):
            refusals_apply(marking.write, marking.message.user_id, [heard])
            enqueue(TASK, conversation_id)
    # It was answered while the lock was waited for: then this press is one after that answer.
    return not is_open and message_refuse(principal, conversation_id, index)


def _is_asked_about(message: Message) -> bool:
    """Whether the person is being asked about a message, and nobody answered yet."""
    return not message.declined and message.held_until is not None and message.held_until > timezone.now()


def message_release(principal: Principal, conversation_id: UUID, index: int, *, agreed: bool = False) -> Message:
    """Release a held or declined message: it is read singly, at once.

    ``agreed``: the person consented, so that what a held message says is not reviewed. Only the person can release a
    declined one. Raises NotAllowed, NotYoursToDecide, NotFound, Refused (400
    ``not_the_users``).
    """
    with _marking(principal, conversation_id, index) as marking:
        message = marking.message
        if message.declined:
            must_decide(principal)
            # It was declined by a refusal in the conversation, with other messages, or alone.
            own = Withheld.objects.filter(message=message, cause_type=Withheld.Cause.MESSAGE).passages()
            words_restore(marking.write, message.user_id, "message", own.values_list("cause_id", flat=True))
        if message.declined or message.held_until is not None:
            now = timezone.now()
            due = None if message.processed else now
            # The mark of having been held stays: a yes to that question is consent.
            over = message.at if agreed else now
            held_until = None if message.held_until is None else over
            marking.set(declined=False, held_until=held_until, reading_due=due)
            if due:
                enqueue(TASK, conversation_id)
    return message


@dataclass(frozen=True, slots=True)
class _Marking:
    """A message under the person's ledger lock."""

    write: LedgerWrite
    conversation: Conversation
    message: Message

    def set(self, **marks: bool | datetime | None) -> None:
        """Change its marks."""
        messages_mark(self.conversation, [self.message.index], **marks)
        for name, value in marks.items():
            setattr(self.message, name, value)


@contextmanager
def _marking(principal: Principal, conversation_id: UUID, index: int, *legacies: UUID) -> Iterator[_Marking]:
    """Lock a message for the person or the agent of its conversation: others could forge consent or a refusal."""
    user_id = must_write(principal)
    with ledger_write(principal.actor, user_id, *legacies) as write:
        conversation = Conversation.objects.visible_to(principal).filter(pk=conversation_id).first()
        said = Message.objects.visible_to(principal).filter(conversation_id=conversation_id, index=index)
        message = said.without_vectors().first()
        if conversation is None or message is None:
            raise NotFound("There is no such message.")
        if not may_mark(principal, conversation):
            raise NotYoursToDecide
        if message.role != Message.Role.USER:
            raise Refused(_("Only what the person said is learned from."), code="not_the_users")
        yield _Marking(write, conversation, message)
        write.result("message", message.pk)


def _candidate_text(candidate: str) -> Embedded:
    text = check_form(candidate)
    check_sensitive(text)
    return Embedded.of(text)
