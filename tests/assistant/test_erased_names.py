"""An erasure also takes who is said to have spoken, and what repetitions of a request would render (issue 14, C9)."""

from uuid import UUID

import pytest

from assistant.erasure.actions import run_erasure
from conversations.models import Message
from journal.models import Erasure, IdempotencyRecord, JobRun
from tests.assistant.test_erasure import holding, verified

pytestmark = pytest.mark.django_db
TALKS, MEMORIES = "/api/v1/conversations/", "/api/v1/memories/"


def post(client, url, body, key=""):
    return client.post(url, body, format="json", headers={"Idempotency-Key": key} if key else {})


def erased(client, scope, pk):
    answer = post(client, "/api/v1/erase/", {"scope": scope, "id": str(pk), "confirm": True})
    assert answer.status_code == 202, answer.json()
    run_erasure(JobRun.objects.get(kind="erase", state="waiting").pk)
    return Erasure.objects.get(pk=UUID(answer.json()["receipt"]))


def test_the_speaker_of_an_erased_message_goes_and_of_what_only_repeated_it(api, owner):
    """Reproduction: the name stayed in the row, and the verification said that all was gone."""
    client = api(owner)
    talk = post(client, TALKS, {}).json()["id"]
    said = "I sailed to Zornipalm island with Otto."
    messages = [
        {"role": "user", "speaker": "Zornipalm", "content": said},
        {
            "role": "assistant",
            "speaker": "Zornipalm",
            "content": "You sailed to Zornipalm island with Otto. Otto sailed!",
        },
        {"role": "user", "speaker": "Ines", "content": "It rains."},
    ]
    (first, *_) = post(client, f"{TALKS}{talk}/messages/", {"messages": messages}).json()["messages"]
    erasure = erased(client, "message", first["id"])
    assert list(Message.objects.order_by("index").values_list("speaker", flat=True)) == ["", "", "Ines"]
    assert holding("zornipalm") == set()
    assert "Gone" in verified(erasure)


@pytest.mark.parametrize("scope", ["memory", "message", "conversation"])
def test_no_record_of_a_request_names_what_was_erased_and_its_key_brings_nothing_back(api, owner, scope):
    """Reproduction: the client's key and the ids stood in their table for the rest of the day."""
    client = api(owner)
    talk = post(client, TALKS, {}, "k1-Zornipalm").json()["id"]
    url, body = {
        "memory": (MEMORIES, {"content": "The user sailed to Narvik.", "category": "history"}),
        "message": (f"{TALKS}{talk}/messages/", {"role": "user", "content": "I sailed to Narvik."}),
        "conversation": (TALKS, {"title": "Narvik"}),
    }[scope]
    made = post(client, url, body, "k2-Zornipalm").json()
    pk = made["messages"][0]["id"] if scope == "message" else made["id"]
    assert post(client, url, body, "k2-Zornipalm").headers["Idempotent-Replay"] == "true"
    erasure = erased(client, scope, pk)
    assert holding("zornipalm") == set()
    assert not IdempotencyRecord.objects.filter(object_ids__contains=[str(pk)]).exists()
    assert "Gone" in verified(erasure)
    again = post(client, url, body, "k2-Zornipalm")
    assert (again.status_code, again.json()["code"]) == (410, "erased")
    assert post(client, TALKS, {}, "k1-Zornipalm").json()["id"] == talk
