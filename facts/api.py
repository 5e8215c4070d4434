"""REST views of facts, and of leaving, ending and restoring legacies."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.generics import ListAPIView, get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api import MemberDetail
from accounts.authentication import principal_of
from accounts.models import Legacy, LegacyEnding
from accounts.principals import Principal
from accounts.querysets import LegacyEndingQuerySet
from accounts.serializers import EndedLegacySerializer, LegacySerializer
from conversations.serializers import AlsoSaidSerializer
from journal.exceptions import NotFound, must_find
from statements.actions import said_again_for
from web.etags import (
    IF_MATCH,
    IF_NONE_MATCH,
    not_modified_or,
    seen_version,
    with_etag,
)
from web.history import ObjectHistory
from web.idempotency import IdempotentView
from web.json import require_empty_body, validated

from . import actions
from .filters import FactFilters
from .models import FactVersion, LegacyFact
from .queries import also_said, unrefused_versions
from .querysets import FactQuerySet
from .serializers import (
    EditFactSerializer,
    FactHistorySerializer,
    FactSerializer,
    FactVersionSerializer,
    NewFactSerializer,
    RejectedFactSerializer,
    RejectSerializer,
    VisibilitySerializer,
)


class LegacyFacts(IdempotentView[Principal], ListAPIView):
    """List what the person knows about a legacy: their own facts and those shared by other members, oldest first."""

    serializer_class = FactSerializer
    filterset_class = FactFilters
    queryset = LegacyFact.objects.none()

    def get_queryset(self) -> FactQuerySet:
        """Return the visible facts of one legacy; for a former member only their own."""
        principal, legacy_id = principal_of(self.request), self.kwargs["legacy_id"]
        facts = LegacyFact.objects.visible_to(principal).filter(legacy_id=legacy_id)
        if not Legacy.objects.visible_to(principal).filter(pk=legacy_id).exists() and not facts.exists():
            raise NotFound("There is no such legacy.")
        return facts.shown_to(principal).order_by("extracted_at", "id")

    def get_serializer_context(self) -> dict[str, Any]:
        """Add the principal, by which the serializer sets ``mine`` and shows sources."""
        return {**super().get_serializer_context(), "principal": principal_of(self.request)}

    @extend_schema(request=NewFactSerializer, responses={201: FactSerializer, 202: FactSerializer})
    def post(self, request: Request, legacy_id: UUID) -> Response:
        """Add a fact. Sharing it at once needs a session or a key with the scope admin.

        202 if it waits for a decision. It is proposed if the person reviews before, or if it may repeat a rejected
        fact. It is quarantined if it looks like a prompt injection (``state_reason`` gives the reason). Passwords,
        keys, card, account and id numbers are rejected with 422.
        """
        principal = self.caller(request)
        body = validated(NewFactSerializer(data=request.data))
        fact = actions.fact_add(principal, legacy_id, **body)
        status = 201 if fact.state == LegacyFact.State.ACTIVE else 202
        return _answer(principal, fact.pk, status=status, added=True)

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """Return the added fact."""
        return _show(principal, UUID(object_ids[0]), added=True)


class FactDetail(APIView):
    """One fact."""

    @extend_schema(responses=FactSerializer, parameters=[IF_NONE_MATCH])
    def get(self, request: Request, fact_id: UUID) -> Response:
        """Read a fact."""
        return not_modified_or(request, _answer(principal_of(request), fact_id))

    @extend_schema(request=EditFactSerializer, responses=FactSerializer, parameters=[IF_MATCH])
    def patch(self, request: Request, fact_id: UUID) -> Response:
        """Change a fact's text or category, as a new version. Needs a session or a key with the scope admin."""
        principal = principal_of(request)
        body = validated(EditFactSerializer(data=request.data))
        changed = {"version": seen_version(request), **body}
        actions.fact_edit(principal, fact_id, **changed)
        return _answer(principal, fact_id)

    @extend_schema(responses={204: None}, parameters=[IF_MATCH])
    def delete(self, request: Request, fact_id: UUID) -> Response:
        """Archive a fact for 30 days. Needs a session or a key with the scope admin."""
        actions.fact_delete(principal_of(request), fact_id, version=seen_version(request))
        return Response(status=204)


