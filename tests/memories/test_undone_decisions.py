"""Decisions about proposals taken back: everything is as it was, and the proposal waits again while its days last."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from journal.exceptions import Conflict
from journal.models import Ledger
from journal.undo import undo
from memories import actions
from memories.models import Memory, Place, Proposal, ProposalEvidence
from statements.models import Suppression
from tests import factories
from tests.factories import rev_of

from .state import changes, check, now, versions

pytestmark = pytest.mark.django_db

BEES = "The user keeps bees behind the house."
HENS = "The user keeps hens behind the house."


@pytest.fixture
def bees(me, add):
    return add(me, BEES, subject="Bees").memory


@pytest.fixture
def said(owner, agent):
    """A message of the owner, in a conversation that ``agent`` holds."""
    talk = factories.ConversationFactory(user=owner, agent=agent)
    return factories.MessageFactory(conversation=talk, content="We have hens.")


@pytest.fixture
def update(cautious, bees, said):
    return actions.memory_update(cautious, bees.pk, HENS, message_id=said.pk).proposal


@pytest.fixture
def waiting_place(cautious):
    """``waiting_place(**place)``: an agent's place that waits."""
    return lambda **place: actions.place_add(cautious, **{"place_id": "home", "name": "Home", **place}).proposal


def reopened(principal, proposal):
    """The proposal, after the last decision was undone."""
    at = Ledger.objects.get(pk=principal.user_id).rev
    assert not undo(principal, at, at).left
    proposal.refresh_from_db()
    assert (proposal.state, proposal.decided_at) == ("waiting", None)
    return proposal


def left(principal, at):
    """Why a revision is not undone."""
    return [each.why for each in undo(principal, at, at).left]


class TestUpdate:
    def test_an_approval(self, me, owner, bees, update):
        Memory.objects.filter(pk=bees.pk).update(reviewed_at=None)
        actions.proposal_approve(me, update.pk)
        proposal = reopened(me, update)
        memory = now(bees)
        assert (memory.content, memory.version, memory.written_by, memory.reviewed_at) == (BEES, 3, "", None)
        assert (memory.valid_from, versions(bees)[2].valid_from) == (None, None)
        assert (proposal.values, proposal.evidence.get().quote) == ({"content": HENS}, "We have hens.")
        assert changes(owner)[-2:] == ["UPDATE", "RESTORE"]
        actions.proposal_approve(me, update.pk, version=3)
        assert now(bees).content == HENS
        check(owner)

    def test_an_approval_of_being_filed_otherwise(self, me, cautious, owner, bees):
        soon = timezone.now() + timedelta(days=1)
        values = {"subject": "Hives", "topics": ["hobby"], "importance": 4, "expires_at": soon, "category": "event"}
        proposal = actions.memory_amend(cautious, bees.pk, **values).proposal
        actions.proposal_approve(me, proposal.pk)
        assert now(bees).expires_at == soon
        reopened(me, proposal)
        memory = now(bees)
        assert (memory.subject, memory.topics, memory.importance) == ("Bees", [], 2)
        assert (memory.expires_at, memory.category, memory.version) == (None, "context", 1)
        assert memory.reviewed_at == bees.reviewed_at
        check(owner)

    def test_when_it_ended_before(self, me, cautious, owner, bees):
        first, then = (timezone.now() + timedelta(days=days) for days in (1, 2))
        actions.memory_amend(me, bees.pk, expires_at=first)
        proposal = actions.memory_amend(cautious, bees.pk, expires_at=then).proposal
        actions.proposal_approve(me, proposal.pk)
        reopened(me, proposal)
        assert now(bees).expires_at == first

    def test_a_rejection(self, me, bot, owner, bees, update, add):
        actions.proposal_reject(me, update.pk)
        assert reopened(me, update).values == {"content": HENS}
        assert not Suppression.objects.exists()
        actions.proposal_approve(me, update.pk)
        assert now(bees).content == HENS
        check(owner)

    def test_what_was_reworded_since_stays(self, me, owner, bees, update):
        actions.proposal_approve(me, update.pk)
        at = rev_of(owner)
        actions.memory_update(me, bees.pk, "The user keeps geese.")
        assert left(me, at) == ["built_on"]
        assert (now(bees).content, Proposal.objects.get().state) == ("The user keeps geese.", "approved")
        check(owner)


class TestArchive:
    @pytest.mark.parametrize("decide", [actions.proposal_approve, actions.proposal_reject])
    def test_either_decision(self, me, cautious, owner, bees, decide):
        proposal = actions.memory_archive(cautious, bees.pk).proposal
        decide(me, proposal.pk)
        reopened(me, proposal)
        assert (now(bees).state, now(bees).reviewed_at) == ("active", bees.reviewed_at)
        check(owner)

    def test_what_came_back_already(self, me, owner, cautious, bees):
        proposal = actions.memory_archive(cautious, bees.pk).proposal
        actions.proposal_approve(me, proposal.pk)
        at = rev_of(owner)
        actions.memory_restore(me, bees.pk)
        assert left(me, at) == ["built_on"]


