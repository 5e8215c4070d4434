"""A rejected statement waits beside others, in a document's pieces and in disguise, whatever its vector."""

import pytest

from language.gates.passages import pieces_of
from memories.actions import memory_reject
from statements.policy.resembling import RESEMBLES
from statements.policy.restated import RejectedWords
from tests.facts.conftest import facts_url
from tests.memories.rest import URL, add, refusal
from tests.memories.rows import remember

pytestmark = pytest.mark.django_db
CELLO, CLOCKS = "The user plays the cello.", "The user collects old clocks."
STATED = [
    "The user enjoys long dinners, likes walking, and collects old clocks.",
    "The user never drives, lives with two cats and plays the cello.",
    "The user, who collects old clocks, bakes bread.",
    "The user plays the ce11o every day.",
    "The user plays the ceIIo a lot.",
    "The user plays the cel lo a lot.",
    "The user plays the c.ello a lot.",
    "The user plays the \u0441ello at home.",
]
OTHERS = [
    "The user never plays the cello.",
    "The user never plays the ce11o.",
    "The user bakes bread and plays chess.",
    "The user's cello is broken.",
]
DOCUMENTS = [
    '{"instrument": "cello", "plays": true}',
    '{"user": {"verb": "plays", "objects": ["cello"]}}',
    '{"what": "collects", "how": "old", "of": "clocks"}',
    '["plays", "the", "cello"]',
    "plays\ncello",
]


@pytest.fixture
def rejected(owner, me):
    for memory in remember(owner, CELLO, CLOCKS):
        memory_reject(me, memory.pk)


@pytest.mark.parametrize("said", STATED)
def test_it_is_found_beside_others_and_in_disguise(said):
    assert RejectedWords([CELLO, CLOCKS]).are_in(said)


@pytest.mark.parametrize("said", OTHERS)
def test_a_denial_and_the_words_of_several_parts_say_something_else(said):
    assert not RejectedWords([CELLO, CLOCKS]).are_in(said)


def test_an_agent_s_memory_and_fact_that_hold_it_wait(api, agent, legacy, rejected):
    for said in (STATED[0], STATED[3]):
        kept = add(api(agent), said, "context", insist=True)
        assert (kept["state"], kept["state_reason"]) == ("proposed", RESEMBLES)
        fact = api(agent).post(facts_url(legacy), {"content": said, "category": "hobby"}, format="json")
        assert (fact.status_code, fact.json()["state"]) == (202, "proposed")
    assert add(api(agent), OTHERS[2], "context", insist=True)["state"] == "active"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_that_says_it_in_pieces_waits(api, agent, rejected, document):
    body = {"content": document, "category": "knowledge", "verbatim": True}
    assert api(agent).post(URL, body, format="json").json()["state"] == "proposed"


def test_names_and_notes_that_spell_it_otherwise_are_refused(api, agent, rejected):
    for said in STATED[3:]:
        place = {"place_id": "a", "name": "Hall", "notes": said}
        assert refusal(api(agent).post("/api/v1/places/", place, format="json")) == (422, "rejected_before"), said


def test_the_pieces_of_a_json_text_are_also_joined_by_object_with_their_keys():
    said = '{"user": {"verb": "plays", "objects": ["cello", "bow"]}, "n": 3}'
    whole = "user verb plays objects cello bow n 3"
    assert pieces_of(said, 50) == ["plays", "cello", "bow", "cello bow", "verb plays objects cello bow", "3", whole]
    assert pieces_of(said, 10) == ["plays", "cello", "bow", "cello bow", "3"]
    assert pieces_of("plays\nthe whole day long\ncello", 50) == ["plays", "the whole day long", "cello", "plays cello"]