class FactVisibility(APIView):
    """A fact's visibility."""

    @extend_schema(request=VisibilitySerializer, responses=FactSerializer, parameters=[IF_MATCH])
    def patch(self, request: Request, fact_id: UUID) -> Response:
        """Share a fact with the other members, or make it private. Needs a session or a key with the scope admin."""
        principal = principal_of(request)
        body = validated(VisibilitySerializer(data=request.data))
        actions.fact_set_visibility(principal, fact_id, body["visibility"], version=seen_version(request))
        return _answer(principal, fact_id)


class _FactDecision(IdempotentView[Principal]):
    """A decision about a fact. All of them need a session or a key with the scope admin."""

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """Return the fact."""
        return _show(principal, UUID(object_ids[0]))


class FactApprove(_FactDecision):
    """Approving."""

    @extend_schema(request=None, responses=FactSerializer, parameters=[IF_MATCH])
    def post(self, request: Request, fact_id: UUID) -> Response:
        """Activate a proposed fact, or mark an active one as reviewed."""
        principal = self.caller(request)
        require_empty_body(request)
        actions.fact_approve(principal, fact_id, version=seen_version(request))
        return _answer(principal, fact_id)


class FactReject(_FactDecision):
    """Rejecting."""

    @extend_schema(request=RejectSerializer, responses=RejectedFactSerializer, parameters=[IF_MATCH])
    def post(self, request: Request, fact_id: UUID) -> Response:
        """Reject a fact. It is removed from every prompt and not learned again.

        With the reason `dont_keep` its source passages are withheld. `also_said` lists what else says the same, with
        `not_true` memories and facts: `POST withheld/` withholds messages and titles; memories and facts are rejected
        one by one.
        """
        principal = self.caller(request)
        body = validated(RejectSerializer(data=request.data))
        reason = body["reason"]
        actions.fact_reject(principal, fact_id, reason, version=seen_version(request))
        found = said_again_for(reason, also_said(principal, fact_id))
        shown = _show(principal, fact_id) | {"also_said": AlsoSaidSerializer(found, many=True).data}
        return with_etag(shown, version=shown["version"])

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """Return the fact, without ``also_said``, which only the first response has."""
        return super().render_result(principal, object_ids) | {"also_said": []}


class FactRestore(_FactDecision):
    """Restoring."""

    @extend_schema(request=None, responses=FactSerializer)
    def post(self, request: Request, fact_id: UUID) -> Response:
        """Undo the rejection or deletion of a fact."""
        principal = self.caller(request)
        require_empty_body(request)
        actions.fact_restore(principal, fact_id)
        return _answer(principal, fact_id)


@extend_schema_view(get=extend_schema(responses=FactHistorySerializer))
class FactHistory(ObjectHistory):
    """The history of one of the person's own facts."""

    object_type = "fact"

    def locate(self) -> tuple[UUID, object]:
        """Return the fact's author and id. Raises NotFound (404) unless it is the person's own."""
        fact_id = self.kwargs["fact_id"]
        author = must_find(
            LegacyFact.objects.mine(principal_of(self.request)).filter(pk=fact_id).values_list("user_id").first(),
            "fact",
        )
        return author[0], fact_id

    def show_versions(self, numbers: Collection[int]) -> Any:
        """Return the fact's versions."""
        versions = FactVersion.objects.filter(fact_id=self.kwargs["fact_id"], number__in=numbers).order_by("number")
        told = unrefused_versions(principal_of(self.request), versions)
        return FactVersionSerializer(told, many=True).data


class LeaveLegacy(MemberDetail):
    """A membership, with the member's shared facts."""

    @extend_schema(responses={204: None})
    def delete(self, request: Request, legacy_id: UUID, member_id: UUID) -> Response:
        """Leave a legacy, or as an owner remove a member. Needs a session or a key with the scope admin."""
        actions.member_leave(principal_of(request), legacy_id, member_id)
        return Response(status=204)


