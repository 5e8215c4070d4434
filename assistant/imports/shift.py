"""One worker's turn at a job: how long it may take, how far it is, and whether the job is still this worker's."""

from __future__ import annotations

import time

from django.conf import settings

from journal.actions import renew_lease
from journal.models import JobRun

_REPORT_SECONDS = 2.0


class LeaseLostError(Exception):
    """The job was cancelled, or another worker has taken it over."""


class ShiftOverError(Exception):
    """The turn is over; the job goes on in another."""


class Shift:
    """Holds a job's lease while it is worked on, and reports how far it is.

    It ends after IMPORT_SLICE_SECONDS, so that the queue's other work gets its turn.
    """

    def __init__(self, job: JobRun) -> None:
        self.job = job
        self._ends = time.monotonic() + settings.IMPORT_SLICE_SECONDS
        self._reported = 0.0

    def stands(self, done: int, total: int) -> None:
        """Note how far a stage is at its beginning or its end. Raises LeaseLostError."""
        self._report(done, total)

    def report(self, done: int) -> None:
        """Note how far the stage is, every few seconds. Raises LeaseLostError."""
        if time.monotonic() - self._reported >= _REPORT_SECONDS:
            self._report(done, self.job.total)

    def pause(self) -> None:
        """Say that what was begun is whole, so that another worker can go on. Raises ShiftOverError."""
        if time.monotonic() > self._ends:
            raise ShiftOverError

    def _report(self, done: int, total: int | None) -> None:
        done = done if total is None else min(done, total)
        if not renew_lease(self.job, lease_seconds=settings.IMPORT_LEASE_SECONDS, done=done, total=total):
            raise LeaseLostError
        self.job.total = total
        self._reported = time.monotonic()
