"""Changes to data derived from messages (chunks, vectors), and the logged reading of texts by staff."""

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
from journal.exceptions import must_find
from journal.operation_actions import note_operation
from language.backends import get_embedder
from language.base import EmbedderUnavailable, Vectors
from retrieval.text import prepare

from .. import policy
from ..models import Conversation, ConversationChunk, Message
from .judging import messages_judge

log = structlog.get_logger(__name__)

Said = TypeVar("Said", Message, ConversationChunk)

INDEX_BATCH = 32
INDEX_LEASE_SECONDS = 120


def message_open(principal: Principal, message_id: UUID, reason: str) -> Message:
    """Return a message with its text for staff, and log the access with its reason as a change of the person's.

    Raises NotAllowed for anybody but staff, Refused (400) without a reason, NotFound.
    """
    return _open(principal, Message.objects.visible_to(principal).without_vectors(), "message", message_id, reason)


def chunk_open(principal: Principal, chunk_id: UUID, reason: str) -> ConversationChunk:
    """Return a summary with its text for staff, and log the access with its reason as a change of the person's.

    Raises NotAllowed for anybody but staff, Refused (400) without a reason, NotFound.
    """
    return _open(
        principal, ConversationChunk.objects.visible_to(principal).without_vectors(), "chunk", chunk_id, reason
    )


def _open(principal: Principal, rows: QuerySet[Said], object_type: str, row_id: UUID, reason: str) -> Said:
    must_be_staff(principal)
    reason = clean_reason(reason)
    owner_id = must_find(rows.filter(pk=row_id).values_list("user_id", flat=True).first(), object_type)
    with ledger_write(principal.actor, owner_id) as write:
        said = must_find(rows.filter(pk=row_id).first(), object_type)
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
    """Store the summary of messages ``start`` … ``end - 1`` and set ``summarized_upto`` to ``end``.

    Runs inside the batch's transaction; the caller holds the conversation's lock. Database constraints reject a range
    that repeats or overlaps.
    """
    chunk = ConversationChunk.objects.create(
        conversation=conversation,
        user_id=conversation.user_id,
        legacy_id=conversation.legacy_id,
        private=conversation.private,
        message_range_start=start,
        message_range_end=end,
        **_content_columns(content, written_by, embedding, embedding_model),
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
    """Replace a hidden summary's text and unhide it. Returns False when its messages have changed since.

    ``chunk`` is the row as it was read before ``content`` was written. With ``is_cut`` the text was made without a
    model, and a model rewrites it later.
    """
    worded = _content_columns(content, written_by, embedding, embedding_model)
    with ledger_write(principal.actor, chunk.user_id) as write:
        still = ConversationChunk.objects.filter(pk=chunk.pk, hidden_since=chunk.hidden_since)
        written = still.update(**worded, hidden_since=None, is_cut=is_cut)
        if written:
            write.count(chunk.user_id, chunk_terms=worded["search_length"] - chunk.search_length)
            where = chunk.conversation_id
            write.change(chunk.user_id, "UPDATE", "chunk", chunk.pk, conversation_id=where)
    return bool(written)


def _content_columns(content: str, written_by: str, embedding: Vectors, embedding_model: str) -> dict[str, Any]:
    """Return a summary's columns that depend on its text."""
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
RETURNING m.id, m.content, m.speaker, m.at, m.unjudged, m.index_attempts, m.index_not_before
"""


def messages_index(
    conversation_id: UUID | None = None,
    *,
    progress: Callable[[int], object] = lambda count: None,
    seconds: float | None = None,
) -> int:
    """Embed the messages without a vector, of one conversation or of all. Returns how many were indexed.

    ``progress`` is called after each batch with its number of messages. No batch starts after ``seconds``.

    A batch is leased by moving ``index_not_before`` forward, so two workers never embed the same message, and a killed
    worker's batch is retried when its lease expires. While the embedder is unavailable the retry delay doubles, up to
    an hour; keyword search finds the messages meanwhile. Messages by agents are compared with what the person refused
    before their vectors are stored (``messages_judge``).
    """
    embedder = get_embedder()
    indexed = 0
    ends = None if seconds is None else time.monotonic() + seconds
    while (ends is None or time.monotonic() < ends) and (batch := _take_unindexed(conversation_id)):
        try:
            vectors = embedder.embed_passages([each.passage for each in batch])
            left = messages_judge([each.pk for each in batch if each.unjudged])
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
            if each.pk not in left  # Nobody recalls it without a vector; after the lease it is tried again.
        ]
        # Withholding resets index_not_before, so a message redacted meanwhile is skipped here and embedded again.
        as_taken = Message.objects.filter(index_not_before=batch[0].lease_until)
        as_taken.bulk_update(rows, ["embedding", "embedding_model"])
        indexed += len(rows)
        progress(len(rows))
    return indexed


class _Unindexed(NamedTuple):
    """A leased message: the text to embed, and the number of attempts including this one."""

    pk: UUID
    passage: str
    unjudged: bool
    attempts: int
    lease_until: datetime


def _take_unindexed(conversation_id: UUID | None) -> list[_Unindexed]:
    """Lease a batch of messages. All leases end at the same time."""
    values: dict[str, str | int | datetime | None] = {
        "now": timezone.now(),
        "conversation": str(conversation_id) if conversation_id else None,
        "batch": INDEX_BATCH,
        "lease": INDEX_LEASE_SECONDS,
    }
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_UNINDEXED, values)
        return [
            _Unindexed(pk, policy.passage(content, speaker, at), unjudged, attempts, lease_until)
            for pk, content, speaker, at, unjudged, attempts, lease_until in cursor.fetchall()
        ]
