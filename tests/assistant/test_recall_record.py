"""Review before means before: what nobody reviewed is not quoted from one conversation in another."""

import pytest

from accounts.actions import preferences_set
from accounts.queries import principal_for_person
from tests import factories

from .conftest import say

pytestmark = pytest.mark.django_db
SAID = "My parrot sings the anthem of Portugal."


@pytest.fixture
def ask(api, owner, agent, talk):
    """``ask(**preferences)``: what a turn of the agent quotes of an earlier conversation, and its status as a query."""
    say(owner, talk(owner), SAID)

    def run(who=agent, **preferences):
        preferences_set(principal_for_person(owner.pk), **preferences)
        running = factories.ConversationFactory(user=owner, agent=agent)
        url = f"/api/v1/conversations/{running.pk}/turn/"
        made = api(who).post(url, {"content": "What does my parrot sing?"}, format="json").json()
        asked = {"query": "parrot", "sources": ["turns"]}
        answer = api(who).post("/api/v1/memories/query/", asked, format="json")
        return SAID in made["text"], answer.status_code

    return run


@pytest.mark.parametrize(
    ("review", "recall_record", "quoted"),
    [
        *(("after", None, True), ("after", True, True), ("after", False, False)),
        *(("before", None, False), ("before", True, True), ("before", False, False)),
    ],
)
def test_an_agent_is_quoted_earlier_conversations_where_the_person_allows_it(ask, review, recall_record, quoted):
    assert ask(review=review, recall_record=recall_record) == (quoted, 200 if quoted else 403)


def test_the_person_is_quoted_their_own(ask, owner):
    assert ask(owner, review="before") == (True, 200)


def test_the_refusal_names_the_source(api, owner, agent):
    preferences_set(principal_for_person(owner.pk), review="before")
    asked = {"query": "parrot", "sources": ["memories", "chunks"]}
    answer = api(agent).post("/api/v1/memories/query/", asked, format="json")
    assert (answer.status_code, answer.json()["code"], answer.json()["source"]) == (403, "source_not_allowed", "chunks")


def test_the_running_conversation_is_recalled_all_the_same(api, owner, agent, talk, settings):
    settings.WINDOW_MESSAGES = 2
    preferences_set(principal_for_person(owner.pk), review="before")
    running = talk(owner)
    type(running).objects.filter(pk=running.pk).update(agent=agent)
    say(owner, running, SAID, *(f"The weather was fine on day {number}." for number in range(6)))
    type(running).objects.filter(pk=running.pk).update(summarized_upto=6)
    url = f"/api/v1/conversations/{running.pk}/turn/"
    made = api(agent).post(url, {"content": "What does my parrot sing?"}, format="json").json()
    assert SAID in made["system"][1]["text"]
