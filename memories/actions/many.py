"""Many memories of one person set each to its own columns, in as many statements for a thousand as for one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from journal.actions import LedgerWrite
from journal.steps import rewrite
from statements.policy import fingerprints

from ..models import Memory, Proposal
from ..policy import writing
from ..policy.writing import State, Why
from ..querysets import MemoryQuerySet
from .single import NOT_KEPT

GONE = frozenset({State.ARCHIVED, State.REJECTED})
PRESENT = frozenset({State.PROPOSED, State.ACTIVE, State.QUARANTINED})

_READ = ("id", "user_id", "agent_id", "state", "version", "kind", "category", "field", "subject", "content", "tokens",
         "in_block", "search_length", "reviewed_at", "needs_check", "pinned", "deleted_why", "state_reason",
         "expires_at", "fingerprint", "written_by", "source_conversation_id", "created_at")  # fmt: skip


def narrow(rows: MemoryQuerySet) -> MemoryQuerySet:
    """The columns that deciding about many takes."""
    return rows.only(*_READ)


@dataclass(slots=True)
class Logged:
    """What is logged of a memory."""

    event: str
    meta: dict[str, Any] = field(default_factory=dict)
    old_version: int | None = None


@dataclass(slots=True)
class Move:
    """A memory, the columns that it gets, what is logged, and what it touched beside it for the undo.

    ``first_rev`` and ``rev`` are the first and the last revision that this took.
    """

    memory: Memory
    target: dict[str, Any]
    logged: Sequence[Logged]
    before: dict[str, Any] = field(default_factory=dict)
    first_rev: int = 0
    rev: int = 0

    @property
    def state(self) -> str:
        """The state that the memory gets."""
        return str(self.target.get("state", self.memory.state))


def going(memory: Memory, state: str, why: str, reason: str, now: datetime) -> dict[str, Any]:
    """The columns of a memory that is archived or rejected."""
    purge_at = now + timedelta(days=settings.ARCHIVE_DAYS)
    return {"state": state, "deleted_why": why, "state_reason": reason, "deleted_at": now, "purge_at": purge_at}


def coming(state: str, reason: str = "") -> dict[str, Any]:
    """The columns of a memory that is there again."""
    return {"state": state, "deleted_why": "", "state_reason": reason, "deleted_at": None, "purge_at": None}


def change_many(write: LedgerWrite, user_id: UUID, moves: Sequence[Move]) -> None:
    """Log, store and count what is done to memories of a person whose ledger is locked, and end or open their wait.

    What leaves the active state is stored first, so that what comes in its place finds its field free. The block may
    be longer than its budget then: that is the caller's to see to.
    """
    if not moves:
        return
    now = timezone.now()
    for move in moves:
        for each in move.logged:
            version = move.target.get("version", move.memory.version)
            move.rev = write.change(
                user_id, each.event, "memory", move.memory.pk, old_version=each.old_version, new_version=version,
                **each.meta,
            )  # fmt: skip
            move.first_rev = move.first_rev or move.rev
        move.target["updated_at"] = now
        if move.state != State.ACTIVE:
            move.target["active_rev"] = None
        elif move.memory.state != State.ACTIVE:
            move.target["active_rev"] = move.rev
    leaving = {each.memory.pk: each.target for each in moves if each.state != State.ACTIVE}
    others = {each.memory.pk: each.target for each in moves if each.state == State.ACTIVE}
    was = rewrite(Memory, leaving) | rewrite(Memory, others)
    for move in moves:
        before = {name: value for name, value in was[move.memory.pk].items() if name not in NOT_KEPT}
        write.undoable(user_id, "memory", move.memory.pk, {**before, **move.before})
    _count(write, user_id, moves)
    _settle_creates(user_id, moves, now)


def block_tokens(move: Move) -> int:
    """How much longer the move makes the block."""
    memory = move.memory
    stood = memory.tokens if memory.state == State.ACTIVE and memory.in_block else 0
    stands = move.state == State.ACTIVE and move.target.get("in_block", memory.in_block)
    return (move.target.get("tokens", memory.tokens) if stands else 0) - stood


def _count(write: LedgerWrite, user_id: UUID, moves: Iterable[Move]) -> None:
    memories = terms = tokens = 0
    for move in moves:
        before, after = move.memory.state == State.ACTIVE, move.state == State.ACTIVE
        length = move.target.get("search_length", move.memory.search_length)
        memories += after - before
        terms += length * after - move.memory.search_length * before
        tokens += block_tokens(move)
    write.count(user_id, memories=memories, memory_terms=terms, block_tokens=tokens)


def _settle_creates(user_id: UUID, moves: Iterable[Move], now: datetime) -> None:
    """End the proposals of memories that wait no more, and let those that wait again be decided about."""
    ended: dict[str, list[str]] = {}
    waiting = []
    for move in moves:
        if move.memory.state == State.PROPOSED != move.state:
            ended.setdefault(_ending(move), []).append(move.memory.pk)
        elif move.state == State.PROPOSED != move.memory.state:
            waiting.append(move.memory)
    for state, ids in ended.items():
        creates = Proposal.objects.waiting().filter(memory__in=ids, kind=Proposal.Kind.CREATE)
        creates.update(state=state, decided_at=now)
    if not waiting:
        return
    lapses = now + timedelta(days=settings.PROPOSAL_DAYS)
    Proposal.objects.bulk_create(
        Proposal(
            user_id=user_id,
            agent_id=memory.agent_id,
            kind=Proposal.Kind.CREATE,
            memory=memory,
            memory_version=memory.version,
            written_by=memory.written_by,
            source_conversation_id=memory.source_conversation_id,
            created_at=now,
            expires_at=lapses,
        )
        for memory in waiting
    )


def _ending(move: Move) -> str:
    if move.state == State.ACTIVE:
        return Proposal.State.APPROVED
    by_person = move.target.get("deleted_why") == Why.PERSON or move.state == State.REJECTED
    return Proposal.State.REJECTED if by_person else Proposal.State.LAPSED


# --- What stands in the way ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class Slots:
    """What a person has now: words and fields that something which comes back would have a second time."""

    words: dict[tuple[str, str], list[Memory]]
    fields: dict[str, str]

    @classmethod
    def of(cls, user_id: UUID, coming_back: Sequence[Memory], leaving: Iterable[str]) -> Slots:
        """Read it for memories that would come back, in two statements. What is ``leaving`` stands in nobody's way."""
        prints = {each for memory in coming_back for each in fingerprints(user_id, memory.content)}
        fields = {memory.field for memory in coming_back if writing.single_valued(memory.field)}
        rows = Memory.objects.filter(user_id=user_id).exclude(pk__in=leaving)
        rows = rows.filter(Q(fingerprint__in=prints) | Q(field__in=fields, state=State.ACTIVE)).present()
        words: dict[tuple[str, str], list[Memory]] = {}
        taken: dict[str, str] = {}
        back = {memory.pk for memory in coming_back}
        for memory in rows.only("kind", "fingerprint", "subject", "field", "state"):
            if memory.fingerprint in prints and memory.pk not in back:
                words.setdefault((memory.kind, memory.fingerprint), []).append(memory)
            if memory.state == State.ACTIVE and memory.field in fields:
                taken[memory.field] = memory.pk
        return cls(words, taken)

    def why_not(self, memory: Memory, *, active: bool, words: bool = True) -> str:
        """Why a memory can't have its field if it is ``active``, and its ``words``; empty when it has them now."""
        if words:
            for each in fingerprints(memory.user_id, memory.content):
                twins = self.words.get((memory.kind, each), [])
                if any(not writing.are_apart(twin.subject, memory.subject) for twin in twins):
                    return "similar_exists"
        if active and writing.single_valued(memory.field):
            if self.fields.get(memory.field, memory.pk) != memory.pk:
                return "field_exists"
            self.fields[memory.field] = memory.pk
        self.words.setdefault((memory.kind, memory.fingerprint), []).append(memory)
        return ""
