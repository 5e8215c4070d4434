"""One decision about many facts: weighed first, carried out in one transaction, taken back in another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from uuid import UUID

from accounts.models import Member
from accounts.policy import must_decide
from accounts.principals import Principal
from journal.actions import LedgerWrite, enqueue, ledger_write
from journal.exceptions import Conflict, NotFound, Refused
from journal.models import Change
from journal.records import DONE, BulkResult

from .. import policy
from ..models import LegacyFact
from ..policy import State, Visibility
from ..querysets import FactQuerySet
from .deciding import approve, delete, reject, share, unbury, unshare, why_held_back
from .single import FactWrite, fact_changing

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
BULK_DECISIONS = tuple(_FROM)


def facts_weigh(principal: Principal, wanted: Mapping[UUID, int | None], decision: str) -> BulkResult[UUID]:
    """Say what ``facts_decide`` would do, and change nothing. Raises as it does."""
    user_id = _check(principal, wanted, decision)
    # Without the vectors: a thousand of them take longer to read than all the rest.
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
        facts = {fact.pk: fact for fact in _own(principal, wanted).filter(legacy_id__in=legacies)}
        outcomes = _weighed(wanted, facts, decision, _memberships(user_id))
        for fact_id, outcome in outcomes.items():
            if outcome == DONE:
                with fact_changing(write, facts[fact_id], many=True) as change:
                    change.meta = {"was": policy.standing(change.fact), "bulk": decision}
                    _carry_out(change, decision, reason)
        _compare(facts.values())
        result = BulkResult.between(outcomes, first, write.ledgers[user_id].rev)
        write.result("fact", *result.ids)
    return result


def facts_undo(principal: Principal, first_rev: int, last_rev: int) -> BulkResult[UUID]:
    """Take a ``facts_decide`` back, by the revisions that it took: each fact stands as it stood before.

    A fact that has changed since is left as it is and counted. Raises NotYoursToDecide, NotFound when those revisions
    of the person hold no bulk decision.
    """
    user_id = must_decide(principal)
    log = Change.objects.of_owner(user_id).filter(object_type="fact", meta__has_keys=["was", "bulk"])
    # As many as one call can have made, whatever range an address names: sharing what was proposed takes two each.
    steps = {UUID(each.object_id): each for each in log.filter(rev__range=(first_rev, last_rev))[: 2 * MOST_AT_ONCE]}
    if not steps:
        raise NotFound("There is nothing to take back.")
    legacies = set(_own(principal, steps).order_by().values_list("legacy_id", flat=True).distinct())
    with ledger_write(principal.actor, user_id, *legacies) as write:
        first = write.ledgers[user_id].rev + 1
        facts = {fact.pk: fact for fact in _own(principal, steps).filter(legacy_id__in=legacies)}
        kept = _memberships(user_id)
        outcomes = {
            fact_id: _put_back(principal, write, facts.get(fact_id), step, kept) for fact_id, step in steps.items()
        }
        _compare(facts.values())
        return BulkResult.between(outcomes, first, write.ledgers[user_id].rev)


def _compare(facts: Iterable[LegacyFact]) -> None:
    """Start the comparing of facts that wait for it: one task, since a thousand would take longer than the decision."""
    if any(fact.index_not_before for fact in facts):
        enqueue("facts.index")


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


def _carry_out(change: FactWrite, decision: str, reason: str) -> None:
    if decision == "reject":
        reject(change, reason)
    else:
        _STEPS[decision](change)


def _approve_and_share(change: FactWrite) -> None:
    """Only what counts is shared; who shares what was proposed approves it."""
    if change.fact.state == State.PROPOSED:
        approve(change)
    share(change)


_STEPS: dict[str, Callable[[FactWrite], None]] = {
    "approve": approve,
    "share": _approve_and_share,
    "unshare": unshare,
    "delete": delete,
}


def _put_back(principal: Principal, write: LedgerWrite, fact: LegacyFact | None, step: Change, kept: set[UUID]) -> str:
    was, decision = step.meta["was"], step.meta["bulk"]
    if fact is None:
        return "not_there"
    # What staff have held back or hidden since, or let go, is theirs to decide about.
    held = (fact.hidden_at is not None, fact.quarantined_at is not None)
    as_then = held == (was == State.HIDDEN, was == State.QUARANTINED)
    if policy.standing(fact) != _FROM[decision][1] or fact.version != step.new_version or not as_then:
        return "changed"
    if was == "shared" and fact.legacy_id not in kept:
        return "not_a_member"
    try:
        with fact_changing(write, fact, many=True) as change:
            _stand_again(change, principal, was)
    except Conflict as error:
        return error.code
    return DONE


def _stand_again(change: FactWrite, principal: Principal, was: str) -> None:
    """Let a fact stand as it stood, under its locks. Raises Conflict before anything of it was changed."""
    fact = change.fact
    if fact.state in {State.ARCHIVED, State.REJECTED}:
        unbury(change, principal)
    if was in {State.PROPOSED, State.QUARANTINED, State.HIDDEN}:
        change.leave(was, reason={State.HIDDEN: None, State.QUARANTINED: why_held_back(fact)}.get(State(was), ""))
        fact.reviewed_at = None if was == State.PROPOSED else fact.reviewed_at
    else:
        change.activate(reviewed=False)
        change.unshare()
        if was == "waiting":
            fact.reviewed_at = None
        else:
            fact.reviewed_at = fact.reviewed_at or change.now
        if was == Visibility.SHARED:
            change.share()
    change.log("RESTORE", undo=True)
