"""A name, pronouns, a city or a language given as an episode, as a report, by what it replaces, or in another language
(issue 14, B8)."""

import pytest

from language.backends import embedder_replaced
from language.embedders.e5.embedder import BundledEmbedder
from tests.memories.rest import add

pytestmark = pytest.mark.django_db
EPISODES = [
    "The user decided to be Kim from now on.",
    "The user explained that they are not called Walter but Wally.",
    "The user isn't a she but a they.",
    "The user did not stay in Ulm, but lives in Kiel.",
    "The user wants no more Dutch, only Danish.",
]
ORDINARY_EPISODES = [
    "The user decided to visit Kiel in May.",
    "The user asked about a train from Ulm to Kiel.",
    "The user practised Danish verbs.",
    "The user told how Walter, a neighbour, fixed the fence.",
    "The user talked about the garden of a friend in Ulm.",
]
STATEMENTS = [
    "The user told the agent that their name is Kim.",
    "The user said they live in Kiel.",
    "The user's parents know them as Kim.",
    "The user no longer lives in Ulm but in Kiel.",
    "The user used to live in Ulm; now it is Kiel.",
    "The user prefers Danish for conversations.",
    "ユーザーは今大阪で暮らしている。",
    "用户现在住在南京。",
    "Пользователь живёт в Твери.",
    "Kullanıcı Ankara'da oturuyor.",
]
ORDINARY = [
    "The user told the agent that their dog's name is Kim.",
    "The user said that their name is hard to spell.",
    "The user's parents know them as a night owl.",
    "The user no longer lives in Ulm.",
    "The user used to sail in Kiel but now prefers hiking.",
    "The user prefers Danish pastry for breakfast.",
    "ユーザーの母は大阪に住んでいる。",
    "用户去年去了南京旅行。",
    "Сестра пользователя живёт в Твери.",
    "Kullanıcı Ankara'yı ziyaret etti.",
]


@pytest.fixture(autouse=True)
def read_by_meaning():
    with embedder_replaced(BundledEmbedder()):
        yield


@pytest.mark.parametrize("content", EPISODES)
def test_an_episode_of_an_agent_is_read_by_its_meaning(api, agent, content):
    assert add(api(agent), content, "history", kind="episodic")["state"] == "proposed"


@pytest.mark.parametrize("content", ORDINARY_EPISODES)
def test_other_episodes_are_kept(api, agent, content):
    assert add(api(agent), content, "history", kind="episodic")["state"] == "active"


@pytest.mark.parametrize("content", STATEMENTS)
def test_however_it_is_put_it_waits(api, agent, content):
    assert add(api(agent), content)["state"] == "proposed"


@pytest.mark.parametrize("content", ORDINARY)
def test_what_is_only_put_alike_is_kept(api, agent, content):
    assert add(api(agent), content)["state"] == "active"
