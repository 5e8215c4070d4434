"""REST for facts: list and add, read and edit, share, approve, reject, delete, restore; and leaving a legacy."""

from __future__ import annotations

import hashlib
import re
from typing import Any
from uuid import UUID

import orjson
from django.db.models import QuerySet
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api import MemberDetail
from accounts.authentication import principal_of
from accounts.idempotency import WritesOnce
from accounts.models import Legacy
from accounts.principals import Principal
from journal.exceptions import NotFound, Refused
from journal.models import Change

from . import actions
from .filters import FactFilters
from .models import FactVersion, LegacyFact
from .querysets import FactQuerySet
from .serializers import (
    EditFactSerializer,
    FactChangeSerializer,
    FactHistorySerializer,
    FactSerializer,
    FactVersionSerializer,
    NewFactSerializer,
    RejectSerializer,
    VisibilitySerializer,
)

_ETAG = re.compile(r'(?:W/)?"(\d{1,9})(?:-[0-9a-f]+)?"')
_IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The ETag of the fact as the caller saw it. A newer wording answers 409.",
)


class LegacyFacts(WritesOnce, ListAPIView):
    """What the person knows about a legacy: their own facts and what other members share, oldest first."""

    serializer_class = FactSerializer
    filterset_class = FactFilters
    queryset = LegacyFact.objects.none()

    def get_queryset(self) -> FactQuerySet:
        """Facts of one legacy. Who has left it still finds their own."""
        principal, legacy_id = principal_of(self.request), self.kwargs["legacy_id"]
        facts = LegacyFact.objects.visible_to(principal).filter(legacy_id=legacy_id)
        if not Legacy.objects.visible_to(principal).filter(pk=legacy_id).exists() and not facts.exists():
            raise NotFound("There is no such legacy.")
        return facts.shown_to(principal).order_by("extracted_at", "id")

    def get_serializer_context(self) -> dict[str, Any]:
        """The principal decides what is ``mine`` and which sources are shown."""
        return {**super().get_serializer_context(), "principal": principal_of(self.request)}

    @extend_schema(request=NewFactSerializer, responses={201: FactSerializer, 202: FactSerializer})
    def post(self, request: Request, legacy_id: UUID) -> Response:
        """Add a fact. Sharing it at once takes a session or a key with the scope admin.

        202 when it waits: proposed, for a person who reviews before, or quarantined, when it reads as if it were aimed
        at a model (``state_reason`` says why). Passwords, keys, card, account and id numbers are refused with 422.
        """
        principal = self.caller(request)
        body = NewFactSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        fact = actions.fact_add(principal, legacy_id, **body.validated_data)
        status = 201 if fact.state == LegacyFact.State.ACTIVE else 202
        return _answer(principal, fact.pk, status=status, added=True)

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """The fact that was added."""
        return _show(principal, UUID(object_ids[0]), added=True)


class FactDetail(APIView):
    """One fact."""

    @extend_schema(responses=FactSerializer)
    def get(self, request: Request, fact_id: UUID) -> Response:
        """Read it."""
        return _answer(principal_of(request), fact_id)

    @extend_schema(request=EditFactSerializer, responses=FactSerializer, parameters=[_IF_MATCH])
    def patch(self, request: Request, fact_id: UUID) -> Response:
        """Give it another wording or category, as a new version. Needs a session or a key with the scope admin."""
        principal = principal_of(request)
        body = EditFactSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        changed = {"version": _seen_version(request), **body.validated_data}
        actions.fact_edit(principal, fact_id, **changed)
        return _answer(principal, fact_id)

    @extend_schema(responses={204: None}, parameters=[_IF_MATCH])
    def delete(self, request: Request, fact_id: UUID) -> Response:
        """Archive it for 30 days. Needs a session or a key with the scope admin."""
        actions.fact_delete(principal_of(request), fact_id, version=_seen_version(request))
        return Response(status=204)


class FactVisibility(APIView):
    """Who sees a fact."""

    @extend_schema(request=VisibilitySerializer, responses=FactSerializer, parameters=[_IF_MATCH])
    def patch(self, request: Request, fact_id: UUID) -> Response:
        """Share it with the other members, or keep it private. Needs a session or a key with the scope admin."""
        principal = principal_of(request)
        body = VisibilitySerializer(data=request.data)
        body.is_valid(raise_exception=True)
        actions.fact_set_visibility(
            principal, fact_id, body.validated_data["visibility"], version=_seen_version(request)
        )
        return _answer(principal, fact_id)


class _Decision(WritesOnce):
    """A decision about a fact. All of them need a session or a key with the scope admin."""

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """The fact that was decided about."""
        return _show(principal, UUID(object_ids[0]))


class FactApprove(_Decision):
    """Approving."""

    @extend_schema(request=None, responses=FactSerializer, parameters=[_IF_MATCH])
    def post(self, request: Request, fact_id: UUID) -> Response:
        """Let a proposed fact count, or mark an active one as reviewed."""
        principal = self.caller(request)
        actions.fact_approve(principal, fact_id, version=_seen_version(request))
        return _answer(principal, fact_id)


