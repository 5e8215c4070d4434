"""What waits for the person: their yes, with other words too, their no, and the end of the wait."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.queries import principal_for_person
from journal.exceptions import Conflict, Gated, NotAllowed, NotFound, NotYoursToDecide, Refused
from journal.models import Change
from journal.undo import undo
from memories import actions, tasks
from memories.models import MEMORY, Memory, MemoryVersion, Proposal, ProposalEvidence
from statements.actions import statements_purge
from statements.models import Suppression
from tests import factories
from tests.factories import rev_of

from .state import changes, check, now, versions

pytestmark = pytest.mark.django_db

BEES = "The user keeps bees behind the house."
HENS = "The user keeps hens behind the house."
TOMATOES = "The user grows tomatoes."
LONG_AGO = datetime(2020, 5, 1, tzinfo=UTC)


@pytest.fixture
def create(cautious, add):
    """A new memory that waits."""
    return add(cautious, TOMATOES).memory.proposals.get()


@pytest.fixture
def bees(me, add):
    return add(me, BEES).memory


@pytest.fixture
def update(cautious, owner, agent, bees):
    """Another wording that waits, with a message behind it."""
    talk = factories.ConversationFactory(user=owner, agent=agent)
    message = factories.MessageFactory(conversation=talk, content="We have hens.")
    return actions.memory_update(cautious, bees.pk, HENS, message_id=message.pk).proposal


@pytest.fixture
def archive(cautious, bees):
    return actions.memory_archive(cautious, bees.pk).proposal


class TestYes:
    def test_to_a_new_memory_is_the_same_as_approving_the_memory(self, me, owner, create):
        proposal = actions.proposal_approve(me, create.pk)
        assert (proposal.state, now(create.memory_id).state) == ("approved", "active")
        assert changes(owner) == ["PROPOSE", "APPROVE"]
        check(owner)

    def test_with_other_words(self, me, owner, create):
        actions.proposal_approve(me, create.pk, values={"content": HENS, "category": "event"})
        memory = now(create.memory_id)
        assert (memory.content, memory.category, memory.written_by, memory.version) == (HENS, "event", "", 2)
        check(owner)

    def test_to_another_wording(self, me, owner, bees, update):
        proposal = actions.proposal_approve(me, update.pk)
        memory = now(bees)
        assert (memory.content, memory.version, memory.written_by) == (HENS, 2, "agent")
        assert memory.reviewed_at
        assert (proposal.state, proposal.values) == ("approved", {"content": HENS})
        version = versions(bees)[1]
        assert version.evidence.get().quote == "We have hens."
        assert version.source_conversation_id == memory.source_conversation_id == update.source_conversation_id
        change = Change.objects.last()
        assert (change.event, change.object_id, change.meta) == ("UPDATE", bees.pk, {"proposal": str(update.pk)})
        check(owner)

    def test_in_the_persons_words(self, me, bees, update):
        actions.proposal_approve(me, update.pk, values={"content": "The user keeps geese.", "category": "event"})
        assert (now(bees).content, now(bees).written_by, now(bees).category) == ("The user keeps geese.", "", "event")

    def test_with_when_it_became_true(self, me, cautious, owner, bees):
        proposal = actions.memory_update(cautious, bees.pk, HENS, valid_from=LONG_AGO).proposal
        actions.proposal_approve(me, proposal.pk)
        assert now(bees).valid_from == LONG_AGO
        assert versions(bees)[0].valid_to == LONG_AGO

    def test_as_the_correction_that_it_is(self, me, cautious, bees):
        proposal = actions.memory_update(cautious, bees.pk, HENS, correction=True).proposal
        actions.proposal_approve(me, proposal.pk)
        assert versions(bees)[0].valid_to is None

    def test_to_being_filed_otherwise(self, me, cautious, owner, bees):
        soon = timezone.now() + timedelta(days=1)
        proposal = actions.memory_amend(
            cautious, bees.pk, subject="Apiculture", topics=["hobby"], importance=4, expires_at=soon
        ).proposal
        actions.proposal_approve(me, proposal.pk, values={"importance": 5})
        memory = now(bees)
        assert (memory.subject, memory.topics, memory.importance, memory.expires_at) == (
            "Apiculture",
            ["hobby"],
            5,
            soon,
        )
        assert (memory.version, memory.reviewed_at is not None) == (1, True)
        check(owner)

    def test_to_putting_away(self, me, owner, bees, archive):
        actions.proposal_approve(me, archive.pk)
        assert (now(bees).state, now(bees).deleted_why) == ("archived", "agent")
        assert not Suppression.objects.exists()
        check(owner)

    def test_of_what_the_person_rejected_before(self, me, cautious, owner, bees, update, add):
        hens = add(cautious, HENS).memory
        actions.memory_reject(me, hens.pk)
        actions.proposal_approve(me, update.pk)
        assert Suppression.objects.get().object_id == bees.pk, "only the wording that was replaced waits"
        assert now(bees).content == HENS

    @pytest.mark.parametrize("kind", ["update", "archive"])
    def test_too_late_shows_both(self, me, owner, bees, kind, request):
        proposal = request.getfixturevalue(kind)
        actions.memory_update(me, bees.pk, "The user keeps geese.")
        with pytest.raises(Conflict) as caught:
            actions.proposal_approve(me, proposal.pk)
        assert caught.value.code == "stale_proposal"
        assert caught.value.extra["memory"]["content"] == "The user keeps geese."
        assert caught.value.extra["memory"]["version"] == 2
        assert caught.value.extra["proposed"] == ({"content": HENS} if kind == "update" else {})
        assert Proposal.objects.get().state == "waiting"
        check(owner)

    def test_to_what_is_gone(self, me, bees, update):
        actions.memory_archive(me, bees.pk)
        with pytest.raises(Conflict) as caught:
            actions.proposal_approve(me, update.pk)
        assert caught.value.code == "wrong_state"

    @pytest.mark.parametrize(
        ("kind", "values"),
        [("create", {"importance": 4}), ("update", {"pinned": True}), ("archive", {"content": HENS})],
    )
    def test_with_values_of_another_kind(self, me, kind, values, request):
        with pytest.raises(Refused) as caught:
            actions.proposal_approve(me, request.getfixturevalue(kind).pk, values=values)
        assert caught.value.code == "bad_values"

    @pytest.mark.parametrize(
        ("values", "error"),
        [
            ({"content": "b"}, Gated),
            ({"category": "weather"}, Refused),
            ({"importance": 7}, Refused),
            ({"subject": "s" * 201}, Refused),
            ({"topics": ["t" * 51]}, Refused),
            ({"expires_at": LONG_AGO}, Refused),
        ],
    )
    def test_with_values_that_make_no_sense(self, me, bees, update, values, error):
        with pytest.raises(error):
            actions.proposal_approve(me, update.pk, values=values)
        assert now(bees).version == 1

    def test_with_the_embedder_away(self, me, owner, bees, update, away):
        away()
        actions.proposal_approve(me, update.pk)
        assert (now(bees).content, now(bees).embedding) == (HENS, None)
        check(owner)


class TestNo:
    def test_to_a_new_memory_is_the_same_as_rejecting_it(self, me, owner, create):
        assert actions.proposal_reject(me, create.pk).state == "rejected"
        assert (now(create.memory_id).state, now(create.memory_id).state_reason) == ("rejected", "Not true")
        assert Suppression.objects.get().object_id == create.memory_id
        check(owner)

    def test_to_another_wording_keeps_it_away(self, me, bot, owner, bees, update, add):
        proposal = actions.proposal_reject(me, update.pk)
        assert (proposal.state, proposal.values, now(bees).content) == ("rejected", {"content": HENS}, BEES)
        suppression = Suppression.objects.get()
        assert (suppression.object_id, suppression.embedding_model) == (str(update.pk), "hashing:384")
        change = Change.objects.last()
        assert (change.event, change.object_type, change.object_id) == ("REJECT", "proposal", str(update.pk))
        with pytest.raises(Gated):
            add(bot, HENS)
        check(owner)

    @pytest.mark.parametrize("kind", ["archive", "filing"])
    def test_to_what_has_no_words_leaves_none(self, me, cautious, bees, kind, request):
        proposal = (
            request.getfixturevalue("archive")
            if kind == "archive"
            else actions.memory_amend(cautious, bees.pk, importance=5).proposal
        )
        actions.proposal_reject(me, proposal.pk)
        assert not Suppression.objects.exists()
        assert now(bees).state == "active"


def test_other_words_are_those_of_whoever_approves(me, backend, service, bees, create, update):
    actions.proposal_approve(backend, update.pk, values={"content": "The user keeps geese behind the house."})
    actions.memory_approve(backend, create.memory_id, content="The user grows red tomatoes.")
    assert now(bees).written_by == now(create.memory).written_by == service.name


class TestDecidedOnce:
    def test_one_that_is_taken_back_may_wait_beside_its_like(self, me, cautious, owner, bees, archive):
        actions.proposal_reject(me, archive.pk)
        at = rev_of(owner)
        assert actions.memory_archive(cautious, bees.pk).proposal != archive
        undo(me, at, at)
        assert actions.memory_archive(cautious, bees.pk).proposal == archive
        assert Proposal.objects.waiting().count() == 2
        check(owner)

    @pytest.mark.parametrize("kind", ["create", "update", "archive"])
    @pytest.mark.parametrize("first", [actions.proposal_approve, actions.proposal_reject])
    def test_a_second_decision_is_a_conflict(self, me, owner, kind, first, request):
        proposal = request.getfixturevalue(kind)
        first(me, proposal.pk)
        for again in (actions.proposal_approve, actions.proposal_reject):
            with pytest.raises(Conflict) as caught:
                again(me, proposal.pk)
            assert caught.value.code == "wrong_state"
        check(owner)

    def test_nor_after_its_time(self, me, bees, update):
        with time_machine.travel(timezone.now() + timedelta(days=7, seconds=1)), pytest.raises(Conflict) as caught:
            actions.proposal_approve(me, update.pk)
        assert caught.value.extra["state"] == "lapsed"
        assert now(bees).content == BEES


class TestLapse:
    def test_after_seven_days_text_is_gone_and_nothing_stays_behind(self, me, owner, create, bees, update, archive):
        content = Memory.objects.get(pk=create.memory_id).content
        assert actions.proposals_lapse() == 0
        with time_machine.travel(timezone.now() + timedelta(days=7, seconds=1)):
            tasks.lapse_proposals()
        assert not Memory.objects.filter(pk=create.memory_id).exists()
        assert not MemoryVersion.objects.filter(memory=create.memory_id).exists()
        assert not Suppression.objects.exists()
        assert not ProposalEvidence.objects.exists()
        assert set(Proposal.objects.values_list("state", flat=True)) == {"lapsed"}
        assert now(bees).content == BEES
        lapsed = Change.objects.filter(event="LAPSE")
        assert sorted(lapsed.values_list("object_type", flat=True)) == ["memory", "proposal", "proposal"]
        assert content not in repr(list(Change.objects.values()))
        check(owner)

    def test_it_may_be_proposed_again(self, cautious, owner, create, add):
        with time_machine.travel(timezone.now() + timedelta(days=8)):
            assert actions.proposals_lapse() == 1
        assert add(cautious, TOMATOES).outcome == "proposed"
        check(owner)

    def test_in_batches_of_one_person(self, cautious, owner, stranger, other_agent, add, monkeypatch):
        monkeypatch.setattr("memories.actions.proposals.LAPSE_BATCH", 2)
        theirs = factories.agent_principal(other_agent, review="before")
        for number in range(3):
            add(cautious, f"The user keeps {number} hens.")
            add(theirs, f"The user keeps {number} hens.")
        with time_machine.travel(timezone.now() + timedelta(days=8)):
            assert actions.proposals_lapse() == 6
        assert not Memory.objects.exists()
        check(owner)
        check(stranger)


def test_a_memory_that_goes_for_good_takes_its_proposals_along(me, owner, bees, update):
    actions.memory_archive(me, bees.pk)
    Memory.objects.update(purge_at=timezone.now())
    assert statements_purge(MEMORY) == 1
    assert not Proposal.objects.exists()
    check(owner)


def test_only_the_person_and_who_may_decide_for_them(bot, backend, stranger, create):
    for decide in (actions.proposal_approve, actions.proposal_reject):
        with pytest.raises(NotYoursToDecide):
            decide(bot, create.pk)
        with pytest.raises(NotFound):
            decide(principal_for_person(stranger.pk), create.pk)
    actions.proposal_approve(backend, create.pk)
    assert Proposal.objects.get().state == "approved"


def test_who_sees_which(me, bot, backend, moderator, agent, owner, service, create, bees, add, stranger):
    def seen(principal):
        return set(Proposal.objects.visible_to(principal).values_list("pk", flat=True))

    other = factories.agent_principal(factories.AgentFactory(owner=owner), review="before")
    actions.memory_archive(other, bees.pk)
    everything = set(Proposal.objects.values_list("pk", flat=True))
    assert len(everything) == 2
    assert seen(me) == seen(backend) == seen(moderator) == everything
    assert seen(bot) == {create.pk}
    assert len(seen(other)) == 1
    assert seen(principal_for_person(stranger.pk)) == set()
    narrow = factories.agent_principal(
        service, owner, scopes=("read", "write", "admin"), categories=frozenset({"goals"})
    )
    assert seen(narrow) == set()


def test_an_agent_that_decides_does_so_about_what_it_sees(me, cautious, service, owner):
    actions.place_add(cautious, "p1", "Blue Door", "by the river")
    proposal = Proposal.objects.get()
    narrow, without_memory, made_it = (
        factories.agent_principal(service, owner, scopes=("read", "write", "admin"), **limits)
        for limits in ({"categories": frozenset({"goals"})}, {"has_memory": False}, {"categories": frozenset()})
    )
    for principal in (narrow, without_memory):
        assert not Proposal.objects.visible_to(principal).exists()
        with pytest.raises(NotFound):
            actions.proposal_approve(principal, proposal.pk)
    with pytest.raises(NotAllowed):
        actions.proposal_approve(replace(made_it, agent_id=cautious.agent_id), proposal.pk)
    actions.proposal_approve(me, proposal.pk)
    assert Proposal.objects.get().state == "approved"


def test_an_agent_is_not_shown_what_waits_about_a_memory_that_is_gone(me, cautious, update, bees):
    """Reproduction: it quoted to its agent what the person had rejected."""

    def shown():
        return [Proposal.objects.visible_to(each).exists() for each in (me, cautious)]

    assert shown() == [True, True]
    actions.memory_reject(me, bees.pk, "dont_keep")
    assert shown() == [True, False]
    last = Change.objects.last().rev
    undo(me, last, last)
    assert shown() == [True, True]
