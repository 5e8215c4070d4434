"""What the summariser finds: gates, evidence, duplicates, contradictions."""

import pytest
from django.conf import settings

from accounts.queries import principal_for_job, principal_for_person
from accounts.scope import enter
from conversations.actions import NewMessage, conversation_create
from facts import actions, policy
from facts.models import FactEvidence, FactLink, LegacyFact
from journal.actions import ledger_write
from journal.models import Change, OperationEvent
from language.base import EmbedderUnavailable, FactCandidate, ModelUnavailable
from tests import factories

from .conftest import now, rev

BEES = "Rosa kept bees."
BREAD = "Rosa baked bread every Sunday."
BREAD_TOO = "Every Sunday Rosa baked bread."  # The same words in another order have the same hashed vector.


def noted(op):
    return OperationEvent.objects.filter(node="extract", op=op)


class TestGates:
    @pytest.mark.parametrize(
        "content", ["Rosa", "x" * 281, "My gran Rosa kept bees.", "The assistant asked about Rosa.", "Rosa\x07 sang."]
    )
    def test_bad_form_is_dropped_and_noted(self, extract, owner, legacy, content):
        found = [FactCandidate("hobby", content, (0,), "gran"), FactCandidate("hobby", BEES, (0,), "gran")]
        (fact,) = extract(owner, legacy, *found, said=[NewMessage("user", "My gran kept bees.")])
        assert fact.content == BEES
        assert noted("gate").get().status == "skipped"

    def test_an_unknown_category_is_dropped(self, extract, owner, legacy):
        assert extract(owner, legacy, FactCandidate("hobbies", BEES, (0,), BEES)) == []
        assert noted("category").exists()

    def test_nothing_found_asks_nobody(self, model, owner, legacy, away):
        away()
        assert actions.prepare_extracted(legacy.pk, owner.pk, [], "rules") == []
        assert model.asked == []


class TestEvidence:
    def candidate(self, indices=(0,), quote="kept bees"):
        return FactCandidate("hobby", BEES, indices, quote)

    def test_only_the_user_s_own_words_count(self, extract, owner, legacy):
        said = [NewMessage("assistant", "She kept bees?"), NewMessage("user", "She kept bees.")]
        assert extract(owner, legacy, self.candidate((0,)), said=said) == []
        (fact,) = extract(owner, legacy, self.candidate((0, 1)), said=said)
        assert (fact.source_index, FactEvidence.objects.get().message.role) == (1, "user")

    @pytest.mark.parametrize(("indices", "quote"), [((), "bees"), ((7,), "bees"), ((0,), "wasps"), ((0,), "  ")])
    def test_without_a_quote_that_stands_in_a_message_it_is_dropped(self, extract, owner, legacy, indices, quote):
        found = self.candidate(indices, quote)
        assert extract(owner, legacy, found, said=[NewMessage("user", "She kept bees.")]) == []
        assert noted("unsupported").exists()
        assert not LegacyFact.objects.exists()

    def test_somebody_else_s_message_is_no_evidence(self, model, owner, member, legacy):
        message = factories.MessageFactory(
            conversation__user=member, conversation__legacy=legacy, content="She kept bees."
        )
        conversation = conversation_create(principal_for_person(owner.pk), legacy_id=legacy.pk)
        prepared = actions.prepare_extracted(legacy.pk, owner.pk, [self.candidate()], "rules")
        job = enter(principal_for_job(owner.pk))
        with ledger_write(job.actor, owner.pk, legacy.pk) as write:
            assert actions.record_extracted(write, job, conversation, prepared, {0: message}) == []

    def test_a_long_quote_is_cut(self, extract, owner, legacy):
        long = "She kept bees. " * 60
        (fact,) = extract(owner, legacy, self.candidate(quote=long.strip()), said=[NewMessage("user", long)])
        quote = fact.evidence.get().quote
        assert len(quote) == 500
        assert long.startswith(quote)


