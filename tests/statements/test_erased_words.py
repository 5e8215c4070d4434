"""Words of an erased message: only fingerprints stay, and what they stated can't be written again by an agent."""

import pytest

from assistant.learn.actions import message_decline
from conversations.actions import withheld_erase
from conversations.models import Withheld
from journal.models import Change
from language.backends import embedder_replaced
from language.embedders.e5.embedder import BundledEmbedder
from memories import actions, surroundings
from memories.records import NewMemory
from statements.models import Suppression
from tests import factories
from tests.assistant.test_erasure import erase, holding
from tests.memories.rest import URL, add, refusal, url

pytestmark = pytest.mark.django_db

SAID = "Hello there. I have a heart murmur. My sister Zelda plays the cello."
STATED = ("The user has a heart murmur.", "The user's sister Zelda plays the cello.", "the user has a HEART murmur")


@pytest.fixture
def message(owner):
    talk = factories.ConversationFactory(user=owner)
    return factories.MessageFactory(conversation=talk, content=SAID)


def is_refused(client, content):
    return (
        refusal(client.post(URL, {"content": content, "category": "context", "insist": True}))[1] == "rejected_before"
    )


def test_what_an_erased_message_stated_is_refused_as_an_agents_memory(api, owner, agent, message):
    erase(owner, "message", message.pk)
    assert [content for content in STATED if not is_refused(api(agent), content)] == []
    assert add(api(agent), "The user plays the piano.", "context")["state"] == "active"
    assert set(Suppression.objects.values_list("embedding_model", "traces")) == {("", "")}
    assert not holding("murmur") & {"memories_tombstone", "conversations_message", "conversations_withheld"}
    assert add(api(owner), STATED[0], "context")["state"] == "active"


def test_words_whose_retention_has_ended_are_refused(api, owner, agent, message, me):
    memory = actions.memory_add(
        me, NewMemory("The heart of the user murmurs.", "context"), message_id=message.pk,
        conversation_id=message.conversation_id,
    ).memory  # fmt: skip
    actions.memory_reject(me, memory.pk, "dont_keep")
    assert Withheld.objects.exclude(text="").exists()
    Withheld.objects.update(erase_at=factories.timezone.now())
    assert withheld_erase() == Withheld.objects.count()
    assert is_refused(api(agent), STATED[0])
    assert withheld_erase() == 0
    told = Change.objects.filter(event="PURGE", object_type="message").values_list("object_id", flat=True)
    assert set(told) == {str(message.pk)}


def test_other_words_for_what_they_stated_wait_after_their_retention(api, owner, agent, me):
    """Reproduction: only their own words were known then, so a paraphrase was used at once."""
    said = "My landlord, Mr Holt, is suing me for nine thousand euros."
    message = factories.MessageFactory(
        conversation=factories.ConversationFactory(user=owner, agent=agent), content=said
    )
    with embedder_replaced(BundledEmbedder()):
        message_decline(me, message.conversation_id, message.index)
        Withheld.objects.update(erase_at=factories.timezone.now())
        withheld_erase()
        for again in ("The user is being sued by the landlord.", "The landlord Mr Holt sued the user for money."):
            assert add(api(agent), again, "context")["state"] == "proposed"
        assert add(api(agent), "The user's landlord painted the stairs.", "context")["state"] == "active"
        erase(owner, "message", message.pk)
    assert set(Suppression.objects.values_list("embedding_model", "traces")) == {("", "")}


@pytest.mark.parametrize(
    ("said", "again"),
    [
        ("Not a night goes by without the pills from Marlow.", "The user takes pills from Marlow every night."),
        ("Gambling cost me the house, you know.", "The user lost their house through gambling."),
        ("Long story short: bankrupt since spring.", "The user went bankrupt in spring."),
        ("Eight years clean, after all that heroin.", "The user used to be addicted to heroin."),
    ],
)
def test_so_do_those_for_words_in_which_the_reader_finds_nothing(api, owner, agent, me, said, again):
    """Only a fingerprint of them stayed, which refuses the same words alone."""
    message = factories.MessageFactory(
        conversation=factories.ConversationFactory(user=owner, agent=agent), content=f"Is that so? {said}"
    )
    with embedder_replaced(BundledEmbedder()):
        message_decline(me, message.conversation_id, message.index)
        Withheld.objects.update(erase_at=factories.timezone.now())
        withheld_erase()
        assert add(api(agent), again, "context")["state"] == "proposed"
        for other in ("The user plays the piano.", "The user has a house with a garden."):
            assert add(api(agent), other, "context")["state"] == "active"


@pytest.mark.parametrize("edited", [False, True])
def test_they_are_refused_to_a_write_that_was_compared_meanwhile(api, owner, agent, message, me, monkeypatch, edited):
    """It had read the suppressions before they were added, and then the words were gone."""
    message_decline(me, message.conversation_id, message.index)
    kept = add(api(agent), "The user plays the piano.", "context")
    Withheld.objects.update(erase_at=factories.timezone.now())
    finish, erased = surroundings.finish_matches, []

    def finish_late(*args, **kwargs):
        if not erased:
            erased.append(withheld_erase())
        finish(*args, **kwargs)

    monkeypatch.setattr(surroundings, "finish_matches", finish_late)
    if edited:
        assert refusal(api(agent).put(url(kept), {"content": STATED[0]}))[1] == "rejected_before"
    else:
        assert is_refused(api(agent), STATED[0])
    assert erased == [Withheld.objects.count()]


def test_what_the_assistant_said_leaves_nothing(api, owner, agent, message):
    reply = factories.MessageFactory(conversation=message.conversation, role="assistant", content="You have a red car.")
    erase(owner, "message", reply.pk)
    assert not Suppression.objects.exists()


def test_an_earlier_wording_that_was_erased_with_its_message_waits(api, owner, agent, message, me):
    memory = actions.memory_add(
        me, NewMemory("The user's heart murmurs.", "context"), message_id=message.pk,
        conversation_id=message.conversation_id,
    ).memory  # fmt: skip
    told = actions.memory_update(factories.agent_principal(agent, owner), memory.pk, "The user keeps hens.")
    actions.proposal_approve(me, told.proposal.pk)
    erase(owner, "message", message.pk)
    assert not holding("murmur")
    assert add(api(agent), "The user's heart murmurs.", "context", insist=True)["state"] == "proposed"
