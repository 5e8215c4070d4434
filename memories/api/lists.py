"""REST API of lists: memories (and adding one), topics, relations, disclosures."""

from __future__ import annotations

from typing import Any, cast

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of
from accounts.policy import may_see_sources, must_act_for
from accounts.principals import Principal
from journal.exceptions import NotAllowed
from journal.models import IdempotencyRecord
from web.idempotency import IdempotentView
from web.pagination import PER_PAGE, ByTime, NumberedPages

from .. import actions, queries
from ..cache import CachedValue, Family, read_through
from ..filters import MemoryFilters, RelationFilters
from ..models import Disclosure, Memory, Relation
from ..querysets import DisclosureQuerySet, MemoryQuerySet, RelationQuerySet
from ..serializers import (
    MEMORY_COLUMNS,
    DisclosureSerializer,
    MemoryConflictSerializer,
    MemorySerializer,
    NewMemorySerializer,
    RelationSerializer,
    RememberedSerializer,
    TopicsSerializer,
    plain_memories,
    read_addition,
)
from .answers import find_memory, outcome_of, show_memory


class Memories(IdempotentView[Principal], ListAPIView):
    """List the person's memories."""

    serializer_class = MemorySerializer
    filterset_class = MemoryFilters
    queryset = Memory.objects.none()

    def get_queryset(self) -> MemoryQuerySet:
        """Return the visible memories."""
        return Memory.objects.visible_to(principal_of(self.request)).without_vectors()

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return a page, cached until the next revision or expiry."""
        principal = principal_of(request)
        must_act_for(principal)

        def read() -> CachedValue[dict[str, Any]]:
            if request.query_params.keys() <= {"page", PER_PAGE}:
                first = (
                    0
                    if "page" in request.query_params
                    else cast("NumberedPages", self.paginator).get_page_size(request)
                )
                usual = queries.UsualList(principal, MEMORY_COLUMNS, first)
                # The time of the first expiry is known after counting.
                return CachedValue(self._page(principal, usual), usual.until)
            until = Memory.objects.visible_to(principal).next_expiry(timezone.now())
            rows = self.filter_queryset(self.get_queryset()).values_list(*MEMORY_COLUMNS)
            return CachedValue(self._page(principal, rows), until)

        asked = [request.build_absolute_uri(), may_see_sources(principal)]
        page = read_through(principal, Family.PAGE, read, of=asked)
        if principal.kind == "agent":
            actions.memories_show(principal, Disclosure.By.QUERY, [each["id"] for each in page["results"]])
        return Response(page)

    def _page(self, principal: Principal, rows: Any) -> dict[str, Any]:
        """Return the requested page of the rows."""
        shown = plain_memories(principal, self.paginate_queryset(rows) or ())
        return dict(self.get_paginated_response(shown).data)

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
        """Add a memory.

        201: created. 200: reinforced, since it exists. 202: proposed or quarantined, waiting for the person or staff.
        409 `subject_exists` and `similar_exists` contain the memory to update instead; `insist` adds another.
        """
        principal = self.caller(request)
        asked = read_addition(request.data)
        outcome = actions.memory_add(
            principal,
            asked.new,
            insist=asked.insist,
            conversation_id=asked.conversation_id,
            message_id=asked.message_id,
        )
        shown = {"outcome": outcome.outcome, **show_memory(principal, outcome.memory)}
        if principal.kind != "agent":
            shown["evicted"] = outcome.evicted
        return Response(shown, status=outcome.status)

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """Return the outcome of the first request, with the current memory."""
        principal = principal_of(request)
        memory = find_memory(principal, record.object_ids[0])
        shown = {"outcome": outcome_of(record, memory), **show_memory(principal, memory)}
        return Response(shown, status=record.status_code)


class Topics(APIView):
    """The topics of memories."""

    @extend_schema(responses=TopicsSerializer)
    def get(self, request: Request) -> Response:
        """List the topics of active memories."""
        principal = principal_of(request)
        must_act_for(principal)

        def read() -> CachedValue[list[str]]:
            now = timezone.now()
            memories = Memory.objects.visible_to(principal)
            return CachedValue(memories.active().unexpired(now).topics(), memories.next_expiry(now))

        return Response({"topics": read_through(principal, Family.TOPICS, read)})


class MemoryRelations(ListAPIView):
    """List the relations of a memory (similar, superseded, derived), strongest first.

    Relations to invisible memories are left out.
    """

    serializer_class = RelationSerializer
    filterset_class = RelationFilters
    queryset = Relation.objects.none()

    def get_queryset(self) -> RelationQuerySet:
        """Those of the memory."""
        principal = principal_of(self.request)
        memory = find_memory(principal, self.kwargs["memory_id"])
        return Relation.objects.visible_to(principal).of(memory.pk).with_memories().order_by("-strength", "id")

    def get_serializer_context(self) -> dict[str, Any]:
        """The memory that was asked about."""
        return {**super().get_serializer_context(), "memory_id": self.kwargs.get("memory_id", "")}


class MemoryDisclosures(ListAPIView):
    """List the disclosures of a memory in the last 90 days, latest first.

    Only for the signed-in person; agents get 403, since they would learn of other agents.
    """

    serializer_class = DisclosureSerializer
    pagination_class = ByTime
    filter_backends = []
    queryset = Disclosure.objects.none()

    def get_queryset(self) -> DisclosureQuerySet:
        """Those of the memory."""
        principal = principal_of(self.request)
        if principal.kind == "agent":
            raise NotAllowed("Only the person is told which agents saw a memory.", code="person_only")
        memory = find_memory(principal, self.kwargs["memory_id"])
        return Disclosure.objects.visible_to(principal).of(memory.pk)
