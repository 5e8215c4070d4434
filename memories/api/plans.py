"""REST API of merge plans: create, read, apply, revert, discard."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of
from accounts.principals import Principal
from journal.exceptions import must_find
from web.idempotency import IdempotentView
from web.json import require_empty_body, validated

from .. import actions
from ..models import MemoryPlan
from ..plans import open_plan, show_plan
from ..serializers import ApplyPlanSerializer, NewPlanSerializer, PlanSerializer


class _ChangesPlan(IdempotentView[Principal]):
    """Base of POSTs about one plan. Repetitions show its current state."""

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """The plan."""
        return _shown(principal, UUID(object_ids[0]))


class Optimize(_ChangesPlan):
    """Creating a plan, and the open one. Plans need a session or a key with the scope admin."""

    @extend_schema(operation_id="memories_optimize_open", responses=PlanSerializer)
    def get(self, request: Request) -> Response:
        """Read your open plan, made on request or by the daily consolidation. 404 if there is none."""
        principal = principal_of(request)
        plan = must_find(open_plan(principal), "plan")
        return Response(_shown(principal, plan.pk))

    @extend_schema(request=NewPlanSerializer, responses={200: PlanSerializer, 202: PlanSerializer})
    def post(self, request: Request) -> Response:
        """Create a plan to merge memories. Nothing changes until it is applied.

        200: the plan is ready. 202: a job creates it (many memories, or a remote model); poll the plan until its state
        is `preview`. Your previous open plan is discarded.
        """
        principal = self.caller(request)
        body = validated(NewPlanSerializer(data=request.data))
        plan = actions.optimize_plan(principal, **body)
        return Response(_shown(principal, plan.pk), status=202 if plan.state == MemoryPlan.State.MAKING else 200)


class Plan(APIView):
    """One plan."""

    @extend_schema(responses=PlanSerializer)
    def get(self, request: Request, plan_id: UUID) -> Response:
        """Read a plan: each merged memory with its sources, or the progress."""
        return Response(_shown(principal_of(request), plan_id))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, plan_id: UUID) -> Response:
        """Discard an open plan."""
        actions.optimize_discard(principal_of(request), plan_id)
        return Response(status=204)


class PlanApply(_ChangesPlan):
    """Applying a plan."""

    @extend_schema(request=ApplyPlanSerializer, responses=PlanSerializer)
    def post(self, request: Request, plan_id: UUID) -> Response:
        """Apply a plan, or the named `items`: memories are merged, sources archived.

        An item is skipped if a source was changed or archived since (`reason`: `changed`, `gone`), if an equal memory
        exists (`similar_exists`), or if it was rejected (`rejected_before`).
        """
        principal = self.caller(request)
        body = validated(ApplyPlanSerializer(data=request.data))
        actions.optimize_apply(principal, plan_id, body.get("items"))
        return Response(_shown(principal, plan_id))


class PlanRevert(_ChangesPlan):
    """Reverting a plan."""

    @extend_schema(request=None, responses=PlanSerializer)
    def post(self, request: Request, plan_id: UUID) -> Response:
        """Revert a plan: restore the sources, and archive the merged memories.

        An item is kept if the merged memory changed since (`reason`: `merged_changed`), or if a source was purged
        (`gone`), restored or changed (`changed`), or exists again (`similar_exists`). 409 `nothing_to_revert` if all
        items would be kept.
        """
        principal = self.caller(request)
        require_empty_body(request)
        actions.optimize_revert(principal, plan_id)
        return Response(_shown(principal, plan_id))


def _shown(principal: Principal, plan_id: UUID) -> Any:
    return PlanSerializer(show_plan(principal, plan_id), context={"principal": principal}).data