class EndedLegacies(ListAPIView):
    """List the legacies that the person ended and can restore."""

    serializer_class = EndedLegacySerializer
    queryset = LegacyEnding.objects.none()

    def get_queryset(self) -> LegacyEndingQuerySet:
        """Return the ended legacies, the latest first; none for a key without the scope admin."""
        endings = LegacyEnding.objects.visible_to(principal_of(self.request)).undoable(timezone.now())
        return endings.select_related("legacy").order_by("-ended_at", "legacy_id")


class EndLegacy(IdempotentView[Principal]):
    """Ending a legacy."""

    @extend_schema(request=None, responses=EndedLegacySerializer)
    def post(self, request: Request, legacy_id: UUID) -> Response:
        """End a legacy: all memberships end, members keep their own facts, and shared facts become private.

        Only its owners may, with a session or a key with the scope admin. The person who ended it can restore it until
        `until`. 409 `members_changed` if somebody joined meanwhile.
        """
        principal = self.caller(request)
        require_empty_body(request)
        actions.legacy_end(principal, legacy_id)
        return Response(self.render_result(principal, [str(legacy_id)]))

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """Return the ended legacy. Raises Http404 once it is restored or purged."""
        endings = LegacyEnding.objects.visible_to(principal).select_related("legacy")
        return EndedLegacySerializer(get_object_or_404(endings, pk=object_ids[0])).data


class RestoreLegacy(IdempotentView[Principal]):
    """Restoring a legacy."""

    @extend_schema(request=None, responses=LegacySerializer)
    def post(self, request: Request, legacy_id: UUID) -> Response:
        """Restore a legacy that the person ended: its members, their roles, and the shared facts.

        Members who blocked the legacy or the person since then are left out, and facts changed since then stay private.
        Needs a session or a key with the scope admin.
        """
        principal = self.caller(request)
        require_empty_body(request)
        actions.legacy_restore(principal, legacy_id)
        return Response(self.render_result(principal, [str(legacy_id)]))

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """Return the legacy as the person sees it."""
        legacies = Legacy.objects.visible_to(principal).with_role(principal)
        return LegacySerializer(get_object_or_404(legacies, pk=object_ids[0])).data


def _show(principal: Principal, fact_id: UUID, *, added: bool = False) -> Any:
    """Serialise a fact; with ``added`` also a waiting one, for the agent that has just added it."""
    fact = LegacyFact.objects.visible_to(principal).shown_to(principal).filter(pk=fact_id).first()
    if fact is None and added:
        fact = LegacyFact.objects.kept_from(principal).shown_to(principal).filter(pk=fact_id).first()
    if fact is None:
        raise NotFound("There is no such fact.")
    return FactSerializer(fact, context={"principal": principal}).data


def _answer(principal: Principal, fact_id: UUID, status: int = 200, *, added: bool = False) -> Response:
    data = _show(principal, fact_id, added=added)
    return with_etag(data, version=data["version"], status=status)


urlpatterns = [
    path("legacies/<uuid:legacy_id>/facts/", LegacyFacts.as_view(), name="facts"),
    path("legacies/<uuid:legacy_id>/members/<uuid:member_id>/", LeaveLegacy.as_view(), name="member"),
    path("legacies/ended/", EndedLegacies.as_view(), name="legacies-ended"),
    path("legacies/<uuid:legacy_id>/end/", EndLegacy.as_view(), name="legacies-end"),
    path("legacies/<uuid:legacy_id>/restore/", RestoreLegacy.as_view(), name="legacies-restore"),
    path("facts/<uuid:fact_id>/", FactDetail.as_view(), name="fact"),
    path("facts/<uuid:fact_id>/visibility/", FactVisibility.as_view(), name="fact-visibility"),
    path("facts/<uuid:fact_id>/approve/", FactApprove.as_view(), name="fact-approve"),
    path("facts/<uuid:fact_id>/reject/", FactReject.as_view(), name="fact-reject"),
    path("facts/<uuid:fact_id>/restore/", FactRestore.as_view(), name="fact-restore"),
    path("facts/<uuid:fact_id>/history/", FactHistory.as_view(), name="fact-history"),
]
