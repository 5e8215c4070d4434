"""Insert new memories with their first versions, any number in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.conf import settings
from django.db import IntegrityError, connection
from django.utils import timezone

from journal.actions import LedgerWrite
from journal.queue import enqueue
from retrieval.prepared import PreparedStatement, VectorArray, build_statement
from statements.wording import Wording
from web.json import encoded

from ..models import Memory, Relation, new_memory_id
from ..policy.bands import Neighbour
from ..policy.writing import State
from ..querysets import statement
from ..records import Said
from .budget import block_evict
from .single import MemoryCounts, update_block_columns

_FIELDS = [each for each in Memory._meta.concrete_fields if not each.generated and each.name != "embedding"]


class IdTaken(IntegrityError):
    """The generated id of a new memory is taken. Retry the whole transaction."""


@dataclass(frozen=True, slots=True)
class InitialState:
    """Initial state of a memory: state, log event, whether it is reviewed, evidence."""

    state: str
    event: str
    reviewed: bool = False
    reason: str = ""
    said: Sequence[Said] = ()
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class NewRow:
    """A new memory with all columns, and its revision after ``take_rev``."""

    memory: Memory
    wording: Wording
    initial: InitialState
    rev: int = 0
    relations: list[tuple[str, str, float]] = field(default_factory=list)

    @classmethod
    def of(cls, memory: Memory, wording: Wording, initial: InitialState) -> NewRow:
        """Set id, wording and state of an unsaved memory."""
        now = timezone.now()
        memory.pk = new_memory_id()
        wording.put_on(memory)
        memory.said_at = initial.said[0].at if initial.said else None
        memory.state, memory.state_reason = initial.state, initial.reason
        memory.created_at = memory.updated_at = now
        memory.reviewed_at = now if initial.reviewed else None
        memory.index_not_before = now if wording.embedding is None else None
        update_block_columns(memory, now)
        return cls(memory, wording, initial)

    @property
    def adds_to_block(self) -> bool:
        """Whether it lengthens the memory block."""
        return self.memory.state == State.ACTIVE and self.memory.in_block

    def take_rev(self, write: LedgerWrite) -> None:
        """Take the person's next revision for it, log it, and update the ledger's counts."""
        memory = self.memory
        self.rev = write.change(
            memory.user_id,
            self.initial.event,
            "memory",
            memory.pk,
            new_version=memory.version,
            conversation_id=memory.source_conversation_id,
            **self.initial.meta,
        )
        write.keep_undo_step(memory.user_id, "memory", memory.pk, {"created": True})
        memory.active_rev = self.rev if memory.state == State.ACTIVE else None
        MemoryCounts.of(memory).count(write, memory.user_id)

    def relate(self, neighbours: Sequence[Neighbour]) -> None:
        """Add relations to the nearest of these neighbours."""
        nearest = neighbours[: settings.MEMORY_LINKS]
        self.relations += [(each.memory_id, Relation.Type.RELATED_TO, each.similarity) for each in nearest]

    def supersede(self, other_id: str) -> None:
        """Add a ``supersedes`` relation."""
        self.relations.append((other_id, Relation.Type.SUPERSEDES, 1.0))


def memories_insert(write: LedgerWrite, rows: Sequence[NewRow]) -> list[str]:
    """Insert new memories of one person, which have their revisions, in one statement.

    Returns the ids of evicted memories. Raises IdTaken, Gated (422 ``budget``).
    """
    values = {
        "rows": encoded([_as_json(row) for row in rows]).decode(),
        "vectors": VectorArray.of(row.wording.embedding for row in rows),
        "actor_kind": write.actor.kind,
        "actor_id": write.actor.id,
        "said_of": [row.memory.pk for row in rows for _ in row.initial.said],
        "messages": [said.message_id for row in rows for said in row.initial.said],
        "quotes": [said.quote for row in rows for said in row.initial.said],
        "related_from": [row.memory.pk for row in rows for _ in row.relations],
        "related_to": [to for row in rows for to, _, _ in row.relations],
        "types": [kind for row in rows for _, kind, _ in row.relations],
        "strengths": [strength for row in rows for _, _, strength in row.relations],
    }
    try:
        _insert().run(values)
    except IntegrityError as error:
        cause = getattr(error.__cause__, "diag", None)
        if cause is not None and cause.constraint_name == "memories_memory_pkey":
            raise IdTaken(*error.args) from error
        raise
    for row in rows:
        row.memory._state.adding, row.memory._state.db = False, connection.alias
        if row.wording.embedding is None:
            enqueue("memories.index", row.memory.pk)
    in_block = [row.memory for row in rows if row.adds_to_block]
    return block_evict(write, in_block[-1].user_id, keep=[in_block[-1].pk]) if in_block else []


@cache
def _insert() -> PreparedStatement:
    names = ", ".join(str(each.column) for each in _FIELDS)
    definitions = ", ".join(f"{each.column} {each.db_type(connection)}" for each in _FIELDS)
    template = statement("insert").replace("{names}", names).replace("{definitions}", definitions)
    return build_statement(template, {}, lasting=True)


def _as_json(row: NewRow) -> dict[str, Any]:
    values = vars(row.memory)
    return {str(each.column): values[each.attname] for each in _FIELDS} | {"rev": row.rev}
