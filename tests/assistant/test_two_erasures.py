"""What two erasures include that wait stays hidden until neither waits."""

import pytest

from accounts.queries import principal_for_person
from assistant.erasure import hiding
from assistant.erasure.actions import erasure_request, erasure_withdraw
from assistant.learn.actions import message_decline
from conversations.models import Conversation, Message
from facts.models import LegacyFact
from journal.exceptions import NotFound
from journal.models import Erasure
from memories.actions import place_add
from memories.models import Memory, Place
from tests.factories import ConversationFactory, LegacyFactFactory, MemoryFactory, MessageFactory

pytestmark = pytest.mark.django_db
SAID = "I play the zither in Oslo."


@pytest.fixture
def said(owner, legacy):
    return MessageFactory(conversation=ConversationFactory(user=owner, legacy=legacy), content=SAID)


@pytest.fixture
def known(owner, legacy, said):
    """What was learned from the message, by scope."""
    memory = MemoryFactory(user=owner, content="The user plays the zither.")
    memory.versions.get().evidence.create(message=said, quote="I play the zither")
    fact = LegacyFactFactory(user=owner, legacy=legacy, content="Played the zither.")
    fact.evidence.create(message=said, quote="I play the zither")
    place = place_add(principal_for_person(owner.pk), "oslo", "Oslo", "").place
    place.mentions.create(message=said, rev=1)
    return {"memory": memory.pk, "fact": fact.pk, "place": place.pk}


def shown():
    return {
        "memory": Memory.objects.get().state == "active",
        "fact": LegacyFact.objects.get().state == "active",
        "place": Place.objects.get().deleted_at is None,
        "message": Message.objects.get().content == SAID,
    }


@pytest.mark.parametrize("first", ["own", "message"])
@pytest.mark.parametrize("scope", ["memory", "fact", "place"])
def test_taking_back_one_shows_nothing_that_the_other_includes(me, said, known, scope, first):
    asked = [(scope, known[scope]), ("message", said.pk)]
    own, message = (erasure_request(me, name, str(pk), grace_hours=24)[0].pk for name, pk in asked)
    if first == "own":
        erasure_withdraw(me, own)
        assert not any(shown().values())
        erasure_withdraw(me, message)
    else:
        erasure_withdraw(me, message)
        assert shown() == dict.fromkeys(shown(), True) | {scope: False}
        erasure_withdraw(me, own)
    assert all(shown().values())


@pytest.mark.parametrize("first", ["message", "conversation"])
def test_nor_a_message_of_a_conversation(me, said, known, first):
    asked = {"message": said.pk, "conversation": said.conversation_id}
    receipts = {name: erasure_request(me, name, str(pk), grace_hours=24)[0].pk for name, pk in asked.items()}
    erasure_withdraw(me, receipts.pop(first))
    assert not any(shown().values())
    assert Erasure.objects.get(state="waiting").pk in receipts.values()
    erasure_withdraw(me, *receipts.values())
    assert all(shown().values())


def test_what_another_erasure_took_meanwhile_is_named_as_a_whole(me, said, monkeypatch):
    """Reproduction: the second of two erasures of a conversation answered that there is no such message."""

    def decline(*wanted):
        Message.objects.all().delete()
        Conversation.objects.all().delete()
        return message_decline(*wanted)

    monkeypatch.setattr(hiding, "message_decline", decline)
    with pytest.raises(NotFound, match="no such conversation"):
        erasure_request(me, "conversation", str(said.conversation_id), grace_hours=24)
