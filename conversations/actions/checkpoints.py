"""Save, copy and delete agents' checkpoints: simple states by version, graph states by the graph's own ids."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Max, Q
from django.utils import timezone

from accounts.policy import must_write
from accounts.policy.names import check_labels
from accounts.principals import Principal
from journal.actions import ledger_write
from journal.exceptions import Conflict, NotFound, Refused
from web.json import as_json

from ..models import Checkpoint, CheckpointWrite
from ..querysets import CheckpointQuerySet, CheckpointWriteQuerySet

JSON = "json"
Strategy = Literal["keep_latest", "delete"]


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes with the serialisation type that the writer named."""

    type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class GraphState:
    """A checkpoint of a graph's thread, under the graph's own ids. ``channels`` names the channels stored in it."""

    thread: str
    namespace: str
    checkpoint_id: str
    parent_id: str
    metadata: dict[str, Any]
    channels: Sequence[str]
    blob: Blob


@dataclass(frozen=True, slots=True)
class GraphWrite:
    """A task's write to a channel. A negative ``index`` overwrites an earlier write, others are kept once."""

    index: int
    channel: str
    blob: Blob


def checkpoint_save(principal: Principal, thread: str, state: Any, *, version: int | None = None) -> Checkpoint:
    """Save ``state`` (any JSON) as the newest version of a thread. Only the last ``CHECKPOINT_STATES`` are kept.

    ``version`` is the version that the caller loaded, 0 for none; None skips the check. Raises NotAllowed without the
    scope, Refused (413 above ``CHECKPOINT_MAX_BYTES``, 400 ``too_deep`` for JSON nested too deeply to be returned),
    Conflict (409 ``version_conflict`` with the ``current`` version), Gated (422) for the thread's name.
    """
    user_id = must_write(principal)
    check_labels(principal, thread)
    data = as_json(state)
    _check_sizes([Blob(JSON, data)])
    with ledger_write(principal.actor, user_id) as write:
        states = Checkpoint.objects.written_by(principal).states().filter(thread=thread)
        current = states.aggregate(newest=Max("version"))["newest"] or 0
        if version is not None and version != current:
            raise Conflict("The state was changed meanwhile.", code="version_conflict", current=current)
        made = Checkpoint.objects.create(
            user_id=user_id,
            agent_id=principal.agent_id,
            thread=thread,
            checkpoint_id=f"v{current + 1}",
            parent_id=f"v{current}" if current else "",
            version=current + 1,
            type=JSON,
            data=data,
        )
        states.filter(version__lte=current + 1 - settings.CHECKPOINT_STATES).delete()
        write.result("checkpoint", made.pk)
    return made


def thread_delete(principal: Principal, thread: str, *, agent_id: UUID | None = None) -> None:
    """Delete all states and writes of a thread. A person names the agent that owns it in ``agent_id``.

    Raises NotAllowed without the scope, NotFound when the thread has neither.
    """
    user_id = must_write(principal)
    with ledger_write(principal.actor, user_id):
        rows = Checkpoint.objects.visible_to(principal), CheckpointWrite.objects.visible_to(principal)
        whose = Q(agent=principal.agent_id if principal.agent_id is not None else agent_id)
        gone = [each.filter(whose, thread=thread).delete()[0] for each in rows]
        if not any(gone):
            raise NotFound("There is no such thread.")


def graph_save(principal: Principal, state: GraphState) -> None:
    """Save a graph's state, replacing one with the same ids.

    Raises NotAllowed without the scope, Refused (413) for more than ``CHECKPOINT_MAX_BYTES``, Gated (422) for the
    thread's name.
    """
    user_id = must_write(principal)
    check_labels(principal, state.thread)
    _check_sizes([state.blob])
    of: dict[str, Any] = {"thread": state.thread, "namespace": state.namespace, "checkpoint_id": state.checkpoint_id}
    told = {"parent_id": state.parent_id, "metadata": state.metadata, "channels": list(state.channels)}
    kept = {**told, "type": state.blob.type, "data": state.blob.data, "at": timezone.now()}
    owner: dict[str, Any] = {"user_id": user_id, "agent_id": principal.agent_id}
    with ledger_write(principal.actor, user_id):
        Checkpoint.objects.of_graphs().update_or_create(defaults=kept, **owner, **of)


def graph_write(
    principal: Principal,
    thread: str,
    writes: Sequence[GraphWrite],
    *,
    namespace: str,
    checkpoint_id: str,
    task_id: str,
    task_path: str = "",
) -> None:
    """Save a task's writes that follow a graph's state. Saving the same writes again changes nothing.

    Raises NotAllowed without the scope, Refused (413) for more than ``CHECKPOINT_MAX_BYTES``, Gated (422) for the
    thread's name.
    """
    user_id = must_write(principal)
    check_labels(principal, thread)
    _check_sizes([each.blob for each in writes])
    with ledger_write(principal.actor, user_id):
        owner = {"user_id": user_id, "agent_id": principal.agent_id}
        of = {"thread": thread, "namespace": namespace, "checkpoint_id": checkpoint_id, "task_id": task_id}
        replaced = [each.index for each in writes if each.index < 0]
        rows = CheckpointWrite.objects.filter(**owner, **of)
        rows.filter(index__in=replaced).delete()
        known = set(rows.values_list("index", flat=True))
        new = {each.index: each for each in writes if each.index not in known}
        CheckpointWrite.objects.bulk_create(
            CheckpointWrite(
                **owner, **of, task_path=task_path, index=index, channel=each.channel, type=each.blob.type,
                data=each.blob.data,
            )
            for index, each in new.items()
        )  # fmt: skip


