"""The work of an import, a turn at a time, and what its person decides about it: cancel it, take it back.

A turn begins where the rows say that the last one ended, so a worker that is killed loses nothing: the file is checked
whole before the first conversation is written, what was written is found again by its id in the file, and what was
read for facts is no longer unread.
"""

from __future__ import annotations

from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.policy import must_decide
from accounts.principals import Principal
from conversations.imports import ImportFileError
from conversations.imports.actions import (
    JOB,
    RUN_TASK,
    UNDO_JOB,
    import_end,
    import_reopen,
    imports_tidy,
)
from conversations.models import ConversationImport
from journal.actions import (
    cancel_job,
    claim_job,
    enqueue,
    fail_job,
    finish_job,
    hand_on_job,
    hold_job,
    ledger_write,
    open_job,
    retry_job_later,
)
from journal.exceptions import Conflict, NotFound
from journal.models import JobRun

from . import steps
from .shift import LeaseLostError, Shift, ShiftOverError

log = structlog.get_logger(__name__)

State = ConversationImport.State
ERROR_CHARACTERS = 600


def run_import(job_id: UUID) -> None:
    """Work on an import, or on taking one back, for one turn. Does nothing when somebody else does, or when it ended.

    A file that can't be imported ends the job, with nothing written. With the database or the model away it is tried
    again later, from where it was.
    """
    job = claim_job(job_id, lease_seconds=settings.IMPORT_LEASE_SECONDS)
    if job is None:
        return
    upload = ConversationImport.objects.filter(pk=job.subject_id).first()
    if upload is None or not upload.is_open:
        fail_job(job, "gone")
        return
    shift = Shift(job)
    try:
        if job.kind == UNDO_JOB:
            steps.take_back(shift, upload)
            _finish(job, upload, State.UNDONE)
        else:
            _bring_in(shift, upload)
            _finish(job, upload, State.DONE)
    except ShiftOverError:
        if hand_on_job(job):
            enqueue(RUN_TASK, job.pk)
    except LeaseLostError:
        log.info("import_lost", job=str(job.pk))
    except ImportFileError as error:
        _fail(job, upload, "bad_file", str(error))
    except NotFound:
        _fail(job, upload, "gone", "You are no longer a member of this legacy, or your account was closed.")
    except steps.ModelAwayError:
        retry_job_later(job, "ModelAway")
    except Exception as error:
        log.warning("import_failed", job=str(job.pk), error=type(error).__name__, attempts=job.attempts)
        retry_job_later(job, type(error).__name__)
        raise


def _bring_in(shift: Shift, upload: ConversationImport) -> None:
    if upload.state in {State.WAITING, State.CHECKING}:
        steps.check(shift, upload)
    if upload.state == State.WRITING:
        steps.write(shift, upload)
    steps.read(shift, upload)


def _finish(job: JobRun, upload: ConversationImport, state: str) -> None:
    with transaction.atomic():
        _hold(upload.pk)
        if hold_job(job):
            import_end(upload.pk, state)
            finish_job(job, **upload.outcome)


def _fail(job: JobRun, upload: ConversationImport, code: str, reason: str) -> None:
    with transaction.atomic():
        _hold(upload.pk)
        if fail_job(job, code):
            import_end(upload.pk, State.FAILED, error=reason[:ERROR_CHARACTERS])


def _hold(import_id: UUID) -> None:
    """Lock an import before its job, as whoever cancels it does, so that neither waits for the other for ever."""
    ConversationImport.objects.select_for_update().filter(pk=import_id).first()


def import_cancel(principal: Principal, import_id: UUID) -> ConversationImport:
    """Stop an import. What is in stays, and can be taken back; what was uploaded is removed.

    Raises NotYoursToDecide, NotFound, Conflict (409, ``import_ended``) when it has ended, or is being taken back.
    """
    user_id = must_decide(principal)
    with ledger_write(principal.actor, user_id) as write:
        upload = _mine(principal, import_id)
        if upload.state == State.UNDOING or not upload.is_open:
            raise Conflict("This import can't be cancelled any more.", code="import_ended")
        job = JobRun.objects.filter(kind=JOB, subject_id=str(upload.pk)).order_by("-created_at").first()
        if job is not None:
            cancel_job(job)
        import_end(upload.pk, State.CANCELLED)
        write.result("import", upload.pk)
    upload.refresh_from_db()
    return upload


def import_undo(principal: Principal, import_id: UUID) -> tuple[ConversationImport, JobRun]:
    """Take a whole import back, in the background: the conversations that it brought, and what was found in them.

    Raises NotYoursToDecide, NotFound, Conflict (409: ``import_open`` while an import of the person runs,
    ``import_undone`` when it was taken back already).
    """
    user_id = must_decide(principal)
    with ledger_write(principal.actor, user_id) as write:
        upload = _mine(principal, import_id)
        import_reopen(upload)
        job = open_job(UNDO_JOB, upload.pk, user_id=user_id)
        write.result("import", upload.pk, status_code=202)
        enqueue(RUN_TASK, job.pk)
    return upload, job


def _mine(principal: Principal, import_id: UUID) -> ConversationImport:
    upload = ConversationImport.objects.visible_to(principal).select_for_update().filter(pk=import_id).first()
    if upload is None:
        raise NotFound("There is no such import.")
    return upload


def sweep_imports() -> int:
    """Start imports again whose task was lost or whose worker is gone, and end those whose job staff have ended.

    Returns how many were started.
    """
    imports_tidy()
    started = 0
    for upload in ConversationImport.objects.open():
        kind = UNDO_JOB if upload.state == State.UNDOING else JOB
        jobs = JobRun.objects.filter(kind=kind, subject_id=str(upload.pk))
        job = jobs.order_by("-created_at").first()
        if job is None or job.state in {JobRun.State.CANCELLED, JobRun.State.FAILED}:
            import_end(upload.pk, State.FAILED if job is None or job.state == JobRun.State.FAILED else State.CANCELLED)
        elif jobs.claimable(timezone.now()).exists():
            enqueue(RUN_TASK, job.pk)
            started += 1
    return started
