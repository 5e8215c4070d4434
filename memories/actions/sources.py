"""What becomes of memories when that changes which they rest on."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from conversations.actions import Cause
from journal.actions import LedgerWrite
from statements.actions import Changed

from ..models import Kind, Memory, MemoryEvidence, Relation
from ..policy.writing import State, Why
from .single import memory_changing
from .transitions import put_away

_IN_USE = [State.PROPOSED, State.ACTIVE]


def memories_follow_withholding(write: LedgerWrite, user_id: UUID, message_ids: Collection[UUID], cause: Cause) -> None:
    """Archive what was made of words that are withheld: merged memories, accounts of talks, insights; and so on."""
    own = Memory.objects.filter(user_id=user_id, state__in=_IN_USE).without_vectors()
    derived = Relation.objects.filter(from_memory=OuterRef("pk"), type=Relation.Type.DERIVED_FROM)
    made = own.filter(Q(kind__in=[Kind.EPISODIC, Kind.INSIGHT]) | Exists(derived))
    behind = MemoryEvidence.objects.filter(message__in=message_ids).values("version__memory")
    gone = {cause.id} if cause.type == "memory" else set()
    rests = Q(pk__in=behind) if message_ids else Q(pk__in=[])
    while True:
        of_those = Relation.objects.filter(type=Relation.Type.DERIVED_FROM, to_memory__in=gone).values("from_memory")
        found = list(made.filter(rests | Q(pk__in=of_those)).exclude(pk__in=gone))
        if not found:
            return
        for memory in found:
            with memory_changing(write, memory) as change:
                put_away(change, Why.WITHHELD)
        gone |= {memory.pk for memory in found}


def memories_resting_on(user_id: UUID, changed: Changed) -> Iterable[str]:
    """A person's memories that were made of something, took its place, or were learned from the same words."""
    behind = MemoryEvidence.objects.filter(message__in=changed.message_ids).values("version__memory")
    rests = Q(pk__in=behind) if changed.message_ids else Q(pk__in=[])
    if changed.object_type == "memory":
        made = Relation.objects.filter(to_memory=changed.object_id).exclude(type=Relation.Type.RELATED_TO)
        rests |= Q(pk__in=made.values("from_memory"))
    return Memory.objects.filter(rests, user_id=user_id, state__in=_IN_USE).values_list("pk", flat=True)
