"""One decision about many facts: what it does, what it leaves out and why, and how it is taken back."""

from collections import Counter
from uuid import uuid4

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person, principal_for_staff
from facts import actions
from facts.models import FACT, LegacyFact
from facts.policy import review_state
from journal.exceptions import NotAllowed, NotFound, NotYoursToDecide, Refused
from journal.models import Change, Ledger
from journal.undo import undo
from statements.actions import statements_purge
from statements.models import Suppression
from tests.factories import LegacyFactFactory, LegacyFactory, fact_waits, rev_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def principal(owner):
    return principal_for_person(owner.pk)


@pytest.fixture
def some(owner, legacy, principal):
    """``some(3)`` are facts of the owner that wait for review; ``state`` and ``visibility`` as given."""

    def some(count, *, visibility="private", waiting=True, where=legacy):
        facts = [LegacyFactFactory(legacy=where, user=owner, visibility=visibility) for _ in range(count)]
        for fact in facts:
            if waiting and visibility == "private":
                fact_waits(principal, fact.pk)
        return facts

    return some


def whys(undone):
    """What was left, by why."""
    return dict(Counter(left.why for left in undone.left))


def seen(facts):
    return {fact.pk: LegacyFact.objects.get(pk=fact.pk).version for fact in facts}


def standings(facts):
    return [review_state(LegacyFact.objects.get(pk=fact.pk)) for fact in facts]


START = {"approve": "waiting", "reject": "waiting", "share": "waiting", "unshare": "shared", "delete": "waiting"}
LEADS_TO = {
    "approve": "private", "reject": "rejected", "share": "shared", "unshare": "private", "delete": "archived"
}  # fmt: skip


@pytest.mark.parametrize("decision", actions.BULK_DECISIONS)
def test_a_decision_about_many_and_back(principal, owner, legacy, some, decision):
    facts = some(3, visibility="shared" if decision == "unshare" else "private")
    assert set(standings(facts)) == {START[decision]}
    before, counted = rev_of(owner), Ledger.objects.get(pk=legacy.pk)
    result = actions.facts_decide(principal, seen(facts), decision)
    assert (result.done, result.skipped) == (3, {})
    assert set(standings(facts)) == {LEADS_TO[decision]}
    assert (result.first_rev, result.last_rev) == (before + 1, before + 3) == (before + 1, rev_of(owner))
    back = undo(principal, result.first_rev, result.last_rev)
    assert (back.undone, whys(back)) == (3, {})
    assert set(standings(facts)) == {START[decision]}
    after = Ledger.objects.get(pk=legacy.pk)
    assert (after.facts, after.fact_terms) == (counted.facts, counted.fact_terms)
    assert not Suppression.objects.exists()


def test_revisions_have_no_holes_and_the_legacy_learns_what_it_has_to(principal, owner, legacy, some):
    facts = some(4)
    actions.facts_decide(principal, seen(facts), "share")
    revs = list(Change.objects.of_owner(owner.pk).values_list("rev", flat=True))
    assert revs == list(range(1, len(revs) + 1))
    shared = Change.objects.of_owner(legacy.pk).filter(event="SHARE")
    assert {row.object_id for row in shared} == {str(fact.pk) for fact in facts}


def test_what_cant_be_done_is_counted_and_nothing_is_lost(principal, owner, staff, member, legacy, some):
    fine, reworded, shared, hidden, gone = some(5)
    wanted = seen([fine, reworded, shared, hidden, gone])
    actions.fact_edit(principal, reworded.pk, content="She kept a lot of bees in the end.")
    actions.fact_set_visibility(principal, shared.pk, "shared")
    actions.fact_hide(principal_for_staff(staff), hidden.pk, "Too private")
    actions.fact_reject(principal, gone.pk)
    theirs = LegacyFactFactory(legacy=legacy, user=member, visibility="shared")
    wanted |= {theirs.pk: 1, uuid4(): 1}
    weighed = actions.facts_preview(principal, wanted, "share")
    before = rev_of(owner)
    assert rev_of(owner) == before
    result = actions.facts_decide(principal, wanted, "share")
    assert result.outcomes == weighed.outcomes
    assert result.done == 1
    assert result.skipped == {"wrong_state": 2, "not_there": 2, "changed": 1, "nothing_to_do": 1}
    assert standings([fine, reworded, shared, hidden, gone]) == ["shared", "private", "shared", "hidden", "rejected"]
    assert rev_of(owner) == before + 1


