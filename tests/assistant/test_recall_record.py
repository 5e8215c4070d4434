"""Review before means before: what nobody reviewed is not quoted from one conversation in another."""

import pytest

from accounts.actions import preferences_set
from accounts.queries import principal_for_person
from assistant.learn.summarizing import conversation_finish, maybe_summarize
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


@pytest.fixture
def statuses(api, owner, talk):
    """``statuses(caller, holder, private=…)``: what a caller is answered who reads a conversation by its id.

    Everywhere the same: the conversation, its messages, its summaries and a turn in it; and whether it is listed.
    """

    def run(caller, holder, *, private):
        held = talk(owner)
        say(owner, held, SAID)
        type(held).objects.filter(pk=held.pk).update(agent=holder, private=private)
        held.messages.update(private=private)
        url, client = f"/api/v1/conversations/{held.pk}/", api(caller)
        answers = [client.get(url), client.get(f"{url}messages/"), client.get(f"{url}chunks/")]
        answers.append(client.post(f"{url}turn/", {"content": "What does it sing?"}, format="json"))
        (status,) = {answer.status_code for answer in answers}
        shown = {SAID in answer.content.decode() for answer in (answers[1], answers[3])}
        listed = client.get("/api/v1/conversations/").json()["results"]
        assert shown == {status == 200} == {str(held.pk) in {each["id"] for each in listed}}
        return status

    return run


@pytest.mark.parametrize(
    ("review", "recall_record", "found"),
    [("after", None, 200), ("after", False, 404), ("before", None, 404), ("before", True, 200)],
)
def test_an_agent_reads_whole_conversations_of_others_where_the_person_allows_it(
    statuses, owner, agent, review, recall_record, found
):
    preferences_set(principal_for_person(owner.pk), review=review, recall_record=recall_record)
    holder = factories.AgentFactory(owner=owner)
    for of_others in (holder, None):
        assert statuses(agent, of_others, private=False) == found
    assert statuses(agent, agent, private=False) == statuses(owner, holder, private=False) == 200


def test_a_private_conversation_is_read_by_its_agent_and_its_person_alone(statuses, owner, agent):
    preferences_set(principal_for_person(owner.pk), recall_record=True)
    for of_others in (factories.AgentFactory(owner=owner), None):
        assert statuses(agent, of_others, private=True) == 404
        assert statuses(owner, of_others, private=True) == 200
    assert statuses(agent, agent, private=True) == 200


@pytest.mark.parametrize(("said", "recalled"), [(SAID, 1), ("Hello!", 0)])
def test_a_summary_of_nothing_is_not_recalled(api, owner, me, talk, settings, said, recalled):
    settings.KEEPSAKE_MODEL = "offline"
    conversation = talk(owner)
    say(owner, conversation, said, "I see.")
    conversation_finish(me, conversation.pk)
    assert maybe_summarize(conversation.pk) == 1
    asked = {"query": "parrot, hello, nothing to recall", "sources": ["chunks"]}
    answer = api(owner).post("/api/v1/memories/query/", asked, format="json").json()
    assert len(answer["results"]) == recalled
