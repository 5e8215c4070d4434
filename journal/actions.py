"""``ledger_write``: the transaction of every action, with ledger locks, revisions, undo steps and idempotency.

The rest counts the use of models and deletes expired rows. The log of operations is in ``operation_actions``.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any, ParamSpec, Protocol, TypeVar

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Sum
from django.utils import timezone

from language.base import ModelAnswerInvalid, Usage
from retrieval.prepared import PreparedStatement, build_statement, update_row

from .cache import changes_key, valkey
from .exceptions import Gated, Gone, IdempotentReplay, NotFound
from .ledgers import COUNTS, lock_ledgers
from .models import (
    Change,
    Erased,
    IdempotencyRecord,
    JobRun,
    Learned,
    Ledger,
    ModelUse,
    OperationEvent,
    UndoStep,
)
from .operation_actions import OPERATIONS, operation, operations_of
from .records import Actor, IdempotencyClaim
from .steps import PendingUndoStep, report_revisions, store_changes

_ERASED = "erased"
_holds_ledgers: ContextVar[bool] = ContextVar("holds_ledgers", default=False)


@dataclass
class LedgerWrite:
    """The open transaction of an action: the locked ledgers, and what is logged when it ends.

    ``undoes`` maps an object to the first revision that this transaction undoes; later undos skip what is undone.
    Without ``keeps_steps``, no undo steps are stored.
    """

    actor: Actor
    ledgers: dict[uuid.UUID, Ledger]
    changes: list[Change] = field(default_factory=list)
    steps: list[PendingUndoStep] = field(default_factory=list)
    touched: dict[str, list[Any]] = field(default_factory=dict)
    undoes: dict[tuple[str, str], int] = field(default_factory=dict)
    keeps_steps: bool = True
    record: IdempotencyRecord | None = None
    operations: list[dict[str, Any]] = field(default_factory=list)

    def log_operation(self, op: str, object_id: object, *, category: str = "", sim: float | None = None) -> None:
        """Add a caller's operation to the log of operations. Jobs use ``note_operation`` instead."""
        self.operations.append(operation(op, object_id, category=category, sim=sim))

    def log_refusal(self, code: str) -> None:
        """Add the refusal of a part of an operation, by its code, to the log of operations."""
        self.operations.append(operation(code, status=OperationEvent.Status.SKIPPED))

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
        """Log one change under the owner's next revision and return that. ``meta`` must hold no stored text."""
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

    def touch(self, what: str, before: Any) -> None:
        """Add the previous value of something that the change touches as well to the next undo step.

        ``what`` is one of ``steps.TOUCHED``.
        """
        self.touched.setdefault(what, []).append(before)

    @contextmanager
    def nested_change(self) -> Iterator[None]:
        """Change other objects within the change of one, and keep what each touches for its own undo step."""
        touched, self.touched = self.touched, {}
        yield
        self.touched = touched

    def keep_undo_step(
        self, ledger_id: uuid.UUID, object_type: str, object_id: object, before: Mapping[str, Any]
    ) -> None:
        """Keep an object's previous values for undo. Does nothing for staff, or without ``keeps_steps``."""
        if self.keeps_steps and self.actor.kind != "staff":
            key = (object_type, str(object_id))
            undoes = {"undoes": self.undoes[key]} if key in self.undoes else {}
            self.steps.append(PendingUndoStep(ledger_id, 0, *key, {**before, **self.touched, **undoes}))
        self.touched = {}

    def add_ledger(self, ledger_id: uuid.UUID) -> None:
        """Lock the ledger of an owner created in this transaction. Nobody else can see it yet, so nobody waits."""
        self.ledgers[ledger_id] = Ledger.objects.select_for_update().get(pk=ledger_id)

    def drop_ledger(self, ledger_id: uuid.UUID) -> None:
        """Log nothing in a ledger that this transaction deletes with its owner."""
        self.ledgers.pop(ledger_id)
        self.changes = [change for change in self.changes if change.ledger_id != ledger_id]
        self.steps = [step for step in self.steps if step.ledger_id != ledger_id]

    def try_lock_ledger(self, ledger_id: uuid.UUID) -> bool:
        """Lock another owner's ledger as well, unless somebody else holds it. Whether it is locked now.

        It never waits, because locking out of id order could deadlock.
        """
        if ledger_id not in self.ledgers:
            free = Ledger.objects.select_for_update(skip_locked=True).filter(pk=ledger_id)
            self.ledgers |= {ledger.pk: ledger for ledger in free}
        return ledger_id in self.ledgers

    def count(self, ledger_id: uuid.UUID, **deltas: int) -> None:
        """Add to the owner's counts and term sums (``turns``, ``turn_terms``, ``facts``, …)."""
        ledger = self.ledgers[ledger_id]
        for name, delta in deltas.items():
            setattr(ledger, name, getattr(ledger, name) + delta)

    def result(self, object_type: str, *object_ids: object, status_code: int = 200) -> None:
        """Store what a replay of this request has to render. Does nothing without an Idempotency-Key."""
        if self.record is None:
            return
        self.record.object_type = object_type
        self.record.object_ids = [str(object_id) for object_id in object_ids]
        self.record.status_code = status_code


