"""Bulk archiving and bulk decisions, under one lock, with a constant number of SQL statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import policy as accounts_policy
from accounts.principals import Principal
from conversations.actions import words_restore
from journal.actions import LedgerWrite, ledger_write, write_part
from journal.exceptions import Gated, NotYoursToDecide, Refused
from journal.records import DONE, BulkResult
from journal.verdicts import compares_unlocked
from statements.actions import GONE, PRESENT, archived_columns, erasure_waits, present_columns
from statements.actions.many import (
    MOST_AT_ONCE,
    LogEntry,
    Move,
    check_decision,
    decision_outcomes,
    lift_resembled,
    suppress_many,
    unsuppress_many,
)
from statements.models import Doubt, RejectionReason

from .. import queries
from ..lines import line_tokens, memory_line
from ..models import MEMORY, Memory, Proposal, Relation
from ..policy import writing
from ..policy.writing import State, Why
from ..records import BulkItem, BulkOutcome
from .budget import block_evict
from .many import Slots, block_tokens, change_many, for_bulk, summaries_follow, withheld_ahead, withhold
from .proposing import propose_archives, signals_forget
from .single import author, plans_drop
from .transitions import states_before

# For each decision: the allowed states before it, and the possible states after it.
_FROM: dict[str, tuple[AbstractSet[str], AbstractSet[str]]] = {
    "approve": ({State.PROPOSED, State.ACTIVE}, {"reviewed"}),
    "reject": ({*PRESENT, State.ARCHIVED}, {State.REJECTED}),
    "archive": (PRESENT, {State.ARCHIVED}),
    "restore": (GONE, {"reviewed", State.QUARANTINED}),
    "pin": ({State.PROPOSED, State.ACTIVE}, {State.PROPOSED, "waiting", "reviewed"}),
    "unpin": ({State.PROPOSED, State.ACTIVE}, {State.PROPOSED, "waiting", "reviewed"}),
}
BULK_DECISIONS = tuple(_FROM)


def memories_delete(principal: Principal, ids: Sequence[str]) -> list[BulkItem]:
    """Archive up to ``MOST_AT_ONCE`` memories in one transaction. Returns the outcome of each id, in order.

    Each is archived like by ``memory_archive``. Raises NotAllowed, Refused (400 ``too_many``).
    """
    user_id = accounts_policy.must_remember(principal)
    if len(ids) > MOST_AT_ONCE:
        raise Refused(
            _("Name at most %(most_at_once)s memories at once.") % {"most_at_once": MOST_AT_ONCE}, code="too_many"
        )
    own_word = principal.speaks_as_person
    goes = {State.ACTIVE, State.PROPOSED} | ({State.QUARANTINED} if own_word else set())
    outcomes: dict[str, BulkOutcome] = {}
    with ledger_write(principal.actor, user_id) as write:
        away, asked = [], []
        named = list(for_bulk(Memory.objects.visible_to(principal).filter(pk__in=set(ids))))
        kept = queries.kept_by_person(principal, named)
        for memory in named:
            if memory.state not in goes or (memory.state != State.ACTIVE and memory.pk in kept):
                outcomes[memory.pk] = "skipped"
            elif memory.pk in kept or (memory.state == State.ACTIVE and writing.waits(principal, memory.field)):
                outcomes[memory.pk] = "proposed"
                asked.append(memory)
            else:
                outcomes[memory.pk] = "archived"
                away.append(memory)
        archive_many(write, user_id, _as_named(away, ids), Why.PERSON if own_word else Why.AGENT)
        if asked:
            propose_archives(write, principal, _as_named(asked, ids), kept=kept, written_by=author(principal))
        write.result("memory", *(memory_id for memory_id in outcomes if outcomes[memory_id] != "skipped"))
    return [BulkItem(memory_id, outcomes.get(memory_id, "not_found")) for memory_id in ids]


def archive_many(
    write: LedgerWrite,
    user_id: UUID,
    memories: Sequence[Memory],
    why: str,
    *,
    event: str = "DELETE",
    reason: str | None = None,
    meta_of: Callable[[Memory], dict[str, Any]] = lambda memory: {},
) -> None:
    """Archive memories of one person whose ledger is locked, each with a revision, in the order given.

    ``reason`` is their new ``state_reason`` (None: as it is); ``meta_of`` returns further log data of each.
    """
    if not memories:
        return
    now = timezone.now()
    moves = []
    for memory in memories:
        was: dict[str, Any] = {} if memory.state == State.ACTIVE else {"was": memory.state}
        said = memory.state_reason if reason is None else reason
        target = archived_columns(State.ARCHIVED, now, said, deleted_why=why)
        moves.append(Move(memory, target, [LogEntry(event, {"why": why, **was, **meta_of(memory)})]))
    if why == Why.PERSON:
        suppress_many(MEMORY, moves)
        signals_forget(user_id, memories)
    change_many(write, user_id, moves)


def _as_named(memories: Sequence[Memory], ids: Sequence[str]) -> list[Memory]:
    """Sort memories in the order of ``ids``."""
    by_id = {memory.pk: memory for memory in memories}
    return [by_id[memory_id] for memory_id in dict.fromkeys(ids) if memory_id in by_id]


# --- The person's decisions ---------------------------------------------------------------------------------------


def memories_preview(principal: Principal, wanted: Mapping[str, int | None], decision: str) -> BulkResult[str]:
    """Preview ``memories_decide`` without changing anything. Raises the same errors."""
    _check(principal, wanted, decision)
    return BulkResult(_outcomes(wanted, _read(principal, wanted), decision))


@compares_unlocked
def memories_decide(
    principal: Principal, wanted: Mapping[str, int | None], decision: str, *, reason: str = RejectionReason.NOT_TRUE
) -> BulkResult[str]:
    """Execute one decision of the person about many memories: approve, reject, archive, restore, pin or unpin.

    ``wanted`` maps ids to the versions that the person saw (None: any). Memories that can't be decided are skipped and
    counted. Runs in one transaction under one lock, with consecutive revisions, also of evicted and replaced memories.
    The reason ``dont_keep`` also withholds the source words.

    Codes of skipped ones: ``not_there``, ``changed`` (reworded since), ``nothing_to_do``, ``wrong_state``; on reject
    and restore also ``erasure_waits``, on restore ``similar_exists`` and ``field_exists``. Raises NotYoursToDecide,
    Refused (400 ``unknown_decision``, ``too_many``), Gated (422 ``budget``, if the pinned alone exceed the budget).
    """
    user_id = _check(principal, wanted, decision)
    refusal = RejectionReason(reason)
    withholds = refusal == RejectionReason.DONT_KEEP and decision in {"reject", "archive"}
    behind = [memory.pk for memory in _read(principal, wanted)] if withholds else []
    with withheld_ahead(user_id, behind), ledger_write(principal.actor, user_id) as write:
        first = write.ledgers[user_id].rev + 1
        memories = _read(principal, wanted)
        outcomes = _outcomes(wanted, memories, decision)
        chosen = [memory for memory in memories if outcomes[memory.pk] == DONE]
        outcomes |= _DECIDE[decision](_Deciding(write, principal, user_id, refusal), chosen)
        if withholds:
            withhold(write, user_id, [memory.pk for memory in chosen])
        result = BulkResult.between(outcomes, first, write.ledgers[user_id].rev)
        write.result("memory", *result.ids)
    return result


def _check(principal: Principal, wanted: Mapping[str, int | None], decision: str) -> UUID:
    user_id = accounts_policy.must_decide(principal)
    if not principal.speaks_as_person:  # A service that may decide words nothing for them.
        raise NotYoursToDecide
    check_decision(MEMORY, wanted, decision, _FROM)
    return user_id


def _read(principal: Principal, wanted: Mapping[str, object]) -> list[Memory]:
    rows = Memory.objects.visible_to(principal).filter(pk__in=list(wanted))
    return list(for_bulk(rows).order_by("created_at", "id"))


def _outcomes(wanted: Mapping[str, int | None], memories: Sequence[Memory], decision: str) -> dict[str, str]:
    """Return the outcome of the decision by memory, in a stable order."""
    doubted: set[str] = set()
    if decision == "approve" and memories:
        doubted = set(Doubt.objects.open_of(memories[0].user_id, "memory").values_list("object_id", flat=True))
    leaving = erasure_waits(memories) if decision in {"restore", "reject"} else ()

    def against(memory: Memory) -> str:
        is_settled = not memory.needs_check and memory.pk not in doubted
        stands_so = {
            "approve": writing.review_state(memory) == "reviewed" and is_settled,
            "pin": memory.pinned,
            "unpin": not memory.pinned,
        }
        if memory.pk in leaving:
            return "erasure_waits"
        return "nothing_to_do" if stands_so.get(decision) else ""

    return decision_outcomes(wanted, memories, _FROM[decision], writing.review_state, against)


# --- Execution -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Places:
    """The memories that activated ones replace: those they supersede, and the current values of their fields."""

    user_id: UUID
    coming: Sequence[Memory]
    active: dict[str, Memory]
    superseded: dict[str, list[str]]
    holders: dict[str, Memory]
    new: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, user_id: UUID, memories: Sequence[Memory]) -> _Places:
        """Read it, in two statements."""
        if not memories:
            return cls(user_id, memories, {}, {}, {})
        superseded: dict[str, list[str]] = defaultdict(list)
        over = Relation.objects.filter(from_memory__in=memories, type=Relation.Type.SUPERSEDES)
        for memory_id, other_id in over.values_list("from_memory_id", "to_memory_id"):
            superseded[memory_id].append(other_id)
        fields = {memory.field for memory in memories if writing.single_valued(memory.field)}
        others = Q(pk__in=[other for each in superseded.values() for other in each]) | Q(field__in=fields)
        found = list(for_bulk(Memory.objects.active().filter(others, user_id=user_id)))
        holders = {memory.field: memory for memory in found if memory.field in fields}
        return cls(user_id, memories, {memory.pk: memory for memory in found}, superseded, holders)

    def take(self, memory: Memory) -> list[Memory]:
        """Make a memory active. Returns the memories that it replaces."""
        gone = [self.active.pop(pk) for pk in self.superseded.get(memory.pk, []) if pk in self.active]
        holder = self.holders.get(memory.field)
        if holder is not None and holder.pk in self.active:
            gone.append(self.active.pop(holder.pk))
            self.new.append((memory.pk, holder.pk))
        self.active[memory.pk] = memory
        if writing.single_valued(memory.field):
            self.holders[memory.field] = memory
        return gone

    def relate(self, now: datetime) -> None:
        """Store a ``supersedes`` relation for each replaced field value."""
        supersedes = {"user_id": self.user_id, "type": Relation.Type.SUPERSEDES, "strength": 1.0, "created_at": now}
        relations = [Relation(from_memory_id=one, to_memory_id=other, **supersedes) for one, other in self.new]
        Relation.objects.bulk_create(relations, ignore_conflicts=True)


@dataclass(frozen=True, slots=True)
class _Deciding:
    """Executes a decision under the lock. Methods return an error code for each skipped memory."""

    write: LedgerWrite
    principal: Principal
    user_id: UUID
    refusal: RejectionReason
    now: datetime = field(default_factory=timezone.now)

    def approve(self, memories: Sequence[Memory]) -> dict[str, str]:
        """Activate memories. Each replaces the memories that it supersedes, and the old value of its field."""
        waiting = {memory.pk: memory for memory in memories if memory.state == State.PROPOSED}
        late = Proposal.objects.waiting().filter(
            memory__in=waiting, kind=Proposal.Kind.CREATE, expires_at__lte=self.now
        )
        left = dict.fromkeys(late.values_list("memory_id", flat=True) if waiting else (), "wrong_state")
        moves: dict[str, Move[Memory]] = {}
        places = _Places.of(self.user_id, [memory for pk, memory in waiting.items() if pk not in left])
        for memory in places.coming:
            moves[memory.pk] = self.approved(memory)
            for other in places.take(memory):
                move = moves.setdefault(other.pk, Move(other, {}, []))
                move.target |= archived_columns(State.ARCHIVED, self.now, other.state_reason, deleted_why=Why.REPLACED)
                move.logged = [*move.logged, LogEntry("DELETE", {"why": Why.REPLACED})]
        for memory in memories:
            if memory.pk in moves and memory.pk not in waiting:
                left[memory.pk] = "wrong_state"  # Another one of the call has replaced it.
            elif memory.pk not in moves and memory.pk not in left:
                moves[memory.pk] = self.approved(memory)
        lift_resembled(MEMORY, self.user_id, [*moves.values()])
        change_many(self.write, self.user_id, [*moves.values()])
        places.relate(self.now)
        self.make_room([move for move in moves.values() if move.state == State.ACTIVE])
        return left

    def approved(self, memory: Memory) -> Move[Memory]:
        """Return the change that approves one memory."""
        target = present_columns(State.ACTIVE, deleted_why="", reviewed_at=self.now, needs_check=False)
        target["tokens"] = line_tokens(memory_line(memory.pk, self.now, memory.subject, memory.content))
        target["in_block"] = writing.is_in_block(memory.kind, memory.category)
        return Move(memory, target, [LogEntry("APPROVE")])

    def reject(self, memories: Sequence[Memory]) -> dict[str, str]:
        """Reject memories, and suppress their words."""
        moves = []
        away = [memory for memory in memories if memory.state == State.ARCHIVED]
        before = states_before(self.user_id, away) if away else {}
        for memory in memories:
            stood = before.get(memory.pk, memory.state)
            was = {} if stood == State.ACTIVE else {"was": stood}
            reason = memory.state_reason or self.refusal.label
            target = archived_columns(State.REJECTED, self.now, reason, deleted_why=Why.REJECTED)
            moves.append(Move(memory, target, [LogEntry("REJECT", was)]))
        suppress_many(MEMORY, moves)
        plans_drop([memory.pk for memory in memories])
        signals_forget(self.user_id, memories)
        change_many(self.write, self.user_id, moves)
        summaries_follow([memory.pk for memory in memories])
        return {}

    def archive(self, memories: Sequence[Memory]) -> dict[str, str]:
        """Archive memories."""
        archive_many(self.write, self.user_id, memories, Why.PERSON)
        return {}

    def restore(self, memories: Sequence[Memory]) -> dict[str, str]:
        """Restore memories; those that were quarantined when archived become quarantined again."""
        left: dict[str, str] = {}
        slots, before = Slots.of(self.user_id, memories, ()), states_before(self.user_id, memories)
        back = []
        for memory in memories:
            held_back = before.get(memory.pk) == State.QUARANTINED
            why = slots.why_not(memory, active=not held_back)
            if why:
                left[memory.pk] = why
            else:
                back.append((memory, held_back))
        words_restore(self.write, self.user_id, "memory", [memory.pk for memory, _ in back])
        moves = []
        for memory, held_back in back:
            state, reason = (State.QUARANTINED, memory.state_reason) if held_back else (State.ACTIVE, "")
            target = present_columns(state, reason, deleted_why="") | ({} if held_back else {"reviewed_at": self.now})
            if memory.expires_at is not None and memory.expires_at <= self.now:
                target["expires_at"] = None
            logged = [LogEntry("RESTORE", {"held_back": True} if held_back else {})]
            moves.append(Move(memory, target, logged))
        unsuppress_many(MEMORY, moves)
        change_many(self.write, self.user_id, moves)
        self.make_room(moves)
        return left

    def pin(self, memories: Sequence[Memory], *, pinned: bool = True) -> dict[str, str]:
        """Pin memories, so that they are not evicted or forgotten, or unpin them."""
        moves = [Move(memory, {"pinned": pinned}, [LogEntry("PIN", {"pinned": pinned})]) for memory in memories]
        change_many(self.write, self.user_id, moves)
        return {}

    def unpin(self, memories: Sequence[Memory]) -> dict[str, str]:
        """Unpin memories."""
        return self.pin(memories, pinned=False)

    def make_room(self, moves: Sequence[Move[Memory]]) -> None:
        """Evict until the block is within its budget, keeping as many of the chosen memories as fit, latest first."""
        keep: list[str] = []
        room = settings.MEMORY_BLOCK_TOKENS
        for move in reversed(moves):
            room -= max(0, block_tokens(move))
            if room < 0 and keep:
                break
            keep.append(move.row.pk)
        if any(block_tokens(move) > 0 for move in moves):
            try:
                with write_part(self.write):
                    block_evict(self.write, self.user_id, keep=keep)
            except Gated:
                # Other fixed parts of the block, such as places, leave less room: keep only one.
                block_evict(self.write, self.user_id, keep=keep[:1])


_DECIDE: dict[str, Callable[[_Deciding, Sequence[Memory]], dict[str, str]]] = {
    decision: getattr(_Deciding, decision) for decision in _FROM
}
