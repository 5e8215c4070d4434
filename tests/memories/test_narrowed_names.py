"""A narrowed agent learns by no name of a legacy and no title what the person rejected (issue 14, B4)."""

from uuid import UUID

import pytest

from conversations.actions import PassagePlace, passages_withhold
from conversations.models import Message
from memories.actions import memory_reject
from memories.models import MemoryEvidence, Proposal
from memories.querysets import PLACES_CATEGORY
from statements.policy.resembling import RESEMBLES
from tests import factories
from tests.conftest import with_key
from tests.memories.rest import refusal
from tests.memories.rows import remember

pytestmark = pytest.mark.django_db
MARRIED = "The user married Priscilla in a lighthouse."
LEGACIES, TALKS = "/api/v1/legacies/", "/api/v1/conversations/"


@pytest.fixture(autouse=True)
def gone(owner, me):
    """A memory of a category that the agent does not see, with the message that says it; both put away."""
    (memory,) = remember(owner, MARRIED, category="relationships")
    talk = factories.ConversationFactory(user=owner)
    said = factories.MessageFactory(conversation=talk, content="I married Priscilla in a lighthouse.")
    MemoryEvidence.objects.create(version=memory.versions.get(), message=said, quote=said.content)
    memory_reject(me, memory.pk, "dont_keep")
    assert Message.objects.get().content == "[withheld]"


@pytest.fixture
def narrow(api, agent, owner):
    factories.GrantFactory(agent=agent, user=owner, categories=["style"])
    return api(agent)


def test_a_title_is_taken_as_any_other(narrow):
    for title in (MARRIED, "Hats in a lighthouse"):
        answer = narrow.post(TALKS, {"title": title}, format="json")
        assert (answer.status_code, answer.json()["title"]) == (201, title)


@pytest.mark.parametrize(
    ("content", "recalled"), [("I married Priscilla in a lighthouse.", False), ("I like hats.", True)]
)
def test_its_own_message_stays_but_is_never_recalled(narrow, content, recalled):
    """It read "[withheld]" in its own conversation, so it knew that such words were withheld in another."""
    talk = narrow.post(TALKS, {}, format="json").json()["id"]
    url = f"{TALKS}{talk}/messages/"
    assert (
        narrow.post(url, {"role": "user", "content": content}, format="json").json()["messages"][0]["content"]
        == content
    )
    assert narrow.get(url).json()["results"][0]["content"] == content
    kept = Message.objects.get(conversation=talk)
    assert kept.memory_off != recalled


def test_what_it_sees_withheld_is_withheld_again(narrow, agent, me):
    talk = narrow.post(TALKS, {}, format="json").json()["id"]
    url = f"{TALKS}{talk}/messages/"
    said = {"role": "user", "content": "I keep nine ferrets in the cellar."}
    narrow.post(url, said, format="json")
    passages_withhold(me, [PassagePlace(UUID(talk), 0, said["content"])])
    assert narrow.post(url, said, format="json").json()["messages"][0]["content"] == "[withheld]"


@pytest.mark.parametrize("speaker", ["married Priscilla in a lighthouse", "painted Rosa in a kitchen"])
def test_a_speaker_is_taken(narrow, speaker):
    talk = narrow.post(TALKS, {}, format="json").json()["id"]
    said = {"role": "user", "content": "Good morning.", "speaker": speaker}
    answer = narrow.post(f"{TALKS}{talk}/messages/", said, format="json")
    assert (answer.status_code, answer.json()["messages"][0]["speaker"]) == (201, speaker)
    assert Message.objects.get(conversation=talk).memory_off == ("Priscilla" in speaker)


@pytest.mark.parametrize("label", ["married-priscilla-in-a-lighthouse", "painted-rosa-in-a-kitchen"])
def test_its_own_ids_are_taken(narrow, label):
    """A refusal told which words were rejected. A memory with such a run id waits, as many others do."""
    made = narrow.post(TALKS, {"channel": label, "external_id": label}, format="json")
    assert (made.status_code, made.json()["channel"]) == (201, label)
    state = {"state": {"step": 1}}
    assert narrow.put(f"/api/v1/checkpoints/{label}/", state, format="json").status_code in {200, 201}
    body = {"content": "Likes tall hats.", "category": "style", "run_id": label}
    assert narrow.post("/api/v1/memories/", body, format="json").status_code == (202 if "priscilla" in label else 201)


def test_a_place_waits(api, owner):
    """It sees places, but not the memory."""
    guide = factories.AgentFactory(owner=owner, name="guide")
    factories.GrantFactory(agent=guide, user=owner, categories=[PLACES_CATEGORY])
    answer = api(with_key(guide)).post(
        "/api/v1/places/", {"place_id": "p1", "name": "Lighthouse", "notes": MARRIED}, format="json"
    )
    assert (answer.status_code, Proposal.objects.get().reason) == (202, RESEMBLES)


@pytest.mark.parametrize("name", ["Priscilla, married in a lighthouse", "Rosa, painted in a kitchen"])
def test_a_legacy_s_name_with_a_description_is_refused_whatever_it_says(narrow, name):
    assert refusal(narrow.post(LEGACIES, {"name": name}, format="json")) == (422, "gate")


@pytest.mark.parametrize("name", ["Priscilla", "Grandma Rosa", "Maria del Carmen de la Cruz", "Dr. Ana von Weiß"])
def test_a_name_is_taken(narrow, name):
    assert narrow.post(LEGACIES, {"name": name}, format="json").status_code == 201


def test_who_sees_everything_is_refused(api, owner):
    other = api(with_key(factories.AgentFactory(owner=owner, name="other")))
    for url, body in ((LEGACIES, {"name": MARRIED}), (TALKS, {"title": MARRIED})):
        assert refusal(other.post(url, body, format="json")) == (422, "rejected_before")
