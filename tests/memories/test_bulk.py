"""Many memories archived at once."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.queries import principal_for_person
from journal.exceptions import NotAllowed, Refused
from journal.models import Change
from memories import actions
from memories.models import Memory, Proposal
from statements.models import Suppression
from tests import factories

from .rows import remember
from .state import check, now

pytestmark = pytest.mark.django_db


def outcomes(items):
    return [(item.id, item.outcome) for item in items]


def test_each_id_has_its_answer_in_the_order_asked(me, moderator, cautious, owner, stranger, add):
    active = add(me, "The user keeps bees.", "event").memory
    waiting = add(cautious, "The user keeps hens.").memory
    held = add(me, "The user keeps geese.").memory
    gone = add(me, "The user keeps ducks.").memory
    theirs = add(principal_for_person(stranger.pk), "Somebody keeps bees.").memory
    actions.memory_quarantine(moderator, held.pk, "odd")
    actions.memory_archive(me, gone.pk)
    ids = [gone.pk, held.pk, "Nowhere1", theirs.pk, waiting.pk, active.pk, active.pk]
    before = Change.objects.of_owner(owner.pk).last().rev
    assert outcomes(actions.memories_delete(me, ids)) == [
        (gone.pk, "skipped"),
        (held.pk, "archived"),
        ("Nowhere1", "not_found"),
        (theirs.pk, "not_found"),
        (waiting.pk, "archived"),
        (active.pk, "archived"),
        (active.pk, "archived"),
    ]
    logged = Change.objects.of_owner(owner.pk).filter(rev__gt=before).values_list("rev", "event", "object_id", "meta")
    assert list(logged) == [
        (before + 1, "DELETE", held.pk, {"why": "person", "was": "quarantined"}),
        (before + 2, "DELETE", waiting.pk, {"why": "person", "was": "proposed"}),
        (before + 3, "DELETE", active.pk, {"why": "person"}),
    ]
    assert set(Suppression.objects.values_list("object_id", flat=True)) == {gone.pk, held.pk, waiting.pk, active.pk}
    assert Proposal.objects.get().state == "rejected"
    assert now(theirs).state == "active"
    check(owner)
    check(stranger)


def test_each_can_be_fetched_back_as_it_was(me, moderator, owner, add):
    memories = [add(me, f"The user keeps {n} hens.").memory for n in range(3)]
    actions.memory_quarantine(moderator, memories[0].pk, "odd")
    actions.memories_delete(me, [memory.pk for memory in memories])
    for memory in memories:
        actions.memory_restore(me, memory.pk)
    assert [now(memory).state for memory in memories] == ["quarantined", "active", "active"]
    assert not Suppression.objects.exists()
    check(owner)


def test_the_same_words_twice_leave_one_suppression(me, owner, add):
    memories = [add(me, "Keeps bees.", subject=name).memory for name in ("Alec", "Sarah")]
    actions.memories_delete(me, [memory.pk for memory in memories])
    assert Suppression.objects.count() == 1
    actions.memory_restore(me, memories[0].pk)
    actions.memory_archive(me, memories[0].pk)
    assert Suppression.objects.count() == 1
    check(owner)


def test_an_agents_leave_no_suppression_and_wait_where_the_person_reviews_before(me, bot, cautious, owner, add):
    memories = [add(bot, f"The user keeps {n} hens.").memory for n in range(3)]
    for memory in memories:
        actions.memory_approve(me, memory.pk)
    city = add(me, "The user lives in Lisbon.", field="city").memory
    assert outcomes(actions.memories_delete(bot, [memories[0].pk, city.pk])) == [
        (memories[0].pk, "archived"),
        (city.pk, "proposed"),
    ]
    assert now(memories[0]).deleted_why == "agent"
    assert not Suppression.objects.exists()
    for _ in range(2):
        found = outcomes(actions.memories_delete(cautious, [memory.pk for memory in memories]))
        assert [outcome for _, outcome in found] == ["skipped", "proposed", "proposed"]
    assert Proposal.objects.filter(kind="archive", written_by="agent").count() == 3
    actions.proposal_approve(me, Proposal.objects.get(memory=memories[2]).pk)
    assert now(memories[2]).state == "archived"
    check(owner)


@pytest.mark.parametrize(
    ("who", "written_by", "outcome"),
    [("me", "", "archived"), ("bot", "agent", "archived"), ("bot", "", "proposed"), ("cautious", "agent", "proposed")],
)
def test_a_thousand_take_as_many_statements_as_ten(owner, who, written_by, outcome, request):
    principal = request.getfixturevalue(who)

    def statements(count):
        made = remember(owner, *(f"The user keeps {n} of {count} hens." for n in range(count)), written_by=written_by)
        # Where the person reviews before, an agent sees what they have looked at only.
        Memory.objects.filter(user=owner).update(reviewed_at=timezone.now())
        with CaptureQueriesContext(
            connection,
        ) as caught:
            done = actions.memories_delete(principal, [memory.pk for memory in made])
        assert len(done) == count
        assert {item.outcome for item in done} == {outcome}
        return len(caught)

    assert statements(10) == statements(1_000)
    check_counts = Memory.objects.filter(user=owner, state="active").count()
    assert check_counts == (1_010 if outcome == "proposed" else 0)


def test_more_than_a_thousand_are_refused(me):
    with pytest.raises(Refused) as caught:
        actions.memories_delete(me, [f"Nowhe{n:03}" for n in range(1_001)])
    assert caught.value.code == "too_many"


def test_none_is_fine(me, owner):
    assert actions.memories_delete(me, []) == []
    assert not Change.objects.exists()


def test_not_without_the_scope_write(agent, moderator):
    for principal in (factories.agent_principal(agent, scopes=("read",)), moderator):
        with pytest.raises(NotAllowed):
            actions.memories_delete(principal, ["Nowhere1"])
