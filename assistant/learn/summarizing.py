"""Summarising and extraction of conversations in batches.

Steps of a batch: lease, call the model, embed, write in one transaction. The last step first checks that the lease and
the range are unchanged, so a batch that runs twice, or is interrupted, writes once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db.models import CharField, Exists, OuterRef, Q
from django.db.models.functions import Cast
from django.utils import timezone

from accounts.principals import Principal
from accounts.queries import principal_for_job
from accounts.scope import acting_as
from conversations.actions import chunk_write, chunks_hide, conversation_close, messages_mark
from conversations.models import Conversation, ConversationChunk, Message
from facts.actions import PreparedFact
from facts.models import LegacyFact
from journal.actions import learned_within_a_day, ledger_write
from journal.exceptions import NotFound
from journal.leases import (
    Lease,
    LeaseLost,
    finish_job,
    open_job,
)
from journal.models import JobRun, Ledger
from journal.operation_actions import note_operation
from journal.queue import enqueue
from journal.verdicts import compares_unlocked
from language.backends import get_embedder, get_model
from language.base import Extraction, ModelAnswerInvalid, Vectors
from language.fillers import NOTHING_NEW
from language.gates import mask_sensitive
from memories.models import Memory
from statements.models import Candidate

from . import actions as extracting
from .learning import (
    Found,
    Part,
    find_memories,
    learns_memories,
    note_refusals,
    working_on,
)
from .mentioning import mention_places
from .telling_facts import extract, find_facts, write_facts
from .untrue import cut_untrue, without_rejected
from .updates import telling
from .waiting import candidates_write
from .writing import PlanWriter

log = structlog.get_logger(__name__)

JOB = "summarize"
SUMMARY_MAX_CHARACTERS = 2_000
SWEEP_LIMIT = 500


def maybe_summarize(conversation_id: UUID, *, progress: Callable[[int], object] = lambda count: None) -> int:
    """Summarise the due batches of a conversation. Returns the number of chunks written.

    Due: the oldest 20 messages while more than 30 are unsummarised; all messages of a finished conversation. One worker
    at a time; others return 0. After a failure, shown on the job, messages are retried later. ``progress`` is called
    after each batch with its number of messages.
    """
    conversation = Conversation.objects.filter(pk=conversation_id).first()
    if conversation is None or _is_cancelled(conversation):
        return 0
    waiting = JobRun.objects.filter(kind=JOB, subject_id=str(conversation_id), state=JobRun.State.WAITING)
    if _due(conversation) is None and not waiting.exists():
        return 0
    written = 0
    with working_on(conversation, JOB) as lease:
        if lease is None:
            return 0
        candidates_write(conversation.user_id)
        # Another worker may have finished it before this one got the lease.
        conversation.refresh_from_db()
        while (due := _due(conversation)) is not None:
            with acting_as(principal_for_job(conversation.user_id)) as principal:
                _summarize_batch(lease, principal, conversation, *due)
            written += 1
            progress(due[1] - due[0])
            conversation.refresh_from_db()
            lease.renew(lease.job.done + written)
    # Also if only the range has moved while the lease is held. A lost or failed job stays unchanged.
    finish_job(lease.job, chunks=written)
    # Messages that arrived meanwhile found the job taken: look again.
    if written and _due(Conversation.objects.get(pk=conversation_id)) is not None:
        enqueue("assistant.maybe_summarize", conversation_id)
    return written


def _is_cancelled(conversation: Conversation) -> bool:
    """Whether staff cancelled the work on the messages so far; the next message starts it again."""
    cancelled = JobRun.objects.filter(kind=JOB, subject_id=str(conversation.pk), state=JobRun.State.CANCELLED)
    return cancelled.filter(finished_at__gte=conversation.last_message_at or conversation.created_at).exists()


def _due(conversation: Conversation) -> tuple[int, int] | None:
    """The range of messages to summarise now, half-open, or None."""
    start = conversation.summarized_upto
    if conversation.unsummarized > settings.SUMMARY_THRESHOLD_MESSAGES:
        return start, start + settings.SUMMARY_BATCH_MESSAGES
    if conversation.finished_at and conversation.unsummarized:
        return start, conversation.message_count
    return None


@dataclass(frozen=True, slots=True)
class _Batch:
    """Messages ``start`` … ``end - 1`` being summarised under a lease, as read at ``now``.

    Memories are extracted from the user's messages in ``part`` that are not read singly.
    """

    lease: Lease
    conversation: Conversation
    start: int
    end: int
    now: datetime
    part: Part

    @classmethod
    def read(cls, lease: Lease, conversation: Conversation, start: int, end: int) -> _Batch:
        """Read the messages."""
        now = timezone.now()
        messages = open_messages(conversation, start, end, now)
        return cls(lease, conversation, start, end, now, Part.of(conversation, list(messages.values()), _teaches))

    def still_open(self) -> dict[int, Message]:
        """Return the read messages that may still be used for extraction."""
        return self.part.still_so(open_messages(self.conversation, self.start, self.end, self.now))


@dataclass(frozen=True, slots=True)
class _Computed:
    """The results of the model and the embedder for a batch."""

    extraction: Extraction
    vector: Vectors
    embedding_model: str
    facts: list[PreparedFact]
    memories: Found


def _summarize_batch(lease: Lease, principal: Principal, conversation: Conversation, start: int, end: int) -> None:
    batch = _Batch.read(lease, conversation, start, end)
    reads = bool(batch.part.said) and learns_memories(principal, conversation)
    with telling(conversation, len(batch.part.said)) if reads else nullcontext(Counter[str]()) as told:
        computed = _compute(principal, batch, reads=reads)
        extraction, found = computed.extraction, computed.memories
        facts, counts = _write(principal, batch, computed)
        told.update(counts)
    note_operation("episodic", "create", user_id=conversation.user_id, thread_id=conversation.pk)
    note_refusals(conversation, found)
    log.info(
        "batch_summarized",
        conversation=str(conversation.pk),
        start=start,
        end=end,
        facts=facts,
        candidates=len(extraction.facts),
        memories=dict(counts),
        input_tokens=extraction.usage.input_tokens + found.usage.input_tokens,
        output_tokens=extraction.usage.output_tokens + found.usage.output_tokens,
    )


def _compute(principal: Principal, batch: _Batch, *, reads: bool) -> _Computed:
    """Call the model and the embedder; ``reads``: extract memories, too. Raises LanguageError."""
    conversation = batch.conversation
    extraction = summarize_part(principal, conversation, batch.part)
    embedder = get_embedder()
    vector = embedder.embed_passages([extraction.summary])[0]
    facts = find_facts(principal, conversation, batch.part.by_user, extraction)
    found = Found(extraction.model)
    if reads:
        found = find_memories(
            principal,
            get_model(),
            batch.part,
            candidates=lambda: extraction.memories,
            episodes=extraction.episodes,
            keep=batch.lease.renew,
        )
    return _Computed(extraction, vector, embedder.name, facts, found)


@compares_unlocked
def _write(principal: Principal, batch: _Batch, computed: _Computed) -> tuple[int, Counter[str]]:
    """Write the summary and all findings atomically. Returns the number of facts, and the counts of memories."""
    conversation, start, end = batch.conversation, batch.start, batch.end
    owners = [conversation.user_id]
    if conversation.legacy_id and computed.facts:
        owners.append(conversation.legacy_id)
    with ledger_write(principal.actor, *owners) as write:
        batch.lease.lock()
        # Decisions of the person during the model call count. They can't change under the lock.
        principal = principal_for_job(conversation.user_id)
        locked = Conversation.objects.select_for_update().get(pk=conversation.pk)
        if locked.summarized_upto != start or locked.message_count < end:
            raise LeaseLost
        chunk_write(
            write,
            locked,
            content=computed.extraction.summary,
            written_by=computed.extraction.model,
            embedding=computed.vector,
            embedding_model=computed.embedding_model,
            start=start,
            end=end,
        )
        messages = batch.still_open()
        if len(messages) < len(batch.part.at):  # The summary may contain words withheld meanwhile.
            chunks_hide(ConversationChunk.objects.filter(conversation=locked, message_range_start=start))
            _read_changed(locked, batch, messages)
        said = [message for message in messages.values() if message.role == Message.Role.USER]
        left = min(
            settings.EXTRACTED_PER_USER_MESSAGE * len(said),
            settings.EXTRACTED_PER_USER_AND_DAY - learned_within_a_day(conversation.user_id),
        )
        facts = write_facts(write, principal, locked, computed.facts, messages, most=left)
        if not learns_memories(principal, locked):
            return facts, Counter()
        teaching = {index: messages[index] for index in batch.part.said if index in messages}
        teaching = {index: message for index, message in teaching.items() if _teaches(message)}
        found = computed.memories
        writer = PlanWriter(write, principal, locked, teaching, found.written_by, left - facts)
        writer.write_all(found.ready)
        mention_places(write, principal, list(teaching.values()))
    return facts, writer.counts


def _read_changed(conversation: Conversation, batch: _Batch, unchanged: Collection[int]) -> None:
    """Have messages read singly, as they are now, that were withheld in part while their batch was read."""
    still_open = open_messages(conversation, batch.start, batch.end, batch.now)
    if changed := [index for index in batch.part.said if index in still_open and index not in unchanged]:
        messages_mark(conversation, changed, reading_due=timezone.now())
        enqueue(extracting.TASK, conversation.pk)


def open_messages(conversation: Conversation, start: int, end: int, now: datetime) -> dict[int, Message]:
    """Return the messages of a range that may be summarised, by index, without what the person said to be untrue."""
    found = Message.objects.filter(conversation=conversation, index__gte=start, index__lt=end).without_vectors()
    messages = {message.index: message for message in found.order_by("index") if message.is_open(now)}
    cut_untrue(conversation, messages.values())
    return messages


def _teaches(message: Message) -> bool:
    """Whether the batch extracts memories from a message: it is not read singly."""
    return not message.processed and message.reading_due is None


def summarize_part(principal: Principal, conversation: Conversation, part: Part) -> Extraction:
    """Call the model for a batch, and keep what the messages support.

    Raises ModelUnavailable, ModelAnswerInvalid (also for an answer that is formally right but unusable).
    """
    if not part.messages:
        return Extraction(summary=NOTHING_NEW, model=get_model().name)
    extraction = extract(principal, get_model(), part)
    # A secret spread over a question and its answer may be recognisable in the summary only.
    summary = mask_sensitive(extraction.summary.strip())
    if not summary:
        msg = "the summary is empty"
        raise ModelAnswerInvalid(msg)
    if summary != extraction.summary.strip():
        note_operation("extract", "mask", user_id=conversation.user_id, thread_id=conversation.pk)
    summary = without_rejected(conversation.user_id, summary) or NOTHING_NEW
    return replace(extraction, summary=summary[:SUMMARY_MAX_CHARACTERS])


def conversation_finish(principal: Principal, conversation_id: UUID) -> JobRun | None:
    """Finish a conversation: the rest is summarised as one batch in the background.

    Returns the job, or None if nothing is left. Appending reopens the conversation.
    """
    if not conversation_close(principal, conversation_id):
        return None
    job = open_job(JOB, conversation_id, user_id=principal.user_id)
    # If a worker has finished the conversation already, the job ends here.
    enqueue("assistant.maybe_summarize", conversation_id)
    return job


def finish_idle() -> int:
    """Finish conversations that have been idle for an hour. Returns how many."""
    idle_before = timezone.now() - timedelta(seconds=settings.IDLE_FINISH_SECONDS)
    idle = Conversation.objects.idle_since(idle_before).filter(finished_at__isnull=True, user__is_active=True)
    idle = idle.not_being_imported().order_by("last_message_at")
    closed = 0
    for conversation_id, user_id in idle.values_list("pk", "user_id")[:SWEEP_LIMIT]:
        try:
            principal = principal_for_job(user_id)
        except NotFound:  # Conversations of deactivated people stay unchanged.
            continue
        with acting_as(principal):
            closed += conversation_close(principal, conversation_id, idle_before=idle_before)
    return closed


def sweep() -> dict[str, int]:
    """Restart work whose task was lost: rows without a vector, due batches and messages.

    Work is found by the rows' state, so concurrent and repeated runs are harmless.
    """
    now = timezone.now()
    taken = JobRun.objects.filter(kind=JOB, subject_id=OuterRef("subject")).filter(
        Q(state="waiting", not_before__gt=now)
        | Q(state="running", lease_until__gt=now)
        | Q(state="cancelled", finished_at__gte=OuterRef("last_message_at"))
    )
    due = (
        Conversation.objects.with_unsummarized_over(settings.SUMMARY_THRESHOLD_MESSAGES)
        | Conversation.objects.idle_since(now).filter(finished_at__isnull=False)
    ).annotate(subject=Cast("pk", CharField()))
    conversations = list(
        due.not_being_imported()
        .filter(~Exists(taken), user__is_active=True)
        .order_by("last_message_at")
        .values_list("pk", flat=True)[:SWEEP_LIMIT]
    )
    for conversation_id in conversations:
        enqueue("assistant.maybe_summarize", conversation_id)
    unindexed = Message.objects.unindexed(now).exists()
    if unindexed:
        enqueue("conversations.index_messages")
    facts_unindexed = LegacyFact.objects.unindexed(timezone.now()).exists()
    if facts_unindexed:
        enqueue("facts.index")
    if Ledger.objects.untold().exists():
        enqueue("facts.tell_members")
    memories_unindexed = Memory.objects.unindexed(now).exists()
    if memories_unindexed:
        enqueue("memories.index")
    unread = extracting.unread_conversations(SWEEP_LIMIT)
    for conversation_id in unread:
        enqueue("assistant.extract_messages", conversation_id)
    waiting = ConversationChunk.objects.unfinished().filter(user__is_active=True).order_by("hidden_since")
    hidden = set(waiting.values_list("conversation_id", flat=True)[:SWEEP_LIMIT])
    for conversation_id in hidden:
        enqueue("assistant.rewrite_chunks", conversation_id)
    over_a_cap = Candidate.objects.filter(not_before__lte=now, user__is_active=True).order_by()
    people = list(over_a_cap.values_list("user_id", flat=True).distinct()[:SWEEP_LIMIT])
    for user_id in people:
        enqueue("assistant.write_candidates", user_id)
    return {
        "waiting": len(people),
        "hidden": len(hidden),
        "unread": len(unread),
        "conversations": len(conversations),
        "messages": int(unindexed),
        "facts": int(facts_unindexed),
        "memories": int(memories_unindexed),
    }