class TestPlace:
    def test_a_new_one_goes_again(self, me, owner, bot, waiting_place):
        proposal = waiting_place(notes="By the river")
        actions.proposal_approve(me, proposal.pk)
        assert reopened(me, proposal).values["notes"] == "By the river"
        assert Place.objects.get().deleted_at is not None
        assert not Suppression.objects.exists()
        actions.proposal_approve(me, proposal.pk)
        assert Place.objects.get().deleted_at is None
        check(owner)

    def test_a_known_one_reads_as_it_did(self, me, owner, waiting_place):
        actions.place_add(me, "home", "House", "On the hill")
        proposal = waiting_place(notes="By the river")
        actions.proposal_approve(me, proposal.pk)
        reopened(me, proposal)
        place = Place.objects.get()
        assert (place.name, place.notes, place.deleted_at) == ("House", "On the hill", None)
        check(owner)

    def test_one_that_was_removed_is_so_again(self, me, cautious, owner, waiting_place):
        place = actions.place_add(me, "home", "House", "On the hill").place
        proposal = waiting_place(notes="By the river")
        actions.place_remove(me, place.pk)
        actions.proposal_approve(me, proposal.pk, version=1)
        reopened(me, proposal)
        place.refresh_from_db()
        assert (place.name, place.deleted_at is None) == ("House", False)
        check(owner)

    def test_a_removal(self, me, cautious, owner):
        place = actions.place_add(me, "home", "House").place
        proposal = actions.place_remove(cautious, place.pk).proposal
        actions.proposal_approve(me, proposal.pk)
        reopened(me, proposal)
        place.refresh_from_db()
        assert (place.deleted_at, place.version) == (None, 1)
        check(owner)

    def test_a_rejection(self, me, bot, owner, waiting_place):
        proposal = waiting_place()
        actions.proposal_reject(me, proposal.pk)
        assert Suppression.objects.exists()
        reopened(me, proposal)
        assert not Suppression.objects.exists()
        assert not Place.objects.exists()
        check(owner)

    @pytest.mark.parametrize("meanwhile", ["edit", "restore", "purge"])
    def test_one_that_changed_since_stays(self, me, owner, cautious, waiting_place, meanwhile):
        place = actions.place_add(me, "home", "House").place
        if meanwhile == "edit":
            proposal = waiting_place()
            actions.proposal_approve(me, proposal.pk)
            at = rev_of(owner)
            actions.place_edit(me, place.pk, notes="Mine")
        else:
            proposal = actions.place_remove(cautious, place.pk).proposal
            actions.proposal_approve(me, proposal.pk)
            at = rev_of(owner)
            actions.place_restore(me, place.pk) if meanwhile == "restore" else Place.objects.all().delete()
        assert left(me, at) == ["not_there" if meanwhile == "purge" else "built_on"]
        assert Proposal.objects.get().state == "approved"

    def test_an_approval_of_another_version_than_was_seen(self, me, waiting_place):
        actions.place_add(me, "home", "House")
        proposal = waiting_place()
        with pytest.raises(Conflict) as caught:
            actions.proposal_approve(me, proposal.pk, version=2)
        assert caught.value.extra["current"] == 1


class TestWhatCanNotBeReopened:
    def test_when_its_days_are_over(self, me, owner, update):
        actions.proposal_reject(me, update.pk)
        with time_machine.travel(timezone.now() + timedelta(days=7, seconds=1)):
            assert left(me, rev_of(owner)) == ["wrong_state"]
            assert actions.proposals_lapse() == 0
        update.refresh_from_db()
        assert (update.state, update.values) == ("rejected", {})
        assert not ProposalEvidence.objects.exists()
        check(owner)

    def test_text_goes_in_batches(self, me, cautious, bees, monkeypatch):
        monkeypatch.setattr("memories.actions.proposals.LAPSE_BATCH", 2)
        for number in range(3):
            proposal = actions.memory_update(cautious, bees.pk, f"The user keeps {number} hens.").proposal
            actions.proposal_reject(me, proposal.pk)
        with time_machine.travel(timezone.now() + timedelta(days=8)):
            actions.proposals_lapse()
        assert not Proposal.objects.exclude(values={}).exists()


class TestApprovedInOtherWords:
    def test_with_a_subject(self, me, cautious, owner, add):
        memory = add(cautious, "The user grows tomatoes.").memory
        actions.proposal_approve(me, memory.proposals.get().pk, values={"subject": "Garden"})
        assert (now(memory).subject, now(memory).state) == ("Garden", "active")
        assert Memory.objects.saying("garden").get() == memory
        check(owner)

    def test_the_version_that_was_seen_counts(self, me, owner, bees, update):
        actions.memory_update(me, bees.pk, "The user keeps geese.")
        with pytest.raises(Conflict) as caught:
            actions.proposal_approve(me, update.pk, version=1)
        assert caught.value.code == "version_conflict"
        actions.proposal_approve(me, update.pk, version=2)
        assert now(bees).content == HENS
        reopened(me, update)
        assert now(bees).content == "The user keeps geese."
        check(owner)


class TestReopenedMemory:
    def test_what_it_took_the_place_of_is_back(self, me, cautious, owner, add):
        old = add(me, "The user lives in Porto.", category="profile", field="city").memory
        new = add(cautious, "The user lives in Lisbon.", category="profile", field="city").memory
        actions.memory_approve(me, new.pk)
        assert (now(old).state, now(old).deleted_why) == ("archived", "replaced")
        undo(me, rev_of(owner), rev_of(owner))
        assert (now(old).state, now(old).reviewed_at, now(new).state) == ("active", old.reviewed_at, "proposed")
        check(owner)

    def test_that_it_may_say_the_same_as_another_is_settled_by_an_approval(self, me, owner, bees):
        Memory.objects.filter(pk=bees.pk).update(needs_check=True)
        actions.memory_approve(me, bees.pk)
        assert not now(bees).needs_check
        assert changes(owner) == ["ADD", "APPROVE"]
        undo(me, rev_of(owner), rev_of(owner))
        assert (now(bees).needs_check, now(bees).reviewed_at) == (True, bees.reviewed_at)
        check(owner)
