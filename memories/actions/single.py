"""Changing one memory under the lock: what all actions have in common.

The person's ledger counts active memories, their words and the block's tokens. These counts are updated here, from the
memory's state before and after, so that no action can forget it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial
from typing import Any
from uuid import UUID

from django.conf import settings

from accounts.models import Agent
from accounts.principals import Principal
from journal.actions import LedgerWrite
from journal.queue import enqueue
from language.reading.kinds import subject_after
from retrieval.prepared import PreparedStatement, Shaped, build_statement
from retrieval.text import prepare
from statements.actions import (
    ChangedStatement,
    StatementWrite,
    archived_columns,
    doubt_dependents,
    present_columns,
    saving_changes,
    set_columns,
    statement_under_lock,
    statement_write,
    suppress,
    suppress_replaced,
)
from statements.actions.earlier import is_by_person
from statements.wording import Embedded, Wording

from .. import queries
from ..lines import line_tokens, memory_line
from ..models import (
    MEMORY,
    Kind,
    Memory,
    MemoryEvidence,
    MemoryPlanItem,
    MemoryPlanSource,
    MemoryVersion,
    Proposal,
    Relation,
)
from ..policy import writing
from ..policy.bands import Neighbour
from ..policy.writing import State, Why
from ..querysets import statement
from ..records import Said
from .budget import block_evict


@dataclass(frozen=True, slots=True)
class MemoryCounts:
    """A memory's contribution to the counts of the ledger."""

    memories: int = 0
    terms: int = 0
    block_tokens: int = 0

    @classmethod
    def of(cls, memory: Memory) -> MemoryCounts:
        """Return the contribution of a memory's current state."""
        if memory.state != State.ACTIVE:
            return cls()
        return cls(1, memory.search_length, memory.tokens if memory.in_block else 0)

    def count(self, write: LedgerWrite, user_id: UUID, *, before: MemoryCounts | None = None) -> int:
        """Update the ledger by the difference to ``before``. Returns the added tokens of the memory block."""
        was = before or MemoryCounts()
        longer = self.block_tokens - was.block_tokens
        write.count(
            user_id, memories=self.memories - was.memories, memory_terms=self.terms - was.terms, block_tokens=longer
        )
        return longer


