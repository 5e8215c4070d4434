"""What staff, plans and reverts do to what the person refused: nothing of it comes back into use."""

from contextlib import suppress

import pytest

from assistant.learn.actions import message_decline
from conversations.actions import PassagePlace, passages_withhold
from journal.exceptions import Conflict, NotFound, Refused
from language.backends import embedder_replaced
from language.embedders.e5.embedder import BundledEmbedder
from memories import actions
from memories.block import memory_block
from memories.models import Memory
from tests import factories

pytestmark = pytest.mark.django_db
CELLO = "The user plays the cello in a quartet."
SAID = "I play the cello in a quartet."


@pytest.fixture(autouse=True)
def bundled():
    with embedder_replaced(BundledEmbedder()):
        yield


@pytest.fixture
def said(owner, agent):
    talk = factories.ConversationFactory(user=owner, agent=agent)
    return factories.MessageFactory(conversation=talk, content=SAID)


def in_use(me):
    return "cello" in memory_block(me).text


def test_what_was_quarantined_when_its_words_were_rejected_is_not_released_into_use(me, bot, moderator, add):
    held = add(bot, CELLO).memory
    actions.memory_quarantine(moderator, held.pk, "Looking")
    own = add(me, "The user plays cello in a quartet on Fridays.").memory
    actions.memory_reject(me, own.pk, "dont_keep")
    with suppress(Conflict, Refused):
        actions.memory_release(moderator, held.pk, "Fine")
    assert Memory.objects.get(pk=held.pk).state == "proposed"
    assert not in_use(me)


def release_once_taken_away(me, moderator, held, said, way):
    """The person takes a message away, and then a moderator releases what is held."""
    if way == "declined":
        message_decline(me, said.conversation_id, said.index)
    else:
        passages_withhold(me, [PassagePlace(said.conversation_id, said.index, SAID)])
    with suppress(Conflict, Refused, NotFound):
        actions.memory_release(moderator, held.pk, "Fine")


@pytest.mark.parametrize("way", ["declined", "withheld"])
def test_nor_is_what_rests_on_words_that_are_withheld_meanwhile(me, bot, moderator, add, said, way):
    held = add(bot, CELLO, conversation_id=said.conversation_id, message_id=said.pk).memory
    actions.memory_quarantine(moderator, held.pk, "Looking")
    release_once_taken_away(me, moderator, held, said, way)
    assert not in_use(me)
    assert Memory.objects.get(pk=held.pk).state != "active"


@pytest.mark.parametrize("way", ["declined", "withheld"])
def test_nor_is_what_an_agent_noted_without_its_source(me, bot, moderator, add, said, way):
    held = add(bot, CELLO).memory
    actions.memory_quarantine(moderator, held.pk, "Looking")
    release_once_taken_away(me, moderator, held, said, way)
    assert not in_use(me)


def test_a_rejected_memory_is_neither_released_nor_held_again(me, bot, moderator, add):
    held = add(bot, CELLO).memory
    actions.memory_reject(me, held.pk)
    for staff in (actions.memory_release, actions.memory_hold_again, actions.memory_quarantine):
        with pytest.raises(Conflict):
            staff(moderator, held.pk, "Because")
    assert not in_use(me)


def test_an_agents_revert_to_words_that_were_rejected_elsewhere_waits_or_is_refused(me, bot, add):
    first = add(bot, CELLO).memory
    actions.memory_update(bot, first.pk, "The user likes chamber music.")
    own = add(me, "The user plays cello in a quartet now.").memory
    actions.memory_reject(me, own.pk, "dont_keep")
    with suppress(Refused):
        actions.memory_revert(bot, first.pk, 1)
    assert not in_use(me)


def test_what_left_use_before_its_words_were_withheld_is_restored_by_no_agent(me, bot, add, said):
    held = add(bot, CELLO, conversation_id=said.conversation_id, message_id=said.pk).memory
    actions.memory_archive(bot, held.pk)
    passages_withhold(me, [PassagePlace(said.conversation_id, said.index, SAID)])
    with suppress(Refused, NotFound, Conflict):
        actions.memory_restore(bot, held.pk)
    assert not in_use(me)
