"""What happens in the background: vectors that come later, expiry, the purge."""

from datetime import timedelta

import pytest
import time_machine
from django.conf import settings as configured
from django.utils import timezone

from accounts.actions import user_set_active
from accounts.models import User
from accounts.queries import principal_for_person
from assistant.learn.summarizing import sweep
from journal.models import Change, OperationEvent
from memories import actions, tasks
from memories.delta import memory_delta
from memories.models import MEMORY, Memory, MemoryVersion, Proposal, Relation
from memories.policy.fields import MAY_SET_A_FIELD
from memory_project.celery import app
from statements.actions import statements_purge
from statements.models import Suppression
from statements.policy.resembling import RESEMBLES
from tests import factories

from .state import changes, check, now, versions

pytestmark = pytest.mark.django_db

BEES = "The user keeps bees behind the house."
BEES_TOO = "The user keeps bees behind the old barn."
HENS = "The user keeps hens behind the house."


@pytest.fixture(autouse=True)
def _near(settings):
    settings.MEMORY_FALLBACK_LOW_SIMILARITY = settings.MEMORY_LINK_MIN_SIMILARITY = 0.6


class TestIndexing:
    def test_vectors_come_when_the_embedder_is_back(self, bot, owner, add, away):
        away()
        memory = add(bot, BEES).memory
        assert actions.memories_index() == 0
        assert OperationEvent.objects.get().op == "index_memories"
        assert (now(memory).index_attempts, now(memory).embedding) == (1, None)
        away.back()
        assert actions.memories_index() == 0  # It is not due yet.
        updated = now(memory).updated_at
        with time_machine.travel(timezone.now() + timedelta(seconds=61)):
            assert actions.memories_index() == 1
        stored = now(memory)
        assert (len(stored.embedding), stored.embedding_model, stored.index_not_before) == (384, "hashing:384", None)
        assert stored.updated_at == updated
        assert versions(memory)[0].embedding_model == "hashing:384"
        assert changes(owner) == ["ADD"]
        assert actions.memories_index() == 0
        check(owner)

    def test_failures_wait_longer_each_time_up_to_an_hour(self, bot, add, away):
        away()
        memory = add(bot, BEES).memory
        waits = []
        for _ in range(10):
            Memory.objects.update(index_not_before=timezone.now())
            actions.memories_index()
            waits.append(round((now(memory).index_not_before - timezone.now()).total_seconds()))
        assert waits[:3] == [60, 120, 240]
        assert waits[-1] == 3600

    def test_neighbours_are_found_then(self, bot, owner, add, away):
        known = add(bot, BEES).memory
        away()
        late = add(bot, BEES_TOO).memory
        assert not now(late).needs_check
        away.back()
        tasks.index_memories(late.pk)
        edge = Relation.objects.get()
        assert (edge.from_memory_id, edge.to_memory_id) == (late.pk, known.pk)
        assert now(late).needs_check
        assert changes(owner) == ["ADD", "ADD", "LINK"]
        assert Change.objects.last().meta == {"to": [known.pk]}
        check(owner)

    def test_what_was_rejected_in_similar_words_waits_for_the_person(self, me, bot, owner, add, away, settings):
        settings.SUPPRESSION_SIMILARITY = 0.6
        actions.memory_reject(me, add(bot, BEES).memory.pk)
        away()
        late, own = add(bot, BEES_TOO).memory, add(me, HENS).memory
        away.back()
        assert actions.memories_index() == 2
        assert (now(late).state, now(late).state_reason) == ("proposed", RESEMBLES)
        assert Proposal.objects.waiting().get().memory == late
        assert now(own).state == "active"
        assert memory_delta(principal_for_person(owner.pk), 3).count(f"held back: [context] id:{late.pk}") == 1
        actions.memory_approve(me, late.pk)
        assert (now(late).state, Suppression.objects.count()) == ("active", 0)
        check(owner)

    @pytest.mark.parametrize(
        ("content", "waits"),
        [
            ("The user's front door opens onto a canal in Ghent.", True),
            ("Friends shout Bobby when they want the user.", True),
            ("Swahili comes easiest to the user.", True),
            ("The user would rather be spoken of as they.", True),
            ("The user likes tea.", False),
        ],
    )
    def test_a_personal_field_that_only_its_meaning_tells_waits_once_it_has_a_vector(
        self, me, bot, owner, add, away, settings, content, waits
    ):
        """It stayed in every prompt without the person's consent: by meaning it was judged only when it was added."""
        settings.KEEPSAKE_EMBEDDER = "bundled"
        away()
        late, own = add(bot, content).memory, add(me, "Home is a flat in Ostend.").memory
        assert now(late).state == now(own).state == "active"
        away.back()
        actions.memories_index()
        assert (now(late).state, now(late).state_reason) == (("proposed", MAY_SET_A_FIELD) if waits else ("active", ""))
        assert now(own).state == "active"
        check(owner)

    def test_a_suppression_laid_without_a_vector_gets_it(self, me, bot, add, away, settings):
        settings.SUPPRESSION_SIMILARITY = 0.6
        away()
        memory = add(me, BEES).memory
        actions.memory_archive(me, memory.pk)
        assert Suppression.objects.get().embedding is None
        away.back()
        actions.memories_index()
        assert len(Suppression.objects.get().embedding) == 384

    def test_what_an_agent_archived_has_none(self, bot, add, away):
        away()
        memory = add(bot, BEES).memory
        actions.memory_archive(bot, memory.pk)
        away.back()
        actions.memories_index()
        assert now(memory).embedding is not None
        assert not Suppression.objects.exists()

    def test_what_was_reworded_while_it_was_embedded_is_left(self, me, owner, add, away, monkeypatch):
        away()
        memory = add(me, BEES).memory
        away.back()
        from language.backends import get_embedder

        class Slow:
            name = "slow"

            def embed_passages(self, texts):
                actions.memory_update(me, memory.pk, HENS)
                return get_embedder().embed_passages(texts)

        monkeypatch.setattr("statements.actions.upkeep.get_embedder", Slow)
        assert actions.memories_index() == 0
        assert now(memory).embedding_model == "hashing:384"
        assert versions(memory)[0].embedding is None
        check(owner)

    def test_who_is_erased_meanwhile_is_left(self, me, owner, add, away, monkeypatch):
        away()
        add(me, BEES)
        away.back()
        from language.backends import get_embedder

        class Slow:
            name = "slow"

            def embed_passages(self, texts):
                User.objects.filter(pk=owner.pk).update(is_active=False)
                return get_embedder().embed_passages(texts)

        monkeypatch.setattr("statements.actions.upkeep.get_embedder", Slow)
        assert actions.memories_index() == 0

    def test_people_who_are_kept_out_wait(self, me, moderator, owner, add, away):
        away()
        add(me, BEES)
        away.back()
        user_set_active(moderator, owner.pk, active=False)
        assert actions.memories_index() == 0
        user_set_active(moderator, owner.pk, active=True)
        assert actions.memories_index() == 1

    def test_the_sweep_finds_it(self, me, add, away):
        assert sweep()["memories"] == 0
        away()
        add(me, BEES)
        assert sweep()["memories"] == 1

    def test_many_go_in_batches(self, me, owner, add, away, monkeypatch):
        monkeypatch.setattr("statements.actions.upkeep.INDEX_BATCH", 2)
        away()
        for number in range(5):
            add(me, f"The user keeps {number} hens.")
        away.back()
        assert actions.memories_index() == 5
        check(owner)