@dataclass
class MemoryWrite(StatementWrite[Memory]):
    """A memory under the person's ledger lock. ``evicted`` are, afterwards, the ids evicted from the block."""

    kind = MEMORY

    evicted: list[str] = field(default_factory=list)

    @classmethod
    def changeable(cls, principal: Principal) -> Shaped:
        """Return the memories that a principal sees."""
        return queries.visible(principal)

    @property
    def memory(self) -> Memory:
        """The memory."""
        return self.row

    def activate(self, rev: int, *, reviewed: bool) -> None:
        """Make the memory active as of a revision."""
        memory = self.memory
        if memory.state != State.ACTIVE:
            memory.active_rev = rev
        if reviewed:
            memory.reviewed_at = self.now
        set_columns(memory, present_columns(State.ACTIVE, deleted_why=""))
        self.update_block_columns()

    def leave(self, state: str, why: str = "", *, reason: str = "") -> None:
        """Change the state to an inactive one. ``why`` is for archived and rejected memories."""
        gone = archived_columns(state, self.now, reason, deleted_why=why)
        set_columns(self.memory, gone if why else present_columns(state, reason, deleted_why=""))
        self.memory.active_rev = None

    def update_block_columns(self) -> None:
        """Update the columns that depend on category and subject: block membership and tokens."""
        update_block_columns(self.memory, self.now)

    def update_search_text(self, language: str) -> None:
        """Update the search text for the new subject."""
        prepared = prepare(self.memory.content, language, heading=self.memory.subject)
        self.memory.search_text, self.memory.search_length = prepared.text, prepared.length

    def worded(self, principal: Principal, text: Embedded) -> Wording:
        """Return the Wording of a new text for ``reword``. A subject whose name it replaces has the new name then."""
        memory = self.memory
        memory.subject = subject_after(memory.subject, memory.content, text.content)
        return text.worded(principal, memory.user_id, memory.subject)

    def reword(
        self,
        wording: Wording,
        event: str,
        *,
        written_by: str,
        conversation_id: UUID | None = None,
        said: Sequence[Said] = (),
        valid_from: datetime | None = None,
        correction: bool = False,
        reason: str = "",
        **meta: Any,
    ) -> int:
        """Store a new wording as the next version, logged as ``event``. Returns the revision.

        The old wording was true until ``valid_from`` (default: now). With ``correction`` the new one takes over its
        validity, and its ``said_at`` unless there is new evidence (``said``).
        """
        memory, old, content = self.memory, self.memory.version, self.memory.content
        memory.version = old + 1
        rev = self.log(event, old_version=old, conversation_id=conversation_id, **meta)
        ended = {}
        if said or not correction:
            memory.said_at = said[0].at if said else None
        if correction:
            memory.valid_from = valid_from or memory.valid_from
        else:
            since = valid_from or self.now
            until = min(memory.valid_to or since, since)
            ended["valid_to"] = max(memory.valid_from or until, until)
            memory.valid_from, memory.valid_to = since, None
        if memory.valid_from and memory.valid_to and memory.valid_to < memory.valid_from:
            memory.valid_to = None
        wording.put_on(memory)
        if is_by_person(written_by, self.write.actor.kind):
            suppress_replaced(self, content)
        memory.written_by = written_by
        if conversation_id is not None:
            memory.source_conversation_id = conversation_id
        self.update_block_columns()
        self.await_vector()
        if correction:
            self.doubt_dependents()
        version_id = self.add_version(rev, ended=ended, reason=reason, source_conversation_id=conversation_id)
        _store_evidence(version_id, said)
        return rev

    def doubt_dependents(self) -> None:
        """Let what rests on the memory or its evidence wait as possibly outdated, because of the logged change."""
        behind = MemoryEvidence.objects.filter(version__memory=self.memory).values_list("message_id", flat=True)
        user_id = self.memory.user_id
        changed = ChangedStatement(MEMORY.name, self.memory.pk, list(behind))
        doubt_dependents(self.write, user_id, changed, self.write.ledgers[user_id].rev)

    def add_evidence(self, said: Sequence[Said], conversation_id: UUID | None) -> None:
        """Add new evidence to the current version."""
        if not said:
            return
        version = MemoryVersion.objects.only("pk").get(memory=self.memory, number=self.memory.version)
        known = set(version.evidence.values_list("message_id", flat=True))
        new = [each for each in said if each.message_id not in known]
        _store_evidence(version.pk, new)
        if new:
            self.log("LINK", conversation_id=conversation_id, evidence=len(new))

    def relate(self, neighbours: Sequence[Neighbour]) -> None:
        """Relate it to the nearest neighbours, in place of those of the previous wording."""
        nearest = neighbours[: settings.MEMORY_LINKS]
        values = {
            "memory": self.memory.pk,
            "user": self.memory.user_id,
            "now": self.now,
            "related": [each.memory_id for each in nearest],
            "strengths": [each.similarity for each in nearest],
        }
        for gone in _relating().run(values):
            self.write.touch("relations", gone)

    def supersede(self, other_id: str) -> None:
        """Add a ``supersedes`` relation."""
        Relation.objects.get_or_create(
            from_memory=self.memory,
            to_memory_id=other_id,
            type=Relation.Type.SUPERSEDES,
            defaults={"user_id": self.memory.user_id, "strength": 1.0, "created_at": self.now},
        )

    def suppress(self) -> None:
        """Suppress the memory's statement."""
        suppress(self)
        plans_drop([self.memory.pk])

    def await_vector(self) -> None:
        """Queue the embedding of a memory without a vector."""
        if self.memory.embedding is None:
            self.memory.index_not_before = self.now
            self.memory.index_attempts = 0
            enqueue("memories.index", self.memory.pk)
        else:
            self.memory.index_not_before = None

    def counts(self) -> MemoryCounts:
        """The contribution of the memory's current state."""
        return MemoryCounts.of(self.memory)

    def update_counts(self, before: MemoryCounts) -> None:
        """Update the ledger's counts, and evict if the block exceeds its budget."""
        memory = self.memory
        now = self.counts()
        if now.count(self.write, memory.user_id, before=before) > 0:
            self.evicted = block_evict(self.write, memory.user_id, keep=[memory.pk])
        if now.memories < before.memories and memory.kind != Kind.INSIGHT:
            insights_leave(self.write, memory.user_id, [memory.pk])


