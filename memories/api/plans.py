"""REST for saying memories in fewer: plan it, look at the plan, carry it out, take it back."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of
from accounts.principals import Principal
from web.idempotency import WritesOnce
from web.json import read_nothing

from .. import actions
from ..models import MemoryPlan
from ..plans import show_plan
from ..serializers import ApplyPlanSerializer, NewPlanSerializer, PlanSerializer


class _ChangesPlan(WritesOnce[Principal]):
    """A POST about one plan: a repeated one shows the plan as it is now."""

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """The plan."""
        return _shown(principal, UUID(object_ids[0]))


class Optimize(_ChangesPlan):
    """Planning. Everything about plans needs a session or a key with the scope admin."""

    @extend_schema(request=NewPlanSerializer, responses={200: PlanSerializer, 202: PlanSerializer})
    def post(self, request: Request) -> Response:
        """Plan how memories could be said in fewer. Nothing is changed until the plan is applied.

        200: the plan is there. 202: a job makes it, because there are many memories or a model has to be asked; read
        the plan until its state is `preview`. A plan of yours that is open already is discarded.
        """
        principal = self.caller(request)
        body = NewPlanSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        plan = actions.optimize_plan(principal, **body.validated_data)
        return Response(_shown(principal, plan.pk), status=202 if plan.state == MemoryPlan.State.MAKING else 200)


class Plan(APIView):
    """One plan."""

    @extend_schema(responses=PlanSerializer)
    def get(self, request: Request, plan_id: UUID) -> Response:
        """Read a plan: each memory that there would be, beside those whose place it would take; or how far it is."""
        return Response(_shown(principal_of(request), plan_id))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, plan_id: UUID) -> Response:
        """Discard a plan, while it is being made or looked at."""
        actions.optimize_discard(principal_of(request), plan_id)
        return Response(status=204)


class PlanApply(_ChangesPlan):
    """Carrying a plan out."""

    @extend_schema(request=ApplyPlanSerializer, responses=PlanSerializer)
    def post(self, request: Request, plan_id: UUID) -> Response:
        """Apply a plan, or those of its `items` that are named: memories are merged, sources archived.

        An item is skipped when one of its sources was changed or archived since (`reason`: `changed`, `gone`), when it
        is remembered elsewhere by now (`similar_exists`) or was rejected (`rejected_before`).
        """
        principal = self.caller(request)
        body = ApplyPlanSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        actions.optimize_apply(principal, plan_id, body.validated_data.get("items"))
        return Response(_shown(principal, plan_id))


class PlanRevert(_ChangesPlan):
    """Taking a plan back."""

    @extend_schema(request=None, responses=PlanSerializer)
    def post(self, request: Request, plan_id: UUID) -> Response:
        """Revert a plan: put the sources back in the place of what they became.

        An item is kept when that was changed since (`reason`: `merged_changed`), or when a source was purged (`gone`),
        restored or changed (`changed`), or is remembered again (`similar_exists`). 409 `nothing_to_revert` when
        that is so of all of them.
        """
        principal = self.caller(request)
        read_nothing(request)
        actions.optimize_revert(principal, plan_id)
        return Response(_shown(principal, plan_id))


def _shown(principal: Principal, plan_id: UUID) -> Any:
    return PlanSerializer(show_plan(principal, plan_id)).data
