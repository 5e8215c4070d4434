"""What was rejected comes back neither in pieces, nor in words written together, beside an agent's statement."""

import pytest

from memories.actions import memory_reject
from memories.policy.beside import said_beside
from statements.policy.resembling import RESEMBLES
from tests.memories.rest import URL, add, refusal, url
from tests.memories.rows import remember

pytestmark = pytest.mark.django_db
BREAD = {"content": "The user bakes bread.", "category": "context"}
BESIDE = [
    {"subject": "plays-the-cello"},
    {"subject": "plays/cello"},
    {"topics": ["plays", "cello"]},
    {"topics": ["owes brother", "Karl nine", "thousand euros"]},
    {"metadata": {"debt": "owes-brother-Karl-nine-thousand-euros"}},
    {"metadata": {"debt": ["owes", "brother", "Karl", "nine", "thousand", "euros"]}},
    {"metadata": {"owesBrotherKarl": "nineThousandEuros"}},
    {"subject": "cello", "metadata": {"what": "plays"}},
]


@pytest.fixture
def rejected(owner, me):
    said = (
        "The user plays the cello.",
        "The user owes his brother Karl nine thousand euros.",
        "The user bred ferrets in a cellar.",
    )
    for memory in remember(owner, *said):
        memory_reject(me, memory.pk)


@pytest.mark.parametrize("beside", BESIDE)
def test_pieces_beside_a_statement_are_refused(api, agent, rejected, beside):
    assert refusal(api(agent).post(URL, {**BREAD, **beside}, format="json")) == (422, "rejected_before")
    kept = add(api(agent), "The user keeps hens.", "context")
    assert refusal(api(agent).patch(url(kept), beside, format="json")) == (422, "rejected_before")


@pytest.mark.parametrize(
    ("name", "path"), [("run_id", URL), ("external_id", URL), ("channel", "/api/v1/conversations/")]
)
@pytest.mark.parametrize("label", ["bredFerretsInCellar", "bred_ferrets/in-cellar"])
def test_words_written_together_are_refused_as_a_label(api, agent, rejected, name, path, label):
    body = {**BREAD, name: label} if path == URL else {name: label}
    assert refusal(api(agent).post(path, body, format="json")) == (422, "rejected_before")


@pytest.mark.parametrize("place_id", ["bredFerretsInCellar", "bred_ferrets/in-cellar"])
def test_so_they_are_as_the_id_of_a_place(api, agent, rejected, place_id):
    body = {"place_id": place_id, "name": "Shed"}
    assert refusal(api(agent).post("/api/v1/places/", body, format="json")) == (422, "rejected_before")
    assert api(agent).post("/api/v1/places/", {**body, "place_id": "the-cellar"}, format="json").status_code == 201


def test_labels_that_say_it_together_are_refused(api, agent, rejected):
    body = {**BREAD, "run_id": "bred ferrets", "actor_id": "in-cellar"}
    assert refusal(api(agent).post(URL, body, format="json")) == (422, "rejected_before")


def test_a_statement_that_says_it_only_with_its_topics_waits(api, agent, rejected):
    waiting = add(api(agent), "The user plays at home.", "context", topics=["cello"])
    assert (waiting["state"], waiting["state_reason"]) == ("proposed", RESEMBLES)
    kept = add(api(agent), "The user plays in Oslo's park.", "context", subject="Sundays")
    assert refusal(api(agent).patch(url(kept), {"topics": ["cello"]}, format="json")) == (422, "rejected_before")
    changed = {"content": "The user plays outside.", "metadata": {"what": "cello"}}
    assert refusal(api(agent).put(url(kept), changed, format="json")) == (422, "rejected_before")


@pytest.mark.parametrize(
    "beside", [{"subject": "cello"}, {"topics": ["music", "brother"]}, {"metadata": {"runId": "a-1"}}]
)
def test_other_texts_beside_a_statement_pass(api, owner, agent, rejected, beside):
    assert add(api(agent), **BREAD, **beside)["state"] == "active"
    assert add(api(owner), "The user likes tea.", "context", subject="plays the cello")["state"] == "active"


def test_the_reason_of_an_edit_is_compared_too(api, owner, agent, rejected):
    kept = add(api(agent), "The user likes tea.", "context")
    said = {"content": "The user likes green tea.", "reason": "The user plays the cello."}
    assert refusal(api(agent).put(url(kept), said, format="json")) == (422, "rejected_before")
    assert api(owner).put(url(kept), said, format="json").status_code == 200


def test_short_texts_are_joined_once_and_long_ones_stand_alone():
    long = "one two three four five six"
    assert (said_beside("", ()), said_beside("Ann", ())) == ([], ["Ann"])
    assert said_beside("Ann", ["b", "b"]) == ["Ann b"]
    assert said_beside("oneTwo", [long]) == [long, "one Two"]
