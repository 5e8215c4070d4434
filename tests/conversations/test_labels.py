"""What clients name by themselves passes the gates: their ids, runs, channels, threads and speakers."""

import pytest

from memories import actions
from memories.models import Memory
from memories.records import NewMemory
from tests import factories
from tests.memories.rest import URL, refusal

pytestmark = pytest.mark.django_db

CONVERSATIONS, CHECKPOINTS = "/api/v1/conversations/", "/api/v1/checkpoints/"
SECRET, SAID = "password: hunter22", "The user plays the cello."


def as_memory(name):
    return lambda client, talk, value: client.post(URL, {"content": "Bees.", "category": "context", name: value})


def as_conversation(name):
    return lambda client, talk, value: client.post(CONVERSATIONS, {name: value})


def as_copy(client, talk, value):
    client.put(f"{CHECKPOINTS}a/", {"state": {}}, format="json")
    return client.post("/api/v1/graph-checkpoints/copy/", {"thread": "a", "to": value}, format="json")


WAYS = {
    "run_id": as_memory("run_id"),
    "external_id": as_memory("external_id"),
    "actor_id": as_memory("actor_id"),
    "channel": as_conversation("channel"),
    "conversation": as_conversation("external_id"),
    "speaker": lambda client, talk, value: client.post(
        f"{CONVERSATIONS}{talk.pk}/messages/", {"role": "user", "content": "Hello.", "speaker": value}
    ),
    "thread": lambda client, talk, value: client.put(f"{CHECKPOINTS}{value}/", {"state": {}}, format="json"),
    "copy": as_copy,
}


@pytest.fixture
def talk(owner, agent):
    return factories.ConversationFactory(user=owner, agent=agent)


@pytest.mark.parametrize("way", WAYS)
def test_a_secret_is_refused_as_a_name_of_anything(api, agent, talk, way):
    assert refusal(WAYS[way](api(agent), talk, SECRET)) == (422, "gate")
    assert not Memory.objects.exists()


@pytest.mark.parametrize("way", WAYS)
def test_what_the_person_rejected_is_refused_as_a_name_of_anything(api, agent, me, talk, way):
    memory = actions.memory_add(me, NewMemory(SAID, "context")).memory
    actions.memory_reject(me, memory.pk)
    assert refusal(WAYS[way](api(agent), talk, SAID)) == (422, "rejected_before")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["649045238544513689", "7f9c24e5-2f1b-4c47-9f0a-4c2a76ab21d8", "Ada L."])
def test_usual_ids_pass(api, agent, talk, way, name):
    answer = WAYS[way](api(agent), talk, name)
    assert answer.status_code < 300, answer.content


def test_no_name_of_a_thread_is_in_the_log(api, agent, caplog):
    for thread in ("Ada has a lover", "%41da"):
        api(agent).get(f"{CHECKPOINTS}{thread}/")
        api(agent).get(f"{CHECKPOINTS}{thread}/history/")
    api(agent).get("/mem0/v1/entities/user/Ada Lovelace/")
    assert "/checkpoints/[thread]/" in caplog.text
    assert "Ada" not in caplog.text
