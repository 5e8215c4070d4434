"""Undo: whatever happened, everything stands again as it stood, except what somebody built on since."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from accounts.actions import preferences_set
from accounts.queries import principal_for_person
from facts import actions as facts
from facts.models import LegacyFact
from journal.actions import ledger_write, trim
from journal.exceptions import NotAllowed, NotFound, Refused
from journal.models import Change, Ledger, UndoStep
from journal.undo import undo
from memories import actions
from memories.models import Memory, Place, Relation
from memories.records import NewMemory
from statements.models import Suppression
from tests import factories
from tests.factories import rev_of

from .rows import counted, recount, remember
from .state import check, now

pytestmark = pytest.mark.django_db

WORDS = ["bees", "hens", "geese", "goats", "ponies"]
MEMORY = ("state", "content", "category", "subject", "topics", "importance", "pinned", "state_reason", "deleted_why",
          "needs_check", "in_block", "tokens", "expires_at", "written_by", "search_text", "search_length")  # fmt: skip
FACT = ("state", "content", "category", "visibility", "state_reason", "written_by", "search_length")


def picture(user, legacy=None):
    """All that undo gives back. What is archived because it was not there before looks as if it had never been."""
    memories = {
        memory.pk: [getattr(memory, name) for name in MEMORY] + [memory.reviewed_at is not None]
        for memory in Memory.objects.filter(user=user)
    }
    facts = {
        fact.pk: [getattr(fact, name) for name in FACT] + [fact.reviewed_at is not None]
        for fact in LegacyFact.objects.filter(user=user)
    }
    places = {
        place.pk: (place.name, place.notes, place.deleted_at is None) for place in Place.objects.filter(user=user)
    }
    related = set(Relation.objects.filter(user=user, type="related_to").values_list("from_memory", "to_memory"))
    suppressed = set(Suppression.objects.filter(user=user).values_list("legacy_id", "fingerprint", "object_id"))
    ledger = Ledger.objects.values_list("memories", "memory_terms", "block_tokens").get(pk=user.pk)
    return memories, facts, places, related, suppressed, ledger


def agrees(before, after):
    """Whether everything that was there stands as it stood, and nothing else is there."""
    for was, stands in zip(before[:3], after[:3], strict=True):
        assert {key: stands[key] for key in was} == was
        for key in stands.keys() - was.keys():
            assert stands[key][0] == "archived" or stands[key][-1] is False
    assert after[3] >= before[3]
    assert after[4:] == before[4:]


# One action each: what is asked of the n-th memory, fact or place, with the n-th word.
ACTIONS = {
    "add": lambda me, n, at: actions.memory_add(me, NewMemory(f"The user keeps {WORDS[n]}.", "context"), insist=True),
    "approve": lambda me, n, at: actions.memory_approve(me, at.memory),
    "reword and approve": lambda me, n, at: actions.memory_approve(me, at.memory, content=f"The user has {WORDS[n]}."),
    "reject": lambda me, n, at: actions.memory_reject(me, at.memory),
    "archive": lambda me, n, at: actions.memory_archive(me, at.memory),
    "restore": lambda me, n, at: actions.memory_restore(me, at.memory),
    "edit": lambda me, n, at: actions.memory_update(me, at.memory, f"The user likes {WORDS[n]}.", correction=n > 2),
    "file": lambda me, n, at: actions.memory_amend(me, at.memory, subject=WORDS[n], category="event", importance=n + 1),
    "pin": lambda me, n, at: actions.memory_pin(me, at.memory, n > 1),
    "many": lambda me, n, at: actions.memories_decide(me, at.memories, list(actions.BULK_DECISIONS)[n]),
    "place": lambda me, n, at: actions.place_add(me, f"place-{n}", f"Where {WORDS[n]} are", WORDS[n]),
    "edit place": lambda me, n, at: actions.place_edit(me, at.place, notes=f"Many {WORDS[n]}"),
    "remove place": lambda me, n, at: actions.place_remove(me, at.place),
    "restore place": lambda me, n, at: actions.place_restore(me, at.place),
    "add fact": lambda me, n, at: facts.fact_add(me, at.legacy, f"She kept {WORDS[n]}.", "hobby"),
    "share": lambda me, n, at: facts.fact_set_visibility(me, at.fact, "shared" if n > 1 else "private"),
    "reject fact": lambda me, n, at: facts.fact_reject(me, at.fact),
    "delete fact": lambda me, n, at: facts.fact_delete(me, at.fact),
    "restore fact": lambda me, n, at: facts.fact_restore(me, at.fact),
    "edit fact": lambda me, n, at: facts.fact_edit(me, at.fact, content=f"She liked {WORDS[n]}.", category="habit"),
    "many facts": lambda me, n, at: facts.facts_decide(me, at.facts, facts.BULK_DECISIONS[n]),
}


class At:
    """What there is, for an action to be about the n-th of it."""

    def __init__(self, user, legacy, n):
        self.legacy = legacy.pk
        memories = list(Memory.objects.filter(user=user).order_by("created_at", "pk").values_list("pk", flat=True))
        own = list(LegacyFact.objects.filter(user=user).order_by("extracted_at", "pk").values_list("pk", flat=True))
        places = list(Place.objects.filter(user=user).order_by("added_at", "pk").values_list("pk", flat=True))
        self.memory, self.memories = memories[n % len(memories)], dict.fromkeys(memories[: n + 1])
        self.fact, self.facts = own[n % len(own)], dict.fromkeys(own[: n + 1])
        self.place = places[n % len(places)]


@pytest.fixture
def world(me, bot, cautious, owner, legacy, add):
    """Something of each kind."""
    add(me, "The user sails.", "interests")
    add(bot, "The user rows.", "interests")
    add(cautious, "The user climbs.", "context")
    actions.place_add(me, "home", "Home", "By the sea")
    facts.fact_add(me, legacy.pk, "She sang.", "hobby")
    facts.fact_add(bot, legacy.pk, "She danced.", "hobby")


steps = st.lists(st.tuples(st.sampled_from(sorted(ACTIONS)), st.integers(0, 4)), min_size=1, max_size=7)


@given(before=steps, undone=steps)
# What was added and then suppressed.
@example(before=[], undone=[("add fact", 1), ("delete fact", 2)])
@example(before=[], undone=[("add", 1), ("reject", 3)])
# Two of the same words touch the same suppression.
@example(before=[("add fact", 1)], undone=[("delete fact", 2), ("add fact", 1)])
@example(before=[("add fact", 1), ("delete fact", 2)], undone=[("add fact", 1), ("delete fact", 3)])
@example(before=[("add", 1)], undone=[("reject", 3), ("add", 1)])
# A place that stands as it stood, before a fact that does not.
@example(before=[], undone=[("delete fact", 1), ("remove place", 0), ("restore place", 1)])
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_whatever_was_done_is_undone(world, me, owner, legacy, before, undone):
    """Undoing all that was done since leaves what was before; undoing that, what was after."""
    saved = transaction.savepoint()
    try:
        for name, n in before:
            attempt(name, me, n, owner, legacy)
        first, stood = rev_of(owner) + 1, picture(owner)
        for name, n in undone:
            attempt(name, me, n, owner, legacy)
        last, done = rev_of(owner), picture(owner)
        if last >= first and UndoStep.objects.filter(ledger_id=owner.pk, rev__gte=first).exists():
            back = undo(me, first, last)
            assert back.left == []
            agrees(stood, picture(owner))
            check(owner)
            if back.last:
                assert undo(me, back.first, back.last).left == []
                agrees(done, picture(owner))
                check(owner)
    finally:
        # Also after a failure, or the next example starts from what this one left.
        transaction.savepoint_rollback(saved)


def attempt(name, me, n, owner, legacy):
    with suppress(Refused):
        ACTIONS[name](me, n, At(owner, legacy, n))


def test_what_was_built_on_stays_and_is_named(me, owner, add):
    bees, hens = add(me, "The user keeps bees.").memory, add(me, "The user plays chess.").memory
    first = rev_of(owner) + 1
    actions.memories_decide(me, {bees.pk: None, hens.pk: None}, "pin")
    last = rev_of(owner)
    actions.memory_update(me, hens.pk, "The user plays go.")
    undone = undo(me, first, last)
    assert undone.objects == [("memory", bees.pk)]
    assert [each.why for each in undone.left] == ["built_on"]
    assert (now(bees).pinned, now(hens).pinned) == (False, True)


def two_decisions(name, me, bot, owner, legacy, add):
    """Approve something and edit it. Returns the object, what shows how it stands, and the two revisions."""
    if name == "memory":
        it = add(replace(bot, review="before"), "The user keeps bees.").memory
        actions.memory_approve(me, it.pk)
        at = rev_of(owner)
        actions.memory_update(me, it.pk, "The user keeps hens.")
    else:
        it = facts.fact_add(replace(bot, review="before"), legacy.pk, "Henry kept bees.", "hobby")
        facts.fact_approve(me, it.pk)
        at = rev_of(owner)
        facts.fact_edit(me, it.pk, content="Henry kept hens.")
    return it, at, rev_of(owner)


def stands(it):
    it = type(it).objects.get(pk=it.pk)
    return it.state, it.content.rpartition(" ")[2], it.reviewed_at is not None


@pytest.mark.parametrize("name", ["memory", "fact"])
def test_decisions_are_undone_step_by_step(me, bot, owner, legacy, add, name):
    it, first, second = two_decisions(name, me, bot, owner, legacy, add)
    assert [each.why for each in undo(me, first, first).left] == ["built_on"]
    undo(me, second, second)
    assert stands(it) == ("active", "bees.", True)
    assert [each.why for each in undo(me, second, second).left] == ["built_on"]  # It was undone already.
    undone = undo(me, first, first)
    assert (undone.undone, undone.left, stands(it)) == (1, [], ("proposed", "bees.", False))
    check(owner)


@pytest.mark.parametrize("name", ["memory", "fact"])
def test_what_was_undone_and_done_again_is_built_on(me, bot, owner, legacy, add, name):
    it, first, second = two_decisions(name, me, bot, owner, legacy, add)
    back = undo(me, second, second)
    again = undo(me, back.first, back.last)
    assert stands(it) == ("active", "hens.", True)
    assert [each.why for each in undo(me, first, first).left] == ["built_on"]
    undo(me, second, second)
    assert stands(it) == ("active", "bees.", True)
    assert [each.why for each in undo(me, again.first, again.last).left] == ["built_on"]
    assert undo(me, first, first).undone == 1
    assert stands(it) == ("proposed", "bees.", False)
    check(owner)


@pytest.mark.parametrize("name", ["memory", "fact"])
def test_a_range_passes_over_what_was_undone_by_itself(me, bot, owner, legacy, add, name):
    it, first, second = two_decisions(name, me, bot, owner, legacy, add)
    undo(me, second, second)
    undone = undo(me, first, second)
    assert (undone.undone, undone.left, stands(it)) == (1, [], ("proposed", "bees.", False))


def test_one_revision_of_an_action_means_all_of_it(me, owner, add):
    several = [add(me, f"The user owns {n} boats.", insist=True).memory for n in range(3)]
    result = actions.memories_decide(me, {memory.pk: None for memory in several}, "archive")
    undone = undo(me, result.first_rev + 1, result.first_rev + 1)
    assert undone.undone == 3
    assert {now(memory).state for memory in several} == {"active"}


def test_what_made_room_comes_back_with_what_needed_it(me, owner, add, settings):
    old = remember(owner, "The user keeps bees behind the house.")[0]
    settings.MEMORY_BLOCK_TOKENS = now(old).tokens + 2
    new = add(me, "The user plays chess on Sundays.").memory
    assert now(old).state == "archived"
    evicted = Change.objects.get(ledger_id=owner.pk, event="EVICT")
    assert undo(me, evicted.rev, evicted.rev).undone == 2
    assert (now(old).state, now(new).state) == ("active", "archived")
    assert counted(owner) == recount(owner)


def test_what_made_room_stays_away_with_what_stays(me, owner, add, settings):
    old = remember(owner, "The user keeps bees behind the house.")[0]
    settings.MEMORY_BLOCK_TOKENS = now(old).tokens + 2
    new = add(me, "The user plays chess on Sundays.").memory
    last = rev_of(owner)
    actions.memory_pin(me, new.pk, True)
    assert [each.why for each in undo(me, last, last).left] == ["built_on", "cause_left"]
    assert now(old).state == "archived"


def test_without_room_it_stays_away(me, owner, add, settings):
    bees = add(me, "The user keeps bees behind the house.").memory
    actions.memory_archive(me, bees.pk)
    at = rev_of(owner)
    settings.MEMORY_BLOCK_TOKENS = now(bees).tokens + 1
    add(me, "The user plays chess on Sundays.")
    assert [each.why for each in undo(me, at, at).left] == ["budget"]
    check(owner)


class TestWhoUndoes:
    def test_an_agent_its_own(self, bot, me, owner, add):
        mine, theirs = add(bot, "The user keeps bees.").memory, add(me, "The user plays chess.").memory
        undone = undo(bot, 1, rev_of(owner))
        assert undone.objects == [("memory", mine.pk)]
        assert [each.why for each in undone.left] == ["not_yours"]
        assert (now(mine).state, now(mine).deleted_why, now(theirs).state) == ("archived", "agent", "active")

    @pytest.mark.parametrize("meanwhile", ["nothing", "changed", "undone", "quarantined"])
    def test_an_agent_does_not_learn_what_came_of_the_changes_of_others(
        self, bot, me, owner, moderator, add, meanwhile
    ):
        hidden = add(me, "The user keeps bees.", "interests").memory
        actions.memory_update(me, hidden.pk, "The user keeps hens.")
        changed = rev_of(owner)
        add(bot, "The user plays chess.", "context")
        last = rev_of(owner)
        match meanwhile:
            case "changed":
                actions.memory_update(me, hidden.pk, "The user keeps geese.")
            case "undone":
                undo(me, changed, changed)
            case "quarantined":
                actions.memory_quarantine(moderator, hidden.pk, "odd")
        narrowed = replace(bot, categories=frozenset({"context"}))
        undone = undo(narrowed, 1, rev_of(owner) if meanwhile == "quarantined" else last)
        assert undone.undone == 1
        assert {each.why for each in undone.left} == {"not_yours"}
        assert changed in {each.rev for each in undone.left}

    def test_what_an_agent_rejects_it_cannot_take_back_without_the_scope(self, agent, owner, add, bot):
        memory = add(bot, "The user keeps bees.").memory
        decider = factories.agent_principal(agent, scopes=("read", "write", "admin"))
        actions.memory_reject(decider, memory.pk)
        at = rev_of(owner)
        assert [each.why for each in undo(bot, at, at).left] == ["not_yours"]
        assert undo(decider, at, at).undone == 1

    def test_an_agent_is_held_to_the_wording_that_comes_back_and_to_no_other(self, bot, me, owner, add):
        """Two memories go back to different numbers; only the one that does not come back was rejected since."""
        bees, chess = add(bot, "The user keeps bees.").memory, add(bot, "The user plays chess.").memory
        actions.memory_update(bot, chess.pk, "The user plays draughts at home.")
        at = rev_of(owner) + 1
        actions.memory_update(bot, bees.pk, "The user paints boats in oil.")
        actions.memory_update(bot, bees.pk, "The user repairs old clocks.")
        actions.memory_update(bot, chess.pk, "The user plays go with a neighbour.")
        until = rev_of(owner)
        actions.memory_archive(me, add(me, "The user paints boats in oil.").memory.pk)
        assert undo(bot, at, until).left == []
        assert (now(bees).content, now(chess).content) == ("The user keeps bees.", "The user plays draughts at home.")

    def test_nobody_else_s(self, me, owner, stranger, moderator, add):
        add(me, "The user keeps bees.")
        with pytest.raises(NotFound):
            undo(principal_for_person(stranger.pk), 1, 1)
        with pytest.raises(NotAllowed):
            undo(moderator, 1, 1)

    def test_not_what_staff_decided(self, me, moderator, owner, add):
        memory = add(me, "The user keeps bees.").memory
        actions.memory_quarantine(moderator, memory.pk, "odd")
        undone = undo(me, 1, rev_of(owner))
        assert (undone.undone, [each.why for each in undone.left]) == (0, ["built_on", "by_staff"])
        assert now(memory).state == "quarantined"


def test_a_summary_that_a_job_wrote_anew_meanwhile_is_no_exception(me, owner, add):
    add(me, "The user keeps bees.")
    with ledger_write(me.actor, owner.pk) as write:
        write.change(owner.pk, "UPDATE", "chunk", uuid4())
    add(me, "The user keeps hens.")
    undone = undo(me, 1, rev_of(owner))
    assert (undone.undone, list(undone.left)) == (2, [])


def test_preferences_stay(me, owner):
    preferences_set(me, review="before")
    undone = undo(me, 1, rev_of(owner))
    assert [each.why for each in undone.left] == ["not_undoable"]


def test_it_is_kept_for_30_days_and_holds_no_words(me, owner, add):
    memory = add(me, "The user keeps bees.").memory
    actions.memory_update(me, memory.pk, "The user keeps hens.")
    kept = str(list(UndoStep.objects.values_list("before", flat=True)))
    assert "bees" not in kept
    assert "hens" not in kept
    with time_machine.travel(timezone.now() + timedelta(days=30, seconds=1)):
        trim()
    assert not UndoStep.objects.exists()


def test_it_goes_with_its_person():
    person = factories.UserFactory()
    step = UndoStep(ledger_id=person.pk, rev=1, action=1, object_type="memory", object_id="abcdefgh", before={})
    step.save()
    person.delete()
    assert not UndoStep.objects.exists()


class TestOverRest:
    def test_it_answers_what_was_undone_and_what_was_left(self, api, owner, me, add):
        one, other = add(me, "The user keeps bees.").memory, add(me, "The user plays chess.").memory
        result = actions.memories_decide(me, {one.pk: None, other.pk: None}, "reject")
        actions.memory_restore(me, other.pk)
        body = {"first": result.first_rev, "last": result.last_rev}
        answer = api(owner).post("/api/v1/changes/undo/", body, HTTP_IDEMPOTENCY_KEY="k")
        assert answer.status_code == 200
        at = rev_of(owner)
        told = {"undone": 1, "left": [{"rev": result.last_rev, "why": "built_on"}], "first": at, "last": at}
        assert answer.json() == told
        assert api(owner).post("/api/v1/changes/undo/", body, HTTP_IDEMPOTENCY_KEY="k").json() == told
        assert rev_of(owner) == at
        assert now(one).state == "active"

    def test_a_range_of_nobody_s_is_not_found(self, api, owner, stranger, me, add):
        add(me, "The user keeps bees.")
        assert api(stranger).post("/api/v1/changes/undo/", {"first": 1, "last": 1}).status_code == 404
        assert api(owner).post("/api/v1/changes/undo/", {"first": 7, "last": 9}).status_code == 404

    @pytest.mark.parametrize(
        "body", [{}, {"first": 1}, {"first": 0, "last": 1}, {"first": 2, "last": 1}, {"first": "x"}]
    )
    def test_what_is_no_range_is_refused(self, api, owner, me, add, body):
        add(me, "The user keeps bees.")
        assert api(owner).post("/api/v1/changes/undo/", body).status_code == 400
