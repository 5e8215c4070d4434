"""A no holds against other words too: whichever way they come in, they wait for the person who said it."""

import pytest

from accounts.queries import principal_for_person
from assistant.learn import summarizing
from facts import actions as facts
from facts.models import LegacyFact
from memories import actions as memories
from memories.models import Memory, Proposal
from memories.records import NewMemory
from statements.models import Suppression
from statements.policy.resembling import DECIDES, RESEMBLES
from tests import factories
from tests.memories.rest import URL

from .conftest import say
from .extracting import add, update

pytestmark = pytest.mark.django_db

BOAT, OWN_BOAT, OTHER = (
    "The user owns a small sailing boat.",
    "The user has their own little boat.",
    "The user bakes bread on Saturdays.",
)
YACHT = "The user sails their own yacht."
ROWING, OWN_ROWING = "Henry kept a small rowing boat at the lake.", "At the lake Henry had his own little rowboat."
SAID = "I drink green tea on my own little boat."


@pytest.fixture(autouse=True)
def _real_vectors(settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"


@pytest.fixture
def boat(me):
    """What the person rejected: a memory."""
    memory = memories.memory_add(me, NewMemory(BOAT, "context")).memory
    return memories.memory_reject(me, memory.pk)


@pytest.fixture
def learn(owner, talk, model):
    def learn(call):
        model.calls([call])
        conversation = talk(owner)
        say(owner, conversation, SAID)
        summarizing.conversation_finish(principal_for_person(owner.pk), conversation.pk)
        summarizing.maybe_summarize(conversation.pk)

    return learn


@pytest.fixture
def ways(api, agent, learn):
    """By name: how others than the person bring a statement in."""
    client = api(agent)

    def tool(content):
        client.post("/api/v1/tools/add_to_memory/", {"arguments": {"content": content, "category": "context"}})

    return {
        "rest": lambda content: client.post(URL, {"content": content, "category": "context", "insist": True}),
        "bulk": lambda content: client.post(f"{URL}bulk/", {"items": [{"content": content, "category": "context"}]}),
        "tool": tool,
        "extraction": lambda content: learn(add(content, quote="my own little boat")),
    }


@pytest.mark.parametrize("way", ["rest", "bulk", "tool", "extraction"])
def test_a_paraphrase_of_what_was_rejected_waits_for_the_person(ways, boat, me, way):
    ways[way](OWN_BOAT)
    held = Memory.objects.get(content=OWN_BOAT)
    assert (held.state, held.state_reason, held.proposals.get().state) == ("proposed", RESEMBLES, "waiting")
    assert BOAT not in RESEMBLES
    ways[way](BOAT)
    assert not Memory.objects.filter(content=BOAT).exclude(pk=boat.pk).exists()
    ways[way](OTHER)
    assert Memory.objects.get(content=OTHER).state == "active"
    memories.memory_approve(me, held.pk)
    assert not Suppression.objects.exists()
    ways[way]("The user keeps their own little boat.")
    assert not Memory.objects.filter(state="proposed").exists()


@pytest.mark.parametrize("way", ["rest", "bulk", "tool", "extraction"])
@pytest.mark.parametrize("content", ["The preferred name of the user is Bobby.", "The user's pronouns are they/them."])
def test_fields_of_the_person_wait_whichever_way_they_come_in(ways, way, content):
    """Reproduction: without the parameter `field`, a preferred name from an agent counted at once."""
    ways[way](content)
    memory = Memory.objects.get(content=content)
    assert (memory.state, memory.proposals.get().state) == ("proposed", "waiting")


def test_what_only_comes_near_waits_too_and_approving_it_lifts_nothing(api, agent, boat, me):
    answer = api(agent).post(URL, {"content": YACHT, "category": "context"}).json()
    assert (answer["state"], answer["state_reason"]) == ("proposed", RESEMBLES)
    memories.memory_approve(me, answer["id"])
    assert Memory.objects.get(content=YACHT).state == "active"
    assert Suppression.objects.get().object_id == boat.pk


def test_the_answer_says_why_it_waits(api, agent, owner, boat):
    answer = api(agent).post(URL, {"content": OWN_BOAT, "category": "context"})
    assert (answer.status_code, answer.json()["state_reason"]) == (202, RESEMBLES)
    told = api(agent).post("/api/v1/tools/add_to_memory/", {"arguments": {"content": OWN_BOAT, "category": "context"}})
    assert RESEMBLES in told.json()["content"]


def test_a_narrowed_agent_is_not_told_that_something_was_rejected(api, agent, owner, boat):
    """It may be of a category that it can't see."""
    factories.GrantFactory(agent=agent, user=owner, categories=["interests"])
    body = {"content": OWN_BOAT, "category": "interests"}
    answer = api(agent).post(URL, body).json()
    told = api(agent).post("/api/v1/tools/add_to_memory/", {"arguments": body}).json()
    (waiting,) = api(agent).get("/api/v1/proposals/").json()["results"]
    (listed,) = api(agent).get(URL, {"state": "proposed"}).json()["results"]
    assert answer["state_reason"] == waiting["reason"] == listed["state_reason"] == DECIDES
    assert DECIDES in told["content"]
    assert RESEMBLES not in str([told, api(agent).get(f"{URL}{answer['id']}/").json()])
    assert api(owner).get(f"{URL}{answer['id']}/").json()["state_reason"] == RESEMBLES


@pytest.mark.parametrize("way", ["rest", "extraction"])
def test_another_wording_that_comes_to_mean_it_waits_too(api, agent, boat, me, learn, way):
    memory = memories.memory_add(me, NewMemory("The user has a bicycle.", "context")).memory
    if way == "rest":
        answer = api(agent).put(f"{URL}{memory.pk}/", {"content": OWN_BOAT})
        assert (answer.status_code, answer.json()["proposal"]["reason"]) == (202, RESEMBLES)
    else:
        learn(update(memory, OWN_BOAT, quote="my own little boat"))
    proposal = Proposal.objects.waiting().get()
    assert (proposal.reason, Memory.objects.get(pk=memory.pk).content) == (RESEMBLES, "The user has a bicycle.")
    memories.proposal_approve(me, proposal.pk)
    assert Memory.objects.get(pk=memory.pk).content == OWN_BOAT
    assert Suppression.objects.get().object_id == memory.pk, "only the wording that was replaced waits"


def test_the_person_s_own_words_are_not_held(me, boat):
    assert memories.memory_add(me, NewMemory(OWN_BOAT, "context")).outcome == "created"
    assert Suppression.objects.count() == 1


def test_approving_many_lifts_what_they_resembled_and_undoing_lays_it_again(api, agent, owner, boat, me):
    held = api(agent).post(URL, {"content": OWN_BOAT, "category": "context"}).json()["id"]
    done = memories.memories_decide(me, {held: None}, "approve")
    assert (done.ids, Suppression.objects.count()) == ([held], 0)
    api(owner).post("/api/v1/changes/undo/", {"first": done.first_rev, "last": done.last_rev})
    again = Suppression.objects.get()
    assert (again.object_id, again.embedding is None) == (boat.pk, False)
    assert Memory.objects.get(pk=held).state == "proposed"


@pytest.mark.parametrize("many", [False, True])
def test_a_paraphrase_of_a_rejected_fact_waits_and_approving_it_lifts_that(api, agent, me, owner, legacy, many):
    facts.fact_reject(me, facts.fact_add(me, legacy.pk, ROWING, "habit").pk)
    body = {"content": OWN_ROWING, "category": "habit"}
    answer = api(agent).post(f"/api/v1/legacies/{legacy.pk}/facts/", body)
    assert (answer.status_code, answer.json()["state"], answer.json()["state_reason"]) == (202, "proposed", RESEMBLES)
    held = LegacyFact.objects.get(content=OWN_ROWING)
    if many:
        facts.facts_decide(me, {held.pk: None}, "share")
    else:
        facts.fact_approve(me, held.pk)
    held.refresh_from_db()
    assert (held.state, held.state_reason, Suppression.objects.count()) == ("active", "", 0)
