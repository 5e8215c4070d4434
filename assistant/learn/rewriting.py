"""Rewriting of summaries after words were withheld, restored or said to be untrue, without extraction."""

from __future__ import annotations

from uuid import UUID

from django.utils import timezone

from accounts.principals import Principal
from accounts.queries import principal_for_job
from accounts.scope import acting_as
from conversations.actions import chunk_rewrite
from conversations.models import Conversation, ConversationChunk, Message, Withheld
from conversations.passages import Original
from conversations.querysets import ChunkQuerySet
from conversations.withheld_words import WithheldWords
from journal.leases import finish_job
from journal.queue import enqueue
from language.backends import get_embedder
from language.base import LanguageError
from language.fillers import NOTHING_NEW

from .learning import Part, working_on
from .summarizing import open_messages, summarize_part
from .untrue import quotes_of_untrue

JOB = "rewrite"
TASK = "assistant.rewrite_chunks"


def rewrite_chunks(conversation_id: UUID) -> int:
    """Rewrite the hidden summaries of a conversation from the remaining messages. Returns how many.

    One worker at a time; others return 0. While the model is unavailable, sentences that share words with the withheld
    text are removed, and the summary is rewritten later. While the embedder is unavailable, summaries stay hidden.
    """
    conversation = Conversation.objects.filter(pk=conversation_id).first()
    if conversation is None or not _unfinished(conversation_id).exists():
        return 0
    written = 0
    with working_on(conversation, JOB) as lease:
        if lease is None:
            return 0
        while (chunk := _hidden(conversation_id).order_by("message_range_start").first()) is not None:
            with acting_as(principal_for_job(conversation.user_id)) as principal:
                _rewrite(principal, conversation, chunk)
            written += 1
            lease.renew(written)
        for chunk in _unfinished(conversation_id).order_by("message_range_start"):
            with acting_as(principal_for_job(conversation.user_id)) as principal:
                if not _mend(principal, conversation, chunk):
                    break
            written += 1
            lease.renew(written)
        finish_job(lease.job, chunks=written)
    # Summaries hidden meanwhile are found by the next job.
    if written and _hidden(conversation_id).exists():
        enqueue(TASK, conversation_id)
    return written


def _unfinished(conversation_id: UUID) -> ChunkQuerySet:
    return ConversationChunk.objects.unfinished().filter(conversation_id=conversation_id)


def _hidden(conversation_id: UUID) -> ChunkQuerySet:
    return ConversationChunk.objects.hidden().filter(conversation_id=conversation_id)


def _rewrite(principal: Principal, conversation: Conversation, chunk: ConversationChunk) -> None:
    """Rewrite one summary. It stays hidden if words were withheld or restored meanwhile."""
    try:
        summary, written_by = _by_model(principal, conversation, chunk)
    except LanguageError:
        _store(principal, chunk, _without_withheld(conversation, chunk), chunk.written_by, is_cut=True)
    else:
        _store(principal, chunk, summary, written_by)


def _mend(principal: Principal, conversation: Conversation, chunk: ConversationChunk) -> bool:
    """Rewrite a shortened summary. Returns False while no model is available."""
    try:
        summary, written_by = _by_model(principal, conversation, chunk)
    except LanguageError:
        return False
    _store(principal, chunk, summary, written_by)
    return True


def _by_model(principal: Principal, conversation: Conversation, chunk: ConversationChunk) -> tuple[str, str]:
    """Return a model's new summary, and its name. Raises ModelUnavailable, ModelAnswerInvalid."""
    start, end = chunk.message_range_start, chunk.message_range_end
    messages = open_messages(conversation, start, end, timezone.now())
    part = Part.of(conversation, list(messages.values()), lambda message: False)
    extraction = summarize_part(principal, conversation, part)
    return extraction.summary, extraction.model


def _store(
    principal: Principal, chunk: ConversationChunk, summary: str, written_by: str, *, is_cut: bool = False
) -> None:
    embedder = get_embedder()
    chunk_rewrite(
        principal,
        chunk,
        content=summary,
        written_by=written_by,
        embedding=embedder.embed_passages([summary])[0],
        embedding_model=embedder.name,
        is_cut=is_cut,
    )


def _without_withheld(conversation: Conversation, chunk: ConversationChunk) -> str:
    """Return the summary without sentences that share words with what is withheld or was said to be untrue."""
    rows = Withheld.objects.filter(conversation=conversation).restorable().passages()
    within = rows.filter(message__index__gte=chunk.message_range_start, message__index__lt=chunk.message_range_end)
    names = [conversation.legacy.name] if conversation.legacy else []
    about = Message.objects.filter(
        conversation=conversation, index__gte=chunk.message_range_start, index__lt=chunk.message_range_end
    )
    untrue = [quote for quotes in quotes_of_untrue(about.values_list("pk", flat=True)).values() for quote in quotes]
    said = WithheldWords([*within.values_list("text", flat=True), *untrue], ["user", *names])
    summary = {chunk.pk: Original(chunk.content)}
    left = [summary[pk].words(span) for pk, span, words in said.in_sentences(summary) if not words & said.words]
    return " ".join(left) or NOTHING_NEW
