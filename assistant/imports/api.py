"""REST for a person's history: send a file, see how far it is, cancel it, take it back, erase its record."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView, get_object_or_404
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import principal_of
from accounts.principals import Principal
from conversations.models import ConversationImport
from conversations.querysets import ImportQuerySet
from journal.exceptions import Conflict
from web.idempotency import IdempotentView
from web.json import require_empty_body, validated

from ..erasure.actions import erasure_request
from ..erasure.serializers import ErasureBegunSerializer
from ..jobs import find_job, latest_job
from ..serializers import JobSerializer
from . import actions
from .actions import digest_of, import_create
from .serializers import ImportSerializer, UploadSerializer


class Imports(IdempotentView[Principal], ListAPIView):
    """List the person's imports, the latest first."""

    takes_uploads = True
    serializer_class = ImportSerializer
    parser_classes = [MultiPartParser]
    queryset = ConversationImport.objects.none()

    def get_queryset(self) -> ImportQuerySet:
        """Those of the person, for whoever decides for them."""
        return ConversationImport.objects.visible_to(principal_of(self.request)).with_job().order_by("-created_at")

    @extend_schema(request={"multipart/form-data": UploadSerializer}, responses={202: ImportSerializer})
    def post(self, request: Request) -> Response:
        """Import a person's history from a file. A worker does it; the job that the answer names says how far it is."""
        told = validated(UploadSerializer(data=request.data))
        digest = digest_of(told["file"])
        principal = self.caller(request, f"{digest} {told['legacy']} {told['format']} {told['title']}")
        upload, _ = import_create(
            principal,
            told["file"],
            file_name=told["file"].name or "",
            legacy_id=told["legacy"],
            title=told["title"],
            form=told["format"],
            digest=digest,
        )
        return Response(_shown(principal, upload.pk), status=202)

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """The import that the first request began, as it is now."""
        return _shown(principal, UUID(object_ids[0]))


class Import(IdempotentView[Principal]):
    """One import."""

    @extend_schema(responses=ImportSerializer)
    def get(self, request: Request, import_id: UUID) -> Response:
        """Read how far an import is, or how it ended."""
        return Response(_shown(principal_of(request), import_id))

    @extend_schema(responses={202: ErasureBegunSerializer})
    def delete(self, request: Request, import_id: UUID) -> Response:
        """Erase the record of an import that has ended: its name, its file's name, its counts, remarks and error.

        What it brought stays, and can't be undone as a whole any more. A job does it, and there is a receipt.
        """
        erasure, job = erasure_request(self.caller(request), "import", str(import_id))
        return Response({"receipt": str(erasure.pk), "job": str(job.pk)}, status=202)

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """The same receipt and job."""
        return dict(zip(("receipt", "job"), object_ids, strict=True))


class ImportUndo(IdempotentView[Principal]):
    """Taking an import back."""

    @extend_schema(request=None, responses={202: ImportSerializer})
    def post(self, request: Request, import_id: UUID) -> Response:
        """Take an import back.

        The conversations that it brought are removed, and what was found in them and nobody reviewed.
        """
        principal = self.caller(request)
        require_empty_body(request)
        actions.import_undo(principal, import_id)
        return Response(_shown(principal, import_id), status=202)

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """The import as it is now."""
        return _shown(principal, UUID(object_ids[0]))


class JobCancel(IdempotentView[Principal]):
    """Cancelling a job."""

    @extend_schema(request=None, responses=JobSerializer)
    def post(self, request: Request, job_id: UUID) -> Response:
        """Stop an import; what is in stays. Other jobs are not for the person to cancel: 409."""
        principal = self.caller(request)
        require_empty_body(request)
        job = find_job(principal, job_id)
        if job.kind != actions.JOB:
            raise Conflict("Only an import can be cancelled.", code="not_cancellable")
        actions.import_cancel(principal, UUID(job.subject_id))
        job.refresh_from_db()
        return Response(JobSerializer(job).data)

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """The job of the import as it is now."""
        return JobSerializer(latest_job(principal, actions.JOB, object_ids[0])).data


def _shown(principal: Principal, import_id: UUID) -> Any:
    rows = ConversationImport.objects.visible_to(principal).with_job()
    return ImportSerializer(get_object_or_404(rows, pk=import_id)).data


urlpatterns = [
    path("import/", Imports.as_view(), name="api-imports"),
    path("import/<uuid:import_id>/", Import.as_view(), name="api-import"),
    path("import/<uuid:import_id>/undo/", ImportUndo.as_view(), name="api-import-undo"),
    path("jobs/<uuid:job_id>/cancel/", JobCancel.as_view(), name="job-cancel"),
]
