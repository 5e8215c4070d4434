"""Runs maintenance jobs: of one person, or of all in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from django.db import OperationalError
from django.db.models import Exists, OuterRef, QuerySet
from psycopg.errors import LockNotAvailable

from journal.actions import ledger_write
from journal.exceptions import NotFound
from journal.leases import Lease, claim_job, fail_job, open_job, resume_jobs, working
from journal.models import JobRun
from journal.operation_actions import note_operation
from journal.queue import enqueue
from language.base import LanguageError

from .models import User
from .principals import Principal
from .queries import principal_for_job
from .scope import acting_as, working_for

log = structlog.get_logger(__name__)


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


def work_in_batches(
    job: str, due: QuerySet[Any], work: Callable[..., int], owners: Sequence[str] = ("user_id",)
) -> int:
    """Call ``work`` for each owner of ``due`` rows, with the write and the owner's ids, until it returns 0.

    Each call is a transaction that locks the ledgers named by the columns ``owners``, the person's first. Who has rows
    that somebody else keeps locked is left for the next run. Returns the sum of the results.
    """
    done = 0
    for ids in list(due.order_by(*owners).values_list(*owners).distinct()):
        while count := _work_on_batch(job, ids, work):
            done += count
    return done


def _work_on_batch(job: str, owners: Sequence[UUID], work: Callable[..., int]) -> int:
    try:
        with working_for(owners[0], job) as principal, ledger_write(principal.actor, *owners) as write:
            return work(write, *owners)
    except NotFound:
        return 0  # The person or the legacy was erased meanwhile, with all that is theirs.
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
        log.warning("upkeep_postponed", job=job)
        return 0


def start_for_people(kind: str, task: str, wanted: QuerySet[Any], *, since: datetime, most: int) -> int:
    """Resume jobs of a kind, and start one for each person with ``wanted`` rows and no such job ``since`` then.

    ``wanted`` refers to the person by ``OuterRef("pk")``. Returns how many were started, at most ``most``.
    """
    resume_jobs(kind, task)
    lately = JobRun.objects.filter(kind=kind, user_id=OuterRef("pk"), created_at__gt=since)
    people = User.objects.filter(Exists(wanted), ~Exists(lately), is_active=True).order_by("last_login", "pk")
    begun = list(people.values_list("pk", flat=True)[:most])
    for user_id in begun:
        enqueue(task, open_job(kind, user_id, user_id=user_id).pk)
    return len(begun)
