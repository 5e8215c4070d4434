"""Where a memory comes from that was reworded since: its messages are those of an earlier wording."""

import pytest

from accounts.queries import principal_for_person
from conversations.actions import PassagePlace, passages_withhold
from memories import actions
from memories.records import NewMemory
from tests.factories import ConversationFactory, MessageFactory, agent_principal

from .conftest import opened, words

pytestmark = pytest.mark.django_db
NOTE = "An earlier wording came from this; it was reworded since."


@pytest.fixture
def said(owner):
    return MessageFactory(
        conversation=ConversationFactory(user=owner, title="Sunday talk"), content="I row on Tuesdays."
    )


@pytest.fixture
def memory(owner, agent, said):
    new = NewMemory("The user rows on Tuesdays.", "interests")
    return actions.memory_add(
        agent_principal(agent), new, conversation_id=said.conversation_id, message_id=said.pk
    ).memory


def told(client, memory):
    """What its page and its row tell of where it comes from."""
    page = words(client.get(f"/memories/{memory.pk}/")).split("Where it was said ")[1].split(" Seen by")[0]
    return page, words(opened(client, memory, "/memories/"))


def test_its_own_wording_is_told_without_a_remark(visit, owner, memory):
    page, row = told(visit(owner), memory)
    assert page.startswith("I row on Tuesdays. In “Sunday talk”")
    assert NOTE not in row


@pytest.mark.parametrize("withheld", [False, True])
def test_of_an_edited_one_the_message_is_told_as_that_of_the_wording_before(visit, owner, memory, said, withheld):
    client = visit(owner)
    client.post(f"/memories/{memory.pk}/edit/", {"content": "I scull on Thursdays.", "version": memory.version})
    if withheld:
        place = PassagePlace(said.conversation_id, 0, said.content)
        passages_withhold(principal_for_person(owner.pk), [place])
    words_now = "[withheld]" if withheld else said.content
    page, row = told(client, memory)
    assert page.startswith(f"{NOTE} {words_now} In “Sunday talk”, message 1")
    assert f"{NOTE} {words_now} You, in “Sunday talk”, message 1" in row


def test_a_wording_with_a_message_of_its_own_is_told_without_it(visit, owner, agent, memory, said):
    later = MessageFactory(conversation=said.conversation, content="It is Thursdays now.")
    bot = agent_principal(agent)
    actions.memory_update(bot, memory.pk, "The user rows on Thursdays.", message_id=later.pk)
    page, row = told(visit(owner), memory)
    assert "It is Thursdays now. In “Sunday talk”" in page
    assert NOTE not in page + row
