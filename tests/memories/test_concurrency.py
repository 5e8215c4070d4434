"""Many at once, on one person and on many."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, connections

from accounts.queries import principal_for_person
from journal.actions import ledger_write
from journal.exceptions import Conflict, Refused
from journal.models import Ledger
from memories import actions
from memories.models import Memory, MemoryVersion, Proposal
from memories.records import NewMemory
from tests import factories

from .state import check, now, versions

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

THREADS = 16
WRITES = 200


def write_at_random(principal, seed, writes):
    """Random writes. Returns the contents that were acknowledged as new versions, by memory.

    An agent's change of what the person worded waits for them, and makes no version.
    """
    chance, acknowledged = random.Random(seed), []
    for number in range(writes):
        ids = list(Memory.objects.visible_to(principal).values_list("pk", flat=True)[:40])
        pk = chance.choice(ids) if ids else ""
        what = chance.choice(["add", "update", "update", "amend", "archive", "restore", "pin"]) if ids else "add"
        content = f"The user owns {seed} spoons and {number} forks."
        try:
            if what == "add":
                outcome = actions.memory_add(principal, NewMemory(content, "context"), insist=True)
                acknowledged.append((outcome.memory.pk, content))
            elif what == "update":
                if actions.memory_update(principal, pk, content).proposal is None:
                    acknowledged.append((pk, content))
            elif what == "amend":
                actions.memory_amend(principal, pk, importance=chance.randint(1, 5), subject=f"Spoons {seed}")
            elif what == "archive":
                actions.memory_archive(principal, pk)
            elif what == "restore":
                actions.memory_restore(principal, pk)
            else:
                actions.memory_pin(principal, pk, chance.random() < 0.2)
        except Refused:
            continue
    return acknowledged


def nothing_is_lost(acknowledged):
    stored = set(MemoryVersion.objects.values_list("memory_id", "content"))
    assert set(acknowledged) <= stored
    assert acknowledged


@pytest.mark.timeout(900)
def test_sixteen_threads_write_to_one_person(owner, agent, at_once, settings):
    settings.MEMORY_BLOCK_TOKENS = 3_000
    person, bot = principal_for_person(owner.pk), factories.agent_principal(agent, owner)

    def work(number):
        return write_at_random(bot if number % 4 == 0 else person, number, WRITES)

    # Else each of them would load what the gates read.
    write_at_random(person, THREADS, 1)
    connection.close()  # The pool has as many connections as there are threads.
    results = at_once(work, THREADS)
    assert not [result for result in results if isinstance(result, Exception)]
    nothing_is_lost([each for result in results for each in result])
    check(owner)
    assert Memory.objects.filter(deleted_why="evicted").exists()


@pytest.mark.timeout(900)
def test_sixteen_threads_write_to_different_people(at_once):
    people = [factories.UserFactory() for _ in range(THREADS)]

    def work(number):
        return write_at_random(principal_for_person(people[number].pk), number, WRITES)

    # Else each of them would load what the gates read.
    write_at_random(principal_for_person(people[0].pk), THREADS, 1)
    connection.close()  # The pool has as many connections as there are threads.
    results = at_once(work, THREADS)
    assert not [result for result in results if isinstance(result, Exception)]
    nothing_is_lost([each for result in results for each in result])
    for person in people:
        check(person)


def test_eight_edits_of_one_version_one_wins_and_seven_are_told(me, add, at_once):
    memory = add(me, "The user keeps bees.").memory

    def edit(number):
        return actions.memory_update(me, memory.pk, f"The user keeps {number} bees.", version=1)

    results = at_once(edit, 8)
    told = [result for result in results if isinstance(result, Conflict)]
    assert {(each.code, each.extra["current"]) for each in told} == {("version_conflict", 2)}
    assert len(told) == 7
    assert len(versions(memory)) == 2


def test_eight_who_retry_on_a_conflict_lose_nothing(me, owner, add, at_once):
    memory = add(me, "The user keeps bees.").memory

    def edit(number):
        while True:
            try:
                return actions.memory_update(
                    me, memory.pk, f"The user keeps {number} bees.", version=now(memory).version
                )
            except Conflict as conflict:
                if conflict.code != "version_conflict":
                    raise

    results = at_once(edit, 8)
    assert not [result for result in results if isinstance(result, Exception)]
    said = [version.content for version in versions(memory)]
    assert len(said) == 9
    assert set(said[1:]) == {f"The user keeps {number} bees." for number in range(8)}
    check(owner)


def test_eight_who_say_the_same_are_remembered_once(bot, owner, add, at_once):
    results = at_once(lambda _: add(bot, "The user keeps bees.").outcome, 8)
    assert sorted(results) == ["created"] + ["reinforced"] * 7
    check(owner)


def test_eight_fields_at_once_leave_one_active(me, owner, add, at_once):
    results = at_once(lambda number: add(me, f"The user lives in Town {number}.", field="city").outcome, 8)
    assert results == ["created"] * 8
    assert Memory.objects.filter(state="active", field="city").count() == 1
    assert Memory.objects.filter(deleted_why="replaced").count() == 7
    check(owner)


def test_yes_and_no_at_once_leave_one_decision(me, cautious, owner, add, at_once):
    memory = add(cautious, "The user keeps bees.").memory
    proposal = Proposal.objects.get()
    decide = [
        lambda: actions.proposal_approve(me, proposal.pk),
        lambda: actions.proposal_reject(me, proposal.pk),
        lambda: actions.memory_approve(me, memory.pk, version=1),
        lambda: actions.memory_archive(cautious, memory.pk),
    ]
    results = at_once(lambda number: decide[number % 4](), 8)
    assert not [result for result in results if isinstance(result, Exception) and not isinstance(result, Refused)]
    proposal.refresh_from_db()
    assert proposal.state in {"approved", "rejected", "lapsed"}
    check(owner)


def test_deleting_many_while_others_write(me, bot, owner, add, at_once):
    ids = [add(me, f"The user keeps {n} hens.").memory.pk for n in range(20)]

    def work(number):
        if number % 2:
            return actions.memories_delete(me, ids)
        return write_at_random(bot, number, 10)

    results = at_once(work, 6)
    assert not [result for result in results if isinstance(result, Exception)]
    check(owner)


def test_indexing_in_two_workers_at_once(me, owner, add, away, at_once):
    away()
    for number in range(40):
        add(me, f"The user keeps {number} hens.")
    away.back()
    assert sum(at_once(lambda _: actions.memories_index(), 4)) == 40
    check(owner)


def test_people_do_not_wait_for_each_other(me, owner, stranger, add):
    def theirs():
        try:
            return add(principal_for_person(stranger.pk), "Somebody keeps bees.").outcome
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool, ledger_write(me.actor, owner.pk):
        assert pool.submit(theirs).result(timeout=8) == "created"
    assert Ledger.objects.get(pk=owner.pk).rev == 0
