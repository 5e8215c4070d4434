"""REST API of bulk operations: adding and archiving."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import principal_of
from accounts.principals import Principal
from journal.exceptions import NotFound, Refused
from journal.models import IdempotencyRecord
from web.idempotency import IdempotentView
from web.json import validated

from .. import actions
from ..models import Memory, Proposal
from ..policy import writing
from ..records import Addition, Outcome
from ..serializers import (
    BulkDeleteSerializer,
    BulkItemSerializer,
    BulkResultSerializer,
    ManyNewMemoriesSerializer,
    RememberedManySerializer,
    read_addition,
)
from .answers import show_memory


class BulkAdd(IdempotentView[Principal]):
    """Adding many memories."""

    @extend_schema(request=ManyNewMemoriesSerializer, responses=RememberedManySerializer)
    def post(self, request: Request) -> Response:
        """Add up to 1,000 memories in one transaction. Returns the outcome of each, in order.

        Each item passes the same checks as a single one, and is compared with the items before it: a duplicate
        reinforces it. A refused item does not affect the others.
        """
        principal = self.caller(request)
        items = _read_items(request)
        additions = [each for each in items if isinstance(each, Addition)]
        added = iter(actions.memories_add(principal, additions))
        outcomes = [next(added) if isinstance(each, Addition) else each for each in items]
        show = _ShowItems(principal)
        answer: dict[str, Any] = {"results": [show(index, each) for index, each in enumerate(outcomes)]}
        if principal.kind != "agent":
            answer["evicted"] = [gone for each in outcomes if isinstance(each, Outcome) for gone in each.evicted]
        return Response(answer)

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """Return the outcomes of the first request, with the current memories."""
        principal = principal_of(request)
        noted = [str(each).split(" ") for each in record.object_ids]
        ids = [each[2] for each in noted if len(each) > 2]
        seen = Memory.objects.visible_to(principal).without_vectors().in_bulk(ids)
        before = iter(noted)
        show, results = _ShowItems(principal), []
        for index, item in enumerate(_read_items(request)):
            if isinstance(item, Refused):
                results.append(show(index, item))
                continue
            status, word, *named = next(before)
            memory = seen.get(named[0]) if named else None
            results.append(show.again(index, item, int(status), word, memory))
        return Response({"results": results})


def _read_items(request: Request) -> list[Addition | Refused]:
    """Parse the items: an addition or its errors. Raises ValidationError for an invalid body."""
    body = validated(ManyNewMemoriesSerializer(data=request.data))
    items: list[Addition | Refused] = []
    for item in body["items"]:
        try:
            items.append(read_addition(item))
        except ValidationError as error:
            items.append(Refused("Some of its fields are wrong.", reasons=error.detail))
    return items


class _ShowItems:
    """Formats the response of each item."""

    def __init__(self, principal: Principal) -> None:
        self._principal = principal

    def __call__(self, index: int, outcome: Outcome | Refused) -> dict[str, Any]:
        """Format an outcome."""
        if isinstance(outcome, Refused):
            return {"index": index, "status": outcome.status, **outcome.body}
        return self._remembered(index, outcome.status, outcome.outcome, outcome.memory)

    def again(self, index: int, item: Addition, status: int, word: str, memory: Memory | None) -> dict[str, Any]:
        """Format the outcome of the first request: a memory, or an error code."""
        if status < 400:
            gone = NotFound("There is no such memory.")
            return self(index, gone) if memory is None else self._remembered(index, status, word, memory)
        try:
            actions.admit_new(self._principal, item.new, timezone.now())
        except Refused as refusal:
            if refusal.code == word:
                return self(index, refusal)
        error = Refused("It was refused when it was sent first.", code=word)
        error.extra = {} if memory is None else {"memory": writing.brief(memory)}
        return {**self(index, error), "status": status}

    def _remembered(self, index: int, status: int, outcome: str, memory: Memory) -> dict[str, Any]:
        return {"index": index, "status": status, "outcome": outcome, **show_memory(self._principal, memory)}


class BulkDelete(IdempotentView[Principal]):
    """Archiving many memories."""

    @extend_schema(request=BulkDeleteSerializer, responses=BulkResultSerializer)
    def post(self, request: Request) -> Response:
        """Archive up to 1,000 memories in one transaction. Returns the outcome of each id."""
        principal = self.caller(request)
        body = validated(BulkDeleteSerializer(data=request.data))
        items = actions.memories_delete(principal, body["ids"])
        return Response({"results": BulkItemSerializer(items, many=True).data})

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """Return the outcomes of the first request."""
        principal = principal_of(request)
        body = validated(BulkDeleteSerializer(data=request.data))
        ids = body["ids"]
        seen = Memory.objects.visible_to(principal).filter(pk__in=ids)
        outcomes = dict.fromkeys(seen.values_list("pk", flat=True), "skipped")
        outcomes.update(dict.fromkeys(record.object_ids, "archived"))
        if principal.agent_id is not None:
            archives = Proposal.objects.filter(kind=Proposal.Kind.ARCHIVE, memory__in=record.object_ids)
            asked = archives.visible_to(principal).filter(agent_id=principal.agent_id)
            outcomes.update(dict.fromkeys(asked.values_list("memory_id", flat=True), "proposed"))
        return Response({"results": [{"id": each, "outcome": outcomes.get(each, "not_found")} for each in ids]})
