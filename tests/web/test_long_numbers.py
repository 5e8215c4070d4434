"""Integers of more than 64 bits, in and out: PostgreSQL returns 1e20 as one, and orjson writes and reads none."""

import json

import orjson
import pytest

from tests.assistant.rich import exported, rows_in
from web.json import decoded, encoded

MEMORIES = "/api/v1/memories/"
GRAPHS = "/api/v1/graph-checkpoints/"
LONG = 12345678901234567890123
SENT = {"a": 1e20, "b": LONG, "c": [{"d": -(2**63) - 1}], "e": 2**64 - 1}


@pytest.mark.parametrize("number", [LONG, -LONG, 2**64, 2**64 - 1, -(2**63), -(2**63) - 1, 10**19, 0.1, 1e300])
def test_a_number_is_read_and_written_as_it_is(number):
    sent = json.dumps({"a": [number]})
    assert decoded(sent) == decoded(sent.encode()) == {"a": [number]}
    assert json.loads(encoded({"a": (number,)})) == {"a": [number]}


@pytest.mark.parametrize(
    "sent", [b'["\\ud800", 12345678901234567890]', b"[" * 1020 + b"1" * 20 + b"]" * 1020, b"1" * 5000, b"1" * 20 + b"x"]
)
def test_what_can_not_be_read_is_no_json(sent):
    with pytest.raises(orjson.JSONDecodeError):
        decoded(sent)


@pytest.mark.parametrize("value", [{"a": object()}, {"a": object(), "b": LONG}])
def test_what_can_not_be_written_is_refused(value):
    with pytest.raises(orjson.JSONEncodeError):
        encoded(value)


@pytest.mark.django_db
def test_long_numbers_in_the_metadata_of_a_memory_come_back_everywhere(api, owner):
    client = api(owner)
    body = {"content": "The user likes plums.", "category": "context", "metadata": SENT}
    made = client.post(MEMORIES, body, HTTP_IDEMPOTENCY_KEY="k1")
    assert (made.status_code, made.json()["metadata"]) == (201, SENT)
    assert client.post(MEMORIES, body, HTTP_IDEMPOTENCY_KEY="k1").json()["metadata"] == SENT
    own = f"{MEMORIES}{made.json()['id']}/"
    assert client.get(MEMORIES).json()["results"][0]["metadata"] == SENT
    assert client.get(own).json()["metadata"] == SENT
    assert client.get(MEMORIES, {"filters": json.dumps({"metadata": {"b": LONG}})}).json()["count"] == 1
    for answer in (
        client.patch(own, {"importance": 4}),
        client.put(own, {"content": "The user likes red plums."}),
        client.get(f"{own}history/"),
        client.post(f"{MEMORIES}query/", {"query": "plums"}),
        client.get("/api/v1/changes/"),
    ):
        assert answer.status_code == 200, answer.content
    (row,) = rows_in(exported(owner))["memories"]
    assert row["metadata"] == SENT


@pytest.mark.django_db
def test_long_numbers_in_what_agents_save_come_back(api, agent):
    client = api(agent)
    blob = {"type": "msgpack", "base64": ""}
    graph = {"thread": "t1", "checkpoint_id": "c1", "metadata": SENT, "blob": blob}
    assert client.put(GRAPHS, graph).status_code == 204
    assert client.get(GRAPHS).json()["results"][0]["metadata"] == SENT
    assert client.get(GRAPHS, {"metadata": json.dumps({"b": LONG})}).json()["results"] != []
    assert client.put("/api/v1/checkpoints/t2/", {"state": SENT}).status_code == 201
    assert client.get("/api/v1/checkpoints/t2/").json()["state"] == SENT
