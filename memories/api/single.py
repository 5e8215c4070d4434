"""REST API of one memory: read, edit, archive, restore, pin, decide, history."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, prefetch_related_objects
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of
from accounts.policy import may_see_sources
from accounts.principals import Principal
from conversations.serializers import AlsoSaidSerializer
from journal.models import IdempotencyRecord
from statements.actions import said_again_for
from web.etags import (
    IF_MATCH,
    IF_NONE_MATCH,
    not_modified_or,
    seen_version,
    with_etag,
)
from web.history import ObjectHistory
from web.json import require_empty_body, validated

from .. import actions, queries
from ..models import Disclosure, Memory, MemoryEvidence, MemoryVersion
from ..querysets import MemoryVersionQuerySet
from ..records import Updated
from ..serializers import (
    AmendSerializer,
    ApproveMemorySerializer,
    ChangedMemorySerializer,
    MemoryConflictSerializer,
    MemoryDetailSerializer,
    MemoryHistorySerializer,
    MemorySerializer,
    MemoryVersionSerializer,
    PinSerializer,
    RejectedMemorySerializer,
    RejectMemorySerializer,
    RevertSerializer,
    RewordedMemorySerializer,
    RewordSerializer,
)
from .answers import ChangesMemory, answer_change, answer_memory, find_memory, show_memory
from .proposals import find_proposal


class MemoryDetail(APIView):
    """One memory."""

    @extend_schema(responses=MemoryDetailSerializer, parameters=[IF_NONE_MATCH])
    def get(self, request: Request, memory_id: str) -> Response:
        """Read a memory, with all versions and their evidence."""
        principal = principal_of(request)
        memory = find_memory(principal, memory_id)
        prefetch_related_objects([memory], Prefetch("versions", _versions(principal, memory_id)))
        shown = {
            **MemoryDetailSerializer(memory, context={"principal": principal}).data,
            **show_memory(principal, memory),
        }
        if principal.kind == "agent":
            actions.memories_show(principal, Disclosure.By.QUERY, [memory.pk])
        return not_modified_or(request, with_etag(shown, version=memory.version))

    @extend_schema(
        request=RewordSerializer,
        responses={200: RewordedMemorySerializer, 202: RewordedMemorySerializer, 409: MemoryConflictSerializer},
        parameters=[IF_MATCH],
    )
    def put(self, request: Request, memory_id: str) -> Response:
        """Change the wording, as the next version. 202: the change became a proposal."""
        body = validated(RewordSerializer(data=request.data))
        changed = {"version": seen_version(request), **body}
        principal = principal_of(request)
        return answer_change(principal, actions.memory_update(principal, memory_id, **changed))

    @extend_schema(
        request=AmendSerializer,
        responses={200: ChangedMemorySerializer, 202: ChangedMemorySerializer, 409: MemoryConflictSerializer},
        parameters=[IF_MATCH],
    )
    def patch(self, request: Request, memory_id: str) -> Response:
        """Change fields other than the wording, without a new version. 202: the change became a proposal."""
        body = validated(AmendSerializer(data=request.data))
        changed = {"version": seen_version(request), **body}
        principal = principal_of(request)
        return answer_change(principal, actions.memory_amend(principal, memory_id, **changed))

    @extend_schema(
        responses={204: None, 202: ChangedMemorySerializer, 409: MemoryConflictSerializer}, parameters=[IF_MATCH]
    )
    def delete(self, request: Request, memory_id: str) -> Response:
        """Archive a memory; it can be restored for 30 days. 202: it became a proposal."""
        principal = principal_of(request)
        change = actions.memory_archive(principal, memory_id, version=seen_version(request))
        return Response(status=204) if change.proposal is None else answer_change(principal, change)


class MemoryRestore(ChangesMemory):
    """Restoring."""

    @extend_schema(request=None, responses=MemorySerializer)
    def post(self, request: Request, memory_id: str) -> Response:
        """Restore a memory. One that the person removed needs a session or a key with the scope admin."""
        principal = self.caller(request)
        require_empty_body(request)
        return answer_memory(principal, actions.memory_restore(principal, memory_id))


class MemoryRevert(ChangesMemory):
    """Reverting to an earlier version."""

    @extend_schema(
        request=RevertSerializer,
        responses={200: RewordedMemorySerializer, 202: RewordedMemorySerializer, 409: MemoryConflictSerializer},
        parameters=[IF_MATCH],
    )
    def post(self, request: Request, memory_id: str) -> Response:
        """Restore the wording of an earlier version, as the next version."""
        principal = self.caller(request)
        body = validated(RevertSerializer(data=request.data))
        changed = {"version": seen_version(request), **body}
        return answer_change(principal, actions.memory_revert(principal, memory_id, **changed))

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """Return the current memory with the previous wording, or the proposal with its result."""
        principal, object_id = principal_of(request), record.object_ids[0]
        if record.object_type == "proposal":
            proposal = find_proposal(principal, UUID(object_id))
            memory = find_memory(principal, str(proposal.memory_id))
            return answer_change(principal, Updated(memory, memory.content, memory.version, proposal))
        memory = find_memory(principal, object_id)
        before = memory.versions.only("content", "number").get(number=memory.version - 1)
        return answer_change(principal, Updated(memory, before.content, before.number))


class MemoryPin(ChangesMemory):
    """Pinning."""

    @extend_schema(request=PinSerializer, responses=MemorySerializer)
    def post(self, request: Request, memory_id: str) -> Response:
        """Pin a memory, so that it is not evicted or archived automatically; `pinned: false` unpins it."""
        principal = self.caller(request)
        body = validated(PinSerializer(data=request.data))
        return answer_memory(principal, actions.memory_pin(principal, memory_id, body["pinned"]))


class MemoryApprove(ChangesMemory):
    """Approving."""

    @extend_schema(
        request=ApproveMemorySerializer,
        responses={200: MemorySerializer, 409: MemoryConflictSerializer},
        parameters=[IF_MATCH],
    )
    def post(self, request: Request, memory_id: str) -> Response:
        """Activate a proposed memory, or mark one as reviewed. Needs a session or a key with the scope admin."""
        principal = self.caller(request)
        body = validated(ApproveMemorySerializer(data=request.data))
        decided = {"version": seen_version(request), **body}
        return answer_memory(principal, actions.memory_approve(principal, memory_id, **decided))


class MemoryReject(ChangesMemory):
    """Rejecting."""

    @extend_schema(
        request=RejectMemorySerializer,
        responses={200: RejectedMemorySerializer, 409: MemoryConflictSerializer},
        parameters=[IF_MATCH],
    )
    def post(self, request: Request, memory_id: str) -> Response:
        """Reject a memory, and suppress it. Needs a session or a key with the scope admin.

        With the reason `dont_keep` its source words are withheld. `also_said` lists other places with the same content,
        with `not_true` memories and facts: `POST withheld/` withholds messages and titles; memories and facts are
        rejected one by one.
        """
        principal = self.caller(request)
        body = validated(RejectMemorySerializer(data=request.data))
        decided = {"version": seen_version(request), **body}
        memory = actions.memory_reject(principal, memory_id, **decided)
        shown = show_memory(principal, memory) | {"also_said": self.also_said(principal, memory, decided["reason"])}
        return with_etag(shown, version=memory.version)

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """Return the memory; `also_said` is only in the first response."""
        return super().render_result(principal, object_ids) | {"also_said": []}

    def also_said(self, principal: Principal, memory: Memory, reason: str) -> Any:
        """Return the other places with the same content."""
        found = said_again_for(reason, queries.also_said(principal, memory.pk))
        return AlsoSaidSerializer(found, many=True).data


@extend_schema_view(get=extend_schema(responses=MemoryHistorySerializer))
class MemoryHistory(ObjectHistory):
    """The history of a memory."""

    object_type = "memory"

    def locate(self) -> tuple[UUID, object]:
        """Return the memory's person."""
        memory = find_memory(principal_of(self.request), self.kwargs["memory_id"])
        return memory.user_id, memory.pk

    def show_versions(self, numbers: Collection[int]) -> Any:
        """Return the versions."""
        principal = principal_of(self.request)
        versions = _versions(principal, self.kwargs["memory_id"]).filter(number__in=numbers)
        return MemoryVersionSerializer(versions, many=True, context={"principal": principal}).data


def _versions(principal: Principal, memory_id: str) -> MemoryVersionQuerySet:
    """Return the versions in order, with evidence if the principal may read sources."""
    evidence = MemoryEvidence.objects.select_related("message").order_by("id")
    evidence = evidence.only("version_id", "quote", "message__index", "message__conversation_id", "message__at")
    shown = evidence if may_see_sources(principal) else evidence.none()
    versions = MemoryVersion.objects.filter(memory_id=memory_id).told_to(principal)
    return (
        versions.defer("embedding", "search", "search_text")
        .order_by("number")
        .prefetch_related(Prefetch("evidence", shown))
    )
