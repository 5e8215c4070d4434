"""Background jobs with leases: one open job a kind and subject, one worker at a time.

A worker claims a job and runs it ``with working(job, …)``, which requeues, retries or fails the job if the work does
not finish. It writes results only in a transaction that has locked the job's row.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import structlog
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from .models import JobRun
from .queue import enqueue

log = structlog.get_logger(__name__)

REPORT_SECONDS = 2.0


class LeaseLost(Exception):
    """The job was cancelled or taken over by another worker. Discard the unsaved results."""


class TurnEnded(Exception):
    """The time slice is used up before the job is done. The job is requeued."""


class Lease:
    """A worker's lease of a job: renew it, report progress, lock the row, end the time slice."""

    def __init__(self, job: JobRun, seconds: int, turn_seconds: float | None) -> None:
        self.job = job
        self._seconds = seconds
        self._turn_ends = None if turn_seconds is None else time.monotonic() + turn_seconds
        self._reported = 0.0

    def renew(self, done: int | None = None, total: int | None = None) -> None:
        """Renew the lease, and store the progress. Raises LeaseLost."""
        if total is not None:
            self.job.total = total
        if done is not None and self.job.total is not None:
            done = min(done, self.job.total)
        if not renew_lease(self.job, lease_seconds=self._seconds, done=done, total=total):
            raise LeaseLost
        self._reported = time.monotonic()

    def report(self, done: int) -> None:
        """Renew the lease and store the progress, at most every ``REPORT_SECONDS``. Raises LeaseLost."""
        if time.monotonic() - self._reported >= REPORT_SECONDS:
            self.renew(done)

    def lock(self) -> None:
        """Lock the job's row in the current transaction, so that only the lease's holder writes. Raises LeaseLost."""
        if not lock_job(self.job):
            raise LeaseLost

    def check_turn(self) -> None:
        """Call between two units of work. Raises TurnEnded when the time slice is used up."""
        if self._turn_ends is not None and time.monotonic() > self._turn_ends:
            raise TurnEnded


@contextmanager
def working(
    job: JobRun,
    *,
    lease_seconds: int,
    task: str = "",
    turn_seconds: float | None = None,
    expected: tuple[type[Exception], ...] = (),
    failed: Callable[[Exception], object] = lambda error: None,
    by_hand: bool = False,
) -> Iterator[Lease]:
    """Run a claimed job. The block calls ``finish_job``; this handles every other end.

    On LeaseLost, the job is left to its new holder. On TurnEnded, it is requeued and ``task`` started again. On another
    exception, a retry is scheduled and ``failed`` called; the exception is raised unless it is ``expected``. With
    ``by_hand`` (a command in a terminal) there is no retry: an error fails the job, and Ctrl-C cancels it.
    """
    try:
        yield Lease(job, lease_seconds, turn_seconds)
    except LeaseLost:
        log.info("lease_lost", kind=job.kind, job=str(job.pk))
        if by_hand:
            raise
    except TurnEnded:
        if requeue_job(job):
            enqueue(task, job.pk)
    except KeyboardInterrupt:
        if by_hand:
            cancel_job(job)
        raise
    except Exception as error:
        name = type(error).__name__
        log.warning("job_failed", kind=job.kind, job=str(job.pk), error=name, attempts=job.attempts)
        if by_hand:
            fail_job(job, name)
            raise
        retry_job_later(job, name)
        failed(error)
        if not isinstance(error, expected):
            raise


def open_job(kind: str, subject_id: object, *, user_id: uuid.UUID | None = None, total: int | None = None) -> JobRun:
    """Return the open job of this kind for this subject; create it if there is none."""
    subject = str(subject_id)
    for _ in range(2):
        job = JobRun.objects.filter(kind=kind, subject_id=subject, state__in=["waiting", "running"]).first()
        if job is not None:
            return job
        try:
            with transaction.atomic():
                return JobRun.objects.create(kind=kind, subject_id=subject, user_id=user_id, total=total)
        except IntegrityError:
            continue  # Another worker created it between the two statements; read that one.
    return JobRun.objects.get(kind=kind, subject_id=subject, state__in=["waiting", "running"])


def resume_jobs(kind: str, task: str) -> int:
    """Start ``task`` for the due jobs of a kind, also those whose task or worker was lost. Returns how many."""
    due = list(JobRun.objects.claimable(timezone.now()).filter(kind=kind).values_list("pk", flat=True))
    for job_id in due:
        enqueue(task, job_id)
    return len(due)


