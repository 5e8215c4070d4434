"""Helpers of the views: lookups and responses."""

from __future__ import annotations

from typing import Any

from rest_framework.response import Response

from accounts.principals import Principal
from journal.exceptions import must_find
from journal.models import Change, IdempotencyRecord
from web.etags import with_etag
from web.idempotency import IdempotentView

from ..models import Memory
from ..records import Changed, Updated
from ..serializers import MEMORY_ATTRIBUTES, ProposalSerializer, plain_memories

REINFORCED = 200
_BEGUN_AS = {"ADD": "created", "PROPOSE": "proposed", "QUARANTINE": "quarantined"}


def find_memory(principal: Principal, memory_id: str) -> Memory:
    """Return a visible memory. Raises NotFound."""
    return must_find(Memory.objects.visible_to(principal).without_vectors().filter(pk=memory_id).first(), "memory")


def show_memory(principal: Principal, memory: Memory) -> dict[str, Any]:
    """Return a memory as plain data, without versions."""
    return plain_memories(principal, [[getattr(memory, name) for name in MEMORY_ATTRIBUTES]])[0]


def answer_memory(principal: Principal, memory: Memory) -> Response:
    """A memory with its ETag."""
    return with_etag(show_memory(principal, memory), version=memory.version)


def answer_change(principal: Principal, change: Changed | Updated) -> Response:
    """Return the response of a change, with the previous wording; 202 if it became a proposal."""
    shown = show_memory(principal, change.memory)
    if isinstance(change, Updated):
        shown["previous"] = {"content": change.previous_content, "version": change.previous_version}
    if change.proposal is not None:
        shown["proposal"] = ProposalSerializer(change.proposal, context={"principal": principal}).data
    return with_etag(shown, version=change.memory.version, status=200 if change.proposal is None else 202)


def outcome_of(record: IdempotencyRecord, memory: Memory) -> str:
    """Return the outcome of an addition from its idempotency record."""
    if record.status_code != REINFORCED:
        changes = Change.objects.of_owner(memory.user_id).filter(object_type="memory", object_id=memory.pk)
        return _BEGUN_AS[changes.values_list("event", flat=True)[0]]
    return "reinforced"


class ChangesMemory(IdempotentView[Principal]):
    """Base of POSTs that change one memory. Repetitions show its current state."""

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """The memory."""
        return show_memory(principal, find_memory(principal, object_ids[0]))
