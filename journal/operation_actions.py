"""The log of operations: what was attempted, and the outcome.

Jobs log at once, reads are counted per hour, and callers' writes are buffered in Valkey for some seconds.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson
from django.db import connection, transaction
from django.utils import timezone

from .cache import valkey
from .models import ActorKind, Ledger, OperationEvent

if TYPE_CHECKING:
    from .actions import LedgerWrite


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
    """Log an operation and its outcome. Call it from jobs, not on the request path."""
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


_COUNT_OPERATION = """
INSERT INTO journal_operationevent AS known (id, user_id, thread_id, node, op, status, object_id, category, count, at)
SELECT %s, id, %s, %s, %s, %s, '', '', 1, %s FROM journal_ledger WHERE id = %s FOR KEY SHARE
ON CONFLICT (id) DO UPDATE SET count = known.count + 1, at = excluded.at
"""
"""Of the reader's ledger, which an erasure takes: what is counted after it, or meanwhile, leaves no row."""
_HOURS = uuid.UUID("6f1d2f4e-0a53-4c8e-9b7e-2f6a5f0f3c11")


def count_operation(node: str, op: str, status: str, *, user_id: uuid.UUID, thread_id: object, at: datetime) -> None:
    """Count a read in the log: one row a conversation, outcome and hour."""
    hour = at.astimezone(UTC).strftime("%Y-%m-%dT%H")
    key = uuid.uuid5(_HOURS, f"{user_id} {thread_id} {node} {op} {status} {hour}")
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_OPERATION, [key, str(thread_id), node, op, status, at, user_id])


HOTPATH, WORKER = "hotpath", "worker"
OPERATIONS = "journal:operations"
_OPERATIONS_AT_ONCE = 500
_OPERATION_CHARACTERS = 20


_BY_ITSELF = frozenset({"MERGE", "TTL", "EVICT", "PURGE"})
"""Events of jobs that ``note_operation`` is not called for."""


def operations_of(write: LedgerWrite) -> list[str]:
    """Return what to push to the queue ``OPERATIONS`` once a write is committed.

    That is every change by a person or an agent, and the events of jobs in ``_BY_ITSELF``. Nothing for staff. It is
    lost if Valkey can't be reached.
    """
    is_job = write.actor.kind == ActorKind.JOB
    if write.actor.kind == ActorKind.STAFF:
        return []
    told = [] if is_job else write.operations
    ids = {each["object_id"] for each in told}
    done = [
        *told,
        *(
            operation(change.event.lower(), change.object_id)
            for change in write.changes
            if change.object_type in {"memory", "fact"}
            and change.object_id not in ids
            and (not is_job or change.event in _BY_ITSELF)
            and not (change.event == "MERGE" and "sources" not in change.meta)  # One of those that were merged.
        ),
    ]
    owner = next((pk for pk, ledger in write.ledgers.items() if ledger.kind == Ledger.Kind.USER), None)
    if owner is None or not done:
        return []
    thread = next((str(change.conversation_id) for change in write.changes if change.conversation_id), "")
    return [_serialise(WORKER if is_job else HOTPATH, owner, thread, done)]


def operation(
    op: str,
    object_id: object = "",
    *,
    status: str = OperationEvent.Status.OK,
    category: str = "",
    sim: float | None = None,
) -> dict[str, Any]:
    """Build one operation of a queue entry."""
    return {"op": op, "status": str(status), "object_id": str(object_id), "category": category, "sim": sim}


def _serialise(node: str, user_id: uuid.UUID, thread_id: str, done: Sequence[Mapping[str, Any]]) -> str:
    return orjson.dumps(
        {"node": node, "user": user_id, "thread": thread_id, "at": timezone.now(), "done": done}
    ).decode()


def note_refusal(user_id: uuid.UUID, code: str, *, thread_id: object = "") -> None:
    """Queue a refused write for the log, by the refusal's code. It is lost if Valkey can't be reached."""
    done = [operation(code, status=OperationEvent.Status.SKIPPED)]
    valkey().push(OPERATIONS, _serialise(HOTPATH, user_id, str(thread_id), done))


def flush_operations() -> int:
    """Move queued operations from Valkey to the table. Returns how many rows."""
    noted = 0
    with valkey().consume(OPERATIONS, _OPERATIONS_AT_ONCE, seconds=60) as written, transaction.atomic():
        queued = [orjson.loads(each) for each in written]
        # Operations of people who were erased meanwhile are dropped.
        there = _hold_ledgers({each["user"] for each in queued})
        for each in (each for each in queued if each["user"] in there):
            rows = [
                OperationEvent(
                    user_id=each["user"],
                    thread_id=each["thread"],
                    node=each["node"],
                    op=done["op"][:_OPERATION_CHARACTERS],
                    status=done["status"],
                    object_id=done["object_id"],
                    category=done["category"],
                    sim=done["sim"],
                    at=datetime.fromisoformat(each["at"]),
                )
                for done in each["done"]
            ]
            noted += len(OperationEvent.objects.bulk_create(rows))
    return noted


def _hold_ledgers(ids: Collection[str]) -> set[str]:
    """Return which of these ledgers exist, and keep them from being erased until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(_HOLD_LEDGERS, [list(ids)])
        return {str(pk) for (pk,) in cursor.fetchall()}


_HOLD_LEDGERS = "SELECT id FROM journal_ledger WHERE id = ANY (%s::uuid[]) ORDER BY id FOR KEY SHARE"
