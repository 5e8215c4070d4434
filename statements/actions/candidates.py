"""Candidates: extracted statements over a cap, stored until they can be written."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from conversations.actions import Cause, HeardRefusal
from conversations.models import Message
from conversations.passages import MARK
from journal.actions import LedgerWrite
from language.base import MemoryCandidate
from language.reading.refusals import count_extra_words

from ..models import Candidate
from ..policy import urgency


def candidate_keep(message: Message, found: MemoryCandidate, written_by: str, *, is_fact: bool = False) -> None:
    """Store a candidate that was found in a message, in a transaction that holds the person's ledger lock."""
    Candidate.objects.create(
        user_id=message.user_id,
        message=message,
        is_fact=is_fact,
        content=found.content,
        quote=found.quote,
        category=found.category,
        subject=found.subject,
        field=found.field,
        importance=found.importance,
        explicit=found.explicit,
        rank=urgency(found.content, found.importance),
        written_by=written_by[:80],
    )


def candidates_drop(ids: Collection[UUID]) -> None:
    """Delete candidates, in the transaction that wrote them as facts or memories."""
    Candidate.objects.filter(pk__in=ids).delete()


def candidates_postpone(ids: Collection[UUID], until: datetime) -> None:
    """Set the time of the next attempt for candidates that could not be written."""
    Candidate.objects.filter(pk__in=ids).update(not_before=until)


def candidates_follow_withholding(
    write: LedgerWrite, user_id: UUID, message_ids: Collection[UUID], cause: Cause
) -> None:
    """Delete candidates whose quote is withheld."""
    Candidate.objects.filter(user_id=user_id, message__in=message_ids, quote=MARK).delete()


def candidates_follow_refusal(write: LedgerWrite, user_id: UUID, heard: HeardRefusal) -> None:
    """Delete candidates about what a person asks not to be kept, from whatever message."""
    if heard.named:
        waiting = Candidate.objects.waiting_for(user_id).values_list("pk", "content")
        named = [pk for pk, content in waiting if count_extra_words(content, heard.named) is not None]
        Candidate.objects.filter(pk__in=named).delete()