@pytest.mark.parametrize("decision", ["approve", "unshare", "reject", "delete"])
def test_what_stands_so_already_is_left_alone(principal, owner, some, decision):
    facts = some(2, waiting=decision in {"reject", "delete"})
    actions.facts_decide(principal, seen(facts), decision)
    before = rev_of(owner)
    again = actions.facts_decide(principal, seen(facts), decision)
    assert (again.done, again.skipped, again.first_rev, again.last_rev) == (0, {"nothing_to_do": 2}, 0, 0)
    assert rev_of(owner) == before


def test_without_a_version_whichever_there_is_is_meant(principal, some):
    (fact,) = some(1)
    actions.fact_edit(principal, fact.pk, content="She kept a lot of bees in the end.")
    assert actions.facts_decide(principal, {fact.pk: None}, "share").done == 1


def test_facts_of_several_legacies_go_together(principal, owner, legacy, some):
    other = LegacyFactory(owner=owner)
    facts = [*some(2), *some(2, where=other)]
    assert actions.facts_decide(principal, seen(facts), "share").done == 4
    for kept in (legacy, other):
        assert Change.objects.of_owner(kept.pk).filter(event="SHARE").count() == rev_of(kept) == 2


def test_who_has_left_a_legacy_shares_nothing_of_it(principal, owner, legacy, some):
    facts = some(2)
    legacy.memberships.filter(user=owner).delete()
    result = actions.facts_decide(principal, seen(facts), "share")
    assert result.skipped == {"not_a_member": 2}
    assert actions.facts_decide(principal, seen(facts), "approve").done == 2


def test_an_undo_leaves_what_has_changed_since(principal, owner, legacy, some):
    kept, reworded, restored, purged = some(4)
    result = actions.facts_decide(principal, seen([kept, reworded, restored, purged]), "delete")
    actions.fact_restore(principal, restored.pk)
    LegacyFact.objects.filter(pk=purged.pk).update(purge_at=timezone.now())
    statements_purge(FACT)
    actions.fact_restore(principal, reworded.pk)
    actions.fact_edit(principal, reworded.pk, content="She kept a lot of bees in the end.")
    actions.fact_delete(principal, reworded.pk)
    back = undo(principal, result.first_rev, result.last_rev)
    assert (back.undone, whys(back)) == (1, {"built_on": 2, "not_undoable": 1})
    assert standings([kept, reworded, restored]) == ["waiting", "archived", "private"]


def test_an_undo_leaves_out_what_was_said_anew(principal, owner, legacy, some):
    one, other = some(2)
    result = actions.facts_decide(principal, seen([one, other]), "reject")
    actions.fact_add(principal, legacy.pk, one.content, "hobby")
    back = undo(principal, result.first_rev, result.last_rev)
    assert (back.undone, whys(back)) == (1, {"similar_exists": 1})
    assert standings([one, other]) == ["rejected", "waiting"]


def test_what_was_shared_is_not_shared_again_by_who_has_left(principal, owner, legacy, some):
    facts = some(2, visibility="shared")
    result = actions.facts_decide(principal, seen(facts), "delete")
    legacy.memberships.filter(user=owner).delete()
    back = undo(principal, result.first_rev, result.last_rev)
    assert whys(back) == {"not_a_member": 2}
    assert standings(facts) == ["archived", "archived"]


@pytest.mark.parametrize("was", ["proposed", "quarantined", "hidden"])
def test_each_stands_again_as_it_stood(principal, owner, staff, some, was):
    facts = some(2)
    for fact in facts:
        if was == "proposed":
            fact_waits(principal, fact.pk, proposed=True)
        elif was == "hidden":
            actions.fact_hide(principal_for_staff(staff), fact.pk, "Too private")
        else:
            actions.fact_quarantine(principal_for_staff(staff), fact.pk, "Reads like an order")
    result = actions.facts_decide(principal, seen(facts), "delete")
    assert result.done == 2
    undo(principal, result.first_rev, result.last_rev)
    assert set(standings(facts)) == {was}
    if was == "hidden":
        assert LegacyFact.objects.filter(state_reason="Too private").count() == 2


def test_who_may(principal, owner, member, stranger, staff, agent, some):
    facts = some(2)
    result = actions.facts_decide(principal, seen(facts), "approve")
    for person in (member, stranger):
        other = principal_for_person(person.pk)
        assert actions.facts_decide(other, seen(facts), "delete").skipped == {"not_there": 2}
        with pytest.raises(NotFound):
            undo(other, result.first_rev, result.last_rev)
    with pytest.raises(NotAllowed):
        actions.facts_decide(principal_for_staff(staff), seen(facts), "delete")
    from accounts.principals import Principal

    reader = Principal("agent", str(agent.pk), owner.pk, frozenset({"read", "write"}), agent_id=agent.pk)
    for call in (
        lambda: actions.facts_decide(reader, seen(facts), "delete"),
        lambda: actions.facts_preview(reader, seen(facts), "delete"),
    ):
        with pytest.raises(NotYoursToDecide):
            call()
    with pytest.raises(NotFound):
        undo(reader, result.first_rev, result.last_rev)
    assert standings(facts) == ["private", "private"]


