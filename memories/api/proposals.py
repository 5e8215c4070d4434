"""REST API of proposals."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Prefetch
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of
from accounts.policy import may_see_sources
from accounts.principals import Principal
from journal.exceptions import must_find
from web.idempotency import IdempotentView
from web.json import validated

from .. import actions
from ..filters import ProposalFilters
from ..models import Memory, Proposal, ProposalEvidence
from ..querysets import ProposalQuerySet
from ..serializers import (
    ApproveProposalSerializer,
    MemoryConflictSerializer,
    ProposalSerializer,
    RejectProposalSerializer,
)


class Proposals(ListAPIView):
    """List the proposals, latest first."""

    serializer_class = ProposalSerializer
    filterset_class = ProposalFilters
    queryset = Proposal.objects.none()

    def get_queryset(self) -> ProposalQuerySet:
        """Return the person's; for an agent its own."""
        return _shown(principal_of(self.request)).order_by("-created_at", "id")

    def get_serializer_context(self) -> dict[str, Any]:
        """The principal decides which sources are shown."""
        return {**super().get_serializer_context(), "principal": principal_of(self.request)}


class ProposalDetail(APIView):
    """One proposal."""

    @extend_schema(responses=ProposalSerializer)
    def get(self, request: Request, proposal_id: UUID) -> Response:
        """Read a proposal. Its values are deleted when it expires."""
        return Response(_show(principal_of(request), proposal_id))


class _Decision(IdempotentView[Principal]):
    """Base of decisions. They need a session or a key with the scope admin."""

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """Return the decided proposal."""
        return _show(principal, UUID(object_ids[0]))


class ProposalApprove(_Decision):
    """Approving."""

    @extend_schema(
        request=ApproveProposalSerializer, responses={200: ProposalSerializer, 409: MemoryConflictSerializer}
    )
    def post(self, request: Request, proposal_id: UUID) -> Response:
        """Approve a proposal: apply the change, optionally with other values."""
        principal = self.caller(request)
        body = validated(ApproveProposalSerializer(data=request.data))
        actions.proposal_approve(principal, proposal_id, **body)
        return Response(_show(principal, proposal_id))


class ProposalReject(_Decision):
    """Rejecting."""

    @extend_schema(request=RejectProposalSerializer, responses=ProposalSerializer)
    def post(self, request: Request, proposal_id: UUID) -> Response:
        """Reject a proposal, and suppress its words."""
        principal = self.caller(request)
        body = validated(RejectProposalSerializer(data=request.data))
        actions.proposal_reject(principal, proposal_id, body["reason"])
        return Response(_show(principal, proposal_id))


def _shown(principal: Principal) -> ProposalQuerySet:
    """Load proposals with memory and evidence, in a constant number of queries.

    An invisible memory is left out, and the evidence if the principal may not read turns.
    """
    evidence = ProposalEvidence.objects.select_related("message").order_by("id")
    evidence = evidence.only("proposal_id", "quote", "message__index", "message__conversation_id", "message__at")
    return Proposal.objects.visible_to(principal).prefetch_related(
        Prefetch("memory", Memory.objects.visible_to(principal).without_vectors()),
        Prefetch("evidence", evidence if may_see_sources(principal) else evidence.none()),
    )


def find_proposal(principal: Principal, proposal_id: UUID) -> Proposal:
    """Return a visible proposal. Raises NotFound."""
    return must_find(_shown(principal).filter(pk=proposal_id).first(), "proposal")


def _show(principal: Principal, proposal_id: UUID) -> Any:
    return ProposalSerializer(find_proposal(principal, proposal_id), context={"principal": principal}).data
