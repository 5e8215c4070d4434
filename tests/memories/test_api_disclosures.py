"""Which agents saw a memory, over REST: for the person alone, by cursor."""

from datetime import UTC, datetime, timedelta

import pytest

from memories.actions import memories_note_shown
from memories.models import Disclosure
from tests import factories

from .rest import url
from .rows import archive, remember

pytestmark = pytest.mark.django_db

START = datetime(2025, 6, 3, 14, 0, tzinfo=UTC)


@pytest.fixture
def bees(owner):
    return remember(owner, "Keeps bees.", "Keeps hens.")[0]


def show(owner, agent, memory, minute=0, by="turn", talk=None):
    """Have an agent shown a memory beside another one."""
    ids = ["beforeit", memory.pk]
    return Disclosure.objects.create(
        user=owner, agent=agent, conversation=talk, by=by, memories=ids, at=START + timedelta(minutes=minute)
    )


def test_the_person_reads_which_agents_saw_a_memory(api, owner, agent, bees):
    """Who, how, where and when; the latest first, and nothing of what else they saw."""
    talk = factories.ConversationFactory(user=owner)
    service = factories.AgentFactory(name="backend")
    first, second = show(owner, agent, bees, talk=talk), show(owner, service, bees, 5, by="query")
    other = remember(owner, "Keeps goats.")[0]
    show(owner, agent, other)
    page = api(owner).get(url(bees, "disclosures/")).json()
    assert page == {
        "next": None,
        "previous": None,
        "results": [
            {
                "id": second.pk,
                "agent": {"id": str(service.pk), "name": "backend"},
                "by": "query",
                "conversation": None,
                "at": "2025-06-03T14:05:00Z",
            },
            {
                "id": first.pk,
                "agent": {"id": str(agent.pk), "name": agent.name},
                "by": "turn",
                "conversation": str(talk.pk),
                "at": "2025-06-03T14:00:00Z",
            },
        ],
    }


def test_it_is_read_by_cursor_and_nothing_is_read_twice(api, owner, agent, bees):
    """Also of those that were noted in the same moment."""
    made = [show(owner, agent, bees, minute // 3).pk for minute in range(7)]
    client, seen, address = api(owner), [], url(bees, "disclosures/?per_page=2")
    while address:
        page = client.get(address).json()
        assert len(page["results"]) <= 2
        seen += [each["id"] for each in page["results"]]
        address = page["next"]
    assert seen == made[::-1]
    assert list(client.get(url(bees, "disclosures/?cursor=nonsense")).json()) == ["cursor"]


def test_no_agent_learns_of_the_others(api, owner, agent, service, bees):
    """Not even one that may take the person's decisions, nor of itself."""
    show(owner, agent, bees)
    factories.ExternalIdentityFactory(user=owner, issuer="backend", external_id="42")
    for client in (api(agent), api(service, "42")):
        answer = client.get(url(bees, "disclosures/"))
        assert (answer.status_code, answer.json()["code"]) == (403, "person_only")


def test_what_was_put_away_tells_too_and_what_is_not_there_nothing(api, owner, stranger, agent, bees):
    show(owner, agent, bees)
    archive(bees)
    assert len(api(owner).get(url(bees, "disclosures/")).json()["results"]) == 1
    for address in (url("nothere1", "disclosures/"), url(remember(stranger, "Keeps cats.")[0], "disclosures/")):
        assert api(owner).get(address).status_code == 404


def test_an_agent_that_is_gone_takes_its_rows_along_and_a_conversation_only_its_name(api, owner, agent, bees):
    talk = factories.ConversationFactory(user=owner)
    show(owner, agent, bees, talk=talk)
    talk.delete()
    (left,) = api(owner).get(url(bees, "disclosures/")).json()["results"]
    assert left["conversation"] is None
    agent.delete()
    assert api(owner).get(url(bees, "disclosures/")).json()["results"] == []


@pytest.mark.parametrize("much", [1, 30])
def test_it_costs_the_same_however_many_saw_it(api, owner, bees, django_assert_num_queries, much):
    """A session: session, user, principal; the memory, the page."""
    for number in range(much):
        show(owner, factories.AgentFactory(name=f"agent-{number}", owner=owner), bees, number)
    client = api(owner)
    client.get(url(bees, "disclosures/"))
    with django_assert_num_queries(5):
        assert len(client.get(url(bees, "disclosures/")).json()["results"]) == much


def test_what_an_agent_lists_or_reads_is_noted_too_and_what_the_person_does_is_not(
    api, owner, agent, bees, django_capture_on_commit_callbacks
):
    """The person is told of every memory that an agent was given, however it asked."""
    with django_capture_on_commit_callbacks(execute=True):
        api(owner).get("/api/v1/memories/")
        listed = [each["id"] for each in api(agent).get("/api/v1/memories/").json()["results"]]
        api(agent).get(url(bees, ""))
    assert bees.pk in listed
    memories_note_shown()
    noted = Disclosure.objects.order_by("pk").values_list("agent", "by", "memories")
    assert list(noted) == [(agent.pk, "query", listed), (agent.pk, "query", [bees.pk])]
