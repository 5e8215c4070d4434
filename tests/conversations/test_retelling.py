"""What an agent posts again with other words between, or over several sentences, is withheld on arrival, too."""

import pytest

from conversations.passages import MARK
from tests import factories
from tests.assistant.test_withholding import say
from tests.conversations.test_said_again import post, withhold

pytestmark = pytest.mark.django_db

PIOTR = "My brother Piotr gambled away his flat in Lodz."
BOILER = "My landlord is suing me over the broken boiler."
QUOKKA = "I keep a quokka called Wombat in my shed."


@pytest.fixture
def elsewhere(owner, agent):
    """A conversation of the agent."""
    return factories.ConversationFactory(user=owner, agent=agent)


@pytest.fixture
def refused(api, owner):
    for said in (PIOTR, BOILER, QUOKKA):
        withhold(api(owner), say(owner, said), said)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("My brother Piotr, who gambled away his flat in Lodz, visited.", MARK),
        ("It rains. My landlord, Mr Holt, is suing me over the broken boiler.", f"It rains. {MARK}"),
        ("My landlord is suing us because of the broken boiler.", MARK),
        ("I really keep a quokka called Wombat in my old shed.", MARK),
        ("In my shed I keep a quokka. It's called Wombat. It rains.", f"{MARK} It rains."),
        ("Your poor brother Piotr gambled away his beautiful flat in Lodz.", MARK),
    ],
)
def test_words_put_between_bring_nothing_back(api, agent, refused, elsewhere, said, shown):
    """Reproduction: one added word stored the whole sentence, and recall quoted it to every agent."""
    assert post(api(agent), elsewhere, ("user", said)) == [shown]


@pytest.mark.parametrize(
    "said",
    [
        "My brother Piotr's friend Jan gambled away his flat in Lodz.",
        "My neighbour's landlord is suing him over the broken boiler.",
        "My sister wants to keep a quokka called Wombat in her shed.",
        "My landlord repaired the broken boiler. My brother Piotr rents a flat in Lodz. I keep hens in my shed.",
    ],
)
def test_the_same_words_about_others_stay(api, agent, refused, elsewhere, said):
    assert post(api(agent), elsewhere, ("user", said)) == [said]