class TestExpiry:
    def test_what_is_over_is_archived_and_can_be_restored(self, me, owner, stranger, add):
        soon = timezone.now() + timedelta(minutes=1)
        going = [add(me, f"The user keeps {n} hens.", expires_at=soon).memory for n in range(3)]
        staying = add(me, BEES, expires_at=soon + timedelta(minutes=1)).memory
        theirs = add(principal_for_person(stranger.pk), BEES, expires_at=soon).memory
        assert actions.memories_expire() == 0
        with time_machine.travel(soon + timedelta(seconds=1)):
            tasks.expire_memories()
        assert {(now(memory).state, now(memory).deleted_why) for memory in [*going, theirs]} == {("archived", "ttl")}
        assert now(staying).state == "active"
        assert changes(owner)[-3:] == ["TTL"] * 3
        assert not Suppression.objects.exists()
        check(owner)
        check(stranger)

    def test_a_batch_takes_as_many_statements_as_one(self, owner, django_assert_max_num_queries):
        from .rows import remember

        remember(owner, *(f"The user keeps {n} hens." for n in range(300)), expires_at=timezone.now())
        with django_assert_max_num_queries(16):
            assert actions.memories_expire() == 300
        check_counts = Change.objects.filter(event="TTL").count()
        assert check_counts == 300

    def test_in_batches(self, me, owner, add, monkeypatch):
        monkeypatch.setattr("memories.actions.upkeep.EXPIRE_BATCH", 2)
        soon = timezone.now() + timedelta(minutes=1)
        for number in range(5):
            add(me, f"The user keeps {number} hens.", expires_at=soon)
        with time_machine.travel(soon):
            assert actions.memories_expire() == 5
        check(owner)