_COPY = """
INSERT INTO {table} (id, thread, {columns})
SELECT gen_random_uuid(), %(to)s, {columns} FROM {table}
WHERE user_id = %(user)s AND agent_id IS NOT DISTINCT FROM %(agent)s::uuid AND thread = %(thread)s
ON CONFLICT DO NOTHING
"""


def graph_copy(principal: Principal, thread: str, to: str) -> None:
    """Copy all states and writes of a thread to the thread ``to``. Rows that ``to`` already has are kept.

    Raises NotAllowed without the scope, NotFound for an unknown thread, Gated (422) for the name of the copy.
    """
    user_id = must_write(principal)
    check_labels(principal, to)
    values = {"user": user_id, "agent": principal.agent_id, "thread": thread, "to": to}
    with ledger_write(principal.actor, user_id), connection.cursor() as cursor:
        rows = (each.objects.written_by(principal).filter(thread=thread) for each in (Checkpoint, CheckpointWrite))
        if not any(each.exists() for each in rows):
            raise NotFound("There is no such thread.")
        for model in (Checkpoint, CheckpointWrite):
            columns = [str(each.column) for each in model._meta.concrete_fields if each.name not in {"id", "thread"}]
            names = ", ".join(f'"{each}"' for each in columns)
            cursor.execute(_COPY.format(table=model._meta.db_table, columns=names), values)


def graphs_prune(principal: Principal, threads: Collection[str], strategy: Strategy) -> None:
    """Delete all graph states of the threads, or all but the newest of each namespace and the states it depends on.

    A state may store a channel as a delta only. Then the states back to the one with the channel's full value are kept,
    with their writes. Raises NotAllowed without the scope.
    """
    user_id = must_write(principal)
    with ledger_write(principal.actor, user_id):
        states = Checkpoint.objects.written_by(principal).of_graphs().filter(thread__in=threads)
        if strategy == "delete":  # Writes, too, whose state was never saved.
            for rows in (states, CheckpointWrite.objects.written_by(principal).filter(thread__in=threads)):
                rows.delete()
            return
        kept = _needed(states)
        gone = [each for each in states.values_list("thread", "namespace", "checkpoint_id") if each not in kept]
        _delete_states(principal, states, gone)


def graphs_delete_runs(principal: Principal, runs: Collection[str]) -> None:
    """Delete the states that these graph runs saved, with their writes. Raises NotAllowed without the scope."""
    user_id = must_write(principal)
    with ledger_write(principal.actor, user_id):
        states = Checkpoint.objects.written_by(principal).of_graphs().filter(metadata__run_id__in=list(runs))
        _delete_states(principal, states, list(states.values_list("thread", "namespace", "checkpoint_id")))


_Key = tuple[str, str, str]


def _needed(states: CheckpointQuerySet) -> set[_Key]:
    """Return the keys of each namespace's newest state and of the earlier states that its delta channels need."""
    columns = ("thread", "namespace", "checkpoint_id", "parent_id", "metadata", "channels")
    rows = {row[:3]: row[3:] for row in states.values_list(*columns)}
    newest: dict[tuple[str, str], str] = {}
    for thread, namespace, checkpoint_id in rows:
        newest[thread, namespace] = max(checkpoint_id, newest.get((thread, namespace), ""))
    kept: set[_Key] = set()
    for (thread, namespace), head in newest.items():
        missing: set[str] | None = None
        at: str = head
        while (key := (thread, namespace, at)) in rows and key not in kept:
            parent_id, metadata, channels = rows[key]
            kept.add(key)
            missing = (_deltas(metadata) if missing is None else missing) - set(channels)
            if not missing:
                break
            at = parent_id
    return kept


_DELTAS = "counters_since_delta_snapshot"
"""The metadata key under which LangGraph names a state's delta channels."""


def _deltas(metadata: dict[str, Any]) -> set[str]:
    """Return the delta channels that a state's metadata names; a client may have put anything there."""
    named = metadata.get(_DELTAS)
    return {each for each in named if isinstance(each, str)} if isinstance(named, dict | list) else set()


def _delete_states(principal: Principal, states: CheckpointQuerySet, gone: Sequence[_Key]) -> None:
    writes: CheckpointWriteQuerySet = CheckpointWrite.objects.written_by(principal)
    by_place: dict[tuple[str, str], list[str]] = {}
    for thread, namespace, checkpoint_id in gone:
        by_place.setdefault((thread, namespace), []).append(checkpoint_id)
    for (thread, namespace), ids in by_place.items():
        for rows in (states, writes):
            rows.filter(thread=thread, namespace=namespace, checkpoint_id__in=ids).delete()


def _check_sizes(blobs: Sequence[Blob]) -> None:
    size = sum(len(each.data) for each in blobs)
    if size > settings.CHECKPOINT_MAX_BYTES:
        most = settings.CHECKPOINT_MAX_BYTES
        refused = Refused(f"The state has {size:,} bytes; {most:,} are allowed.", code="too_large")
        refused.status = 413
        raise refused
