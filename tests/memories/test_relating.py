"""Relating many memories at once: each to its nearest, each pair once, in one statement."""

import random

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from journal.actions import ledger_write
from journal.models import Change
from journal.records import Actor
from memories import actions
from memories.models import Memory, Relation
from statements.models import Suppression
from statements.policy import fingerprint

from .rows import remember
from .state import check, now

pytestmark = pytest.mark.django_db

TEST = Actor("person", "test")
FEW, MANY = 3, 40


@pytest.fixture(autouse=True)
def _near(settings):
    settings.MEMORY_LINK_MIN_SIMILARITY = 0.5
    settings.MEMORY_FALLBACK_LOW_SIMILARITY = 0.95


def vectors(count, seed=7):
    """Unit vectors around a common one, so that all are near each other and none to another as to a third."""
    made = np.random.default_rng(seed).normal(size=(count, 16)) + 2.0
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float16).astype(np.float64)


def beside(person, rows, **columns):
    """Memories with these vectors."""
    texts = ({"content": f"Thing number {number}.", "embedding": list(row)} for number, row in enumerate(rows))
    return remember(person, *texts, embedding_model="test:16", **columns)


def relate(person, memories):
    """What is found for each, by its content."""
    with ledger_write(TEST, person.pk) as write:
        found = actions.memories_relate(write, person.pk, [memory.pk for memory in memories])
    return {memory.content: found.get(memory.pk) for memory in memories}


def edges():
    return set(Relation.objects.values_list("from_memory", "to_memory"))


def nearest_by_hand(rows, number, most):
    similarity = rows @ rows[number] / np.linalg.norm(rows, axis=1) / np.linalg.norm(rows[number])
    order = [other for other in np.argsort(-similarity) if other != number]
    return order[:most], similarity


@pytest.mark.parametrize("count", [FEW, MANY])
def test_edges_of_many_memories_take_one_statement(owner, count):
    memories = beside(owner, vectors(count))
    with ledger_write(TEST, owner.pk) as write, CaptureQueriesContext(connection) as statements:
        actions.memories_relate(write, owner.pk, [memory.pk for memory in memories])
    # Beside it there are the ledger's own at the end: nothing was logged, so none.
    assert len(statements) == 1
    assert Relation.objects.count() >= count - 1


def test_no_duplicate_edges_in_a_batch_and_none_in_the_next(owner, settings):
    memories = beside(owner, vectors(MANY))
    relate(owner, memories)
    made = edges()
    assert len(made) == Relation.objects.count()
    assert not made & {(other, one) for one, other in made}
    random.Random(7).shuffle(memories)
    again = relate(owner, [*memories, *memories])
    assert edges() == made
    assert all(found.to == [] for found in again.values())


def test_each_is_related_to_its_nearest(owner, settings):
    rows = vectors(MANY)
    memories = beside(owner, rows)
    found = relate(owner, memories)
    pairs = {frozenset(pair) for pair in edges()}
    wanted = set()
    for number, memory in enumerate(memories):
        near, similarity = nearest_by_hand(rows, number, settings.MEMORY_LINKS)
        wanted |= {frozenset((memory.pk, memories[other].pk)) for other in near}
        assert found[memory.content].similarity == pytest.approx(similarity[near[0]], abs=0.001)
    assert pairs == wanted
    position = {memory.pk: number for number, memory in enumerate(memories)}
    for edge in Relation.objects.all():
        _, similarity = nearest_by_hand(rows, position[edge.from_memory_id], 1)
        assert edge.strength == pytest.approx(similarity[position[edge.to_memory_id]], abs=0.001)
        assert (edge.type, edge.user_id) == ("related_to", owner.pk)


def test_of_two_the_later_one_is_related_to_the_earlier(owner):
    first, second = beside(owner, vectors(2))
    found = relate(owner, [first, second])
    assert edges() == {(second.pk, first.pk)}
    assert (found[first.content].to, found[second.content].to) == ([], [first.pk])


def test_what_is_far_is_left(owner, settings):
    settings.MEMORY_LINK_MIN_SIMILARITY = 1.0
    assert set(relate(owner, beside(owner, vectors(FEW))).values()) == {None}
    assert not edges()


