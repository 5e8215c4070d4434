"""One decision about many facts: weighed first, carried out in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from accounts.models import Member
from accounts.policy import REASON_CHARACTERS, must_decide
from accounts.principals import Principal
from journal.actions import ledger_write
from journal.exceptions import Refused
from journal.records import DONE, BulkResult
from statements.actions.suppressing_many import suppressions_add

from .. import policy
from ..models import LegacyFact
from ..policy import State, Visibility
from ..querysets import FactQuerySet
from .many import Move, active, change_many, compared, going

MOST_AT_ONCE = 1_000

_PRESENT = {State.PROPOSED, State.ACTIVE, State.QUARANTINED}
# The states that a decision starts from, and the standing that it leaves a fact in.
_FROM: dict[str, tuple[set[State], str]] = {
    "approve": ({State.PROPOSED, State.ACTIVE}, "private"),
    "reject": (_PRESENT, "rejected"),
    "share": ({State.PROPOSED, State.ACTIVE}, "shared"),
    "unshare": ({State.ACTIVE}, "private"),
    "delete": ({*_PRESENT, State.HIDDEN}, "archived"),
}
_NOT_READ = ("search", "search_text", "embedding")
"""A thousand vectors take longer to read than all the rest."""
BULK_DECISIONS = tuple(_FROM)


def facts_weigh(principal: Principal, wanted: Mapping[UUID, int | None], decision: str) -> BulkResult[UUID]:
    """Say what ``facts_decide`` would do, and change nothing. Raises as it does."""
    user_id = _check(principal, wanted, decision)
    facts = _own(principal, wanted).only("user_id", "legacy_id", "state", "version", "visibility", "reviewed_at")
    kept = _memberships(user_id)
    return BulkResult(_weighed(wanted, {fact.pk: fact for fact in facts}, decision, kept))


def facts_decide(
    principal: Principal, wanted: Mapping[UUID, int | None], decision: str, *, reason: str = ""
) -> BulkResult[UUID]:
    """Carry out one decision for many facts of the person: approve, reject, share, unshare or delete.

    ``wanted`` holds the version that the person saw by the fact's id, or None for whichever it has. What can't be
    done is left out and counted, never a reason to stop. Everything happens in one transaction, under one lock of the
    person's ledger and those of the legacies concerned, with consecutive revisions.

    Codes of what was left out: ``not_there`` (gone, or not the person's own), ``changed`` (another wording, or decided
    about since), ``nothing_to_do`` (it stands so already), ``wrong_state``, ``not_a_member``, ``similar_exists``.

    Raises NotYoursToDecide, Refused (400) for an unknown decision (``unknown_decision``) or more than 1,000 facts
    (``too_many``) or a reason that can't be stored (``bad_reason``).
    """
    user_id = _check(principal, wanted, decision)
    policy.check_reason(reason)
    legacies = set(_own(principal, wanted).order_by().values_list("legacy_id", flat=True).distinct())
    with ledger_write(principal.actor, user_id, *legacies) as write:
        first = write.ledgers[user_id].rev + 1
        facts = {fact.pk: fact for fact in _own(principal, wanted).filter(legacy_id__in=legacies).defer(*_NOT_READ)}
        outcomes = _weighed(wanted, facts, decision, _memberships(user_id))
        chosen = [facts[fact_id] for fact_id, outcome in outcomes.items() if outcome == DONE]
        stood = suppressions_add(LegacyFact, [fact.pk for fact in chosen]) if decision in {"reject", "delete"} else {}
        now = timezone.now()
        moves = [_move(fact, decision, reason[:REASON_CHARACTERS], now) for fact in chosen]
        for move in moves:
            move.before |= {"suppressions": stood[str(move.fact.pk)]} if str(move.fact.pk) in stood else {}
        change_many(write, user_id, moves)
        result = BulkResult.between(outcomes, first, write.ledgers[user_id].rev)
        write.result("fact", *result.ids)
    return result


def _check(principal: Principal, wanted: Mapping[UUID, int | None], decision: str) -> UUID:
    user_id = must_decide(principal)
    if decision not in _FROM:
        raise Refused(f"A decision about many facts is one of {', '.join(_FROM)}.", code="unknown_decision")
    if len(wanted) > MOST_AT_ONCE:
        raise Refused(f"At most {MOST_AT_ONCE} facts are decided about at once.", code="too_many")
    return user_id


def _own(principal: Principal, wanted: Mapping[UUID, object]) -> FactQuerySet:
    rows = LegacyFact.objects.mine(principal).filter(pk__in=list(wanted))
    return rows.defer("search").order_by("extracted_at", "id")


def _memberships(user_id: UUID) -> set[UUID]:
    return set(Member.objects.filter(user_id=user_id).values_list("legacy_id", flat=True))


def _weighed(
    wanted: Mapping[UUID, int | None], facts: Mapping[UUID, LegacyFact], decision: str, kept: set[UUID]
) -> dict[UUID, str]:
    """By fact, in a lasting order: what the decision would come to."""
    outcomes = {fact.pk: _outcome(fact, wanted[fact.pk], decision, kept) for fact in facts.values()}
    return outcomes | {fact_id: "not_there" for fact_id in wanted if fact_id not in facts}


def _outcome(fact: LegacyFact, seen: int | None, decision: str, kept: set[UUID]) -> str:
    states, leads_to = _FROM[decision]
    if fact.state not in states:
        return "nothing_to_do" if policy.standing(fact) == leads_to else "wrong_state"
    if seen is not None and seen != fact.version:
        return "changed"
    if decision == "share" and fact.legacy_id not in kept:
        return "not_a_member"
    stands_so = {
        "approve": not policy.is_waiting(fact),
        "share": fact.visibility == Visibility.SHARED,
        "unshare": fact.visibility == Visibility.PRIVATE,
    }
    return "nothing_to_do" if stands_so.get(decision) else DONE


def _move(fact: LegacyFact, decision: str, reason: str, now: datetime) -> Move:
    """What a decision comes to for one fact."""
    approve = active(now)
    share = {"visibility": Visibility.SHARED, **compared(now), "reviewed_at": fact.reviewed_at or now}
    if decision == "reject":
        return Move(fact, going(State.REJECTED, now, reason), [("REJECT", {})])
    if decision == "delete":
        return Move(fact, going(State.ARCHIVED, now), [("DELETE", {})])
    if decision == "approve":
        return Move(fact, approve, [("APPROVE", {})])
    if decision == "unshare":
        return Move(fact, {"visibility": Visibility.PRIVATE}, [("UNSHARE", {})])
    if fact.state == State.PROPOSED:
        # Only what counts is shared; who shares what was proposed approves it.
        return Move(fact, {**approve, **share, "reviewed_at": now}, [("APPROVE", {}), ("SHARE", {})])
    return Move(fact, share, [("SHARE", {})])
