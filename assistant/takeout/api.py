"""REST for everything about a person: have it written into one file, and fetch that."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import HttpResponseBase, StreamingHttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of
from accounts.principals import Principal

from .export_actions import export_begin, export_parts


class ExportSerializer(serializers.Serializer[Any]):
    """An export that a job writes."""

    job = serializers.UUIDField(source="pk", help_text="GET jobs/{id}/ says how far it is.")
    file = serializers.HyperlinkedIdentityField(
        view_name="api-export-file", lookup_url_kwarg="job_id", help_text="Where the file is, once the job is done."
    )


class Exports(APIView):
    """Everything about the person."""

    @extend_schema(operation_id="export_begin", responses={202: ExportSerializer})
    def get(self, request: Request) -> Response:
        """Have everything about the person written into one zip archive, by a job; the one under way if there is one.

        It holds a file of JSON Lines for each kind of rows, with versions and history, and pages for a browser. Only
        whoever decides for the person gets it.
        """
        job = export_begin(principal_of(request))
        return Response(ExportSerializer(job, context={"request": request}).data, status=202)


class ExportFile(APIView):
    """The file of an export."""

    @extend_schema(
        operation_id="export_file",
        responses={(200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY, "The archive.")},
    )
    def get(self, request: Request, job_id: UUID) -> HttpResponseBase:
        """Fetch the archive. 404 while it is being written (`not_ready`) and when its time is over (`expired`)."""
        return export_file(principal_of(request), job_id)


def export_file(principal: Principal, job_id: UUID) -> HttpResponseBase:
    """The answer that is the file. Raises what ``export_parts`` does."""
    export, parts = export_parts(principal, job_id)
    return StreamingHttpResponse(
        _as_it_is_sent(parts),
        content_type="application/zip",
        headers={
            "Content-Length": str(export.size),
            "Content-Disposition": f'attachment; filename="keepsake-{export.created_at:%Y-%m-%d}.zip"',
            "Cache-Control": "private, no-store",
        },
    )


async def _as_it_is_sent(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """One piece after the other: a plain iterator would be read whole before the first byte is sent."""
    following = sync_to_async(lambda: next(parts, None))
    while (piece := await following()) is not None:
        yield piece


urlpatterns = [
    path("export/", Exports.as_view(), name="api-export"),
    path("export/<uuid:job_id>/", ExportFile.as_view(), name="api-export-file"),
]
