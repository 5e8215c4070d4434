"""A reranker in queries and turns: what it sees, what its order does, and that all works without it."""

import pytest
from django.db import connection

from accounts.actions import grant_set
from accounts.queries import principal_for_person
from conversations.models import Message
from language import reranker
from tests import factories
from tests.language.rerank_api import KEY, holding, serving
from tests.language.scripted import whole

from .querying import ask, embedded, texts

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def server():
    with serving() as found:
        yield found


@pytest.fixture(autouse=True)
def rerank(server, settings, monkeypatch):
    settings.KEEPSAKE_EMBEDDER = "hashing"
    settings.KEEPSAKE_RERANKER, settings.RERANKER_API_KEY = "jina", KEY
    settings.RERANKER_BASE_URL = f"{server.url}/v1"
    monkeypatch.setattr(reranker, "_rests_until", 0.0)
    server.answers(holding("oars"))
    return server


@pytest.fixture
def boats(owner):
    return embedded(owner, *((f"Rowed boat {number}.", "event") for number in range(10)), ("Lost both oars.", "event"))


def test_an_answer_comes_in_its_order(api, owner, boats):
    assert texts(ask(api(owner), "boat", top_k=3))[0] == "[event] Lost both oars."


def test_it_sees_what_the_caller_may_see_and_fifty_at_most(api, owner, agent, rerank):
    embedded(owner, *((f"Rowed boat {number}.", "event") for number in range(70)), ("Likes boats.", "preference"))
    grant_set(principal_for_person(owner.pk), agent.pk, categories=["event"])
    ask(api(agent), "boat")
    (sent,) = rerank.documents
    assert len(sent) <= 50
    assert not any("preference" in text for text in sent)


def test_with_the_server_away_the_answer_is_that_of_words_and_vectors(api, owner, boats, rerank, settings):
    rerank.answers(whole({}, status=503))
    away = ask(api(owner), "boat", top_k=3)
    settings.KEEPSAKE_RERANKER = ""
    assert ask(api(owner), "boat", top_k=3)["results"] == away["results"]


def test_a_threshold_is_that_of_the_search(api, owner, boats, rerank):
    assert ask(api(owner), "boat", threshold=1.0)["results"] == []
    assert rerank.requests == []


@pytest.fixture
def turn(api, owner):
    def prepare(content):
        talk = factories.ConversationFactory(user=owner)
        answer = api(owner).post(f"/api/v1/conversations/{talk.pk}/turn/", {"content": content})
        assert answer.status_code == 200, answer.content
        return answer.json()

    return prepare


def test_a_turn_recalls_in_its_order_and_asks_once(turn, boats, rerank, settings):
    settings.RECALL_CONFIDENT = 0
    made = turn("the boat")
    assert made["used"]["memories"][0] == boats[-1].pk
    assert len(rerank.requests) == 1
    assert rerank.requests[0].body["query"] == "the boat"


def test_a_turn_puts_what_was_said_and_facts_in_order_as_well(api, owner, legacy, rerank, settings):
    settings.RECALLED_TURNS = settings.RECALLED_FACTS = 1
    settings.FACTS_BLOCK_TOKENS = 1
    for said in ("We took the boat out.", "We took the boat and its oars.", "A boat is a boat."):
        factories.MessageFactory(conversation=factories.ConversationFactory(user=owner, legacy=legacy), content=said)
    talk = factories.ConversationFactory(user=owner, legacy=legacy)
    made = api(owner).post(f"/api/v1/conversations/{talk.pk}/turn/", {"content": "the boat"}).json()
    said = Message.objects.get(content__contains="oars")
    assert made["used"]["turns"] == [str(said.pk)]
    assert len(rerank.requests) == 1


def test_a_turn_with_the_server_away_is_what_it_was(turn, boats, rerank, settings):
    rerank.answers(whole(b"", status=500))
    away = turn("the boat")
    settings.KEEPSAKE_RERANKER = ""
    assert turn("the boat")["used"] == away["used"]


def test_no_transaction_is_open_while_it_is_asked(api, owner, boats, monkeypatch):
    outside = []
    post = reranker.post

    def asked(*arguments, **more):
        outside.append(len(connection.savepoint_ids))
        return post(*arguments, **more)

    monkeypatch.setattr(reranker, "post", asked)
    ask(api(owner), "boat")
    assert outside == [0]
