"""REST for erasing: preview, request, cancel while it waits, and the receipt, which needs no sign-in."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.generics import get_object_or_404
from rest_framework.permissions import SAFE_METHODS, AllowAny, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import HasPrincipal
from accounts.principals import Principal
from journal.models import Erasure
from web.idempotency import IdempotentView
from web.json import validated

from .actions import erasure_request, erasure_withdraw
from .preview import erasure_preview
from .serializers import (
    ErasableSerializer,
    EraseSerializer,
    ErasureBegunSerializer,
    ErasurePreviewSerializer,
    ReceiptSerializer,
)

_ANY_WAY: Any = [{"agentKey": []}, {"session": []}, {}]
"""The schema's ways to call what needs no sign-in: what a client always sends does no harm."""


class Erasures(IdempotentView[Principal]):
    """Erasing for good."""

    @extend_schema(operation_id="erase_preview", parameters=[ErasableSerializer], responses=ErasurePreviewSerializer)
    def get(self, request: Request) -> Response:
        """Preview an erasure: how many of each kind it includes, and what else says the same.

        That is sought of memories, facts and messages, and of a conversation of its latest. Nothing is changed. Only
        whoever decides for the person may.
        """
        asked = validated(ErasableSerializer(data=request.query_params))
        preview = erasure_preview(self.caller(request), asked["scope"], asked["id"])
        return Response(ErasurePreviewSerializer(preview).data)

    @extend_schema(request=EraseSerializer, responses={202: ErasureBegunSerializer})
    def post(self, request: Request) -> Response:
        """Erase a memory, a fact, a message, a conversation, a membership or everything, with all that was made of it.

        A job does it, after `grace_hours`. With everything the account goes too. Only whoever decides for the person
        may; it can't be undone once it has begun.
        """
        told = validated(EraseSerializer(data=request.data))
        also = [f"{each['object_type']}-{each['object']}" for each in told["also"]]
        erasure, job = erasure_request(
            self.caller(request), told["scope"], told["id"], grace_hours=told.get("grace_hours"), also=also
        )
        return Response({"receipt": str(erasure.pk), "job": str(job.pk)}, status=202)

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """The same receipt and job."""
        return dict(zip(("receipt", "job"), object_ids, strict=True))


class Receipt(IdempotentView[Principal]):
    """The receipt of an erasure. Its id can't be guessed, and it holds no text."""

    def get_authenticators(self) -> list[BaseAuthentication]:
        """Reading takes no sign-in: the account may be gone, and with it the key that is sent. Taking back does."""
        reads = self.request is not None and self.request.method in SAFE_METHODS
        return [] if reads else super().get_authenticators()

    def get_permissions(self) -> list[BasePermission]:
        """Anybody who has the id may read."""
        return [AllowAny() if self.request.method in SAFE_METHODS else HasPrincipal()]

    @extend_schema(responses=ReceiptSerializer, auth=_ANY_WAY)
    def get(self, request: Request, receipt: UUID) -> Response:
        """Read what was erased, how many of each kind, when, how to make sure, and what is not reached."""
        return Response(ReceiptSerializer(get_object_or_404(Erasure, pk=receipt)).data)

    @extend_schema(responses={200: ReceiptSerializer})
    def delete(self, request: Request, receipt: UUID) -> Response:
        """Take an erasure back that has not begun."""
        return Response(ReceiptSerializer(erasure_withdraw(self.caller(request), receipt)).data)


urlpatterns = [
    path("erase/", Erasures.as_view(), name="api-erase"),
    path("erase/<uuid:receipt>/", Receipt.as_view(), name="api-receipt"),
]
