"""Bulk decisions about facts, in one transaction with a fixed number of SQL statements."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import Member
from accounts.policy import must_decide
from accounts.principals import Principal
from journal.actions import LedgerWrite, ledger_write
from journal.queue import enqueue
from journal.records import DONE, BulkResult
from journal.verdicts import compares_unlocked
from statements.actions import GONE, PRESENT, archived_columns
from statements.actions.many import (
    LogEntry,
    Move,
    check_decision,
    decision_outcomes,
    lift_resembled,
    move_many,
    suppress_many,
)
from statements.models import ERASURE_WAITS, Doubt, RejectionReason

from .. import policy
from ..models import FACT, LegacyFact
from ..policy import State, Visibility
from ..querysets import FactQuerySet
from .single import FactCounts, active, update_legacy_ledger
from .transitions import summaries_follow

# For each decision, the states in which it is allowed, and the values of ``policy.review_state`` that it leads to.
_FROM: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "approve": (frozenset({State.PROPOSED, State.ACTIVE}), frozenset({"private"})),
    "reject": (PRESENT, frozenset({"rejected"})),
    "share": (frozenset({State.PROPOSED, State.ACTIVE}), frozenset({"shared"})),
    "unshare": (frozenset({State.ACTIVE}), frozenset({"private"})),
    "delete": (PRESENT | {State.HIDDEN}, frozenset({"archived"})),
}
_NOT_READ = ("search", "search_text", "embedding")
"""Deferred, because a thousand vectors take longer to read than everything else."""
BULK_DECISIONS = tuple(_FROM)


def facts_preview(principal: Principal, wanted: Mapping[UUID, int | None], decision: str) -> BulkResult[UUID]:
    """Return what ``facts_decide`` would do, without changes. Raises the same."""
    user_id = _check(principal, wanted, decision)
    facts = _own(principal, wanted).only("user_id", "legacy_id", "state", "version", "visibility", "reviewed_at")
    return BulkResult(_outcomes(user_id, wanted, facts, decision))


@compares_unlocked
def facts_decide(principal: Principal, wanted: Mapping[UUID, int | None], decision: str) -> BulkResult[UUID]:
    """Apply one decision to many facts of the person: approve, reject, share, unshare or delete.

    ``wanted`` maps a fact's id to the version that the person saw, or None for any. Facts that the decision can't be
    applied to are skipped and counted. Runs in one transaction that locks the ledgers of the person and the legacies,
    with consecutive revisions.

    Codes of skipped facts: ``not_there`` (deleted, or not the person's own), ``changed`` (another version),
    ``nothing_to_do``, ``wrong_state``, ``not_a_member``, ``similar_exists``.

    Raises NotYoursToDecide (403), Refused (400) for an unknown decision (``unknown_decision``) or more than 1,000 facts
    (``too_many``).
    """
    user_id = _check(principal, wanted, decision)
    legacies = set(_own(principal, wanted).order_by().values_list("legacy_id", flat=True).distinct())
    with ledger_write(principal.actor, user_id, *legacies) as write:
        first = write.ledgers[user_id].rev + 1
        facts = {fact.pk: fact for fact in _own(principal, wanted).filter(legacy_id__in=legacies).defer(*_NOT_READ)}
        outcomes = _outcomes(user_id, wanted, facts.values(), decision)
        chosen = [facts[fact_id] for fact_id, outcome in outcomes.items() if outcome == DONE]
        now = timezone.now()
        moves = [_move(fact, decision, now) for fact in chosen]
        if decision in {"reject", "delete"}:
            suppress_many(FACT, moves)
        else:
            lift_resembled(FACT, user_id, moves)
        change_many(write, user_id, moves)
        if decision == "reject":
            summaries_follow([fact.pk for fact in chosen])
        result = BulkResult.between(outcomes, first, write.ledgers[user_id].rev)
        write.result("fact", *result.ids)
    return result


def facts_hide(principal: Principal, ids: Collection[UUID]) -> None:
    """Archive the person's facts so that agents don't see them, with ``ERASURE_WAITS``. Undo shows them again.

    Those already archived or rejected get this reason too. Raises NotYoursToDecide (403).
    """
    user_id = must_decide(principal)
    rows = LegacyFact.objects.mine(principal).filter(pk__in=ids).exclude(state__in=GONE, state_reason=ERASURE_WAITS)
    legacies = set(rows.order_by().values_list("legacy_id", flat=True).distinct())
    with ledger_write(principal.actor, user_id, *legacies) as write:
        now, archived = timezone.now(), State.ARCHIVED
        moves = []
        for fact in rows.filter(legacy_id__in=legacies).order_by("extracted_at", "id").defer(*_NOT_READ):
            gone: dict[str, Any] = {"state_reason": ERASURE_WAITS}
            target = gone if fact.state in GONE else archived_columns(archived, now, ERASURE_WAITS)
            moves.append(Move(fact, target, [LogEntry("DELETE")]))
        suppress_many(FACT, moves)
        change_many(write, user_id, moves)


def _check(principal: Principal, wanted: Mapping[UUID, int | None], decision: str) -> UUID:
    user_id = must_decide(principal)
    check_decision(FACT, wanted, decision, _FROM)
    return user_id


def _own(principal: Principal, wanted: Mapping[UUID, object]) -> FactQuerySet:
    rows = LegacyFact.objects.mine(principal).filter(pk__in=list(wanted))
    return rows.defer("search").order_by("extracted_at", "id")


def _outcomes(
    user_id: UUID, wanted: Mapping[UUID, int | None], facts: Iterable[LegacyFact], decision: str
) -> dict[UUID, str]:
    """Return the outcome that the decision would have, by fact."""
    kept = set(Member.objects.filter(user_id=user_id).values_list("legacy_id", flat=True))
    doubted: set[str] = set()
    if decision == "approve":
        doubted = set(Doubt.objects.open_of(user_id, "fact").values_list("object_id", flat=True))

    def against(fact: LegacyFact) -> str:
        if decision == "share" and fact.legacy_id not in kept:
            return "not_a_member"
        stands_so = {
            "approve": not policy.is_waiting(fact) and str(fact.pk) not in doubted,
            "share": fact.visibility == Visibility.SHARED,
            "unshare": fact.visibility == Visibility.PRIVATE,
        }
        return "nothing_to_do" if stands_so.get(decision) else ""

    return decision_outcomes(wanted, facts, _FROM[decision], policy.review_state, against)


def _move(fact: LegacyFact, decision: str, now: datetime) -> Move[LegacyFact]:
    """Return the change of one fact by a decision."""
    approve = active(now)
    share = {"visibility": Visibility.SHARED, **compared(now), "reviewed_at": fact.reviewed_at or now}
    if decision == "reject":
        return Move(fact, archived_columns(State.REJECTED, now, RejectionReason.NOT_TRUE.label), [LogEntry("REJECT")])
    if decision == "delete":
        return Move(fact, archived_columns(State.ARCHIVED, now, fact.state_reason), [LogEntry("DELETE")])
    if decision == "approve":
        return Move(fact, approve, [LogEntry("APPROVE")])
    if decision == "unshare":
        return Move(fact, {"visibility": Visibility.PRIVATE}, [LogEntry("UNSHARE")])
    if fact.state == State.PROPOSED:
        # Only active facts can be shared, so sharing a proposed one approves it.
        return Move(fact, {**approve, **share, "reviewed_at": now}, [LogEntry("APPROVE"), LogEntry("SHARE")])
    return Move(fact, share, [LogEntry("SHARE")])


def compared(now: datetime) -> dict[str, Any]:
    """Return the columns that schedule a fact to be compared with its neighbours again."""
    return {"index_not_before": now, "index_attempts": 0}


def change_many(write: LedgerWrite, user_id: UUID, moves: Sequence[Move[LegacyFact]]) -> None:
    """Log, store and count changes of a person's facts. The caller has locked their and the legacies' ledgers."""
    move_many(FACT, write, user_id, moves, _follows)
    for move in moves:
        update_legacy_ledger(write, move.row, FactCounts.of(move.row), FactCounts.of(move.after()))
    if any(move.target.get("index_not_before") for move in moves):
        # One task for all: enqueuing a thousand would take longer than the decision.
        enqueue("facts.index")


def _follows(move: Move[LegacyFact], now: datetime) -> dict[str, Any]:
    """Return the columns that follow from the new state: its times, and private visibility unless active."""
    if move.state != State.ACTIVE:
        return {"active_since": None, "visibility": Visibility.PRIVATE, "shared_since": None}
    since: dict[str, datetime | None] = {} if move.row.state == State.ACTIVE else {"active_since": now}
    if move.value("visibility") != Visibility.SHARED:
        since["shared_since"] = None
    elif move.row.visibility != Visibility.SHARED:
        since["shared_since"] = now
    return since
