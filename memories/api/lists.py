"""REST for memories as a whole: list and add, topics, putting many away."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of
from accounts.idempotency import WritesOnce
from accounts.policy import may_see_sources, must_act_for
from journal.models import IdempotencyRecord

from .. import actions
from ..cache import Family, Reading, read_through
from ..filters import MemoryFilters
from ..models import Memory, Proposal
from ..querysets import MemoryQuerySet
from ..serializers import (
    BulkDeleteSerializer,
    BulkItemSerializer,
    BulkResultSerializer,
    MemoryConflictSerializer,
    MemorySerializer,
    NewMemorySerializer,
    RememberedSerializer,
    TopicsSerializer,
)
from .answers import STATUS, find_memory, outcome_of, show_memory


class Memories(WritesOnce, ListAPIView):
    """What is remembered about the person."""

    serializer_class = MemorySerializer
    filterset_class = MemoryFilters
    queryset = Memory.objects.none()

    def get_queryset(self) -> MemoryQuerySet:
        """What the principal may see."""
        return Memory.objects.visible_to(principal_of(self.request)).without_vectors()

    def get_serializer_context(self) -> dict[str, Any]:
        """The principal decides which sources are shown."""
        return {**super().get_serializer_context(), "principal": principal_of(self.request)}

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A page, kept until the person's memory changes or something in it expires."""
        principal = principal_of(request)
        must_act_for(principal)

        def read() -> Reading[dict[str, Any]]:
            until = Memory.objects.visible_to(principal).next_expiry(timezone.now())
            return Reading(dict(super(Memories, self).list(request, *args, **kwargs).data), until)

        asked = [request.build_absolute_uri(), may_see_sources(principal)]
        return Response(read_through(principal, Family.PAGE, read, of=asked))

    @extend_schema(
        request=NewMemorySerializer,
        responses={
            201: RememberedSerializer,
            200: RememberedSerializer,
            202: RememberedSerializer,
            409: MemoryConflictSerializer,
        },
    )
    def post(self, request: Request) -> Response:
        """Remember something.

        201 created; 200 reinforced: it was remembered already; 202 proposed or quarantined: it waits for the person or
        for staff. 409 `subject_exists` and `similar_exists` show the memory to update instead; `insist` adds another.
        """
        principal = self.caller(request)
        body = NewMemorySerializer(data=request.data)
        body.is_valid(raise_exception=True)
        asked = body.validated_data
        outcome = actions.memory_add(
            principal,
            body.new_memory(),
            insist=asked["insist"],
            conversation_id=asked["conversation"],
            message_id=asked["message"],
        )
        shown = {"outcome": outcome.outcome, **show_memory(principal, outcome.memory)}
        if principal.kind != "agent":
            shown["evicted"] = outcome.evicted
        return Response(shown, status=STATUS[outcome.outcome])

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """The memory as it is now, and what became of the first request."""
        principal = principal_of(request)
        memory = find_memory(principal, record.object_ids[0])
        shown = {"outcome": outcome_of(record, memory), **show_memory(principal, memory)}
        return Response(shown, status=record.status_code)


class Topics(APIView):
    """What memories are about."""

    @extend_schema(responses=TopicsSerializer)
    def get(self, request: Request) -> Response:
        """The topics of what is remembered now, for a list to choose from."""
        principal = principal_of(request)
        must_act_for(principal)

        def read() -> Reading[list[str]]:
            now = timezone.now()
            memories = Memory.objects.visible_to(principal)
            return Reading(memories.active().unexpired(now).topics(), memories.next_expiry(now))

        return Response({"topics": read_through(principal, Family.TOPICS, read)})


class BulkDelete(WritesOnce):
    """Many memories at once."""

    @extend_schema(request=BulkDeleteSerializer, responses=BulkResultSerializer)
    def post(self, request: Request) -> Response:
        """Put up to 1,000 memories away, all or none, and say of each id what became of it."""
        principal = self.caller(request)
        body = BulkDeleteSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        items = actions.memories_delete(principal, body.validated_data["ids"])
        return Response({"results": BulkItemSerializer(items, many=True).data})

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """What became of the memories when the first request named them."""
        principal = principal_of(request)
        body = BulkDeleteSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        ids = body.validated_data["ids"]
        seen = Memory.objects.visible_to(principal).filter(pk__in=ids)
        outcomes = dict.fromkeys(seen.values_list("pk", flat=True), "skipped")
        outcomes.update(dict.fromkeys(record.object_ids, "archived"))
        if principal.agent_id is not None:
            archives = Proposal.objects.filter(kind=Proposal.Kind.ARCHIVE, memory__in=record.object_ids)
            asked = archives.visible_to(principal).filter(agent_id=principal.agent_id)
            outcomes.update(dict.fromkeys(asked.values_list("memory_id", flat=True), "proposed"))
        return Response({"results": [{"id": each, "outcome": outcomes.get(each, "not_found")} for each in ids]})
