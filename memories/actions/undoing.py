"""Undo for memories: restores many at once, through the same gates as any write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.dateparse import parse_datetime

from accounts import policy as accounts_policy
from accounts.principals import Principal
from journal.actions import LedgerWrite
from journal.exceptions import Gated
from journal.steps import TOUCHED, UndoTarget
from retrieval.text import prepare
from statements.actions import GONE, PRESENT, archived_columns, present_columns
from statements.actions.many import LogEntry, Move
from statements.actions.undoing import StatementsUndo, rejected_again, wordings_before
from statements.policy import fingerprint

from ..lines import line_tokens, memory_line
from ..models import MEMORY, Memory, Proposal, Relation
from ..policy import writing
from ..policy.writing import State, Why
from .editing import check_beside
from .many import Slots, block_tokens, change_many, for_bulk, reword_many

_STANDING = frozenset({"state", "state_reason", "deleted_at", "deleted_why", "purge_at"})
_FILING = ("subject", "topics", "category", "importance", "expires_at", "metadata", "in_block")


def memories_undo(write: LedgerWrite, principal: Principal, wanted: Sequence[UndoTarget]) -> Mapping[str, str]:
    """Restore memories' states, wordings and fields. Returns an error code by id for those not restored."""
    user_id = accounts_policy.must_remember(principal)
    rows = for_bulk(Memory.objects.visible_to(principal).filter(pk__in=[each.object_id for each in wanted]))
    earlier = wordings_before(MEMORY, wanted, "content", "said_at", "embedding", "embedding_model")
    return _MemoriesUndo(write, principal, user_id, wanted, earlier).run(rows)


