"""The one way in which anything is written: under the owner's ledger lock, with a revision, once per Idempotency-Key.

``ledger_write`` is the transaction that every action of every room runs in. The rest are the job leases, the queue
and the log of operations.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import structlog
from celery import current_app
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from .exceptions import Gated, IdempotentReplay, NotFound
from .models import Change, IdempotencyRecord, JobRun, Ledger, OperationEvent
from .records import Actor, IdempotencyClaim

log = structlog.get_logger(__name__)

COUNTS = (
    "turns",
    "turn_terms",
    "chunks",
    "chunk_terms",
    "facts",
    "fact_terms",
    "memories",
    "memory_terms",
    "block_tokens",
)


@dataclass
class LedgerWrite:
    """What an action holds while it writes: the locked ledgers, and what will be logged when it ends."""

    actor: Actor
    ledgers: dict[uuid.UUID, Ledger]
    changes: list[Change] = field(default_factory=list)
    record: IdempotencyRecord | None = None

    def change(
        self,
        ledger_id: uuid.UUID,
        event: str,
        object_type: str,
        object_id: object,
        *,
        old_version: int | None = None,
        new_version: int | None = None,
        conversation_id: uuid.UUID | None = None,
        **meta: Any,
    ) -> int:
        """Take the owner's next revision for one change and return it. ``meta`` must hold no stored text."""
        ledger = self.ledgers[ledger_id]
        ledger.rev += 1
        self.changes.append(
            Change(
                ledger_id=ledger_id,
                rev=ledger.rev,
                event=event,
                object_type=object_type,
                object_id=str(object_id),
                old_version=old_version,
                new_version=new_version,
                actor_kind=self.actor.kind,
                actor_id=self.actor.id,
                conversation_id=conversation_id,
                meta=meta,
            )
        )
        return ledger.rev

    def adopt(self, ledger_id: uuid.UUID) -> None:
        """Take in the ledger of an owner made in this transaction. Nobody else sees it yet, so nobody waits for it."""
        self.ledgers[ledger_id] = Ledger.objects.select_for_update().get(pk=ledger_id)

    def count(self, ledger_id: uuid.UUID, **deltas: int) -> None:
        """Add to the owner's counts and term sums (``turns``, ``turn_terms``, ``facts``, …)."""
        ledger = self.ledgers[ledger_id]
        for name, delta in deltas.items():
            setattr(ledger, name, getattr(ledger, name) + delta)

    def result(self, object_type: str, *object_ids: object, status_code: int = 200) -> None:
        """Note what a replay of this request has to render again. Does nothing without an Idempotency-Key."""
        if self.record is None:
            return
        self.record.object_type = object_type
        self.record.object_ids = [str(object_id) for object_id in object_ids]
        self.record.status_code = status_code


@contextmanager
def ledger_write(actor: Actor, *owner_ids: uuid.UUID) -> Iterator[LedgerWrite]:
    """Open the transaction of one action: lock the owners' ledgers in id order, then yield.

    On leaving, changes and ledgers are written and the transaction commits; on an exception nothing was changed. The
    lock is a statement of its own, so that what is read after it sees everything the previous holder committed. Make
    no network call inside.

    Raises NotFound when an owner is gone, IdempotentReplay when the actor's Idempotency-Key was used for the same
    request, Gated (422) when it was used for another one.
    """
    wanted = sorted(set(owner_ids))
    with transaction.atomic():
        locked = Ledger.objects.select_for_update().filter(pk__in=wanted).order_by("pk")
        ledgers = {ledger.pk: ledger for ledger in locked}
        if len(ledgers) != len(wanted):
            raise NotFound("Not found.")
        write = LedgerWrite(actor, ledgers)
        if actor.idempotency is not None:
            write.record = _claim_idempotency_key(actor.idempotency)
        before = {pk: [ledger.rev, *(getattr(ledger, name) for name in COUNTS)] for pk, ledger in ledgers.items()}
        yield write
        if write.changes:
            Change.objects.bulk_create(write.changes)
        for pk, ledger in ledgers.items():
            if before.get(pk) != [ledger.rev, *(getattr(ledger, name) for name in COUNTS)]:
                ledger.save(update_fields=["rev", *COUNTS])
        if write.record is not None:
            write.record.rev = max((ledger.rev for ledger in ledgers.values()), default=None)
            write.record.save(update_fields=["object_type", "object_ids", "status_code", "rev"])


