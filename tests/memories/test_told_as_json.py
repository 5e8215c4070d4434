"""What an agent stores as JSON, in a document or in metadata, tells of the person what the object says as a whole."""

import json

import pytest

from language.gates.passages import told_together
from memories.actions import memories_index, memory_reject
from memories.models import Memory
from statements.policy.resembling import RESEMBLES
from tests.memories.rest import URL, add

pytestmark = pytest.mark.django_db

REJECTED = [
    "Gambles at the casino in Graz every weekend.",
    "Owes Karl 9,000 euros from a poker game.",
    "Was treated for depression in 2019.",
    "The user was fired from Siemens for stealing.",
]
AGAIN = [
    {"habit": "gambling", "where": "casino Graz", "when": "weekends"},
    {"debt": {"to": "Karl", "eur": 9000}},
    {"money": [{"schulden": {"an": "Karl", "betrag": "9.000 Euro"}}, {"rent": {"to": "Ines", "eur": 700}}]},
    {"health": {"illness": "depression", "treated": 2019}},
    {"job": {"employer": "Siemens", "status": "fired", "reason": "theft"}},
]
OTHERS = [
    {"hobby": "chess", "club": "Graz"},
    {"gift": {"to": "Karl", "eur": 90}},
    {"health": {"allergy": "peanuts", "since": 2001}},
    {"job": {"employer": "Siemens", "team": "turbines", "since": 2015}},
    {"theme": "dark", "font": "mono", "size": 14},
]


@pytest.fixture
def rejected(api, owner, me, settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"
    for content in REJECTED:
        memory_reject(me, add(api(owner), content, "context")["id"])


@pytest.mark.parametrize(
    ("value", "becomes"), [*((each, "proposed") for each in AGAIN), *((each, "active") for each in OTHERS)]
)
def test_json_that_retells_something_rejected_waits(api, agent, rejected, value, becomes):
    document = add(api(agent), json.dumps(value), "knowledge", verbatim=True)
    assert document["state"] == becomes
    assert document["state_reason"] == (RESEMBLES if becomes == "proposed" else "")
    assert add(api(agent), "The user keeps goats.", "context", metadata={"noted": value})["state"] == becomes


def test_so_it_does_where_its_vector_comes_late_or_a_document_is_reworded(api, agent, rejected, away):
    kept = add(api(agent), '{"theme": "dark"}', "knowledge", verbatim=True)
    said = {"content": json.dumps(AGAIN[0]), "verbatim": True}
    assert api(agent).put(f"{URL}{kept['id']}/", said, format="json").status_code == 202
    away()
    late = add(api(agent), json.dumps(AGAIN[1]), "knowledge", verbatim=True)
    assert late["state"] == "active"
    away.back()
    memories_index()
    assert Memory.objects.get(pk=late["id"]).state_reason == RESEMBLES


def test_the_widest_object_is_told_first():
    said = json.dumps({"a": {"to": "Karl", "eur": 9000}, "b": "x" * 300})
    assert told_together(said, 100) == ["to Karl eur 9000"]
    assert told_together("plays\nall the day long\nthe cello", 50) == ["plays the cello"]
    assert told_together("plays the cello", 50) == []
