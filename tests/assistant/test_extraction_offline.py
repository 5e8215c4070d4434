"""Extraction by the offline rules, from what somebody says to what is remembered of them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person
from assistant.learn import actions as extraction
from assistant.learn import summarizing as actions
from conversations.actions import NewMessage, messages_append
from facts.models import LegacyFact
from memories.block import memory_block
from memories.models import Memory
from tests import factories
from tests.conftest import with_key
from tests.memories.state import check

from .conftest import say
from .extracting import contents, proposals

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _offline(settings):
    settings.KEEPSAKE_EMBEDDER = "hashing"
    settings.KEEPSAKE_MODEL = "offline"


@pytest.fixture
def bystander(owner):
    """Another agent of the person, which may not read its conversations with others."""
    made = with_key(factories.AgentFactory(name="bystander", owner=owner))
    factories.GrantFactory(user=owner, agent=made, sources=[])
    return made


@pytest.fixture
def tell(owner, talk):
    """``tell(*contents)``: a conversation with the assistant, read message by message, then finished."""

    def run(*said, legacy=None, channel="assistant"):
        conversation = talk(owner, legacy, channel=channel)
        for content in said:
            say(owner, conversation, content)
            extraction.extract_messages(conversation.pk)
        actions.conversation_finish(principal_for_person(owner.pk), conversation.pk)
        actions.maybe_summarize(conversation.pk)
        check(owner)
        return conversation

    return run


@pytest.mark.parametrize("channel", ["assistant", ""])
def test_a_person_is_got_to_know(tell, channel):
    tell("I'm a vegetarian.", "Please remember that I live in Lisbon.", "I love hiking.", channel=channel)
    assert any("vegetarian" in content for content in contents())
    city = Memory.objects.get(field="city")
    assert (city.state, "Lisbon" in city.content) == ("active", True)
    assert all(each.written_by == "offline rules 1" for each in Memory.objects.all())
    assert all(each.versions.get().evidence.exists() for each in Memory.objects.all())


def test_it_is_found_by_who_said_it_and_the_run_that_it_came_by(owner, talk, api):
    conversation = talk(owner, channel="assistant", external_id="run-7")
    said = NewMessage("user", "I'm a vegetarian.", speaker="Ana")
    messages_append(principal_for_person(owner.pk), conversation.pk, [said])
    extraction.extract_messages(conversation.pk)
    wanted = {"role": "user", "actor_id": "Ana", "run_id": "run-7"}
    found = []
    for filters in (wanted, *({name: "other"} for name in wanted)):
        body = {"query": "vegetarian", "filters": filters}
        found.append(len(api(owner).post("/api/v1/memories/query/", body, format="json").json()["results"]))
    assert found == [1, 0, 0, 0]


def test_it_carries_the_date_role_speaker_and_run_of_what_was_said(owner, talk):
    """Reproduction: the block gave what was learned the day of its extraction, and filters did not find it."""
    at = timezone.now() - timedelta(days=400)
    conversation = talk(owner, channel="assistant", external_id="run-7")
    said = NewMessage("user", "I'm a vegetarian.", speaker="Ana", at=at)
    messages_append(principal_for_person(owner.pk), conversation.pk, [said])
    extraction.extract_messages(conversation.pk)
    memory = Memory.objects.get()
    assert (memory.role, memory.actor_id, memory.run_id) == ("user", "Ana", "run-7")
    assert f"[{at:%Y-%m-%d}]" in memory_block(principal_for_person(owner.pk)).text


def test_it_names_the_agent_that_it_was_said_to_and_is_found_by_agent_and_run(owner, api, agent, bystander):
    """Reproduction: what was learned from an agent's turn named no agent."""
    theirs = api(agent)
    conversation = theirs.post("/api/v1/conversations/", {"external_id": "run-7"}, format="json").json()["id"]
    turn = {"content": "I'm a vegetarian.", "save": True}
    assert theirs.post(f"/api/v1/conversations/{conversation}/turn/", turn, format="json").status_code == 200
    theirs.post(f"/api/v1/conversations/{conversation}/finish/", {}, format="json")
    actions.maybe_summarize(conversation)
    memory = Memory.objects.get()
    assert memory.agent_id is None  # An agent that reads only reviewed memories must not get this one as its own.

    def found(client, **query):
        answer = client.get("/api/v1/memories/", query).json()["results"]
        return [(each["id"], each["agent"], each["run_id"]) for each in answer]

    expected = [(memory.pk, str(agent.pk), "run-7")]
    for client in (theirs, api(owner)):
        assert found(client) == found(client, agent=agent.pk) == expected
        assert found(client, filters='{"run_id": "run-7"}') == expected
        assert found(client, agent=bystander.pk) == found(client, filters='{"run_id": "run-8"}') == []
        assert client.get(f"/api/v1/memories/{memory.pk}/").json()["agent"] == str(agent.pk)
    # Who can't see the conversation is not told whose it was.
    assert found(api(bystander)) == [(memory.pk, None, "run-7")]


def test_a_city_that_was_not_to_be_remembered_waits(tell):
    tell("I live in Lisbon.")
    assert Memory.objects.get(field="city").state == "proposed"
    assert proposals() == ["create"]


def test_somebody_moves_on(tell):
    tell("My sister Sarah works at Acme.")
    tell("My sister Sarah works at Initech now.")
    active = contents()
    assert sum("Acme" in content for content in active) == 0
    assert sum("Initech" in content for content in active) == 1


def test_what_is_to_be_forgotten_goes(tell):
    tell("I love green tea.")
    assert any("tea" in content for content in contents(kind="semantic"))
    tell("Forget that I love green tea.")
    assert not any("tea" in content for content in contents(kind="semantic"))


def test_saying_it_twice_is_one_memory(tell):
    tell("I'm a vegetarian.")
    tell("I'm a vegetarian.")
    assert sum("vegetarian" in content for content in contents(kind="semantic")) == 1


def test_a_legacy_is_a_matter_of_facts(tell, legacy):
    tell("My grandmother Rosa kept bees.", "I am a nurse.", legacy=legacy, channel="")
    kept, kin = sorted(fact.content for fact in LegacyFact.objects.all())
    assert kept == "Rosa kept bees."
    assert kin.endswith("'s grandmother.")
    assert not any("bees" in content for content in contents(kind="semantic"))
    assert any("nurse" in content for content in contents(kind="semantic"))