class TestPurge:
    def test_after_thirty_days_it_is_gone_for_good_and_the_suppression_stays(self, me, bot, owner, add):
        deleted, rejected, kept = (add(me, f"The user keeps {n} hens.").memory for n in range(3))
        actions.memory_update(me, deleted.pk, BEES)
        actions.memory_archive(me, deleted.pk)
        actions.memory_reject(me, rejected.pk)
        with time_machine.travel(timezone.now() + timedelta(days=29)):
            assert statements_purge(MEMORY) == 0
        with time_machine.travel(timezone.now() + timedelta(days=30, seconds=1)):
            tasks.purge_memories()
        assert list(Memory.objects.values_list("pk", flat=True)) == [kept.pk]
        assert set(MemoryVersion.objects.values_list("memory_id", flat=True)) == {kept.pk}
        assert Suppression.objects.count() == 4, "with the earlier wording of the first, and its content words"
        purged = Change.objects.filter(event="PURGE").values_list("object_id", "old_version", "new_version")
        assert set(purged) == {(deleted.pk, 2, None), (rejected.pk, 1, None)}
        check(owner)

    def test_in_batches_of_one_person(self, me, owner, stranger, add, monkeypatch):
        monkeypatch.setattr("statements.actions.upkeep.PURGE_BATCH", 2)
        for person in (owner, stranger):
            principal = principal_for_person(person.pk)
            for number in range(3):
                actions.memory_archive(principal, add(principal, f"Somebody keeps {number} hens.").memory.pk)
        Memory.objects.update(purge_at=timezone.now())
        assert statements_purge(MEMORY) == 6
        check(owner)
        check(stranger)

    def test_evidence_and_relations_go_with_it(self, me, bot, owner, add):
        message = factories.MessageFactory(conversation=factories.ConversationFactory(user=owner))
        first = add(bot, BEES, message_id=message.pk).memory
        second = add(bot, BEES_TOO).memory
        assert Relation.objects.count() == 1
        actions.memory_archive(bot, first.pk)
        Memory.objects.filter(pk=first.pk).update(purge_at=timezone.now())
        assert statements_purge(MEMORY) == 1
        assert not Relation.objects.exists()
        assert now(second).state == "active"
        check(owner)


@pytest.mark.parametrize(
    "job",
    [actions.proposals_lapse, actions.memories_expire, lambda: statements_purge(MEMORY)],
    ids=["lapse", "expire", "purge"],
)
def test_who_is_erased_while_a_job_runs_is_passed_over(me, owner, cautious, add, job, monkeypatch):
    add(cautious, BEES)
    memory = add(me, HENS).memory
    actions.memory_archive(me, memory.pk)
    add(me, "The user keeps geese.", expires_at=timezone.now() + timedelta(seconds=1))
    Memory.objects.filter(state="archived").update(purge_at=timezone.now())
    from journal.exceptions import NotFound

    def gone(*args):
        raise NotFound("Not found.")

    monkeypatch.setattr("accounts.upkeep.ledger_write", gone)
    with time_machine.travel(timezone.now() + timedelta(days=8)):
        assert job() == 0


def test_every_task_of_the_schedule_is_there():
    app.loader.import_default_modules()
    scheduled = {entry["task"] for entry in configured.CELERY_BEAT_SCHEDULE.values()}
    assert {"memories.expire", "memories.lapse", "memories.purge"} <= scheduled <= set(app.tasks)
