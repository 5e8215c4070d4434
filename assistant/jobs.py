"""Background jobs and operation counts: visibility, and reading them over REST."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of
from accounts.policy import must_decide, sees_everything
from accounts.principals import Principal
from conversations.models import Conversation, ConversationImport
from journal.counting import count_operations
from journal.exceptions import NotFound
from journal.models import JobRun
from memories.models import MemoryPlan
from memories.plans import JOB as OPTIMIZE_JOB
from web.json import validated

from .erasure.actions import JOB as ERASE_JOB
from .imports.actions import JOB as IMPORT_JOB
from .imports.actions import UNDO_JOB
from .learn.actions import JOB as EXTRACT_JOB
from .learn.summarizing import JOB as SUMMARIZE_JOB
from .serializers import JobSerializer, OperationsSerializer

_WORKS_ON: Mapping[str, Callable[[Principal], QuerySet[Any]]] = {
    SUMMARIZE_JOB: Conversation.objects.visible_to,
    EXTRACT_JOB: Conversation.objects.visible_to,
    IMPORT_JOB: ConversationImport.objects.visible_to,
    UNDO_JOB: ConversationImport.objects.visible_to,
    OPTIMIZE_JOB: MemoryPlan.objects.visible_to,
}


def find_job(principal: Principal, job_id: UUID) -> JobRun:
    """Return a visible job. Raises NotFound."""
    job = JobRun.objects.of_user(principal.user_id).filter(pk=job_id).first()
    if job is None or not _sees(principal, job):
        raise NotFound("There is no such job.")
    return job


def latest_job(principal: Principal, kind: str, subject_id: str) -> JobRun | None:
    """Return the latest job of a kind about a visible object, or None."""
    jobs = JobRun.objects.of_user(principal.user_id).filter(kind=kind, subject_id=subject_id)
    job = jobs.order_by("-created_at").first()
    return job if job is not None and _sees(principal, job) else None


def _sees(principal: Principal, job: JobRun) -> bool:
    """Whether a job is visible.

    Kinds that are not listed concern the whole person, so only who decides and sees everything sees them; of erasures,
    which may be of one thing, who decides.
    """
    if job.kind not in _WORKS_ON:
        return principal.may_decide and (job.kind == ERASE_JOB or sees_everything(principal))
    return _WORKS_ON[job.kind](principal).filter(pk=job.subject_id).exists()


class Job(APIView):
    """A background job."""

    @extend_schema(responses=JobSerializer)
    def get(self, request: Request, job_id: UUID) -> Response:
        """Read the progress or result of a job, if its object is visible.

        Errors of an uploaded file are in GET import/{id}/.
        """
        return Response(JobSerializer(find_job(principal_of(request), job_id)).data)


class _Since(serializers.Serializer[Any]):
    days = serializers.IntegerField(
        min_value=1, max_value=settings.OPERATION_EVENT_DAYS, default=30, help_text="Count the last so many days."
    )


class OperationsSummary(APIView):
    """Counts of a person's operations."""

    @extend_schema(responses=OperationsSerializer, parameters=[_Since])
    def get(self, request: Request) -> Response:
        """Count the person's operations of the last days, by node, operation and status.

        Only for whoever decides for the person, since it includes all agents, reads, skips and failures.
        """
        user_id = must_decide(principal_of(request))
        asked = validated(_Since(data=request.query_params))
        since = timezone.now() - timedelta(days=asked["days"])
        told = {"since": since, "counts": count_operations(since, user_id)}
        return Response(OperationsSerializer(told).data)
