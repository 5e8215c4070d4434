"""Change, reword or relate many memories of one person in a constant number of SQL statements."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from conversations.actions import Cause, original_quotes, plan_withholding, summaries_hide, words_withhold
from journal.actions import LedgerWrite
from journal.queue import enqueue
from language.backends import get_embedder
from statements.actions.many import Move, move_many
from statements.actions.undoing import store_versions
from statements.policy import fingerprints

from ..models import MEMORY, Kind, Memory, MemoryEvidence, Proposal, Relation
from ..policy import writing
from ..policy.writing import State, Why
from ..querysets import MemoryQuerySet, statement
from .proposing import propose_creates
from .single import MemoryCounts, insights_leave

_READ = ("id", "user_id", "agent_id", "state", "version", "kind", "category", "field", "subject", "content", "tokens",
         "in_block", "search_length", "reviewed_at", "needs_check", "pinned", "deleted_why", "state_reason",
         "expires_at", "verbatim", "fingerprint", "written_by", "source_conversation_id", "created_at")  # fmt: skip


def for_bulk(rows: MemoryQuerySet) -> MemoryQuerySet:
    """Load only the columns that bulk decisions need."""
    return rows.only(*_READ)


def change_many(write: LedgerWrite, user_id: UUID, moves: Sequence[Move[Memory]]) -> None:
    """Log and store changes of a person's memories under the lock, update counts, and close or reopen their proposals.

    The caller must evict if the block exceeds its budget afterwards.
    """
    move_many(MEMORY, write, user_id, moves, _follows)
    for move in moves:
        MemoryCounts.of(move.after()).count(write, user_id, before=MemoryCounts.of(move.row))
    _settle_creates(moves, timezone.now())
    insights_leave(write, user_id, [move.row.pk for move in moves if _takes_away(move)])


def _takes_away(move: Move[Memory]) -> bool:
    """Whether the statement is not remembered any more. A merged memory's is, in the merged one."""
    goes = move.row.state == State.ACTIVE != move.state and move.value("deleted_why") != Why.MERGED
    return goes and move.row.kind != Kind.INSIGHT


def _follows(move: Move[Memory], now: datetime) -> dict[str, Any]:
    if move.state != State.ACTIVE:
        return {"active_rev": None}
    return {} if move.row.state == State.ACTIVE else {"active_rev": move.rev}


def block_tokens(move: Move[Memory]) -> int:
    """By how many tokens the change lengthens the block."""
    return MemoryCounts.of(move.after()).block_tokens - MemoryCounts.of(move.row).block_tokens


def _settle_creates(moves: Iterable[Move[Memory]], now: datetime) -> None:
    """Close the proposals of memories that wait no more, and open proposals for those that wait again."""
    ended: dict[str, list[str]] = {}
    waiting = []
    for move in moves:
        if move.row.state == State.PROPOSED != move.state:
            ended.setdefault(_ending(move), []).append(move.row.pk)
        elif move.state == State.PROPOSED != move.row.state:
            waiting.append(move.row)
    for state, ids in ended.items():
        creates = Proposal.objects.waiting().filter(memory__in=ids, kind=Proposal.Kind.CREATE)
        creates.update(state=state, decided_at=now)
    if waiting:
        # Undone in time, a decision leaves the days that were left: so it keeps its place among what waits.
        earlier = Proposal.objects.filter(memory__in=waiting, kind=Proposal.Kind.CREATE, expires_at__gt=now)
        propose_creates(waiting, now, dict(earlier.order_by("created_at").values_list("memory_id", "expires_at")))


def _ending(move: Move[Memory]) -> str:
    if move.state == State.ACTIVE or move.value("deleted_why") == Why.REPLACED:  # Approved, and replaced at once.
        return Proposal.State.APPROVED
    by_person = move.target.get("deleted_why") == Why.PERSON or move.state == State.REJECTED
    return Proposal.State.REJECTED if by_person else Proposal.State.LAPSED


# --- Conflicts of restored memories -------------------------------------------------------------------------------


@dataclass(slots=True)
class Slots:
    """Words and fields of a person's present memories, which a restored memory would duplicate."""

    words: dict[tuple[str, str], list[Memory]]
    fields: dict[str, str]

    @classmethod
    def of(cls, user_id: UUID, coming_back: Sequence[Memory], leaving: Iterable[str]) -> Slots:
        """Load it for memories to restore, in two statements. ``leaving`` memories don't conflict."""
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
        """Return the conflict code of a memory for its field (if ``active``) and its ``words``, or ''."""
        if words and not memory.verbatim:
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


