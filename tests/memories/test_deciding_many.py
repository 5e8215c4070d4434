"""One decision about many memories: weighed, carried out, taken back."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.queries import principal_for_person
from journal.exceptions import NotFound, NotYoursToDecide, Refused
from journal.models import Change, UndoStep
from journal.undo import undo
from memories import actions
from memories.models import MEMORY, Memory, Proposal, Relation
from memories.policy.writing import review_state
from statements.actions import statements_purge
from statements.models import Suppression
from tests.factories import rev_of

from .rows import remember
from .state import check, now

pytestmark = pytest.mark.django_db

ALL = ["proposed", "waiting", "reviewed", "quarantined", "archived", "rejected"]
# What becomes of a memory that stands so: nothing is said of those where it is just done.
LEFT = {
    "approve": {"reviewed": "nothing_to_do"} | dict.fromkeys(["quarantined", "archived", "rejected"], "wrong_state"),
    "reject": {"rejected": "nothing_to_do"},
    "archive": {"archived": "nothing_to_do", "rejected": "wrong_state"},
    "restore": {"reviewed": "nothing_to_do", "quarantined": "nothing_to_do"}
    | dict.fromkeys(["proposed", "waiting"], "wrong_state"),
    "pin": dict.fromkeys(["archived", "rejected"], "wrong_state") | {"quarantined": "wrong_state"},
    "unpin": dict.fromkeys(["proposed", "waiting", "reviewed"], "nothing_to_do")
    | dict.fromkeys(["archived", "rejected", "quarantined"], "wrong_state"),
}
LEADS_TO = {"approve": "reviewed", "reject": "rejected", "archive": "archived", "restore": "reviewed"}


@pytest.fixture
def each(me, bot, cautious, moderator, add):
    """A memory in each state of review."""
    made = {
        "proposed": add(cautious, "The user keeps hens.", "event").memory,
        "waiting": add(bot, "The user rows on Tuesdays.", "interests").memory,
        "reviewed": add(me, "The user plays the cello.").memory,
        "quarantined": add(me, "The user owns a tandem.").memory,
        "archived": add(bot, "The user has been to Malta.", "history").memory,
        "rejected": add(bot, "The user was born in Ghent.", "profile").memory,
    }
    actions.memory_quarantine(moderator, made["quarantined"].pk, "odd")
    actions.memory_archive(bot, made["archived"].pk)
    actions.memory_reject(me, made["rejected"].pk)
    return made


def as_wanted(memories):
    return {memory.pk: now(memory).version for memory in memories}


def as_they_stand(each):
    return {name: (review_state(now(memory)), now(memory).pinned) for name, memory in each.items()}


@pytest.mark.parametrize("decision", LEFT)
def test_what_is_weighed_happens_and_can_be_taken_back(me, owner, each, decision):
    wanted, before = as_wanted(each.values()), as_they_stand(each)
    expected = {memory.pk: LEFT[decision].get(name, "done") for name, memory in each.items()}
    at = rev_of(owner)
    weighed = actions.memories_preview(me, wanted, decision)
    assert weighed.outcomes == expected
    assert (weighed.first_rev, weighed.last_rev, rev_of(owner)) == (0, 0, at)
    result = actions.memories_decide(me, wanted, decision)
    assert result.outcomes == expected
    assert result.done == sum(outcome == "done" for outcome in expected.values())
    check(owner)
    after = as_they_stand(each)
    for name, memory in each.items():
        stands = LEADS_TO.get(decision, before[name][0])
        pinned = before[name][1] if decision in LEADS_TO else decision == "pin"
        assert after[name] == ((stands, pinned) if expected[memory.pk] == "done" else before[name])
    if not result.done:
        assert (result.first_rev, result.last_rev) == (0, 0)
        return
    assert (result.first_rev, result.last_rev) == (at + 1, at + result.done)
    undone = undo(me, result.first_rev, result.last_rev)
    assert {memory_id for _, memory_id in undone.objects} == set(result.ids)
    assert not undone.left
    assert as_they_stand(each) == before
    check(owner)


def test_rejecting_keeps_the_reason_and_taking_it_back_lifts_the_suppression(me, each):
    result = actions.memories_decide(me, as_wanted([each["waiting"]]), "reject")
    assert now(each["waiting"]).state_reason == "Not true"
    assert Suppression.objects.filter(object_id=each["waiting"].pk).exists()
    undo(me, result.first_rev, result.last_rev)
    assert not Suppression.objects.filter(object_id=each["waiting"].pk).exists()


def test_what_an_agent_put_away_is_so_again_without_a_suppression(me, each):
    result = actions.memories_decide(me, as_wanted([each["archived"], each["rejected"]]), "restore")
    undo(me, result.first_rev, result.last_rev)
    assert (now(each["archived"]).deleted_why, now(each["rejected"]).deleted_why) == ("agent", "rejected")
    assert set(Suppression.objects.values_list("object_id", flat=True)) == {each["rejected"].pk}


def test_what_waited_waits_again_with_its_proposal(me, each):
    for decision in ("approve", "reject", "archive"):
        result = actions.memories_decide(me, as_wanted([each["proposed"]]), decision)
        assert not Proposal.objects.waiting().exists()
        undo(me, result.first_rev, result.last_rev)
        assert Proposal.objects.waiting().get().memory_id == each["proposed"].pk


def test_what_staff_refused_is_held_back_when_restored_and_refused_when_that_is_undone(me, moderator, each):
    actions.memory_refuse(moderator, each["quarantined"].pk, "An order")
    result = actions.memories_decide(me, as_wanted([each["quarantined"]]), "restore")
    assert now(each["quarantined"]).state == "quarantined"
    undo(me, result.first_rev, result.last_rev)
    assert (now(each["quarantined"]).state, now(each["quarantined"]).deleted_why) == ("rejected", "staff")


def test_another_wording_than_the_one_seen_is_left_alone(me, owner, each):
    wanted = as_wanted([each["reviewed"], each["waiting"]])
    actions.memory_update(me, each["reviewed"].pk, "The user plays the viola.")
    wanted["Nowhere1"] = None
    result = actions.memories_decide(me, wanted, "archive")
    assert result.outcomes == {each["waiting"].pk: "done", each["reviewed"].pk: "changed", "Nowhere1": "not_there"}
    assert result.skipped == {"changed": 1, "not_there": 1}
    assert actions.memories_decide(me, {each["reviewed"].pk: None}, "archive").done == 1
    check(owner)


def test_what_changed_since_is_not_taken_back(me, moderator, owner, each):
    wanted = as_wanted([each["reviewed"], each["waiting"], each["proposed"]])
    result = actions.memories_decide(me, wanted, "pin")
    actions.memory_update(me, each["reviewed"].pk, "The user plays the viola.")
    actions.memory_pin(me, each["waiting"].pk, False)
    undone = undo(me, result.first_rev, result.last_rev)
    assert undone.objects == [("memory", each["proposed"].pk)]
    assert [left.why for left in undone.left] == ["built_on", "built_on"]
    result = actions.memories_decide(me, as_wanted([each["waiting"]]), "archive")
    Memory.objects.filter(pk=each["waiting"].pk).update(purge_at="2020-01-01T00:00Z")
    statements_purge(MEMORY)
    assert not UndoStep.objects.filter(object_id=each["waiting"].pk).exists()
    undone = undo(me, result.first_rev, result.last_rev)
    assert (undone.undone, [left.why for left in undone.left]) == (0, ["not_undoable"])
    check(owner)


def test_what_was_said_again_meanwhile_is_not_brought_back_twice(me, owner, each, add):
    result = actions.memories_decide(me, as_wanted([each["reviewed"], each["waiting"]]), "archive")
    again = add(me, "The user plays the cello.").memory
    assert again.pk != each["reviewed"].pk
    undone = undo(me, result.first_rev, result.last_rev)
    assert [left.why for left in undone.left] == ["similar_exists"]
    assert actions.memories_decide(me, as_wanted([each["reviewed"]]), "restore").skipped == {"similar_exists": 1}
    check(owner)


def test_values_of_one_field_give_way_to_each_other_and_come_back(me, owner, bot, add):
    lisbon = add(me, "The user lives in Lisbon.", "profile", field="city").memory
    porto = add(bot, "The user lives in Porto.", "profile", field="city").memory
    assert porto.state == "proposed"
    result = actions.memories_decide(me, as_wanted([lisbon, porto]), "approve")
    assert result.outcomes == {lisbon.pk: "nothing_to_do", porto.pk: "done"}
    assert (now(lisbon).state, now(porto).state) == ("archived", "active")
    undone = undo(me, result.first_rev, result.last_rev)
    assert {memory_id for _, memory_id in undone.objects} == {lisbon.pk, porto.pk}
    assert (now(lisbon).state, now(porto).state) == ("active", "proposed")
    check(owner)


def test_many_that_supersede_others_take_as_many_statements_as_two(me, cautious, owner, add):
    costs = []
    for much in (2, 6):
        old = [add(me, f"The user sails boat {much}{n}.", insist=True).memory for n in range(much)]
        new = [add(cautious, f"The user sold boat {much}{n}.", insist=True).memory for n in range(much)]
        Relation.objects.bulk_create(
            Relation(
                user=owner, from_memory=one, to_memory=other, type="supersedes", strength=1, created_at=timezone.now()
            )
            for one, other in zip(new, old, strict=True)
        )
        wanted = as_wanted(new)
        with CaptureQueriesContext(connection) as asked:
            result = actions.memories_decide(me, wanted, "approve")
        costs.append(len(asked))
        assert {now(memory).state for memory in new} == {"active"}
        assert {(now(memory).state, now(memory).deleted_why) for memory in old} == {("archived", "replaced")}
        check(owner)
        assert undo(me, result.first_rev, result.last_rev).undone == 2 * much
        assert {now(memory).state for memory in new} == {"proposed"}
        assert {now(memory).state for memory in old} == {"active"}
        check(owner)
    assert costs[0] == costs[1]


def test_of_several_values_of_a_field_the_last_one_approved_stays(me, bot, owner, add):
    lisbon = add(me, "The user lives in Lisbon.", "profile", field="city").memory
    porto = add(bot, "The user lives in Porto.", "profile", field="city").memory
    faro = add(bot, "The user lives in Faro.", "profile", field="city").memory
    result = actions.memories_decide(me, as_wanted([porto, faro]), "approve")
    assert result.done == 2
    assert [now(memory).state for memory in (lisbon, porto, faro)] == ["archived", "archived", "active"]
    assert set(Proposal.objects.filter(memory__in=[porto, faro]).values_list("state", flat=True)) == {"approved"}
    supersedes = Relation.objects.filter(type="supersedes").values_list("from_memory", "to_memory")
    assert {(porto.pk, lisbon.pk), (faro.pk, porto.pk)} <= set(supersedes)
    check(owner)
    assert undo(me, result.first_rev, result.last_rev).left == []
    assert [now(memory).state for memory in (lisbon, porto, faro)] == ["active", "proposed", "proposed"]
    check(owner)


def test_one_that_gave_way_to_an_earlier_one_is_weighed_again(me, owner, bot, add, monkeypatch):
    porto = add(bot, "The user lives in Porto.", "profile", field="city").memory
    lisbon = add(me, "The user lives in Lisbon.", "profile", field="city").memory
    Memory.objects.filter(pk=lisbon.pk).update(reviewed_at=None)
    result = actions.memories_decide(me, as_wanted([lisbon, porto]), "approve")
    assert result.outcomes == {porto.pk: "done", lisbon.pk: "wrong_state"}
    check(owner)


def test_a_doubt_that_an_approval_settles_is_back_when_that_is_undone(me, each):
    Memory.objects.filter(pk=each["reviewed"].pk).update(needs_check=True)
    result = actions.memories_decide(me, as_wanted([each["reviewed"]]), "approve")
    assert not now(each["reviewed"]).needs_check
    undo(me, result.first_rev, result.last_rev)
    assert now(each["reviewed"]).needs_check
    assert review_state(now(each["reviewed"])) == "reviewed"


def test_only_the_person_decides_about_many(me, bot, backend, moderator, stranger, owner, each):
    wanted = as_wanted(each.values())
    result = actions.memories_decide(me, wanted, "pin")
    at = rev_of(owner)
    for principal in (bot, backend):
        for call in (
            lambda who: actions.memories_preview(who, wanted, "archive"),
            lambda who: actions.memories_decide(who, wanted, "archive"),
        ):
            with pytest.raises(NotYoursToDecide):
                call(principal)
        with pytest.raises(NotFound):
            undo(principal, result.first_rev, result.last_rev)
    other = principal_for_person(stranger.pk)
    assert set(actions.memories_decide(other, wanted, "archive").outcomes.values()) == {"not_there"}
    with pytest.raises(NotFound):
        undo(other, result.first_rev, result.last_rev)
    assert rev_of(owner) == at


def test_what_is_no_decision_or_too_many_is_refused(me, owner, each):
    at = rev_of(owner)
    for wanted, decision, error, code in (
        ({}, "applaud", Refused, "unknown_decision"),
        (dict.fromkeys(f"{n:08}" for n in range(actions.MOST_AT_ONCE + 1)), "pin", Refused, "too_many"),
    ):
        with pytest.raises(error) as refused:
            actions.memories_decide(me, wanted, decision)
        assert refused.value.code == code
    assert rev_of(owner) == at


def test_undoing_is_logged_as_that(me, owner, each):
    result = actions.memories_decide(me, as_wanted([each["reviewed"], each["proposed"]]), "archive")
    before = rev_of(owner)
    undo(me, result.first_rev, result.last_rev)
    log = Change.objects.of_owner(owner.pk).filter(rev__gt=before, object_type="memory")
    assert {(each.event, each.meta["undo"]) for each in log} == {("RESTORE", True)}


def test_weighing_and_archiving_cost_the_same_however_many(me, owner):
    costs = set()
    for much in (2, 200):
        memories = remember(owner, *(f"The user knows {much} and {n} songs." for n in range(much)))
        wanted = {memory.pk: 1 for memory in memories}
        with CaptureQueriesContext(connection) as asked:
            assert actions.memories_preview(me, wanted, "archive").done == much
            assert actions.memories_decide(me, wanted, "archive").done == much
        costs.add(len(asked))
    assert len(costs) == 1
    check(owner)
