"""Insights: guesses of a background job. Each is archived when a memory that it is based on goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from accounts.principals import Principal
from accounts.upkeep import work_in_batches
from journal.actions import LedgerWrite
from journal.exceptions import Refused

from ..models import Memory, Relation
from ..records import Candidate, PreparedMemory, Said, WritePolicy
from .candidates import candidates_record
from .single import insight_leave


@dataclass(frozen=True, slots=True)
class ReadyInsight:
    """A prepared insight, the ids of the memories that it is based on, and the messages."""

    prepared: PreparedMemory
    memories: Sequence[str]
    said: Sequence[Said] = ()
    conversation_id: UUID | None = None


def insights_record(write: LedgerWrite, principal: Principal, ready: Sequence[ReadyInsight]) -> list[str]:
    """Store insights in a transaction that holds the person's ledger lock. Returns the ids of new ones.

    Rejected ones and duplicates of earlier ones are skipped.
    """
    candidates = [Candidate(each.prepared, WritePolicy(), each.conversation_id, each.said) for each in ready]
    made = []
    relations = []
    for each, outcome in zip(ready, candidates_record(write, principal, candidates), strict=True):
        if isinstance(outcome, Refused) or outcome.outcome not in {"created", "proposed"}:
            continue
        made.append(outcome.memory.pk)
        relations += [_derived(outcome.memory, memory_id) for memory_id in each.memories]
    Relation.objects.bulk_create(relations)
    return made


def _derived(insight: Memory, memory_id: str) -> Relation:
    return Relation(
        user_id=insight.user_id,
        from_memory=insight,
        to_memory_id=memory_id,
        type=Relation.Type.DERIVED_FROM,
        strength=1.0,
        created_at=timezone.now(),
    )


def carry_insights(merged: Memory, sources: Sequence[str]) -> None:
    """Base insights about merged memories on the merged one, too."""
    resting = Memory.objects.filter(user_id=merged.user_id).resting_on(sources)
    Relation.objects.bulk_create([_derived(insight, merged.pk) for insight in resting.only("user_id")])


def insights_tidy() -> int:
    """Archive insights based on memories that were evicted, purged or removed with a conversation. Returns how many.

    Other removals archive their insights in the same transaction.
    """

    def tidy(write: LedgerWrite, user_id: UUID) -> int:
        gone = list(Memory.objects.filter(user_id=user_id).unfounded().without_vectors())
        for memory in gone:
            insight_leave(write, memory)
        return len(gone)

    return work_in_batches("memories.tidy_insights", Memory.objects.unfounded(), tidy)