class TestDuplicates:
    @pytest.mark.parametrize("again", [BREAD, "rosa baked bread, every sunday", BREAD_TOO])
    def test_it_is_dropped_and_its_evidence_kept(self, extract, owner, legacy, again):
        (fact,) = extract(owner, legacy, BREAD)
        before = rev(owner)
        assert extract(owner, legacy, again) == []
        assert LegacyFact.objects.count() == 1
        assert [each.quote for each in fact.evidence.order_by("id")] == [BREAD, again]
        told = Change.objects.get(ledger_id=owner.pk, rev=rev(owner))
        assert (told.event, told.object_id, told.meta) == ("LINK", str(fact.pk), {"evidence": 1})
        assert rev(owner) > before
        assert noted("duplicate").get().sim == pytest.approx(1, abs=0.01)

    def test_a_batch_repeats_nothing_of_its_own(self, extract, owner, legacy):
        stored = extract(owner, legacy, BREAD, BREAD_TOO, "ROSA baked bread every Sunday", BEES)
        assert [fact.content for fact in stored] == [BREAD, BEES]
        assert stored[0].evidence.count() == 3

    def test_recording_a_batch_twice_stores_it_once(self, model, owner, legacy):
        message = factories.MessageFactory(conversation__user=owner, conversation__legacy=legacy, content=BEES)
        candidate = FactCandidate("hobby", BEES, (0,), BEES)
        prepared = actions.prepare_extracted(legacy.pk, owner.pk, [candidate], "rules")
        job, counts = enter(principal_for_job(owner.pk)), []
        for _ in range(2):
            with ledger_write(job.actor, owner.pk, legacy.pk) as write:
                counts.append(len(actions.record_extracted(write, job, message.conversation, prepared, {0: message})))
        assert counts == [1, 0]
        assert FactEvidence.objects.count() == 1

    def test_what_the_model_calls_the_same_is_dropped(self, extract, model, owner, legacy, settings):
        settings.FACT_RELATED_SIMILARITY = 0.2
        (fact,) = extract(owner, legacy, "Rosa kept bees.")
        model.says[fact.content, "Rosa was a beekeeper."] = "same"
        assert extract(owner, legacy, "Rosa was a beekeeper.") == []
        assert fact.evidence.count() == 2

    def test_what_waits_or_was_added_by_hand_counts_too(self, add, extract, owner, legacy):
        add(owner, legacy, BREAD)
        assert extract(owner, legacy, BREAD_TOO) == []
        factories.PreferencesFactory(user=owner, review="before")
        assert len(extract(owner, legacy, BEES)) == 1
        assert extract(owner, legacy, BEES) == []

    def test_another_member_s_shared_fact_is_linked_never_merged(self, extract, shared, owner, member, legacy):
        theirs = shared(member, legacy, BREAD)
        (mine,) = extract(owner, legacy, BREAD_TOO)
        link = FactLink.objects.get()
        assert (link.from_fact, link.to_fact, link.kind) == (mine, theirs, "duplicate")
        assert link.strength == pytest.approx(1, abs=0.01)
        assert not theirs.evidence.exists()

    def test_another_member_s_private_fact_is_not_even_looked_at(self, extract, model, add, owner, member, legacy):
        add(member, legacy, BREAD)
        (mine,) = extract(owner, legacy, BREAD_TOO)
        assert not FactLink.objects.exists()
        assert model.asked == []
        assert mine.user_id == owner.pk

    def test_facts_of_another_legacy_are_others(self, add, extract, owner, legacy):
        add(owner, factories.LegacyFactory(owner=owner), BREAD)
        assert len(extract(owner, legacy, BREAD)) == 1

    def test_figures_that_differ_make_two_facts_however_similar(self, extract, owner, legacy, settings):
        settings.FACT_DUPLICATE_SIMILARITY = 0.8
        extract(owner, legacy, "Rosa was born in 1942.")
        assert len(extract(owner, legacy, "Rosa was born in 1944.")) == 1
        assert extract(owner, legacy, "In 1942 Rosa was born.") == []


class TestContradictions:
    @pytest.fixture
    def both(self, extract, model, owner, legacy):
        (first,) = extract(owner, legacy, BREAD)
        model.says[BREAD, BREAD_TOO] = "contradicts"
        (second,) = extract(owner, legacy, BREAD_TOO)
        return first, second

    def test_both_stand_and_are_linked(self, both):
        first, second = both
        link = FactLink.objects.get()
        assert (link.from_fact, link.to_fact, link.kind) == (second, first, "contradicts")
        assert {now(fact).state for fact in both} == {"active"}

    def test_both_show_it(self, api, owner, both):
        for fact, other in (both, both[::-1]):
            (link,) = api(owner).get(f"/api/v1/facts/{fact.pk}/").json()["links"]
            assert (link["kind"], link["fact"], link["content"], link["mine"]) == (
                "contradicts",
                str(other.pk),
                other.content,
                True,
            )

    def test_who_sees_one_of_them_does_not_see_the_other(self, api, owner, member, both):
        actions.fact_set_visibility(principal_for_person(owner.pk), both[0].pk, "shared")
        assert api(member).get(f"/api/v1/facts/{both[0].pk}/").json()["links"] == []
        actions.fact_set_visibility(principal_for_person(owner.pk), both[1].pk, "shared")
        (link,) = api(member).get(f"/api/v1/facts/{both[0].pk}/").json()["links"]
        assert (link["fact"], link["mine"]) == (str(both[1].pk), False)

    def test_a_rejected_one_is_no_contradiction_any_more(self, api, owner, both):
        actions.fact_reject(principal_for_person(owner.pk), both[0].pk)
        assert api(owner).get(f"/api/v1/facts/{both[1].pk}/").json()["links"] == []

    def test_two_of_one_batch_are_compared_with_each_other(self, extract, model, owner, legacy):
        model.says[BREAD, BREAD_TOO] = "contradicts"
        assert len(extract(owner, legacy, BREAD, BREAD_TOO)) == 2
        assert model.asked == [[(BREAD, BREAD_TOO)]]
        assert FactLink.objects.get().kind == "contradicts"

    def test_with_another_member_s_shared_fact_too(self, extract, shared, model, owner, member, legacy):
        theirs = shared(member, legacy, BREAD)
        model.says[BREAD, BREAD_TOO] = "contradicts"
        extract(owner, legacy, BREAD_TOO)
        assert (FactLink.objects.get().to_fact, FactLink.objects.get().kind) == (theirs, "contradicts")

    def test_the_model_is_asked_once_about_everything(self, extract, model, add, owner, legacy, settings):
        settings.FACT_RELATED_SIMILARITY = 0.2
        for number in range(3):
            add(owner, legacy, f"Rosa kept {number} bees.")
        extract(owner, legacy, "Rosa kept many bees.", "Rosa kept no bees at all.")
        (pairs,) = model.asked
        assert len(pairs) == 3 + 4