# --- Wordings and relations -------------------------------------------------------------------------------------------

# The vector of the earlier wording, where the present embedder made it; else one comes later.
_VECTORS = """
UPDATE memories_memory AS memory
SET embedding = earlier.embedding, embedding_model = earlier.embedding_model,
    index_not_before = CASE WHEN earlier.embedding IS NULL THEN %(now)s END, index_attempts = 0
FROM (
    SELECT moved.id, version.embedding, coalesce(version.embedding_model, '') AS embedding_model
    FROM unnest(%(ids)s::text[], %(numbers)s::int[]) AS moved (id, number)
    LEFT JOIN memories_memoryversion AS version ON version.memory_id = moved.id AND version.number = moved.number
        AND version.embedding_model = %(model)s
) AS earlier
WHERE memory.id = earlier.id
RETURNING memory.id, memory.embedding IS NULL
"""


def reword_many(write: LedgerWrite, moves: Sequence[Move[Memory]], now: datetime) -> None:
    """Store restored wordings as the memories' next versions, inside the calling action."""
    if not moves:
        return
    values: dict[str, Any] = {
        "now": now,
        "ids": [move.row.pk for move in moves],
        "numbers": [move.logged[0].meta["reverted_to"] for move in moves],
        "model": get_embedder().name,
    }
    with connection.cursor() as cursor:
        cursor.execute(_VECTORS, values)
        for memory_id, has_none in cursor.fetchall():
            if has_none:
                enqueue("memories.index", memory_id)
    store_versions(MEMORY, write, moves, now, blank=["reason"])


@dataclass(frozen=True, slots=True)
class Related:
    """Result of relating a memory: the cosine similarity of its nearest neighbour, and the newly related ids."""

    similarity: float
    to: list[str]


def memories_relate(write: LedgerWrite, user_id: UUID, ids: Sequence[str]) -> dict[str, Related]:
    """Relate stored memories, under the person's lock, to at most ``MEMORY_LINKS`` similar ones each.

    One statement for all. Candidates are present memories of the same kind, including ``ids``, with a similarity of at
    least ``MEMORY_LINK_MIN_SIMILARITY``. Existing relations stay. Returns the results by id, without memories that have
    no vector or no neighbour.
    """
    if not ids:
        return {}
    if user_id not in write.ledgers:
        raise ValueError("the ledger of this person is not locked")
    values = {
        "user": str(user_id),
        "ids": list(dict.fromkeys(ids)),
        "links": settings.MEMORY_LINKS,
        "at_least": settings.MEMORY_LINK_MIN_SIMILARITY,
        "now": timezone.now(),
    }
    with connection.cursor() as cursor:
        cursor.execute(statement("relate"), values)
        return {memory_id: Related(similarity, to) for memory_id, similarity, to in cursor.fetchall()}


WITHHOLDS = [Kind.SEMANTIC, Kind.PROCEDURAL]


def summaries_follow(ids: Collection[str]) -> None:
    """Have the summaries rewritten that may state rejected memories, in a transaction that holds the ledger lock."""
    behind = MemoryEvidence.objects.filter(version__memory__in=ids)
    summaries_hide(set(behind.values_list("message_id", flat=True)))


def withhold(write: LedgerWrite, user_id: UUID, ids: Collection[str], *, relayed: bool = False) -> None:
    """Withhold the source words of memories, in a transaction that holds the ledger lock. ``relayed`` as in Cause."""
    for cause, said in words_behind(ids):
        words_withhold(write, user_id, replace(cause, relayed=relayed), said)


def withheld_ahead(user_id: UUID, ids: Collection[str]) -> AbstractContextManager[None]:
    """Prepare ``withhold`` before the lock."""
    return plan_withholding(user_id, dict(words_behind(ids)))


def words_behind(ids: Collection[str]) -> Iterator[tuple[Cause, list[tuple[UUID, str]]]]:
    """Return the words to withhold for memories, with each memory as the cause.

    Merged and episodic memories withhold nothing, since their evidence says more than they do.
    """
    made = Relation.objects.filter(from_memory__in=ids, type=Relation.Type.DERIVED_FROM).values("from_memory")
    rows = MemoryEvidence.objects.filter(version__memory__kind__in=WITHHOLDS).exclude(version__memory__in=made)
    for memory_id in ids:
        yield Cause("memory", memory_id), original_quotes(rows.filter(version__memory=memory_id))