def claim_job(job_id: uuid.UUID, *, lease_seconds: int) -> JobRun | None:
    """Claim a due job by compare-and-set. Returns it with its lease token, or None if it can't be claimed."""
    now = timezone.now()
    token = uuid.uuid4()
    taken = (
        JobRun.objects.claimable(now)
        .filter(pk=job_id)
        .update(
            state=JobRun.State.RUNNING,
            lease_token=token,
            lease_until=now + timedelta(seconds=lease_seconds),
            started_at=now,
            attempts=F("attempts") + 1,
        )
    )
    # Filtered by the token too: a very short lease may have expired and been claimed by another worker by now.
    return JobRun.objects.filter(pk=job_id, lease_token=token).first() if taken else None


def renew_lease(job: JobRun, *, lease_seconds: int, done: int | None = None, total: int | None = None) -> bool:
    """Renew the lease and store the progress. False if the lease was lost: stop working then."""
    values: dict[str, Any] = {"lease_until": timezone.now() + timedelta(seconds=lease_seconds)}
    if done is not None:
        values["done"] = done
    if total is not None:
        values["total"] = total
    return bool(_held(job).update(**values))


def lock_job(job: JobRun) -> bool:
    """Lock the job's row in the current transaction. False if the lease was lost."""
    return _held(job).select_for_update().exists()


def finish_job(job: JobRun, **result: Any) -> bool:
    """Mark a job as done. ``result`` must hold no stored text. False if the lease was lost."""
    return _give_back(job, JobRun.State.DONE, error_code="", finished_at=timezone.now(), result=result)


def requeue_job(job: JobRun) -> bool:
    """Set an unfinished job back to waiting, so that another run resumes it. Does not count as a failed attempt."""
    return _give_back(job, JobRun.State.WAITING, error_code="", attempts=0, not_before=timezone.now())


def revoke_leases(subject_ids: Iterable[object]) -> int:
    """Revoke the leases of running jobs on some objects, in the current transaction, and requeue the jobs.

    Their workers can't write results any more, and the work starts again later. Returns how many were revoked.
    """
    running = JobRun.objects.filter(subject_id__in=[str(each) for each in subject_ids], state=JobRun.State.RUNNING)
    return running.update(
        state=JobRun.State.WAITING, lease_token=None, lease_until=None, attempts=0, not_before=timezone.now()
    )


def retry_job_later(job: JobRun, error_code: str) -> bool:
    """Schedule a retry after a failure, with exponential backoff: 30 s, 1 min, 2 min … at most an hour."""
    delay = min(3_600, 30 * 2 ** min(max(job.attempts - 1, 0), 10))
    return _give_back(
        job, JobRun.State.WAITING, error_code=error_code[:60], not_before=timezone.now() + timedelta(seconds=delay)
    )


def fail_job(job: JobRun, error_code: str) -> bool:
    """Mark a job as failed, without a retry."""
    return _give_back(job, JobRun.State.FAILED, error_code=error_code[:60], finished_at=timezone.now())


def cancel_job(job: JobRun) -> bool:
    """Cancel a job; a running one notices at its next progress report. False if it had ended already."""
    return bool(
        JobRun.objects.filter(pk=job.pk, state__in=["waiting", "running"]).update(
            state=JobRun.State.CANCELLED, lease_token=None, lease_until=None, finished_at=timezone.now()
        )
    )


def retry_job_now(job: JobRun) -> bool:
    """Make a waiting job due now, or reopen a failed one.

    False if there is nothing to retry, if a newer job does the same already, or if the error is final.
    """
    possible = JobRun.objects.filter(pk=job.pk, state__in=["waiting", "failed"])
    try:
        with transaction.atomic():
            return bool(
                possible.exclude(state=JobRun.State.FAILED, error_code__in=JobRun.FINAL_ERRORS).update(
                    state=JobRun.State.WAITING, not_before=timezone.now(), finished_at=None
                )
            )
    except IntegrityError:
        return False


def _held(job: JobRun) -> Any:
    return JobRun.objects.filter(pk=job.pk, state=JobRun.State.RUNNING, lease_token=job.lease_token)


def _give_back(job: JobRun, state: str, **values: Any) -> bool:
    """Set the state of a job that this worker holds, and end its lease. False if the lease was lost."""
    return bool(_held(job).update(state=state, lease_token=None, lease_until=None, **values))
