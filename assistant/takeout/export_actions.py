"""Exports: start, write in the background, download, expire."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone, translation

from accounts.policy import must_decide_for_all
from accounts.principals import Principal
from accounts.queries import principal_for_job
from accounts.scope import acting_as
from journal.exceptions import NotFound
from journal.holdings import Holding, holdings
from journal.leases import Lease, claim_job, fail_job, finish_job, open_job, resume_jobs, working
from journal.ledgers import lock_ledgers
from journal.models import Change, Export, ExportPart, JobRun, Ledger
from journal.operation_actions import note_operation
from journal.queue import enqueue

from .archive import Archive, as_written
from .pages import pages_of

JOB = "export"
RUN_TASK = "assistant.run_export"
READ_ROWS = 500


def export_begin(principal: Principal) -> JobRun:
    """Start an export of everything about the person, or return the running one's job.

    A new export replaces earlier ones. Raises NotYoursToDecide, also for restricted agents, and NotFound for a person
    who does not exist yet.
    """
    user_id = must_decide_for_all(principal)
    with transaction.atomic():
        if not lock_ledgers([user_id]):
            raise NotFound("Not found.")
        job = open_job(JOB, user_id, user_id=user_id)
        if not Export.objects.filter(pk=job.pk).exists():
            Export.objects.of_user(user_id).delete()
            Export.objects.create(pk=job.pk, user_id=user_id)
        enqueue(RUN_TASK, job.pk)
    return job


def export_parts(principal: Principal, job_id: UUID) -> tuple[Export, Iterator[bytes]]:
    """Yield the parts of an export's file.

    Raises NotYoursToDecide, NotFound for another person's export, an unfinished or an expired one (``code`` is
    ``not_ready`` or ``expired``, for the person only).
    """
    user_id = must_decide_for_all(principal)
    mine = Export.objects.of_user(user_id).filter(pk=job_id)
    export = mine.whole(timezone.now()).first()
    if export is not None:
        return export, _parts(export)
    if JobRun.objects.of_user(user_id).filter(pk=job_id, kind=JOB, state__in=["waiting", "running"]).exists():
        raise NotFound("This export is being written. Its job says how far it is.", code="not_ready")
    if JobRun.objects.of_user(user_id).filter(pk=job_id, kind=JOB, state="done").exists():
        raise NotFound(f"An export can be fetched for {settings.EXPORT_HOURS} hours. Make another.", code="expired")
    raise NotFound("There is no such export.")


def _parts(export: Export) -> Iterator[bytes]:
    parts = ExportPart.objects.filter(export=export).values_list("data", flat=True)
    number = 0
    while (data := parts.filter(number=number).first()) is not None:
        if not connection.in_atomic_block:
            connection.close()  # Release the connection while a slow client reads.
        yield bytes(data)
        number += 1


def run_export(job_id: UUID) -> None:
    """Write the file of an export from the start, unless another worker does or it has ended."""
    job = claim_job(job_id, lease_seconds=settings.EXPORT_LEASE_SECONDS)
    if job is None:
        return
    export = Export.objects.filter(pk=job.pk).first()
    if export is None:
        fail_job(job, "gone")
        return
    with working(job, lease_seconds=settings.EXPORT_LEASE_SECONDS) as lease:
        try:
            principal = principal_for_job(export.user_id)
        except NotFound:
            fail_job(job, "gone")
            return
        with acting_as(principal), timezone.override(principal.time_zone), translation.override("en"):
            while not _finish(job, export, *_write(lease, principal, export)):
                pass
    note_operation("worker", JOB, user_id=export.user_id)


def _finish(job: JobRun, export: Export, archive: Archive, rev: int) -> bool:
    """Offer the file, unless words were withheld or erased after ``rev``, which it may hold. Whether it is done."""
    expires_at = timezone.now() + timedelta(hours=settings.EXPORT_HOURS)
    with transaction.atomic():
        lock_ledgers([export.user_id])
        if Change.objects.of_owner(export.user_id).filter(rev__gt=rev, event__in=["WITHHOLD", "ERASE"]).exists():
            return False
        if finish_job(job, rows=sum(archive.counts.values()), bytes=archive.size):
            Export.objects.filter(pk=export.pk).update(size=archive.size, expires_at=expires_at)
    return True


def _write(lease: Lease, principal: Principal, export: Export) -> tuple[Archive, int]:
    """Write the file, and return it with the revision before it.

    Concurrent changes may be included or not, but never a row without the rows that it references. So referencing rows
    are read first, and the log, with all revisions, last. Raises LeaseLost.
    """
    ExportPart.objects.filter(export=export).delete()
    number = 0

    def put(data: bytes) -> None:
        nonlocal number
        with transaction.atomic():
            lease.lock()
            ExportPart.objects.create(export=export, number=number, data=data)
        number += 1

    rev = Ledger.objects.values_list("rev", flat=True).get(pk=export.user_id)
    written = sorted((each for each in reversed(holdings()) if each.kind), key=lambda each: each.model is Change)
    tables = [(each, each.of_person(export.user_id).filter(each.exported)) for each in written]
    lease.renew(0, sum(rows.count() for _, rows in tables))
    archive, done = Archive(put), 0
    for holding, _ in tables:
        for count in archive.rows(holding, _rows_of(holding, export.user_id)):
            lease.report(done + count)
        done += archive.counts[holding.kind]
    for name, html in pages_of(principal):
        archive.text(name, html)
        lease.report(done)
    archive.end(rev=rev)
    lease.renew(done)
    return archive, rev


def _rows_of(holding: Holding, user_id: UUID) -> Iterator[tuple[object, ...]]:
    rows = holding.of_person(user_id).filter(holding.exported).order_by("pk")
    return rows.values_list(*map(as_written, holding.written)).iterator(chunk_size=READ_ROWS)


def exports_expire() -> int:
    """Delete expired files. Returns how many."""
    over = Export.objects.over(timezone.now(), timedelta(hours=settings.EXPORT_HOURS))
    _, deleted = over.delete()
    return deleted.get(Export._meta.label, 0)


def exports_sweep() -> int:
    """Restart exports whose task or worker was lost. Returns how many."""
    return resume_jobs(JOB, RUN_TASK)