class _MemoriesUndo(StatementsUndo[Memory]):
    kind = MEMORY

    def store(self, moves: Sequence[Move[Memory]]) -> None:
        """Store the changes, with proposals and relations."""
        self.touch(moves)
        change_many(self.write, self.user_id, moves)
        reword_many(self.write, [move for move in moves if "version" in move.target], self.now)

    def may_not(self, memory: Memory, each: UndoTarget) -> str:
        """Return why the principal may not undo it, or '': an agent can't undo what it may not change."""
        if self.principal.decides_what_returns:
            return ""
        if memory.state in GONE:
            by_itself = memory.state == State.ARCHIVED and memory.deleted_why in writing.RESTORED_BY_AGENTS
            return "" if by_itself or "created" in each.before else "not_yours"
        if memory.state == State.QUARANTINED:
            return "wrong_state"
        waits = memory.state == State.ACTIVE and writing.waits(self.principal, memory.field)
        return "not_yours" if waits else ""

    def move(self, memory: Memory, each: UndoTarget) -> Move[Memory] | str | None:
        """Return the change that restores a memory, the code of why it may not be restored, or None for no change."""
        if why := self.may_not(memory, each):
            return why
        before = {name: value for name, value in each.before.items() if name not in TOUCHED}
        suppressed, doubted = (bool(each.before.get(name)) for name in ("suppressions", "doubts"))
        if before.pop("created", False):
            if memory.state in GONE and not suppressed:
                return None
            why = Why.PERSON if self.principal.speaks_as_person else Why.AGENT
            target = archived_columns(State.ARCHIVED, self.now, memory.state_reason, deleted_why=why)
            return Move(memory, target, _log_archived(memory, why))
        number = before.pop("version", memory.version)
        target = {name: value for name, value in before.items() if name not in _STANDING}
        if _STANDING & before.keys():
            state, reason = before.get("state", memory.state), before.get("state_reason", memory.state_reason)
            if state in GONE:
                went = before.get("deleted_why") or memory.deleted_why
                target |= archived_columns(state, self.now, reason, deleted_why=went)
            else:
                target |= present_columns(state, reason, deleted_why="")
        until = target.get("expires_at", memory.expires_at)
        until = parse_datetime(until) if isinstance(until, str) else until
        if until is not None and until <= self.now and target.get("state", memory.state) in PRESENT:
            target["expires_at"] = None
        if number != memory.version:
            self.reword(memory, target)
        elif "subject" in target:
            self.word(memory, target, memory.content)
        logged = _logged(memory, target, number)
        if not logged and (target or suppressed or doubted):
            logged.append(LogEntry("UPDATE", {"undo": True}, memory.version))
        return Move(memory, target, logged) if logged else None

    def reword(self, memory: Memory, target: dict[str, Any]) -> None:
        """Restore the wording of an earlier version, as the next version."""
        earlier = self.earlier[memory.pk]
        content, target["said_at"] = earlier.content, earlier.said_at
        target["content"], target["version"] = content, memory.version + 1
        target.setdefault("fingerprint", fingerprint(self.user_id, content))
        self.word(memory, target, content)

    def word(self, memory: Memory, target: dict[str, Any], content: str) -> None:
        """Update the derived columns for the restored wording."""
        subject = target.get("subject", memory.subject)
        prepared = prepare(content, self.principal.language, heading=subject)
        target["search_text"], target["search_config"] = prepared.text, prepared.config
        target["search_length"] = prepared.length
        target["tokens"] = line_tokens(memory_line(memory.pk, self.now, subject, content))

    def that_fit(self, moves: Sequence[Move[Memory]]) -> list[Move[Memory]]:
        """Return the changes without a conflict in words, field or budget, and without a later rejection."""
        leaving = {each.row.pk for each in moves if each.row.state == State.ACTIVE != each.state}
        back = {each.row.pk: each.after() for each in moves if _takes_a_place(each)}
        slots = Slots.of(self.user_id, list(back.values()), leaving) if back else None
        rejected = rejected_again(MEMORY, self.principal, self.user_id, moves, self.earlier)
        room = settings.MEMORY_BLOCK_TOKENS - self.write.ledgers[self.user_id].block_tokens
        room -= sum(min(0, block_tokens(each)) for each in moves)
        fitting = []
        for move in moves:
            why = rejected.get(move.row.pk, "") or self.says_beside(move)
            if not why and slots is not None and move.row.pk in back:
                words = move.row.state in GONE or "content" in move.target
                why = slots.why_not(back[move.row.pk], active=move.state == State.ACTIVE, words=words)
            longer = max(0, block_tokens(move))
            if not why and longer > max(0, room):
                why = "budget"
            if why:
                self.left[move.row.pk] = why
            else:
                room -= longer
                fitting.append(move)
        return fitting

    def says_beside(self, move: Move[Memory]) -> str:
        """Return the code of why an agent may not bring back what stands beside a statement, or ""."""
        comes_back = move.row.state in GONE and move.state not in GONE
        stands_beside = {"subject", "topics", "metadata"} & move.target.keys()
        if self.principal.decides_what_returns or not (comes_back or stands_beside):
            return ""
        try:
            return "not_yours" if check_beside(self.principal, move.after()) else ""
        except Gated as error:
            return error.code

    def touch(self, moves: Sequence[Move[Memory]]) -> None:
        """Restore proposals and relations, and keep for undo what they were until now."""
        befores = {each.object_id: each.before for each in self.wanted}
        decided = _decide_again({move.row.pk: befores[move.row.pk].get("proposals", []) for move in moves}, self.now)
        reworded = [move.row.pk for move in moves if "version" in move.target]
        dropped = _relate_again(self.user_id, {pk: befores[pk].get("relations", []) for pk in reworded}, self.now)
        for move in moves:
            touched = {"proposals": decided.get(move.row.pk), "relations": dropped.get(move.row.pk)}
            move.before |= {name: value for name, value in touched.items() if value}


def _log_archived(memory: Memory, why: str) -> list[LogEntry]:
    was = {} if memory.state == State.ACTIVE else {"was": memory.state}
    return [LogEntry("DELETE", {"why": why, **was, "undo": True})]


