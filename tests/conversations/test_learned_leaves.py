"""What was learned only from words that are taken out of the record by themselves leaves use along with them."""

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person
from conversations.actions import NewMessage, conversation_create, messages_append
from facts.models import FactEvidence, LegacyFact
from journal.models import Ledger
from journal.undo import undo
from memories.actions import memory_add
from memories.models import Memory, MemoryEvidence
from memories.records import NewMemory as NewStatement
from statements.models import Doubt, Suppression
from tests import factories
from tests.memories.rows import remember

pytestmark = pytest.mark.django_db
SWAN, RAIN = "I shot a swan.", "It rains."


@pytest.fixture
def talk(owner, legacy):
    me = principal_for_person(owner.pk)
    conversation = conversation_create(me, legacy_id=legacy.pk)
    messages_append(me, conversation.pk, [NewMessage("user", f"{SWAN} {RAIN}"), NewMessage("user", "It was a swan.")])
    return conversation


@pytest.fixture
def memory(owner, talk):
    """A memory that a job learned from the first sentence."""
    (made,) = remember(owner, "The user shot a swan.", written_by="model", actor_kind="job")
    MemoryEvidence.objects.create(version=made.versions.get(), message=talk.messages.get(index=0), quote=SWAN)
    return made


@pytest.fixture
def fact(owner, talk, legacy):
    """A fact that a job learned from the first sentence."""
    made = factories.LegacyFactFactory(user=owner, legacy=legacy, content="Rosa saw a swan die.")
    LegacyFact.objects.update(written_by="model", reviewed_at=None)
    FactEvidence.objects.create(fact=made, message=talk.messages.get(index=0), quote=SWAN)
    return made


@pytest.fixture(params=["passage", "declined"])
def withhold(request, api, owner, talk):
    """Take the first sentence, or its whole message, out of the record."""

    def take(quote=SWAN):
        client = api(owner)
        if request.param == "declined":
            return client.patch(f"/api/v1/conversations/{talk.pk}/messages/0/", {"declined": True}, format="json")
        passages = [{"conversation": str(talk.pk), "index": 0, "quote": quote}]
        return client.post("/api/v1/withheld/", {"passages": passages}, format="json")

    return take


def states():
    return tuple(model.objects.values_list("state", flat=True).get() for model in (Memory, LegacyFact))


def test_both_a_memory_and_a_fact_leave_and_come_back_with_undo(owner, memory, fact, withhold):
    before = Ledger.objects.get(pk=owner.pk).rev
    assert withhold().status_code < 300
    assert states() == ("archived", "archived")
    assert set(Suppression.objects.values_list("object_id", flat=True)) == {memory.pk, str(fact.pk)}
    undo(principal_for_person(owner.pk), before + 1, Ledger.objects.get(pk=owner.pk).rev)
    assert states() == ("active", "active")


def test_what_is_also_said_elsewhere_may_be_out_of_date(talk, memory, fact, withhold):
    other = talk.messages.get(index=1)
    MemoryEvidence.objects.create(version=memory.versions.get(), message=other, quote=other.content)
    FactEvidence.objects.create(fact=fact, message=other, quote=other.content)
    withhold()
    assert states() == ("active", "active")
    assert set(Doubt.objects.values_list("object_id", flat=True)) == {memory.pk, str(fact.pk)}


def test_what_the_person_approved_may_be_out_of_date(memory, fact, withhold):
    Memory.objects.update(reviewed_at=timezone.now())
    LegacyFact.objects.update(reviewed_at=timezone.now())
    withhold()
    assert states() == ("active", "active")
    assert set(Doubt.objects.values_list("object_id", flat=True)) == {memory.pk, str(fact.pk)}


