"""An export tells no withheld words, but the account that takes it in recognises them in the original chat."""

import pytest
from django.utils import timezone

from assistant.erasure.verifying import left_of
from assistant.imports.loading import append_step, plan_step
from conversations.actions import PassagePlace, passages_withhold
from conversations.imports.records import ParsedConversation, ParsedMessage
from conversations.models import Conversation, Withheld
from conversations.passages import MARK
from tests.conversations.test_said_again import NEIGHBOUR
from tests.factories import UserFactory
from tests.memories.rows import remember

from .rich import exported
from .test_erasure import erase
from .test_restore import brought_in
from .test_withholding import dont_keep, learned, me, record

pytestmark = pytest.mark.django_db
WORDS, AT = f"It rains. {NEIGHBOUR} Shall I cook?", timezone.now()


def bring(person, external_id="chat"):
    """Import the original chat. Returns what is left of its first message, or why it was skipped."""
    messages = ParsedMessage("user", WORDS, at=AT), ParsedMessage("user", "Bye.", at=AT)
    step = plan_step(me(person), ParsedConversation(external_id, "", messages), channel="jsonl", legacy_id=None)
    list(append_step(me(person), step, channel="jsonl", legacy_id=None)) if step.missing else []
    return step.objection or record(Conversation.objects.get(user=person, external_id=external_id))[0]


@pytest.fixture
def archive(owner):
    remember(owner, "The user bakes bread.")
    bring(owner)
    place = PassagePlace(Conversation.objects.get(external_id="chat").pk, 0, "alcoholic")
    passages_withhold(me(owner), [place])
    return exported(owner)


@pytest.fixture
def other():
    return UserFactory()


@pytest.mark.parametrize("external_id", ["chat", "again"])
def test_the_original_chat_brings_nothing_back(owner, other, archive, external_id):
    """Reproduction: no rejection covers the words, so the other account knew nothing of them."""
    assert b"alcoholic" not in archive
    assert brought_in(other, archive).state == "done"
    assert bring(other, external_id) == f"It rains. {MARK} Shall I cook?"
    again = UserFactory()
    brought_in(again, exported(other))
    assert bring(again, external_id) == f"It rains. {MARK} Shall I cook?"


def test_what_was_withheld_stays_so_once_the_account_that_exported_it_is_erased(owner, other, archive):
    """Reproduction: the verification found "rows that name the person", the keys of the other account's digests."""
    brought_in(other, archive)
    assert [*left_of(erase(owner, "everything"))] == []
    assert bring(other) == f"It rains. {MARK} Shall I cook?"


def test_what_a_rejected_memory_was_learned_from_goes_with_its_new_id(owner, other):
    bring(owner)
    dont_keep(owner, learned(owner, Conversation.objects.get(external_id="chat"), quote="Paul is an alcoholic"))
    brought_in(other, exported(owner))
    own, theirs = (Withheld.objects.passages().get(user=each) for each in (owner, other))
    assert (theirs.text, theirs.keyed_by, theirs.digest) == ("", owner.pk, own.digest)
    assert theirs.message.user == other
    assert theirs.cause_id != own.cause_id


def test_another_deployment_has_another_key_and_does_not(other, archive, settings):
    brought_in(other, archive)
    settings.SECRET_KEY = "another key of another deployment, long enough" * 2
    assert bring(other, "again") == WORDS


def test_a_forged_span_is_no_longer_than_a_message(other, archive, settings):
    settings.MESSAGE_MAX_CHARACTERS = 20
    brought_in(other, archive)
    row = Withheld.objects.get(user=other)
    assert row.end - row.start == 20
