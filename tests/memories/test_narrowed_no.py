"""A narrowed agent learns by no refusal that the person rejected or hid something that it does not see."""

import pytest

from accounts.queries import principal_for_person
from assistant.erasure.actions import erasure_request
from facts.models import LegacyFact
from memories.actions import memory_reject, proposal_reject
from memories.models import Memory, Proposal
from statements.policy.resembling import DECIDES, RESEMBLES
from tests import factories
from tests.memories.rest import URL, add, refusal, url
from tests.memories.rows import remember

pytestmark = pytest.mark.django_db
SWAN = "The user shot a swan."


@pytest.fixture
def narrow(api, agent, owner):
    factories.GrantFactory(agent=agent, user=owner, categories=["interests"])
    return api(agent)


@pytest.fixture(params=["rejected", "hidden"])
def gone(request, owner, me):
    """A memory of a category that the agent does not see, which the person put away."""
    (memory,) = remember(owner, SWAN, category="context")
    if request.param == "rejected":
        memory_reject(me, memory.pk)
    else:
        erasure_request(principal_for_person(owner.pk), "memory", memory.pk, grace_hours=24)
    return memory


def told(answer):
    """What its answer tells the agent, but for the words, which are its own."""
    said = answer.json()
    said = said.get("memory", said)
    return answer.status_code, said["state"], said["state_reason"]


def test_the_same_words_wait_as_others_do(narrow, owner, api, gone):
    answer = narrow.post(URL, {"content": SWAN, "category": "interests"}, format="json")
    assert told(answer) == (202, "proposed", DECIDES)
    held = Memory.objects.get(pk=answer.json()["id"])
    assert held.state_reason == RESEMBLES
    assert Proposal.objects.get().state == "waiting"


@pytest.mark.parametrize(
    "hidden", [{}, {"pinned": True}, {"subject": "Hunting"}, {"state": "proposed", "active_rev": None}]
)
@pytest.mark.parametrize("content", [SWAN, "The user once shot a swan.", "The user has never shot a swan."])
def test_what_is_hidden_and_in_use_changes_no_answer(narrow, owner, settings, hidden, content):
    settings.KEEPSAKE_EMBEDDER = "bundled"

    def say():
        answer = narrow.post(URL, {"content": content, "category": "interests", "subject": "Hunting"}, format="json")
        changing = {"id", "created_at", "updated_at", "said_at", "valid_from"}
        return answer.status_code, {name: each for name, each in answer.json().items() if name not in changing}

    alone = say()
    factories.erase(Memory.objects.all())
    remember(owner, SWAN, category="context")
    Memory.objects.update(**hidden)
    assert say() == alone
    assert alone[0] == 201


def test_so_does_an_edit(narrow, gone):
    kept = add(narrow, "The user bakes bread.", "interests")
    answer = narrow.put(url(kept), {"content": SWAN}, format="json")
    assert answer.status_code == 202
    assert Proposal.objects.get().reason == RESEMBLES
    assert Memory.objects.get(pk=kept["id"]).content == "The user bakes bread."


BESIDE = [{"subject": "shot a swan"}, {"topics": ["shot a", "swan"]}, {"metadata": {"what": SWAN}}]


@pytest.mark.parametrize("beside", BESIDE)
def test_so_does_what_says_it_beside_a_statement(narrow, gone, beside):
    """A refusal told which words had been rejected."""
    body = {"content": "The user bakes bread.", "category": "interests", **beside}
    assert told(narrow.post(URL, body, format="json")) == (202, "proposed", DECIDES)
    kept = add(narrow, "The user keeps hens.", "interests")
    assert narrow.patch(url(kept), beside, format="json").status_code == 202
    if "metadata" in beside:
        assert (
            narrow.put(url(kept), {"content": "The user keeps many hens.", **beside}, format="json").status_code == 202
        )


@pytest.mark.parametrize("edited", [False, True])
def test_what_the_person_refused_it_is_refused_again(narrow, me, gone, edited):
    """It knows of that, and must not ask for ever."""
    kept = url(add(narrow, "The user bakes bread.", "interests"))

    def say():
        if edited:
            return narrow.put(kept, {"content": SWAN}, format="json")
        return narrow.post(URL, {"content": SWAN, "category": "interests"}, format="json")

    say()
    proposal_reject(me, Proposal.objects.get().pk)
    assert refusal(say()) == (422, "rejected_before")


def test_who_sees_everything_is_refused_at_once(api, agent, gone):
    assert refusal(api(agent).post(URL, {"content": SWAN, "category": "interests"}, format="json")) == (
        422,
        "rejected_before",
    )


def test_a_fact_waits_too(narrow, legacy, gone):
    body = {"content": SWAN, "category": "other"}
    answer = narrow.post(f"/api/v1/legacies/{legacy.pk}/facts/", body, format="json")
    assert (answer.status_code, answer.json()["state_reason"]) == (202, DECIDES)
    assert LegacyFact.objects.get().state == "proposed"


def test_the_etag_of_the_block_stays_when_something_hidden_changes(narrow, owner, me):
    first = narrow.get(f"{URL}context/")
    (hidden,) = remember(owner, SWAN, category="context")
    memory_reject(me, hidden.pk)
    again = narrow.get(f"{URL}context/")
    assert again["ETag"] == first["ETag"]
    assert {**again.json(), "revision": None} == {**first.json(), "revision": None}
    assert narrow.get(f"{URL}context/", HTTP_IF_NONE_MATCH=first["ETag"]).status_code == 304