def test_what_else_says_the_same_is_offered(owner, legacy, talk, withhold):
    """Reproduction: only rejecting a statement named the other places that say it."""
    elsewhere = conversation_create(principal_for_person(owner.pk), title="I shot a swan", legacy_id=legacy.pk)
    messages_append(
        principal_for_person(owner.pk), elsewhere.pk, [NewMessage("user", f"Once {SWAN[0].lower()}{SWAN[1:]}")]
    )
    (approved,) = remember(owner, "The user shot a swan.", reviewed_at=timezone.now())
    offered = {(each["object_type"], each["object"]) for each in withhold().json()["also_said"]}
    message = str(elsewhere.messages.get().pk)
    assert offered >= {("memory", approved.pk), ("message", message), ("title", str(elsewhere.pk))}
    assert str(talk.messages.get(index=0).pk) not in {pk for _, pk in offered}


def test_an_agent_that_declines_is_not_told_what_else_says_it(api, agent, owner):
    own = factories.ConversationFactory(user=owner, agent=agent)
    messages = f"/api/v1/conversations/{own.pk}/messages/"
    for _ in range(2):
        api(agent).post(messages, {"messages": [{"role": "user", "content": SWAN}]}, format="json")
    assert api(agent).patch(f"{messages}0/", {"declined": True}, format="json").json()["also_said"] == []


@pytest.mark.parametrize("withhold", ["passage"], indirect=True)
def test_what_rests_on_another_sentence_stays(memory, fact, withhold):
    withhold(RAIN)
    assert states() == ("active", "active")


@pytest.fixture
def noted(bot):
    """What an agent noted by a tool, without naming the message."""
    return [
        memory_add(bot, NewStatement(content, "context"), insist=True).memory
        for content in ("The user shot a swan.", "The user feeds swans.")
    ]


def test_what_an_agent_noted_without_a_source_leaves_too(talk, noted, withhold):
    """Reproduction: the agent's own note of the declined sentence stayed in every prompt, and nothing named it."""
    withhold()
    assert [Memory.objects.get(pk=each.pk).state for each in noted] == ["archived", "active"]


def test_what_an_agent_noted_from_the_message_leaves_too(api, agent, owner, talk, withhold):
    """Reproduction: where the agent named the message, its note of the declined sentence stayed in every prompt."""
    of_message = {"category": "context", "conversation": str(talk.pk), "message": str(talk.messages.get(index=0).pk)}
    for content in ("The user shot a swan.", "The user is wet."):
        made = api(agent).post("/api/v1/memories/", of_message | {"content": content}, format="json")
        assert made.status_code == 201
    declined = withhold().status_code == 200
    assert dict(Memory.objects.values_list("content", "state")) == {
        "The user shot a swan.": "archived",
        "The user is wet.": "archived" if declined else "active",
    }


def test_what_an_agent_noted_from_another_message_too_stays(owner, agent, talk, withhold):
    (made,) = remember(owner, "The user shot a swan.", written_by="bot", agent=agent)
    for message in talk.messages.all():
        MemoryEvidence.objects.create(version=made.versions.get(), message=message, quote=message.content)
    withhold()
    assert Memory.objects.get().state == "active"


def test_an_agent_that_declines_a_message_puts_away_its_own_notes_only(api, agent, owner, bot):
    own = factories.ConversationFactory(user=owner, agent=agent)
    message = {"messages": [{"role": "user", "content": SWAN}]}
    api(agent).post(f"/api/v1/conversations/{own.pk}/messages/", message, format="json")
    another = factories.AgentFactory(owner=owner)
    (theirs,) = remember(owner, "The user has shot a swan.", written_by="other", agent=another)
    mine = memory_add(bot, NewStatement("The user shot one swan.", "context"), insist=True).memory
    declined = {"declined": True}
    answer = api(agent).patch(f"/api/v1/conversations/{own.pk}/messages/0/", declined, format="json")
    states = [Memory.objects.get(pk=each.pk).state for each in (theirs, mine)]
    assert (answer.status_code, *states) == (200, "active", "archived")