memory_write = partial(statement_write, MemoryWrite)
memory_under_lock = partial(statement_under_lock, MemoryWrite)


def memory_changing(write: LedgerWrite, memory: Memory) -> AbstractContextManager[MemoryWrite]:
    """Like ``memory_write``, for a memory loaded inside such a transaction."""
    return saving_changes(MemoryWrite(write, memory))


def insights_leave(write: LedgerWrite, user_id: UUID, gone: Collection[str]) -> None:
    """Archive insights based on removed memories, in the same transaction."""
    if not gone:
        return
    for memory in Memory.objects.filter(user_id=user_id).resting_on(gone).without_vectors():
        insight_leave(write, memory)


def insight_leave(write: LedgerWrite, memory: Memory) -> None:
    """Archive an insight whose basis is gone, and close its proposal."""
    with memory_changing(write, memory) as change:
        was: dict[str, Any] = {} if memory.state == State.ACTIVE else {"was": memory.state}
        creates = Proposal.objects.waiting().filter(memory=memory, kind=Proposal.Kind.CREATE)
        creates.update(state=Proposal.State.LAPSED, decided_at=change.now)
        change.leave(State.ARCHIVED, Why.UNFOUNDED, reason=memory.state_reason)
        change.log("DELETE", why=Why.UNFOUNDED, **was)


def relink(change: MemoryWrite, principal: Principal, text: Embedded) -> None:
    """Replace the relations of a reworded memory."""
    memory = change.memory
    change.relate(
        queries.neighbours(principal, memory.user_id, text, kind=memory.kind, subject=memory.subject, but=memory.pk)
    )


@cache
def _relating() -> PreparedStatement:
    return build_statement(statement("relink"), {}, lasting=True)


def update_block_columns(memory: Memory, now: datetime) -> None:
    """Set the columns that depend on category and subject: block membership and tokens."""
    memory.in_block = writing.is_in_block(memory.kind, memory.category)
    memory.tokens = line_tokens(memory_line(memory.pk, now, memory.subject, memory.content))


def plans_drop(memory_ids: Collection[str]) -> None:
    """Drop items of open plans with these memories."""
    of_these = MemoryPlanSource.objects.filter(memory__in=memory_ids).values("item")
    waiting = MemoryPlanItem.objects.filter(state=MemoryPlanItem.State.WAITING, pk__in=of_these)
    ended = {"state": MemoryPlanItem.State.SKIPPED, "reason": MemoryPlanItem.Reason.GONE}
    waiting.update(**ended, content="", subject="", topics=[])


def _store_evidence(version_id: int, said: Sequence[Said]) -> None:
    MemoryEvidence.objects.bulk_create(
        MemoryEvidence(version_id=version_id, message_id=each.message_id, quote=each.quote) for each in said
    )


def author(principal: Principal) -> str:
    """Return the displayed author: '' for the person, else the model, the agent, or ``job``."""
    if principal.words_of:
        return principal.words_of[:80]
    if principal.speaks_as_person:
        return ""
    if principal.agent_id is None:
        return principal.kind
    name = principal.agent_name or Agent.objects.values_list("name", flat=True).get(pk=principal.agent_id)
    return name[:80]
