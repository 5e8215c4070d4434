"""A narrowed agent learns by no name of a legacy and no title what the person rejected (issue 14, B4)."""

import pytest

from conversations.models import Conversation, Message
from memories.actions import memory_reject
from memories.models import MemoryEvidence
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


def test_a_title_is_omitted_and_not_refused(narrow, api, owner):
    factories.ConversationFactory(user=owner)
    answer = narrow.post(TALKS, {"title": MARRIED}, format="json")
    assert (answer.status_code, answer.json()["title"]) == (201, "")
    other = narrow.post(TALKS, {"title": "Hats in a lighthouse"}, format="json").json()
    assert other["title"] == "Hats in a lighthouse"
    assert not Conversation.objects.filter(title=MARRIED).exists()


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
