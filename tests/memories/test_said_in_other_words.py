"""What says something rejected in other words waits beside a statement and in a document, too (issue 14, B7)."""

import pytest

from memories.actions import memory_reject
from memories.models import Proposal
from statements.policy.resembling import RESEMBLES
from tests.memories.rest import add, now, url

pytestmark = pytest.mark.django_db
REJECTED = "The user wants to buy a boat.", "The user was fired from the bank."
AGAIN = "The user dreams of having their own little boat.", "Lost their job at the bank", "The bank dismissed the user."
ORDINARY = "The user rows on the lake on Sundays.", "trip to the lake in May", "They open at nine and close at six."
PLACES = "/api/v1/places/"


@pytest.fixture
def client(owner, me, api, agent, settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"
    for content in REJECTED:
        memory_reject(me, add(api(owner), content, "context")["id"])
    return api(agent)


def beside(said):
    return [{"subject": said}, {"topics": [said[:50]]}, {"metadata": {"note": said}}]


@pytest.mark.parametrize("said", AGAIN)
def test_it_waits_in_subject_topics_and_metadata(client, said):
    """Only the words of these were compared."""
    for number, more in enumerate(beside(said)):
        kept = add(client, f"The user owns {number + 2} bicycles.", "context", insist=True, **more)
        assert (kept["state"], kept["state_reason"]) == ("proposed", RESEMBLES), more
    kept = add(client, "The user bakes bread.", "context")
    for more in beside(said):
        assert client.patch(url(kept), more, format="json").status_code == 202, more
    reworded = client.put(
        url(kept), {"content": "The user bakes rye bread.", "metadata": {"note": said}}, format="json"
    )
    assert (reworded.status_code, now(kept).content) == (202, "The user bakes bread.")


@pytest.mark.parametrize("said", AGAIN)
def test_it_waits_in_a_place_s_notes(client, said):
    place = {"place_id": "lake", "name": "Lake", "notes": said}
    assert client.post(PLACES, place, format="json").status_code == 202
    assert Proposal.objects.get().reason == RESEMBLES
    made = client.post(PLACES, {"place_id": "sea", "name": "Sea"}, format="json").json()
    assert client.patch(f"{PLACES}{made['id']}/", {"notes": said}, format="json").status_code == 202


def test_it_waits_among_the_sentences_of_a_document(client):
    for said in AGAIN:
        document = f"# Notes\n\n- The user likes tea\n- {said}\n- The user cooks with Vim\n"
        assert add(client, document, "knowledge", verbatim=True)["state"] == "proposed", said


def test_something_else_does_not(client):
    for number, said in enumerate(ORDINARY):
        for place, more in enumerate(beside(said)):
            body = {"content": f"The user owns {number + 2} bicycles and {place + 2} cars.", **more}
            assert add(client, category="context", insist=True, **body)["state"] == "active", more
        place = {"place_id": f"lake-{number}", "name": "Lake", "notes": said}
        assert client.post(PLACES, place, format="json").status_code == 201, said
        document = f"# Notes\n\n- The user likes tea\n- {said}\n- The user cooks with Vim\n"
        assert add(client, document, "knowledge", verbatim=True, insist=True)["state"] == "active", said
