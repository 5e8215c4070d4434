"""Runs a maintenance job of one person."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from journal.exceptions import NotFound
from journal.leases import Lease, claim_job, fail_job, working
from journal.operation_actions import note_operation
from language.base import LanguageError

from .principals import Principal
from .queries import principal_for_job
from .scope import acting_as


def work_for_person(
    job_id: UUID, work: Callable[[Lease, Principal, UUID], None], *, task: str, lease_seconds: int
) -> None:
    """Claim a job and run ``work``, which ends it by ``finish_job``. Does nothing if it can't be claimed.

    If the model is unavailable, that is logged and the job retried later. If the person was deleted, the job fails.
    """
    job = claim_job(job_id, lease_seconds=lease_seconds)
    if job is None:
        return
    user_id = UUID(job.subject_id)
    with working(
        job,
        lease_seconds=lease_seconds,
        task=task,
        expected=(LanguageError,),
        failed=lambda error: note_operation("worker", job.kind, "error", user_id=user_id),
    ) as lease:
        try:
            with acting_as(principal_for_job(user_id)) as principal:
                work(lease, principal, user_id)
        except NotFound:
            fail_job(job, "gone")
