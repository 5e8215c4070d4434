"""The budget of the memory block as the actions keep it: adding, rewording, filing and restoring make room."""

import random
from datetime import timedelta

import pytest
from django.utils import timezone

from journal.exceptions import Gated, Refused
from journal.models import Ledger
from memories import actions
from memories.models import Memory
from memories.records import NewMemory
from tests.factories import rev_of

from .rows import counted, recount, remember
from .state import changes, check, now

pytestmark = pytest.mark.django_db
NOUNS = ("trains", "tea", "maps", "boats", "ships", "bread", "soup", "walks", "cats", "choirs", "hills", "tents")


@pytest.fixture
def full(owner, settings):
    """Three memories that fill the block, the oldest first. Ids cost more or less, so each has tokens to spare."""
    text = "Number {n}, of some length: two more words do not make the difference."
    begun = timezone.now() - timedelta(hours=9)
    rows = [{"content": text.format(n=n), "created_at": begun + timedelta(hours=n)} for n in range(3)]
    made = remember(owner, *rows)
    settings.MEMORY_BLOCK_TOKENS = counted(owner)["block_tokens"]
    return made


def gone(*memories):
    return [memory.pk for memory in memories if now(memory).deleted_why == "evicted"]


def test_adding_makes_room_and_says_what_went(me, owner, full, add):
    outcome = add(me, "The user keeps bees behind the house.")
    assert (outcome.outcome, outcome.evicted) == ("created", [full[0].pk])
    assert now(full[0]).state == "archived"
    assert changes(owner)[-2:] == ["ADD", "EVICT"]
    check(owner)


@pytest.mark.parametrize("values", [{"category": "event"}, {"kind": "episodic"}])
def test_what_is_outside_the_block_takes_no_room(bot, full, add, values):
    assert add(bot, "The user went to a fair in Porto.", **values).evicted == []
    assert gone(*full) == []


def test_what_waits_takes_room_when_it_is_approved(me, cautious, owner, full, add):
    outcome = add(cautious, "The user keeps bees behind the house.")
    assert (outcome.outcome, outcome.evicted, gone(*full)) == ("proposed", [], [])
    actions.memory_approve(me, outcome.memory.pk)
    assert gone(*full)[0] == full[0].pk
    check(owner)


def test_a_longer_wording_makes_room_but_stays_itself(me, owner, full):
    actions.memory_update(me, full[0].pk, "Number 0, now much longer: " + "two more words " * 9)
    assert now(full[0]).state == "active"
    assert gone(*full)[0] == full[1].pk
    check(owner)


def test_filing_into_the_block_makes_room(me, owner, full, add):
    outside = add(me, "The user went to a fair in Porto.", category="event").memory
    actions.memory_amend(me, outside.pk, category="context")
    assert now(outside).in_block
    assert gone(*full)[0] == full[0].pk
    check(owner)


def test_what_was_evicted_is_fetched_back_in_the_place_of_others(me, bot, owner, full, add):
    add(me, "The user keeps bees behind the house.")
    actions.memory_restore(bot, full[0].pk)
    assert now(full[0]).state == "active"
    assert gone(*full)[:1] == [full[1].pk]
    check(owner)


def test_pinned_ones_stay_and_may_leave_no_room(me, owner, full, add):
    for memory in full:
        actions.memory_pin(me, memory.pk, pinned=True)
    before = counted(owner), rev_of(owner)
    with pytest.raises(Gated) as refused:
        add(me, "The user keeps bees behind the house.")
    assert refused.value.code == "budget"
    assert (counted(owner), rev_of(owner), Memory.objects.count()) == (*before, 3)
    actions.memory_pin(me, full[2].pk, pinned=False)
    with pytest.raises(Gated):
        add(me, f"The user keeps {' and '.join(NOUNS * 2)} behind the house.")
    add(me, "The user keeps bees.")
    assert gone(*full) == [full[2].pk]
    check(owner)


@pytest.mark.parametrize("seed", range(2))
def test_whatever_is_done_the_block_stays_within_its_budget(me, bot, owner, settings, seed):
    settings.MEMORY_BLOCK_TOKENS = 100
    chance = random.Random(seed)
    done = set()

    def sentence():
        return f"The user likes {' and '.join(chance.sample(NOUNS, chance.randint(1, 9)))}."

    for _ in range(70):
        ids = list(Memory.objects.values_list("pk", flat=True))
        memory_id = chance.choice(ids) if ids else None
        new = NewMemory(sentence(), chance.choice(["context", "person", "event"]), pinned=chance.random() < 0.2)
        who = chance.choice([me, bot])
        moves = {
            "add": lambda who=who, new=new: actions.memory_add(who, new, insist=True),
            "place": lambda who=who: actions.place_add(who, chance.choice("abc"), "Home", sentence()),
            "update": lambda who=who, pk=memory_id: actions.memory_update(who, pk, sentence()),
            "amend": lambda who=who, pk=memory_id: actions.memory_amend(
                who, pk, category=chance.choice(["context", "event"]), subject=chance.choice(NOUNS)
            ),
            "archive": lambda who=who, pk=memory_id: actions.memory_archive(who, pk),
            "restore": lambda pk=memory_id: actions.memory_restore(me, pk),
            "pin": lambda pk=memory_id: actions.memory_pin(me, pk, pinned=chance.random() < 0.4),
        }
        name = chance.choice(list(moves) if ids else ["add"])
        try:
            moves[name]()
        except Refused as refused:
            name = refused.code
        done.add(name)
        assert counted(owner)["block_tokens"] <= 100
    check(owner)
    assert {"add", "place", "update"} <= done
    assert "EVICT" in changes(owner) or "budget" in done


@pytest.mark.django_db(transaction=True)
def test_eight_who_add_at_once_never_exceed_it(bot, owner, settings, at_once):
    settings.MEMORY_BLOCK_TOKENS = 200
    seen = []

    def work(number):
        for noun in NOUNS[:6]:
            actions.memory_add(bot, NewMemory(f"The user owns {number + 2} {noun}.", "context"), insist=True)
            seen.append(Ledger.objects.get(pk=owner.pk).block_tokens)

    assert at_once(work, 8) == [None] * 8
    assert max(seen) <= 200
    assert counted(owner) == recount(owner)
    assert Memory.objects.filter(deleted_why="evicted").exists()
    check(owner)
