"""Background jobs: opened once a subject, worked on by whoever holds the lease, ended or given back.

A worker claims a job and then works on it ``with working(job, …)``, which gives it back, hands it on or ends it by how
the work ends. What a worker writes it writes in a transaction in which it holds the job's row.
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
    """The job was cancelled, or another worker has it: what was computed for it is thrown away."""


class TurnEnded(Exception):
    """The worker's turn is over before the job is done; another turn goes on with it."""


class Lease:
    """A job while one worker holds it: hold it longer, say how far it is, and let others have their turn."""

    def __init__(self, job: JobRun, seconds: int, turn_seconds: float | None) -> None:
        self.job = job
        self._seconds = seconds
        self._turn_ends = None if turn_seconds is None else time.monotonic() + turn_seconds
        self._reported = 0.0

    def renew(self, done: int | None = None, total: int | None = None) -> None:
        """Hold the job longer, and note how far it is. Raises LeaseLost."""
        if total is not None:
            self.job.total = total
        if done is not None and self.job.total is not None:
            done = min(done, self.job.total)
        if not renew_lease(self.job, lease_seconds=self._seconds, done=done, total=total):
            raise LeaseLost
        self._reported = time.monotonic()

    def report(self, done: int) -> None:
        """Note how far the job is, every few seconds. Raises LeaseLost."""
        if time.monotonic() - self._reported >= REPORT_SECONDS:
            self.renew(done)

    def lock(self) -> None:
        """Inside a transaction: lock the job's row, so that only its holder writes. Raises LeaseLost."""
        if not lock_job(self.job):
            raise LeaseLost

    def check_turn(self) -> None:
        """Say that what was begun is whole. Raises TurnEnded when the turn is."""
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
    """Work on a claimed job. The work itself ends it, by ``finish_job``; any other end is dealt with here.

    A lost lease leaves the job to whoever has it. A turn that is over hands it to another run of ``task``. After an
    error it is tried again later; ``failed`` is told of it, and only those that are ``expected`` stop here. A job that
    somebody started ``by_hand`` is not tried again: an error ends it, and Ctrl-C cancels it.
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
    """Return the open job of this kind for this subject, made if there is none."""
    subject = str(subject_id)
    for _ in range(2):
        job = JobRun.objects.filter(kind=kind, subject_id=subject, state__in=["waiting", "running"]).first()
        if job is not None:
            return job
        try:
            with transaction.atomic():
                return JobRun.objects.create(kind=kind, subject_id=subject, user_id=user_id, total=total)
        except IntegrityError:
            continue  # Another worker made it between the two statements; read that one.
    return JobRun.objects.get(kind=kind, subject_id=subject, state__in=["waiting", "running"])


def claim_job(job_id: uuid.UUID, *, lease_seconds: int) -> JobRun | None:
    """Take a job that is due, by compare-and-set. Returns it with its lease token, or None when it is not to be had."""
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
    # By the token too: a lease that is over at once may be somebody else's by now.
    return JobRun.objects.filter(pk=job_id, lease_token=token).first() if taken else None


def renew_lease(job: JobRun, *, lease_seconds: int, done: int | None = None, total: int | None = None) -> bool:
    """Hold the job longer and note progress. False when the lease was lost: stop then, somebody else has it."""
    values: dict[str, Any] = {"lease_until": timezone.now() + timedelta(seconds=lease_seconds)}
    if done is not None:
        values["done"] = done
    if total is not None:
        values["total"] = total
    return bool(_held(job).update(**values))


def lock_job(job: JobRun) -> bool:
    """Inside a transaction: lock the job's row if its lease is still ours, so that only its holder writes results."""
    return _held(job).select_for_update().exists()


def finish_job(job: JobRun, **result: Any) -> bool:
    """End a job well. ``result`` must hold no stored text. False when the lease was lost."""
    return bool(
        _held(job).update(
            state=JobRun.State.DONE,
            lease_token=None,
            lease_until=None,
            error_code="",
            finished_at=timezone.now(),
            result=result,
        )
    )


def requeue_job(job: JobRun) -> bool:
    """Give a job back before it is done, so that another turn of a worker goes on with it. Not a failure."""
    return bool(
        _held(job).update(
            state=JobRun.State.WAITING,
            lease_token=None,
            lease_until=None,
            error_code="",
            attempts=0,
            not_before=timezone.now(),
        )
    )


def revoke_leases(subject_ids: Iterable[object]) -> int:
    """Inside a transaction: have what is being made of some objects right now thrown away, and made anew later.

    Whoever holds such a job loses it, and with it the right to write. Returns how many did.
    """
    running = JobRun.objects.filter(subject_id__in=[str(each) for each in subject_ids], state=JobRun.State.RUNNING)
    return running.update(
        state=JobRun.State.WAITING, lease_token=None, lease_until=None, attempts=0, not_before=timezone.now()
    )


def retry_job_later(job: JobRun, error_code: str) -> bool:
    """Give a job back after a failure: it is tried again after 30 s, 1 min, 2 min … at most an hour apart."""
    delay = min(3_600, 30 * 2 ** min(max(job.attempts - 1, 0), 10))
    return bool(
        _held(job).update(
            state=JobRun.State.WAITING,
            lease_token=None,
            lease_until=None,
            error_code=error_code[:60],
            not_before=timezone.now() + timedelta(seconds=delay),
        )
    )


def fail_job(job: JobRun, error_code: str) -> bool:
    """End a job that can't be done at all."""
    return bool(
        _held(job).update(
            state=JobRun.State.FAILED,
            lease_token=None,
            lease_until=None,
            error_code=error_code[:60],
            finished_at=timezone.now(),
        )
    )


def cancel_job(job: JobRun) -> bool:
    """Stop a job: one that runs notices at its next progress report. False when it had ended already."""
    return bool(
        JobRun.objects.filter(pk=job.pk, state__in=["waiting", "running"]).update(
            state=JobRun.State.CANCELLED, lease_token=None, lease_until=None, finished_at=timezone.now()
        )
    )


def retry_job_now(job: JobRun) -> bool:
    """Let a waiting job be tried at once, or open a failed one again.

    False when there is nothing to retry, when a newer job does the same already, or when what it worked on is gone.
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
