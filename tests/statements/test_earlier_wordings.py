"""A no covers every wording that the person left behind: those of what was rejected, and those that they replaced."""

import pytest
from django.utils import timezone

from memories.actions import proposal_approve
from memories.models import MEMORY, Memory, Proposal
from statements.actions import statements_purge
from statements.models import Suppression
from statements.policy.resembling import RESEMBLES
from tests import factories
from tests.assistant.test_erasure import erase
from tests.memories.rest import URL, add, refusal, url

pytestmark = pytest.mark.django_db

CELLO, VIOLA, HENS = "The user plays the cello.", "The user plays the viola.", "The user keeps hens."


def active():
    return set(Memory.objects.filter(state="active").values_list("content", flat=True))


@pytest.fixture
def said(api, agent):
    """A memory of an agent, which worded it anew."""
    memory = add(api(agent), CELLO, "context")
    api(agent).put(url(memory), {"content": VIOLA})
    return memory


@pytest.mark.parametrize("reason", ["not_true", "dont_keep", "delete", "bulk"])
def test_an_earlier_wording_of_what_was_rejected_is_refused(api, owner, agent, said, reason):
    person = api(owner)
    if reason == "delete":
        person.delete(url(said))
    elif reason == "bulk":
        person.post(f"{URL}bulk-delete/", {"ids": [said["id"]]})
    else:
        person.post(url(said, "reject/"), {"reason": reason})
    for content in (CELLO, VIOLA, "the user plays THE CELLO"):
        body = {"content": content, "category": "context", "insist": True}
        assert refusal(api(agent).post(URL, body)) == (422, "rejected_before"), content
    assert not active()


def test_an_earlier_wording_of_what_is_not_to_be_kept_is_in_no_message_or_title_of_an_agent(api, owner, agent, said):
    """Only as a statement it was refused: a message that said it was found by every agent."""
    api(owner).post(url(said, "reject/"), {"reason": "dont_keep"})
    titled = api(agent).post("/api/v1/conversations/", {"title": CELLO})
    assert refusal(titled)[0] == 422
    talk = api(agent).post("/api/v1/conversations/", {"title": "Hens"}).json()
    for role in ("assistant", "tool", "user"):
        messages = [{"role": role, "content": content} for content in (CELLO, VIOLA, HENS)]
        answer = api(agent).post(f"/api/v1/conversations/{talk['id']}/messages/", {"messages": messages}, format="json")
        assert [each["content"] for each in answer.json()["messages"]] == ["[withheld]", "[withheld]", HENS], role


def test_what_the_person_says_again_of_it_is_in_messages_again(api, owner, agent, said):
    api(owner).post(url(said, "reject/"), {"reason": "dont_keep"})
    add(api(owner), CELLO, "context")
    talk = factories.ConversationFactory(user=owner, agent=agent)
    answer = api(agent).post(f"/api/v1/conversations/{talk.pk}/messages/", {"role": "assistant", "content": CELLO})
    assert [each["content"] for each in answer.json()["messages"]] == [CELLO]


def test_where_an_earlier_wording_stands_is_offered(api, owner, agent, said):
    talk = factories.ConversationFactory(user=owner)
    factories.MessageFactory(conversation=talk, content="I play the cello.")
    offered = api(owner).post(url(said, "reject/"), {"reason": "dont_keep"}).json()["also_said"]
    assert [each["quote"] for each in offered] == ["I play the cello."]


def test_what_is_restored_may_be_said_in_every_wording_again(api, owner, agent, said):
    api(owner).post(url(said, "reject/"), {})
    assert Suppression.objects.count() == 2
    api(owner).post(url(said, "restore/"), {})
    assert not Suppression.objects.exists()
    assert add(api(agent), CELLO, "context", insist=True)["state"] == "active"


def test_the_person_may_say_an_earlier_wording_again(api, owner, agent, said):
    api(owner).post(url(said, "reject/"), {})
    assert add(api(owner), CELLO, "context")["state"] == "active"
    assert refusal(api(agent).post(URL, {"content": VIOLA, "category": "context", "insist": True}))[0] == 422


def test_an_earlier_wording_of_what_was_erased_is_refused(api, owner, agent, said):
    erase(owner, "memory", said["id"])
    assert not Memory.objects.exists()
    assert refusal(api(agent).post(URL, {"content": CELLO, "category": "context"})) == (422, "rejected_before")


@pytest.mark.parametrize("correction", [True, False])
def test_what_the_person_corrected_waits_when_an_agent_writes_it_back(api, owner, agent, correction):
    memory = add(api(agent), CELLO, "context")
    api(owner).put(url(memory), {"content": VIOLA, "correction": correction})
    answer = add(api(agent), CELLO, "context", insist=True)
    assert (answer["state"], answer["state_reason"]) == ("proposed", RESEMBLES)
    assert active() == {VIOLA}
    update = api(agent).put(url(memory), {"content": CELLO})
    assert (update.status_code, update.json()["proposal"]["reason"]) == (202, RESEMBLES)
    api(owner).post(url(answer, "approve/"), {})
    assert CELLO in active()
    assert not Suppression.objects.exists()


def test_what_the_person_corrected_waits_after_a_restore_too(api, owner, agent):
    memory = add(api(agent), CELLO, "context")
    api(owner).put(url(memory), {"content": VIOLA})
    api(owner).post(url(memory, "reject/"), {})
    assert refusal(api(agent).post(URL, {"content": CELLO, "category": "context"}))[0] == 422
    api(owner).post(url(memory, "restore/"), {})
    assert add(api(agent), CELLO, "context", insist=True)["state"] == "proposed"


def test_an_agents_own_changes_of_wording_hold_nothing(api, agent, said):
    assert add(api(agent), CELLO, "context", insist=True)["state"] == "active"


def test_undoing_a_correction_undoes_its_hold(api, owner, agent):
    memory = add(api(agent), CELLO, "context")
    rev = api(owner).put(url(memory), {"content": HENS}).json()
    last = api(owner).get("/api/v1/changes/?after=0").json()["results"][-1]["rev"]
    assert rev["version"] == 2
    assert Suppression.objects.count() == 1
    api(owner).post("/api/v1/changes/undo/", {"first": last, "last": last})
    assert not Suppression.objects.exists()


def test_what_was_replaced_in_a_memory_that_only_fell_out_of_use_is_held_until_its_purge(api, owner, agent, me):
    memory = add(api(agent), CELLO, "context")
    api(owner).put(url(memory), {"content": VIOLA})
    api(agent).delete(url(memory))
    proposal_approve(me, Proposal.objects.get().pk)
    assert add(api(agent), CELLO, "context", insist=True)["state"] == "proposed"
    Memory.objects.filter(pk=memory["id"]).update(purge_at=timezone.now())
    statements_purge(MEMORY)
    assert not Suppression.objects.exists()
