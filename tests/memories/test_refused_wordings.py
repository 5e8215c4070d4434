"""An earlier wording that says what its person refused since is read by no agent that can't decide for them."""

from dataclasses import replace

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person
from conversations.actions import NewMessage, messages_append
from facts.actions import fact_edit
from journal.models import Ledger
from journal.undo import undo
from memories.actions import memory_add, memory_reject
from memories.block import memory_block
from memories.models import Memory
from memories.records import NewMemory
from statements.models import RejectionReason
from tests import factories
from tests.memories.rest import URL

pytestmark = pytest.mark.django_db
ABSCESS = "I had an abscess removed in Lyon."
SAID = f"{ABSCESS} Nice day."
FIRST, NOW = "The user had an abscess removed in Lyon.", "The user likes Lyon."


@pytest.fixture
def talk(owner, agent):
    conversation = factories.ConversationFactory(user=owner, agent=agent)
    messages_append(principal_for_person(owner.pk), conversation.pk, [NewMessage("user", SAID)])
    return conversation


@pytest.fixture(params=["cited", "uncited"])
def memory(request, api, owner, agent, talk):
    """A memory that was reworded, and when it still had its first wording."""
    message = {"message": str(talk.messages.get().pk)} if request.param == "cited" else {}
    service = api(owner)
    made = service.post(URL, {"content": FIRST, "category": "context", **message}, format="json")
    assert made.status_code == 201, made.content
    known_at, path = timezone.now(), f"{URL}{made.json()['id']}/"
    tag = service.get(path)["ETag"]
    assert service.put(path, {"content": NOW}, format="json", headers={"If-Match": tag}).status_code == 200
    return path, known_at


@pytest.fixture(params=["passage", "declined", "in talk"])
def refuse(request, api, owner, talk):
    def take():
        client = api(owner)
        if request.param == "passage":
            passages = [{"conversation": str(talk.pk), "index": 0, "quote": ABSCESS}]
            return client.post("/api/v1/withheld/", {"passages": passages}, format="json")
        if request.param == "declined":
            path = f"/api/v1/conversations/{talk.pk}/messages/0/"
            return client.patch(path, {"declined": True}, format="json")
        messages = [{"role": "user", "content": "Please forget that I had an abscess removed."}]
        return client.post(f"/api/v1/conversations/{talk.pk}/messages/", {"messages": messages}, format="json")

    return take


def readings(client, path, known_at):
    """What an agent reads of the earlier wording, in every answer that shows one."""
    asked = client.post(f"{URL}query/", {"query": "abscess", "known_at": known_at.isoformat()}, format="json")
    return [answer.content.decode() for answer in (asked, client.get(path), client.get(f"{path}history/"))]


def test_the_first_wording_goes_with_the_words_and_comes_back_with_undo(api, owner, agent, memory, refuse):
    reader = api(agent)
    assert all(FIRST in each for each in readings(reader, *memory))
    before = Ledger.objects.get(pk=owner.pk).rev
    assert refuse().status_code < 300
    assert Memory.objects.get().state == "active"
    assert not any("abscess" in each for each in readings(reader, *memory))
    assert all(FIRST in each for each in readings(api(owner), *memory)[1:])
    undo(principal_for_person(owner.pk), before + 1, Ledger.objects.get(pk=owner.pk).rev)
    assert all(FIRST in each for each in readings(reader, *memory))


def test_a_pinned_block_shows_the_present_wording_in_its_place(owner, agent, memory, refuse):
    reader = factories.agent_principal(agent, owner)
    rev = Ledger.objects.get(pk=owner.pk).rev - 1
    assert FIRST in memory_block(reader, as_of_rev=rev).text
    assert refuse().status_code < 300
    block = memory_block(replace(reader, rev=Ledger.objects.get(pk=owner.pk).rev), as_of_rev=rev).text
    assert NOW in block
    assert "abscess" not in block


def test_an_earlier_wording_of_a_fact_goes_with_the_words(api, owner, agent, legacy):
    fact = factories.LegacyFactFactory(user=owner, legacy=legacy, content="Rosa had an abscess removed in Lyon.")
    fact_edit(principal_for_person(owner.pk), fact.pk, content="Rosa likes Lyon.")
    path = f"/api/v1/facts/{fact.pk}/history/"
    assert "abscess" in api(agent).get(path).content.decode()
    again = memory_add(principal_for_person(owner.pk), NewMemory(fact.content, "context")).memory
    memory_reject(principal_for_person(owner.pk), again.pk, reason=RejectionReason.DONT_KEEP)
    assert "abscess" not in api(agent).get(path).content.decode()
    assert "Rosa likes Lyon." in api(agent).get(path).content.decode()
    assert "abscess" in api(owner).get(path).content.decode()