@contextmanager
def ledger_write(actor: Actor, *owner_ids: uuid.UUID) -> Iterator[LedgerWrite]:
    """Open the transaction of one action: lock the owners' ledgers in id order, then yield.

    On exit, changes, undo steps and ledgers are written and the transaction commits; an exception rolls everything
    back. The lock is a separate statement, so reads after it see what the previous holder committed. Make no network
    call inside.

    Raises NotFound when an owner does not exist, IdempotentReplay when the actor's Idempotency-Key was used for the
    same request, Gated (422) when it was used for a different one.
    """
    wanted = sorted(set(owner_ids))
    with transaction.atomic(), _holding_ledgers():
        ledgers = lock_ledgers(wanted)
        if len(ledgers) != len(wanted):
            raise NotFound("Not found.")
        write = LedgerWrite(actor, ledgers)
        if actor.idempotency is not None:
            write.record = _claim_idempotency_key(actor.idempotency)
        before = {pk: [ledger.rev, *(getattr(ledger, name) for name in COUNTS)] for pk, ledger in ledgers.items()}
        yield write
        for pk, ledger in ledgers.items():
            report_revisions(pk, before[pk][0] if pk in before else 0, ledger.rev)
        moved = [
            ledger
            for pk, ledger in ledgers.items()
            if before.get(pk) != [ledger.rev, *(getattr(ledger, name) for name in COUNTS)]
        ]
        if moved:
            actions = {pk: values[0] + 1 for pk, values in before.items()}
            store_changes(write.changes, write.steps, actions, moved)
        operations = operations_of(write)
        keys = sorted({changes_key(change.ledger_id) for change in write.changes})
        if keys or operations:
            transaction.on_commit(lambda: valkey().publish(keys, {OPERATIONS: operations}), robust=True)
        if write.record is not None:
            write.record.rev = max((ledger.rev for ledger in ledgers.values()), default=None)
            update_row(write.record, ["object_type", "object_ids", "status_code", "rev"])


@contextmanager
def _holding_ledgers() -> Iterator[None]:
    token = _holds_ledgers.set(True)
    try:
        yield
    finally:
        _holds_ledgers.reset(token)


def holds_ledgers() -> bool:
    """Whether this is called inside ``ledger_write``, where others may wait."""
    return _holds_ledgers.get()


@contextmanager
def write_part(write: LedgerWrite) -> Iterator[None]:
    """Run a part of an action in a savepoint. An exception rolls back its rows, revisions and counts, and is raised."""
    changes, steps, touched = len(write.changes), len(write.steps), dict(write.touched)
    before = {
        pk: {name: getattr(ledger, name) for name in ("rev", *COUNTS, "untold_from")}
        for pk, ledger in write.ledgers.items()
    }
    try:
        with transaction.atomic():
            yield
    except BaseException:
        del write.changes[changes:], write.steps[steps:]
        write.touched = touched
        for pk in write.ledgers.keys() - before.keys():
            del write.ledgers[pk]  # The savepoint's rollback has released its lock.
        for pk, values in before.items():
            for name, value in values.items():
                setattr(write.ledgers[pk], name, value)
        raise


_CLAIM = """
INSERT INTO journal_idempotencyrecord AS r (owner, key, request_hash, object_type, object_ids, created_at)
VALUES ({owner}, {key}, {hash}, '', '[]', now())
ON CONFLICT (owner, key) DO UPDATE SET request_hash = excluded.request_hash, object_type = '', object_ids = '[]',
    status_code = NULL, rev = NULL, created_at = now()
WHERE r.created_at < now() - make_interval(hours => {hours}::int)
RETURNING id
"""


def _claim_idempotency_key(claim: IdempotencyClaim) -> IdempotencyRecord:
    """Claim the key, waiting for a request that holds it right now.

    Raises IdempotentReplay, Gated (422), and Gone (410) if what the request made was erased.
    """
    values: dict[str, str | int] = {
        "owner": claim.owner,
        "key": claim.key,
        "hash": claim.request_hash,
        "hours": settings.IDEMPOTENCY_HOURS,
    }
    for (pk,) in _claiming().run(values):
        return IdempotencyRecord(pk=pk)
    record = IdempotencyRecord.objects.get(owner=claim.owner, key=claim.key)
    if record.request_hash != claim.request_hash:
        raise Gated(
            "This Idempotency-Key was used with another request in the last 24 hours.", code="idempotency_mismatch"
        )
    if record.object_type == _ERASED:
        raise Gone
    raise IdempotentReplay(record)