class TestWhenSomethingIsAway:
    def test_without_the_embedder_nothing_is_written(self, extract, owner, legacy, away):
        away()
        before = rev(owner)
        with pytest.raises(EmbedderUnavailable):
            actions.prepare_extracted(legacy.pk, owner.pk, [FactCandidate("hobby", BEES, (0,), BEES)], "rules")
        assert rev(owner) == before
        assert not LegacyFact.objects.exists()

    def test_without_the_model_nothing_is_written(self, add, model, owner, legacy):
        add(owner, legacy, BREAD)
        model.error = ModelUnavailable("away")
        with pytest.raises(ModelUnavailable):
            actions.prepare_extracted(
                legacy.pk, owner.pk, [FactCandidate("habit", BREAD_TOO, (0,), BREAD_TOO)], "rules"
            )
        assert LegacyFact.objects.count() == 1

    def test_a_fact_that_came_up_meanwhile_counts_by_its_similarity(self, add, model, owner, legacy):
        message = factories.MessageFactory(conversation__user=owner, conversation__legacy=legacy, content=BREAD_TOO)
        candidate = FactCandidate("habit", BREAD_TOO, (0,), BREAD_TOO)
        prepared = actions.prepare_extracted(legacy.pk, owner.pk, [candidate], "rules")
        fact = add(owner, legacy, BREAD)
        job = enter(principal_for_job(owner.pk))
        with ledger_write(job.actor, owner.pk, legacy.pk) as write:
            assert actions.record_extracted(write, job, message.conversation, prepared, {0: message}) == []
        assert fact.evidence.count() == 1

    def test_the_locks_must_be_held(self, model, owner, legacy):
        message = factories.MessageFactory(conversation__user=owner, conversation__legacy=legacy, content=BEES)
        job = enter(principal_for_job(owner.pk))
        with ledger_write(job.actor, owner.pk) as write, pytest.raises(ValueError, match="locks"):
            actions.record_extracted(write, job, message.conversation, [], {})


def test_a_batch_takes_the_same_queries_however_many_facts_there_are(
    extract, add, owner, legacy, model, django_assert_max_num_queries
):
    for number in range(30):
        add(owner, legacy, f"Rosa owned {number} spoons.")
    with django_assert_max_num_queries(60):
        extract(owner, legacy, "Rosa owned many spoons.", BEES)


DUPLICATE = settings.FACT_DUPLICATE_SIMILARITY


@pytest.mark.parametrize(
    ("similarity", "verdict", "kind"),
    [
        (0.99, "contradicts", "contradicts"),
        (0.90, "same", "duplicate"),
        (DUPLICATE, "different", "duplicate"),
        (DUPLICATE - 0.001, "different", None),
    ],
)
def test_what_two_statements_are_to_each_other(similarity, verdict, kind):
    assert policy.relation(BREAD, BREAD_TOO, similarity, verdict) == kind


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("On Sundays Emil took Ada to the match.", "On Saturdays Emil took Ada to the match."),
        ("Rosa had three cats.", "Rosa had four cats."),
        ("Rosa was born in May 1931.", "Rosa was born in June 1931."),
    ],
)
def test_another_value_makes_another_fact_however_similar(one, other):
    """Reproduction: "it was on Saturdays" was answered with "Noted", and only the Sundays were on the page."""
    assert policy.relation(one, other, 0.999, "different") is None
