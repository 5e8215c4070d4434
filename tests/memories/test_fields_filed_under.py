"""A statement and what it is filed under are read together where consent is judged (issue 14, B8)."""

import pytest

from language.backends import embedder_replaced
from language.embedders.e5.embedder import BundledEmbedder
from memories.models import Memory, Proposal
from memories.policy.fields import MAY_SET_A_FIELD
from tests.memories.rest import add, url

pytestmark = pytest.mark.django_db
GIVES = [
    {"subject": "Preferred name", "content": "Robin since the spring."},
    {"subject": "Form of address", "content": "The answer is Robin."},
    {"subject": "Name of the user", "content": "The user picked robin."},
    {"subject": "Robin (nickname)", "content": "The user bought a lamp."},
    {"subject": "Pronouns", "content": "The ones for a woman."},
    {"subject": "Place of residence", "content": "Somewhere by the sea in Faro."},
    {"subject": "The user's home", "content": "A houseboat in Faro."},
    {"subject": "What colleagues say", "content": "Robin since school."},
    {"subject": "City", "content": "Faro, by the lighthouse."},
    {"subject": "Language", "content": "Dutch at all times."},
    {"subject": "Profile", "content": "Based in Faro."},
    {"subject": "Mother tongue", "content": "The user grew up with Dutch."},
    {"topics": ["nickname", "Robin"], "content": "The user bought a lamp."},
    {"topics": ["home address"], "content": "Rua do Sol 12, Faro."},
    {"metadata": {"nick": "Robin"}, "content": "The user bought a lamp."},
    {"metadata": {"Robin": "preferred_name"}, "content": "The user bought a lamp."},
    {"metadata": {"whoami": "Robin"}, "content": "The user bought a lamp."},
    {"topics": ["Robin: what I answer to"], "content": "The user bought a lamp."},
    {"subject": "My place", "content": "Faro, by the lighthouse."},
    {"content": "Nick: Robin", "verbatim": True},
    {"content": "Who am I? - Robin", "verbatim": True},
]
ORDINARY = [
    {"subject": "Home", "content": "The user painted the kitchen blue."},
    {"subject": "The user's home", "content": "The user's flat has a balcony."},
    {"subject": "City", "content": "The user likes the parks in Ghent."},
    {"subject": "Language", "content": "The user studies Dutch on Mondays."},
    {"subject": "What colleagues say", "content": "The user is never late."},
    {"subject": "Name", "content": "The user has a cat named Robin."},
    {"subject": "Anna's home", "content": "A houseboat in Faro."},
    {"subject": "Anna's place", "content": "A houseboat in Faro."},
    {"content": "Lamp: Robin", "verbatim": True},
    {"subject": "Home (renovation)", "content": "The user bought a lamp."},
    {"subject": "Dentist, address", "content": "The user bought a lamp in Faro."},
    {"topics": ["home", "kitchen", "Faro"], "content": "The user bought a lamp."},
    {"metadata": {"location": "Faro", "title": "Lamps"}, "content": "The user bought a lamp."},
]


@pytest.fixture(autouse=True)
def read_by_meaning():
    with embedder_replaced(BundledEmbedder()):
        yield


@pytest.mark.parametrize("told", GIVES)
def test_a_label_and_its_value_wait_together(api, agent, owner, told):
    assert add(api(agent), category="profile", **told)["state"] == "proposed"
    assert not Memory.objects.filter(state="active").exists()


@pytest.mark.parametrize("told", ORDINARY)
def test_what_only_stands_under_such_a_label_does_not(api, agent, told):
    assert add(api(agent), category="profile", **told)["state"] == "active"


@pytest.mark.parametrize(
    ("first", "change"),
    [
        ({"content": "A houseboat in Faro."}, {"subject": "Home"}),
        ({"content": "Some say Robin."}, {"topics": ["preferred name"]}),
        ({"content": "The user painted the kitchen.", "subject": "Home"}, {"content": "A houseboat in Faro."}),
    ],
)
def test_the_half_that_comes_later_waits(api, agent, first, change):
    kept = add(api(agent), category="profile", **first)
    assert kept["state"] == "active"
    send = api(agent).put if "content" in change else api(agent).patch
    answer = send(url(kept), change, format="json")
    assert (answer.status_code, Proposal.objects.get().reason) == (202, MAY_SET_A_FIELD)
