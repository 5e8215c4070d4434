"""Changes to what follows from a conversation: chunks that sum it up, and vectors for search; and staff's reading."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

import structlog
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from accounts.policy import clean_reason, must_be_staff
from accounts.principals import Principal
from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import NotFound
from journal.operation_actions import note_operation
from language.backends import get_embedder
from language.base import EmbedderUnavailable, Vectors
from retrieval.text import prepare

from .. import policy
from ..models import Conversation, ConversationChunk, Message

log = structlog.get_logger(__name__)

Said = TypeVar("Said", Message, ConversationChunk)

INDEX_BATCH = 32
INDEX_LEASE_SECONDS = 120


def message_open(principal: Principal, message_id: UUID, reason: str) -> Message:
    """Read a message's text as staff, for a reason that its person finds in their log of changes.

    Raises NotAllowed for anybody but staff, Refused (400) without a reason, NotFound.
    """
    return _open(principal, Message.objects.visible_to(principal).without_vectors(), "message", message_id, reason)


def chunk_open(principal: Principal, chunk_id: UUID, reason: str) -> ConversationChunk:
    """Read a summary's text as staff, for a reason that its person finds in their log of changes.

    Raises NotAllowed for anybody but staff, Refused (400) without a reason, NotFound.
    """
    return _open(
        principal, ConversationChunk.objects.visible_to(principal).without_vectors(), "chunk", chunk_id, reason
    )


def _open(principal: Principal, rows: QuerySet[Said], object_type: str, row_id: UUID, reason: str) -> Said:
    must_be_staff(principal)
    reason = clean_reason(reason)
    owner_id = rows.filter(pk=row_id).values_list("user_id", flat=True).first()
    if owner_id is None:
        raise NotFound(f"There is no such {object_type}.")
    with ledger_write(principal.actor, owner_id) as write:
        said = rows.filter(pk=row_id).first()
        if said is None:
            raise NotFound(f"There is no such {object_type}.")
        write.change(owner_id, "OPEN", object_type, row_id, conversation_id=said.conversation_id, reason=reason)
    return said


def chunk_write(
    write: LedgerWrite,
    conversation: Conversation,
    *,
    content: str,
    written_by: str,
    embedding: Vectors,
    embedding_model: str,
    start: int,
    end: int,
) -> ConversationChunk:
    """Store the summary of messages ``start`` … ``end - 1`` and move ``summarized_upto``.

    Runs inside the batch's transaction; the caller holds the conversation's lock. Constraints refuse a range that
    repeats or overlaps.
    """
    chunk = ConversationChunk.objects.create(
        conversation=conversation,
        user_id=conversation.user_id,
        legacy_id=conversation.legacy_id,
        private=conversation.private,
        message_range_start=start,
        message_range_end=end,
        **_worded(content, written_by, embedding, embedding_model),
    )
    conversation.summarized_upto = end
    conversation.save(update_fields=["summarized_upto"])
    write.count(conversation.user_id, chunks=1, chunk_terms=chunk.search_length)
    return chunk


def chunk_rewrite(
    principal: Principal,
    chunk: ConversationChunk,
    *,
    content: str,
    written_by: str,
    embedding: Vectors,
    embedding_model: str,
    is_cut: bool = False,
) -> bool:
    """Let a hidden summary be read again, in other words. Returns False when what it sums up has changed since.

    ``chunk`` is how the summary was read when the words were worked out. What is cut is written once more by a model.
    """
    worded = _worded(content, written_by, embedding, embedding_model)
    with ledger_write(principal.actor, chunk.user_id) as write:
        still = ConversationChunk.objects.filter(pk=chunk.pk, hidden_since=chunk.hidden_since)
        written = still.update(**worded, hidden_since=None, is_cut=is_cut)
        if written:
            write.count(chunk.user_id, chunk_terms=worded["search_length"] - chunk.search_length)
            where = chunk.conversation_id
            write.change(chunk.user_id, "UPDATE", "chunk", chunk.pk, conversation_id=where)
    return bool(written)


def _worded(content: str, written_by: str, embedding: Vectors, embedding_model: str) -> dict[str, Any]:
    """The columns of a summary that its words decide."""
    prepared = prepare(content)
    return {
        "content": content,
        "written_by": written_by,
        "embedding": embedding,
        "embedding_model": embedding_model,
        "search_text": prepared.text,
        "search_config": prepared.config,
        "search_length": prepared.length,
    }


_TAKE_UNINDEXED = """
UPDATE conversations_message m
SET index_not_before = %(now)s + make_interval(secs => %(lease)s), index_attempts = index_attempts + 1
WHERE m.id IN (
    SELECT id FROM conversations_message
    WHERE embedding IS NULL AND index_not_before <= %(now)s
      AND (%(conversation)s::uuid IS NULL OR conversation_id = %(conversation)s)
    ORDER BY index_not_before LIMIT %(batch)s
    FOR UPDATE SKIP LOCKED)
RETURNING m.id, m.content, m.speaker, m.at, m.index_attempts, m.index_not_before
"""


def messages_index(
    conversation_id: UUID | None = None,
    *,
    progress: Callable[[int], object] = lambda count: None,
    seconds: float | None = None,
) -> int:
    """Give messages without a vector one, of one conversation or of all. Returns how many were indexed.

    ``progress`` is called after each batch with the number of messages in it. No batch is begun after ``seconds``.

    A batch is taken by moving its time to try again forward, which is its lease: two workers never embed the same
    message, and what a killed worker held is taken up when the lease is over. With the embedder away the messages
    wait longer each time, up to an hour; they are found by keyword meanwhile.
    """
    embedder = get_embedder()
    indexed = 0
    ends = None if seconds is None else time.monotonic() + seconds
    while (ends is None or time.monotonic() < ends) and (batch := _take_unindexed(conversation_id)):
        try:
            vectors = embedder.embed_passages([each.passage for each in batch])
        except EmbedderUnavailable as error:
            longest = min(3_600, 30 * 2 ** min(max(each.attempts for each in batch), 8))
            later = timezone.now() + timedelta(seconds=longest)
            Message.objects.filter(pk__in=[each.pk for each in batch]).update(index_not_before=later)
            note_operation("worker", "index", "error", thread_id=conversation_id or "")
            log.warning("messages_not_indexed", count=len(batch), error=type(error).__name__)
            return indexed
        rows = [
            Message(pk=each.pk, embedding=vector, embedding_model=embedder.name)
            for each, vector in zip(batch, vectors, strict=True)
        ]
        # What was withheld meanwhile has another time to try, and is embedded as it reads now.
        as_taken = Message.objects.filter(index_not_before=batch[0].lease_until)
        as_taken.bulk_update(rows, ["embedding", "embedding_model"])
        indexed += len(rows)
        progress(len(rows))
    return indexed


class _Unindexed(NamedTuple):
    """A message that was taken: what is to be embedded of it, and how often that was tried."""

    pk: UUID
    passage: str
    attempts: int
    lease_until: datetime


def _take_unindexed(conversation_id: UUID | None) -> list[_Unindexed]:
    """Take a batch of messages, all until the same moment."""
    values: dict[str, str | int | datetime | None] = {
        "now": timezone.now(),
        "conversation": str(conversation_id) if conversation_id else None,
        "batch": INDEX_BATCH,
        "lease": INDEX_LEASE_SECONDS,
    }
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_UNINDEXED, values)
        return [
            _Unindexed(pk, policy.passage(content, speaker, at), attempts, lease_until)
            for pk, content, speaker, at, attempts, lease_until in cursor.fetchall()
        ]