class FactReject(_Decision):
    """Rejecting."""

    @extend_schema(request=RejectSerializer, responses=FactSerializer, parameters=[_IF_MATCH])
    def post(self, request: Request, fact_id: UUID) -> Response:
        """Say that it is not so. It leaves every prompt and does not come back by itself."""
        principal = self.caller(request)
        body = RejectSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        actions.fact_reject(principal, fact_id, body.validated_data["reason"], version=_seen_version(request))
        return _answer(principal, fact_id)


class FactRestore(_Decision):
    """Restoring."""

    @extend_schema(request=None, responses=FactSerializer)
    def post(self, request: Request, fact_id: UUID) -> Response:
        """Take a rejection or deletion back."""
        principal = self.caller(request)
        actions.fact_restore(principal, fact_id)
        return _answer(principal, fact_id)


class _ByRev(CursorPagination):
    ordering = "rev"
    page_size = 50
    page_size_query_param = "per_page"
    max_page_size = 200


class FactHistory(ListAPIView):
    """What happened to one of the person's own facts."""

    serializer_class = FactChangeSerializer
    pagination_class = _ByRev
    filter_backends = []
    queryset = Change.objects.none()

    def get_queryset(self) -> QuerySet[Change]:
        """The fact's changes in its author's log."""
        fact_id = self.kwargs["fact_id"]
        author = LegacyFact.objects.mine(principal_of(self.request)).filter(pk=fact_id).values_list("user_id").first()
        if author is None:
            raise NotFound("There is no such fact.")
        return Change.objects.of_owner(author[0]).filter(object_type="fact", object_id=str(fact_id))

    @extend_schema(responses=FactHistorySerializer)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Changes, oldest first, and the wordings that they led to."""
        answer = super().get(request, *args, **kwargs)
        numbers = {change["new_version"] for change in answer.data["results"]}
        versions = FactVersion.objects.filter(fact_id=kwargs["fact_id"], number__in=numbers - {None})
        answer.data["versions"] = FactVersionSerializer(versions.order_by("number"), many=True).data
        return answer


class LeaveLegacy(MemberDetail):
    """One member, whose leaving concerns what they shared."""

    @extend_schema(responses={204: None})
    def delete(self, request: Request, legacy_id: UUID, member_id: UUID) -> Response:
        """Leave, or as an owner remove somebody. Needs a session or a key with the scope admin."""
        actions.member_leave(principal_of(request), legacy_id, member_id)
        return Response(status=204)


def _show(principal: Principal, fact_id: UUID, *, added: bool = False) -> Any:
    """One fact; also one that waits for the person, to the agent that has just added it."""
    fact = LegacyFact.objects.visible_to(principal).shown_to(principal).filter(pk=fact_id).first()
    if fact is None and added:
        fact = LegacyFact.objects.kept_from(principal).shown_to(principal).filter(pk=fact_id).first()
    if fact is None:
        raise NotFound("There is no such fact.")
    return FactSerializer(fact, context={"principal": principal}).data


def _answer(principal: Principal, fact_id: UUID, status: int = 200, *, added: bool = False) -> Response:
    """A fact with its ETag: the version, which If-Match is compared with, and a hash of everything shown."""
    data = _show(principal, fact_id, added=added)
    shown = hashlib.sha256(orjson.dumps(data, default=str)).hexdigest()[:12]
    return Response(data, status=status, headers={"ETag": f'"{data["version"]}-{shown}"'})


def _seen_version(request: Request) -> int | None:
    """The version that If-Match names; None without the header, and for ``*``. Raises Refused for anything else."""
    sent = request.META.get("HTTP_IF_MATCH", "").strip()
    if sent in {"", "*"}:
        return None
    match = _ETAG.fullmatch(sent)
    if match is None:
        raise Refused("If-Match is the ETag of the fact.", code="bad_if_match")
    return int(match[1])


urlpatterns = [
    path("legacies/<uuid:legacy_id>/facts/", LegacyFacts.as_view(), name="facts"),
    path("legacies/<uuid:legacy_id>/members/<uuid:member_id>/", LeaveLegacy.as_view(), name="member"),
    path("facts/<uuid:fact_id>/", FactDetail.as_view(), name="fact"),
    path("facts/<uuid:fact_id>/visibility/", FactVisibility.as_view(), name="fact-visibility"),
    path("facts/<uuid:fact_id>/approve/", FactApprove.as_view(), name="fact-approve"),
    path("facts/<uuid:fact_id>/reject/", FactReject.as_view(), name="fact-reject"),
    path("facts/<uuid:fact_id>/restore/", FactRestore.as_view(), name="fact-restore"),
    path("facts/<uuid:fact_id>/history/", FactHistory.as_view(), name="fact-history"),
]