def _logged(memory: Memory, target: Mapping[str, Any], number: int) -> list[LogEntry]:
    """Return the log entries of a restored memory."""
    logged = []
    if "version" in target:
        logged.append(LogEntry("UPDATE", {"reverted_to": number, "undo": True}, memory.version))
    filed = sorted(name for name in _FILING if name in target and name != "in_block")
    if filed:
        left = {"left": memory.category} if target.get("category", memory.category) != memory.category else {}
        logged.append(LogEntry("UPDATE", {"changed": filed, **left, "undo": True}, memory.version))
    if target.get("pinned", memory.pinned) != memory.pinned:
        logged.append(LogEntry("PIN", {"pinned": target["pinned"], "undo": True}))
    state = target.get("state", memory.state)
    was = {} if memory.state == State.ACTIVE else {"was": memory.state}
    if state == State.ARCHIVED != memory.state:
        logged.append(LogEntry("DELETE", {"why": target["deleted_why"], **was, "undo": True}))
    elif state == State.REJECTED != memory.state:
        logged.append(LogEntry("REJECT", {**was, "undo": True}))
    elif state != memory.state:
        how = {State.PROPOSED: {"waits": True}, State.QUARANTINED: {"held_back": True}}.get(State(state), {})
        logged.append(LogEntry("RESTORE", {**how, "undo": True}))
    elif "reviewed_at" in target and (target["reviewed_at"] is None) != (memory.reviewed_at is None):
        waits = target["reviewed_at"] is None
        logged.append(
            LogEntry("RESTORE", {"waits": True, "undo": True}) if waits else LogEntry("APPROVE", {"undo": True})
        )
    return logged


def _takes_a_place(move: Move[Memory]) -> bool:
    """Whether the change gives a memory words or a field."""
    active = move.state == State.ACTIVE != move.row.state
    return active or "content" in move.target or (move.row.state in GONE and move.state in PRESENT)


def _decide_again(proposals: Mapping[str, Sequence[Sequence[str]]], now: datetime) -> Mapping[str, list[Any]]:
    """Reopen proposals that the changes closed, unless expired. Returns their state until now."""
    wanted = {pk: state for pairs in proposals.values() for pk, state in pairs}
    if not wanted:
        return {}
    known = dict(Proposal.objects.filter(pk__in=wanted, expires_at__gt=now).values_list("pk", "state"))
    stood = {str(pk): state for pk, state in known.items()}
    for state in set(wanted.values()):
        ids = [pk for pk in stood if wanted[pk] == state]
        decided_at = None if state == Proposal.State.WAITING else now
        Proposal.objects.filter(pk__in=ids).update(state=state, decided_at=decided_at)
    return {memory_id: [(pk, stood[pk]) for pk, _ in pairs if pk in stood] for memory_id, pairs in proposals.items()}


def _relate_again(
    user_id: UUID, wanted: Mapping[str, Sequence[Sequence[Any]]], now: datetime
) -> Mapping[str, list[Any]]:
    """Restore the relations of earlier wordings. Returns the relations until now."""
    if not wanted:
        return {}
    ids = list(wanted)
    rows = Relation.objects.filter(user_id=user_id, type=Relation.Type.RELATED_TO)
    dropped: dict[str, list[Any]] = {pk: [] for pk in ids}
    for end in ("from_memory", "to_memory"):
        gone = rows.filter(**{f"{end}__in": ids})
        for source, to, strength in gone.values_list("from_memory_id", "to_memory_id", "strength"):
            dropped[source if end == "from_memory" else to].append((source, to, strength))
        gone.delete()
    pairs = {(source, to): strength for each in wanted.values() for source, to, strength in each}
    there = set(Memory.objects.filter(pk__in={pk for pair in pairs for pk in pair}).values_list("pk", flat=True))
    Relation.objects.bulk_create(
        [
            Relation(
                user_id=user_id, from_memory_id=source, to_memory_id=to, type=Relation.Type.RELATED_TO,
                strength=strength, created_at=now,
            )
            for (source, to), strength in pairs.items()
            if {source, to} <= there
        ],
        ignore_conflicts=True,
    )  # fmt: skip
    return dropped
