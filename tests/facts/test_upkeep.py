"""What happens in the background: vectors and links that come later, and the purge."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.queries import principal_for_person
from facts import actions, tasks
from facts.models import FACT, FactEvidence, FactLink, FactVersion, LegacyFact
from journal.models import Change, OperationEvent
from language.base import ModelUnavailable
from language.consolidating import Compared
from statements.actions import statements_purge
from statements.models import Suppression
from statements.policy.resembling import RESEMBLES
from tests import factories

from .conftest import facts_url, now, rev, url

BREAD = "Rosa baked bread every Sunday."
BREAD_TOO = "Every Sunday Rosa baked bread."


class TestIndexing:
    def test_a_fact_added_by_hand_is_linked_soon_after(self, add, model, owner, legacy):
        first, second = add(owner, legacy, BREAD), add(owner, legacy, BREAD_TOO)
        before = rev(owner)
        assert actions.facts_index() == 2
        link = FactLink.objects.get()
        assert {link.from_fact_id, link.to_fact_id} == {first.pk, second.pk}
        assert link.kind == "duplicate"
        assert rev(owner) == before + 1
        assert not LegacyFact.objects.unindexed(timezone.now()).exists()
        assert actions.facts_index() == 0

    def test_contradictions_are_linked_as_such(self, add, model, owner, legacy):
        add(owner, legacy, BREAD)
        model.says[BREAD, BREAD_TOO] = "contradicts"
        fact = add(owner, legacy, BREAD_TOO)
        tasks.index_facts(str(fact.pk))
        assert FactLink.objects.get().kind == "contradicts"
        assert LegacyFact.objects.unindexed(timezone.now()).count() == 1

    def test_sharing_brings_what_others_share_into_view(self, add, shared, model, owner, member, legacy):
        add(owner, legacy, BREAD)
        theirs = add(member, legacy, BREAD_TOO)
        actions.facts_index()
        assert not FactLink.objects.exists()
        actions.fact_set_visibility(principal_for_person(member.pk), theirs.pk, "shared")
        actions.facts_index()
        assert not FactLink.objects.exists()
        actions.fact_set_visibility(principal_for_person(owner.pk), LegacyFact.objects.get(user=owner).pk, "shared")
        tasks.index_facts()
        assert FactLink.objects.get().kind == "duplicate"

    def test_an_edit_drops_the_links_of_the_old_wording(self, api, add, model, owner, legacy):
        add(owner, legacy, BREAD)
        fact = add(owner, legacy, BREAD_TOO)
        actions.facts_index()
        assert FactLink.objects.exists()
        api(owner).patch(url(fact), {"content": "Rosa kept bees."})
        assert not FactLink.objects.exists()
        actions.facts_index()
        assert not FactLink.objects.exists()

    def test_vectors_come_when_the_embedder_is_back(self, add, model, owner, legacy, away):
        away()
        fact = add(owner, legacy, BREAD)
        assert actions.facts_index() == 0
        assert OperationEvent.objects.get().op == "index_facts"
        assert (now(fact).index_attempts, now(fact).embedding) == (1, None)
        away.back()
        assert actions.facts_index() == 0  # It is not due yet.
        with time_machine.travel(timezone.now() + timedelta(seconds=61)):
            assert actions.facts_index() == 1
        assert len(now(fact).embedding) == 384
        assert (now(fact).embedding_model, now(fact).index_not_before) == ("hashing:384", None)

    def test_failures_wait_longer_each_time_up_to_an_hour(self, add, owner, legacy, away):
        away()
        fact = add(owner, legacy, BREAD)
        waits = []
        for _ in range(10):
            LegacyFact.objects.update(index_not_before=timezone.now())
            actions.facts_index()
            waits.append(round((now(fact).index_not_before - timezone.now()).total_seconds()))
        assert waits[:3] == [60, 120, 240]
        assert waits[-1] == 3600

    def test_with_the_model_away_a_fact_waits_with_its_vector(self, add, model, owner, legacy):
        for content in (BREAD, BREAD_TOO):
            add(owner, legacy, content)
        model.error = ModelUnavailable("away")
        assert actions.facts_index() == 0
        assert LegacyFact.objects.filter(index_not_before__isnull=False, embedding__isnull=False).count() == 2
        assert not FactLink.objects.exists()

    def test_what_changed_while_the_model_was_asked_is_left_for_the_next_time(self, add, model, owner, legacy):
        add(owner, legacy, BREAD)
        actions.facts_index()
        fact = add(owner, legacy, BREAD_TOO)
        model_answers = model.same_fact

        def edited_meanwhile(pairs):
            actions.fact_edit(principal_for_person(owner.pk), fact.pk, content="Rosa kept bees.")
            model.same_fact = model_answers
            return model_answers(pairs)

        model.same_fact = edited_meanwhile
        assert actions.facts_index(fact.pk) == 1  # The second try, with the new wording.
        assert not FactLink.objects.exists()
        assert now(fact).content == "Rosa kept bees."

    def test_what_is_purged_while_the_model_is_asked_is_let_go(self, add, model, owner, legacy):
        add(owner, legacy, BREAD)
        actions.facts_index()
        fact = add(owner, legacy, BREAD_TOO)

        def purged_meanwhile(pairs):
            factories.erase(LegacyFact.objects.filter(pk=fact.pk))
            return Compared(("different",) * len(pairs))

        model.same_fact = purged_meanwhile
        assert actions.facts_index() == 0

    def test_facts_of_people_who_are_kept_out_wait(self, add, model, owner, legacy):
        add(owner, legacy, BREAD)
        type(owner).objects.filter(pk=owner.pk).update(is_active=False)
        assert actions.facts_index() == 0

    def test_a_hundred_are_done_in_batches(self, add, model, owner, legacy):
        for number in range(70):
            add(owner, legacy, f"Rosa owned {number} spoons and {number * 7} forks.")
        assert actions.facts_index() == 70


class TestLateGates:
    def test_an_agent_s_fact_like_a_rejected_one_waits_when_its_vector_comes(
        self, api, add, model, owner, legacy, agent, away
    ):
        actions.fact_reject(principal_for_person(owner.pk), add(owner, legacy, BREAD).pk)
        away()
        body = {"content": BREAD_TOO, "category": "habit"}
        fact = LegacyFact(pk=api(agent).post(facts_url(legacy), body).json()["id"])
        away.back()
        actions.facts_index()
        assert (now(fact).state, now(fact).state_reason) == ("proposed", RESEMBLES)
        assert Change.objects.filter(object_id=fact.pk).latest("rev").event == "PROPOSE"

    def test_the_person_s_own_word_stays(self, add, model, owner, legacy, away):
        actions.fact_reject(principal_for_person(owner.pk), add(owner, legacy, BREAD).pk)
        away()
        fact = add(owner, legacy, BREAD_TOO)
        away.back()
        actions.facts_index()
        assert now(fact).state == "active"

    def test_an_agent_s_other_fact_stays(self, api, add, model, owner, legacy, agent, away):
        actions.fact_reject(principal_for_person(owner.pk), add(owner, legacy, BREAD).pk)
        away()
        body = {"content": "Rosa kept bees.", "category": "habit"}
        fact = LegacyFact(pk=api(agent).post(facts_url(legacy), body).json()["id"])
        away.back()
        actions.facts_index()
        assert now(fact).state == "active"

    def test_a_suppression_laid_without_a_vector_gets_it(self, add, extract, model, owner, legacy, away):
        away()
        fact = add(owner, legacy, BREAD)
        actions.fact_delete(principal_for_person(owner.pk), fact.pk)
        assert Suppression.objects.get().embedding is None
        away.back()
        actions.facts_index()
        assert Suppression.objects.get().embedding == now(fact).embedding
        (fact,) = extract(owner, legacy, BREAD_TOO)
        assert fact.state == "proposed"

    def test_a_lifted_one_is_not_laid_again(self, add, model, owner, legacy, away):
        away()
        actions.fact_delete(principal_for_person(owner.pk), add(owner, legacy, BREAD).pk)
        add(owner, legacy, BREAD)
        away.back()
        assert actions.facts_index() == 2
        assert not Suppression.objects.exists()


class TestPurge:
    @pytest.fixture
    def gone(self, extract, add, owner, legacy):
        """A rejected and a deleted fact, and one that stays."""
        rejected, stays = extract(owner, legacy, BREAD, "Rosa kept bees.")
        deleted = add(owner, legacy, "Rosa had a parrot.")
        actions.fact_reject(principal_for_person(owner.pk), rejected.pk)
        actions.fact_delete(principal_for_person(owner.pk), deleted.pk)
        return rejected, deleted, stays

    def test_before_its_time_nothing_goes(self, gone):
        with time_machine.travel(timezone.now() + timedelta(days=29)):
            assert statements_purge(FACT) == 0
        assert LegacyFact.objects.count() == 3

    def test_rows_go_and_the_log_says_so(self, gone, owner, legacy):
        before = rev(owner), rev(legacy)
        with time_machine.travel(timezone.now() + timedelta(days=31)):
            tasks.purge_facts()
        rejected, deleted, stays = gone
        assert list(LegacyFact.objects.all()) == [stays]
        assert FactVersion.objects.exclude(fact=stays).count() == 0
        assert FactEvidence.objects.exclude(fact=stays).count() == 0
        told = Change.objects.filter(ledger_id=owner.pk, rev__gt=before[0]).order_by("rev")
        assert {(change.event, change.object_id, change.actor_kind) for change in told} == {
            ("PURGE", str(rejected.pk), "job"),
            ("PURGE", str(deleted.pk), "job"),
        }
        assert rev(legacy) == before[1]

    def test_what_is_purged_is_not_restored_and_does_not_come_back(self, api, extract, gone, owner, legacy):
        with time_machine.travel(timezone.now() + timedelta(days=31)):
            statements_purge(FACT)
        assert api(owner).post(url(gone[0], "restore/")).status_code == 404
        assert extract(owner, legacy, BREAD) == []

    def test_many_go_in_bounded_batches(self, add, owner, member, legacy, monkeypatch):
        monkeypatch.setattr("statements.actions.upkeep.PURGE_BATCH", 2)
        for person in (owner, member):
            for number in range(5):
                fact = add(person, legacy, f"Rosa owned {number} spoons.")
                actions.fact_delete(principal_for_person(person.pk), fact.pk)
        with time_machine.travel(timezone.now() + timedelta(days=31)):
            assert statements_purge(FACT) == 10
        assert not LegacyFact.objects.exists()

    def test_a_legacy_that_is_erased_meanwhile_is_let_go(self, gone, owner, legacy, monkeypatch):
        from accounts import upkeep

        opened = upkeep.ledger_write

        def erased_meanwhile(*args):
            factories.erase(type(legacy).objects.all())
            return opened(*args)

        monkeypatch.setattr(upkeep, "ledger_write", erased_meanwhile)
        with time_machine.travel(timezone.now() + timedelta(days=31)):
            assert statements_purge(FACT) == 0


def test_the_tasks_have_the_names_that_others_queue():
    from django.conf import settings

    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert tasks.purge_facts.name in scheduled
    assert tasks.index_facts.name == "facts.index"


def test_a_change_queues_the_comparison(add, owner, legacy, monkeypatch, django_capture_on_commit_callbacks):
    sent = []
    monkeypatch.setattr("journal.queue.current_app.send_task", lambda name, args, **_: sent.append((name, args)))
    with django_capture_on_commit_callbacks(execute=True):
        fact = add(owner, legacy)
    assert sent == [("facts.index", [str(fact.pk)])]
    assert factories.rev_of(owner) == 1
