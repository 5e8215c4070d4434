"""Memories, their versions and suppressions get the vectors of another embedder."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from assistant.reembedding import reembed, waiting_for
from language.embedders.hashing import HashingEmbedder
from memories import actions
from memories.models import MEMORY, Memory, MemoryVersion, Relation
from statements.actions import statements_purge
from statements.models import Suppression

from .state import changes, check, now

pytestmark = pytest.mark.django_db

BEES = "The user keeps bees behind the house."
BEES_TOO = "The user keeps bees behind the old barn."
OLD, NEW = "hashing:384", "hashing:256"


@pytest.fixture
def switch(monkeypatch):
    """``switch()`` makes another embedder the deployment's."""

    def switch():
        for module in ("assistant.reembedding", "statements.wording", "statements.actions.upkeep"):
            monkeypatch.setattr(f"{module}.get_embedder", lambda: HashingEmbedder(256))

    return switch


def test_they_move_and_take_no_revision(me, owner, add, switch):
    memory = add(me, BEES).memory
    actions.memory_update(me, memory.pk, "The user keeps hens.")
    archived = add(me, "The user keeps geese.").memory
    actions.memory_archive(me, archived.pk)
    before = changes(owner)
    switch()
    assert waiting_for(NEW).rows == {"memories": 2, "versions": 3}
    assert reembed().rows == {"memories": 2, "versions": 3}
    assert set(Memory.objects.values_list("embedding_model", flat=True)) == {NEW}
    assert set(MemoryVersion.objects.values_list("embedding_model", flat=True)) == {NEW}
    suppression = Suppression.objects.exclude(embedding=None).get(version=None)
    assert (suppression.embedding_model, suppression.embedding) == (NEW, now(archived).embedding)
    assert changes(owner) == before
    assert sum(waiting_for(NEW).rows.values()) == 0
    check(owner)


def test_the_mark_of_a_memory_that_is_gone_keeps_its_vector(me, owner, add, switch):
    memory = add(me, BEES).memory
    actions.memory_archive(me, memory.pk)
    Memory.objects.update(purge_at=timezone.now())
    statements_purge(MEMORY)
    switch()
    assert waiting_for(NEW).suppressions == 1
    reembed()
    # The other one is of its content words alone.
    assert Suppression.objects.exclude(embedding=None).get().embedding_model == OLD


def test_what_came_before_the_move_is_compared_again_after_it(me, owner, add, switch, settings):
    settings.MEMORY_LINK_MIN_SIMILARITY = settings.MEMORY_FALLBACK_LOW_SIMILARITY = 0.6
    known = add(me, BEES).memory
    switch()
    fresh = add(me, BEES_TOO).memory
    assert not Relation.objects.exists()
    reembed()
    assert list(Memory.objects.filter(index_not_before__isnull=False)) == [fresh]
    for _ in range(2):
        with time_machine.travel(timezone.now() + timedelta(minutes=6)):
            actions.memories_index()
        edge = Relation.objects.get()
        assert (edge.from_memory_id, edge.to_memory_id) == (fresh.pk, known.pk)
        Memory.objects.filter(pk=known.pk).update(index_not_before=timezone.now())
    assert now(fresh).needs_check
    assert changes(owner) == ["ADD", "ADD", "LINK"]
    check(owner)