@cache
def _claiming() -> PreparedStatement:
    return build_statement(_CLAIM, {}, lasting=True)


def forget_results(user_id: uuid.UUID, ids: Sequence[object]) -> None:
    """Remove the results of a person's requests with an Idempotency-Key that name erased objects.

    Their keys stay taken: a late repetition brings nothing back.
    """
    named = [str(each) for each in ids]
    if named:
        rows = IdempotencyRecord.objects.filter(owner__endswith=f":{user_id}", object_ids__has_any_keys=named)
        rows.update(object_type=_ERASED, object_ids=[])


def delete_undo_steps(object_type: str, ids: Sequence[object]) -> None:
    """Delete the undo steps of objects, in the transaction that deletes the objects for good."""
    if ids:
        UndoStep.objects.filter(object_type=object_type, object_id__in=[str(each) for each in ids]).delete()


_ADD_USE = """
INSERT INTO journal_modeluse AS known (day, purpose, calls, input_tokens, output_tokens)
VALUES (%s, %s, 1, %s, %s)
ON CONFLICT (day, purpose) DO UPDATE SET calls = known.calls + 1,
    input_tokens = known.input_tokens + excluded.input_tokens,
    output_tokens = known.output_tokens + excluded.output_tokens
"""


class _Answer(Protocol):
    @property
    def usage(self) -> Usage: ...


P = ParamSpec("P")
AnswerT = TypeVar("AnswerT", bound=_Answer)


def count_use(purpose: str, call: Callable[P, AnswerT], *args: P.args, **kwargs: P.kwargs) -> AnswerT:
    """Call a model and count what it used, also if its answer is invalid. Raises what ``call`` raises."""
    try:
        answer = call(*args, **kwargs)
    except ModelAnswerInvalid as error:
        note_model_use(purpose, error.usage or Usage())
        raise
    note_model_use(purpose, answer.usage)
    return answer


def note_model_use(purpose: str, usage: Usage) -> None:
    """Count one answered call of a model. Rules used in place of a model report no usage and are not counted."""
    if usage == Usage():
        return
    with connection.cursor() as cursor:
        cursor.execute(_ADD_USE, [timezone.now().date(), purpose, usage.input_tokens, usage.output_tokens])


def tokens_used_today(*purposes: str) -> int:
    """Return the input and output tokens that the deployment used today (UTC) for these purposes."""
    rows = ModelUse.objects.filter(day=timezone.now().date(), purpose__in=purposes)
    return rows.aggregate(tokens=Sum(F("input_tokens") + F("output_tokens")))["tokens"] or 0


_ADD_LEARNED = """
INSERT INTO journal_learned AS known (user_id, hour, count) VALUES (%s, date_trunc('hour', %s::timestamptz), %s)
ON CONFLICT (user_id, hour) DO UPDATE SET count = known.count + excluded.count
"""


def note_learned(user_id: uuid.UUID, count: int) -> None:
    """Count statements learned from a person, in the transaction that writes them."""
    if count:
        with connection.cursor() as cursor:
            cursor.execute(_ADD_LEARNED, [user_id, timezone.now(), count])


def learned_within_a_day(user_id: uuid.UUID) -> int:
    """Count what was learned from a person in the last 24 hours, to the hour. Exact under the person's lock."""
    rows = Learned.objects.filter(user_id=user_id, hour__gt=timezone.now() - timedelta(days=1))
    return rows.aggregate(count=Sum("count"))["count"] or 0


def trim() -> dict[str, int]:
    """Delete expired rows, and return how many by kind.

    Operations, ended jobs and ids of erased objects are kept for 90 days, undo steps for 30, idempotency records for
    one. Receipts of erasures stay.
    """
    now = timezone.now()
    erased, _ = Erased.objects.filter(erasure__done_at__lt=now - timedelta(days=settings.ERASED_DAYS)).delete()
    long_ago = now - timedelta(days=settings.OPERATION_EVENT_DAYS)
    events, _ = OperationEvent.objects.filter(at__lt=long_ago).delete()
    jobs, _ = JobRun.objects.filter(finished_at__lt=long_ago).exclude(state__in=["waiting", "running"]).delete()
    steps, _ = UndoStep.objects.filter(at__lt=now - timedelta(days=settings.ARCHIVE_DAYS)).delete()
    Learned.objects.filter(hour__lt=now - timedelta(days=2)).delete()
    records, _ = IdempotencyRecord.objects.filter(
        created_at__lt=now - timedelta(hours=settings.IDEMPOTENCY_HOURS)
    ).delete()
    trimmed = {"operation_events": events, "jobs": jobs, "undo_steps": steps, "idempotency_records": records}
    return {**trimmed, "erased": erased}
