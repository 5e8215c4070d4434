"""Writing of candidates: findings over a cap, stored as rows, most important first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from datetime import timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.utils import timezone

from accounts.principals import Principal
from accounts.queries import principal_for_job
from accounts.scope import acting_as
from conversations.models import Conversation, Message
from facts.actions import PreparedFact, prepare_extracted, record_extracted
from journal.actions import learned_within_a_day, ledger_write
from journal.exceptions import NotFound
from journal.verdicts import compares_unlocked
from language.backends import get_model
from language.base import FactCandidate, LanguageError, MemoryCandidate
from statements.actions import candidates_drop, candidates_postpone
from statements.models import Candidate

from .learning import as_read, learns_facts, learns_memories
from .plan import Plan
from .updates import telling
from .writing import PlanWriter, Ready, make_ready

log = structlog.get_logger(__name__)

TASK = "assistant.write_candidates"
MOST_AT_ONCE = 50
_AGAIN = timedelta(hours=1)


def candidates_write(user_id: UUID) -> int:
    """Write a person's candidates within the daily cap. Returns how many do not wait any more.

    If the model is unavailable, they wait for another hour. Concurrent and repeated runs write nothing twice.
    """
    if not Candidate.objects.due(user_id).exists():
        return 0
    try:
        with acting_as(principal_for_job(user_id)) as principal:
            return _write_all(principal, user_id)
    except NotFound:
        return 0  # The person was erased or blocked meanwhile.


def _write_all(principal: Principal, user_id: UUID) -> int:
    left = min(MOST_AT_ONCE, max(0, settings.EXTRACTED_PER_USER_AND_DAY - learned_within_a_day(user_id)))
    rows = list(Candidate.objects.due(user_id).select_related("message__conversation__legacy")[:left])
    by_conversation: dict[Conversation, list[Candidate]] = defaultdict(list)
    for row in rows:
        by_conversation[row.message.conversation].append(row)
    done = 0
    for conversation, waiting in by_conversation.items():
        try:
            done += _write(principal, conversation, waiting)
        except LanguageError as error:
            candidates_postpone([row.pk for row in waiting], timezone.now() + _AGAIN)
            log.warning("candidates_wait", conversation=str(conversation.pk), error=type(error).__name__)
    return done


def _write(principal: Principal, conversation: Conversation, waiting: Sequence[Candidate]) -> int:
    facts = _prepared_facts(conversation, [row for row in waiting if row.is_fact])
    memories = _ready(principal, [row for row in waiting if not row.is_fact])
    with telling(conversation, len({row.message_id for row in waiting})) as told:
        done, counts = _store(principal, conversation, waiting, facts, memories)
        told.update(counts)
    return done


@compares_unlocked
def _store(
    principal: Principal,
    conversation: Conversation,
    waiting: Sequence[Candidate],
    facts: Sequence[tuple[UUID, PreparedFact]],
    memories: Sequence[tuple[UUID, Ready]],
) -> tuple[int, Counter[str]]:
    """Store what the waiting candidates state. Returns how many are done, and the counts of memories."""
    counts: Counter[str] = Counter()
    owners = [conversation.user_id, *([conversation.legacy_id] if facts and conversation.legacy_id else [])]
    with ledger_write(principal.actor, *owners) as write:
        # Withheld meanwhile, or written by another worker.
        there = {row.pk: row for row in Candidate.objects.filter(pk__in=[row.pk for row in waiting])}
        principal = principal_for_job(conversation.user_id)
        locked = Conversation.objects.select_for_update(of=("self",)).select_related("legacy").get(pk=conversation.pk)
        messages = _open_messages(there.values())
        if facts and learns_facts(principal, locked):
            record_extracted(write, principal, locked, [fact for pk, fact in facts if pk in there], messages)
        if memories and learns_memories(principal, locked):
            left = settings.EXTRACTED_PER_USER_AND_DAY - learned_within_a_day(locked.user_id)
            writer = PlanWriter(write, principal, locked, messages, waiting[0].written_by, left)
            writer.write_all([ready for pk, ready in memories if pk in there])
            counts = writer.counts
        candidates_drop(there)
    return len(there), counts


def _open_messages(rows: Collection[Candidate]) -> dict[int, Message]:
    now = timezone.now()
    found = Message.objects.filter(pk__in={row.message_id for row in rows}).without_vectors()
    return {message.index: message for message in found if message.is_open(now)}


def _prepared_facts(conversation: Conversation, rows: Sequence[Candidate]) -> list[tuple[UUID, PreparedFact]]:
    if conversation.legacy_id is None:
        return []
    found = []
    for row in rows:
        candidate = FactCandidate(row.category, row.content, (row.message.index,), row.quote)
        prepared = prepare_extracted(conversation.legacy_id, conversation.user_id, [candidate], row.written_by)
        found += [(row.pk, each) for each in prepared]
    return found


def _ready(principal: Principal, rows: Sequence[Candidate]) -> list[tuple[UUID, Ready]]:
    said = {row.message.index: as_read(row.message) for row in rows}
    plan = Plan(principal, said, (), len(rows), timezone.now())
    taken = [
        row.pk
        for row in rows
        if plan.add_candidate(
            MemoryCandidate(
                row.category,
                row.content,
                (row.message.index,),
                row.quote,
                subject=row.subject,
                field=row.field,
                importance=row.importance,
                explicit=row.explicit,
            )
        )
    ]
    ready = make_ready(principal, get_model(), plan.steps, said, decides=principal.agentic_memory)
    return list(zip(taken, ready, strict=True))