def test_what_is_no_decision_and_what_is_too_much_is_refused(principal, some):
    facts = some(1)
    with pytest.raises(Refused) as error:
        actions.facts_decide(principal, seen(facts), "restore")
    assert error.value.code == "unknown_decision"
    with pytest.raises(Refused) as error:
        actions.facts_preview(principal, {uuid4(): 1 for _ in range(actions.MOST_AT_ONCE + 1)}, "approve")
    assert error.value.code == "too_many"
    assert actions.facts_decide(principal, {}, "approve").outcomes == {}


@pytest.mark.parametrize("decision", ["delete", "reject"])
@pytest.mark.parametrize("held", ["hidden", "quarantined"])
def test_an_undo_does_not_get_out_what_staff_have_held_since(principal, staff, some, decision, held):
    moderator = principal_for_staff(staff)
    (fact,) = some(1, visibility="shared")
    result = actions.facts_decide(principal, seen([fact]), decision)
    actions.fact_restore(principal, fact.pk)
    if held == "hidden":
        actions.fact_hide(moderator, fact.pk, "Too private")
        decision = "delete"
    else:
        actions.fact_quarantine(moderator, fact.pk, "Reads like an order")
    before = actions.facts_decide(principal, seen([fact]), decision)
    back = undo(principal, result.first_rev, result.last_rev)
    assert (before.done, back.undone, whys(back)) == (1, 0, {"built_on": 1})
    undo(principal, before.first_rev, before.last_rev)
    assert standings([fact]) == [held]


def test_an_undo_does_not_hide_again_what_staff_have_shown_since(principal, staff, some):
    moderator = principal_for_staff(staff)
    (fact,) = some(1)
    actions.fact_hide(moderator, fact.pk, "Too private")
    result = actions.facts_decide(principal, seen([fact]), "delete")
    actions.fact_restore(principal, fact.pk)
    actions.fact_unhide(moderator, fact.pk, "A mistake")
    actions.fact_delete(principal, fact.pk)
    assert undo(principal, result.first_rev, result.last_rev).left[0].why == "built_on"
    assert standings([fact]) == ["archived"]


def test_many_are_compared_by_one_task(principal, some, monkeypatch, django_capture_on_commit_callbacks):
    sent = []
    monkeypatch.setattr("journal.queue.current_app.send_task", lambda task, args, **more: sent.append((task, args)))
    facts = some(3)
    (legacy_id,) = {fact.legacy_id for fact in facts}
    for fact in facts:
        LegacyFact.objects.filter(pk=fact.pk).update(index_not_before=None)

    def decide(call, *args):
        sent.clear()
        with django_capture_on_commit_callbacks(execute=True):
            result = call(principal, *args)
        assert getattr(result, "done", 0) or result.undone == 3
        return result

    decide(actions.facts_decide, seen(facts), "share")
    assert sorted(sent) == [("facts.index", []), ("facts.tell_members", [str(legacy_id)])]
    assert not LegacyFact.objects.filter(index_not_before=None).exists()
    LegacyFact.objects.update(index_not_before=None)
    result = decide(actions.facts_decide, seen(facts), "reject")
    assert sent == []
    decide(undo, result.first_rev, result.last_rev)
    assert sent == [("facts.index", [])]


def test_sharing_what_was_proposed_approves_it_and_one_undo_takes_both_back(principal, some):
    facts = some(2)
    for fact in facts:
        fact_waits(principal, fact.pk, proposed=True)
    wanted = seen(facts)
    assert actions.facts_preview(principal, wanted, "share").done == 2
    result = actions.facts_decide(principal, wanted, "share")
    assert (result.done, result.skipped) == (2, {})
    assert [review_state(each) for each in LegacyFact.objects.all()] == ["shared", "shared"]
    assert all(each.reviewed_at for each in LegacyFact.objects.all())
    assert undo(principal, result.first_rev, result.last_rev).undone == 2
    assert [review_state(each) for each in LegacyFact.objects.all()] == ["proposed", "proposed"]
    assert not LegacyFact.objects.exclude(reviewed_at=None).exists()