@contextmanager
def write_part(write: LedgerWrite) -> Iterator[None]:
    """A part of an action that can fail by itself: an exception takes back all of the part, and goes on to the caller.

    That is its rows, its revisions and its counts; what the action did before stays.
    """
    changes = len(write.changes)
    before = {pk: {name: getattr(ledger, name) for name in ("rev", *COUNTS)} for pk, ledger in write.ledgers.items()}
    try:
        with transaction.atomic():
            yield
    except BaseException:
        del write.changes[changes:]
        for pk, values in before.items():
            for name, value in values.items():
                setattr(write.ledgers[pk], name, value)
        raise


_CLAIM = """
INSERT INTO journal_idempotencyrecord AS r (owner, key, request_hash, object_type, object_ids, created_at)
VALUES (%(owner)s, %(key)s, %(hash)s, '', '[]', now())
ON CONFLICT (owner, key) DO UPDATE SET request_hash = excluded.request_hash, object_type = '', object_ids = '[]',
    status_code = NULL, rev = NULL, created_at = now()
WHERE r.created_at < now() - make_interval(hours => %(hours)s)
RETURNING id
"""


def _claim_idempotency_key(claim: IdempotencyClaim) -> IdempotencyRecord:
    """Take the key, or say what the request that took it did. Waits for a request that holds it right now."""
    values: dict[str, str | int] = {
        "owner": claim.owner,
        "key": claim.key,
        "hash": claim.request_hash,
        "hours": settings.IDEMPOTENCY_HOURS,
    }
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, values)
        row = cursor.fetchone()
    if row is not None:
        return IdempotencyRecord.objects.get(pk=row[0])
    record = IdempotencyRecord.objects.get(owner=claim.owner, key=claim.key)
    if record.request_hash != claim.request_hash:
        raise Gated(
            "This Idempotency-Key was used with another request in the last 24 hours.", code="idempotency_mismatch"
        )
    raise IdempotentReplay(record)


# --- The queue --------------------------------------------------------------------------------------------------


def enqueue(task: str, *ids: object, otherwise: Callable[[], None] | None = None) -> None:
    """Start a task by name once the current transaction has committed.

    A broker that is away is logged and forgiven: every task starts from a durable row that the sweep finds again. One
    that has no such row is done by ``otherwise``, here. Arguments are ids only.
    """
    arguments = [str(value) for value in ids]

    def send() -> None:
        try:
            current_app.send_task(task, args=arguments, retry=False, ignore_result=True)
        except (BrokerError, OSError) as error:
            log.warning("task_not_queued", task=task, error=type(error).__name__)
            if otherwise is not None:
                otherwise()

    transaction.on_commit(send, robust=True)


def note_operation(
    node: str,
    op: str,
    status: str = OperationEvent.Status.OK,
    *,
    user_id: uuid.UUID | None = None,
    thread_id: object = "",
    object_id: object = "",
    category: str = "",
    sim: float | None = None,
) -> None:
    """Log that something was attempted and how it ended. Call it from jobs, off the request path."""
    OperationEvent.objects.create(
        node=node,
        op=op,
        status=status,
        user_id=user_id,
        thread_id=str(thread_id),
        object_id=str(object_id),
        category=category,
        sim=sim,
    )


# --- Jobs -------------------------------------------------------------------------------------------------------


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


def hold_job(job: JobRun) -> bool:
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


def hand_on_job(job: JobRun) -> bool:
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


def trim() -> dict[str, int]:
    """Delete what is kept for a while only: operations and ended jobs for 90 days, idempotency records for a day."""
    now = timezone.now()
    long_ago = now - timedelta(days=settings.OPERATION_EVENT_DAYS)
    events, _ = OperationEvent.objects.filter(at__lt=long_ago).delete()
    jobs, _ = JobRun.objects.filter(finished_at__lt=long_ago).exclude(state__in=["waiting", "running"]).delete()
    records, _ = IdempotencyRecord.objects.filter(
        created_at__lt=now - timedelta(hours=settings.IDEMPOTENCY_HOURS)
    ).delete()
    return {"operation_events": events, "jobs": jobs, "idempotency_records": records}