@pytest.mark.parametrize("kind", ["supersedes", "derived_from", "related_to"])
@pytest.mark.parametrize("turned", [False, True])
def test_what_is_related_in_any_way_already_is_left(owner, kind, turned):
    memories = beside(owner, vectors(2))
    one, other = reversed(memories) if turned else memories
    Relation.objects.create(user=owner, from_memory=one, to_memory=other, type=kind, strength=1.0)
    found = relate(owner, memories)
    assert edges() == {(one.pk, other.pk)}
    assert all(each.similarity > 0.5 and not each.to for each in found.values())


def test_nothing_else_is_near(owner, stranger):
    """Neither another person's, another kind's, another embedder's, what is gone, nor what has no vector."""
    (row,) = vectors(1)
    (memory,) = beside(owner, [row])
    beside(stranger, [row])
    beside(owner, [row], kind="episodic")
    gone = {"deleted_at": timezone.now(), "purge_at": timezone.now(), "deleted_why": "person"}
    beside(owner, [row], state="archived", **gone)
    remember(owner, {"content": "Of another embedder.", "embedding": [1.0, 2.0], "embedding_model": "test:2"})
    (bare,) = remember(owner, "Without a vector.")
    assert relate(owner, [memory, bare]) == {memory.content: None, bare.content: None}
    proposed, held = beside(owner, [row], state="proposed") + beside(owner, [row], state="quarantined")
    relate(owner, [memory])
    assert edges() == {(memory.pk, proposed.pk), (memory.pk, held.pk)}


def test_nobody_elses_and_none_that_is_gone_is_related(owner, stranger):
    row, other = vectors(2)
    theirs = beside(stranger, [row, other])
    assert set(relate(owner, theirs).values()) == {None}
    assert relate(owner, []) == {}
    assert not edges()


def test_the_ledger_has_to_be_held(owner, stranger):
    with pytest.raises(ValueError, match="not locked"), ledger_write(TEST, stranger.pk) as write:
        actions.memories_relate(write, owner.pk, ["abcdefgh"])


class TestVectorsThatComeLater:
    """The index task relates a batch as one."""

    def waiting(self, person, count):
        return remember(person, *(f"The user keeps hen number {number} behind the house." for number in range(count)))

    @pytest.mark.parametrize("count", [FEW, 30])
    def test_it_takes_as_many_statements_for_many_as_for_few(self, owner, settings, count):
        settings.MEMORY_FALLBACK_LOW_SIMILARITY = 2
        self.waiting(owner, count)
        with CaptureQueriesContext(connection) as statements:
            assert actions.memories_index() == count
        assert len(statements) == 18
        assert Relation.objects.count() >= count - 1

    def test_each_is_logged_with_what_it_was_related_to(self, owner, settings):
        settings.MEMORY_FALLBACK_LOW_SIMILARITY = 0.5
        memories = self.waiting(owner, 4)
        actions.memories_index()
        logged = {change.object_id: change.meta["to"] for change in Change.objects.filter(event="LINK")}
        assert {(one, other) for one, others in logged.items() for other in others} == edges()
        assert Memory.objects.filter(needs_check=True).count() == len(memories)
        check(owner)

    def test_people_apart(self, owner, stranger):
        self.waiting(owner, 2)
        self.waiting(stranger, 2)
        assert actions.memories_index() == 4
        assert Relation.objects.count() == 2
        check(owner)
        check(stranger)

    def test_a_mark_of_other_words_keeps_its_vector(self, owner):
        gone = {"deleted_at": timezone.now(), "purge_at": timezone.now(), "deleted_why": "person"}
        (memory,) = remember(owner, "The user keeps bees.", state="archived", **gone)
        values = {"user": owner, "object_id": memory.pk, "embedding_model": ""}
        same = Suppression.objects.create(fingerprint=memory.fingerprint, **values)
        other = Suppression.objects.create(fingerprint=fingerprint(owner.pk, "Something else."), **values)
        assert actions.memories_index() == 1
        same.refresh_from_db()
        other.refresh_from_db()
        assert (same.embedding, same.embedding_model) == (now(memory).embedding, "hashing:384")
        assert (other.embedding, other.embedding_model) == (None, "")
