"""Tests of mem0's own, unchanged client against a server; run with pytest in the environment of either version.

``KEEPSAKE_USER_ID`` is the user that it names; ``KEEPSAKE_OTHER`` another one, for a service's key.
"""

import asyncio
import os
from importlib.metadata import version

import pytest
from mem0 import AsyncMemoryClient, MemoryClient

HOST = f"{os.environ['KEEPSAKE_URL']}/mem0"
USER = os.environ["KEEPSAKE_USER_ID"]
OTHER = os.environ.get("KEEPSAKE_OTHER", "")
NEW = not version("mem0ai").startswith("1.")
TEXT = "I keep forty hens,\n  and   a rooster"


class Awaited:
    """The asynchronous client with synchronous methods."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.client = AsyncMemoryClient(api_key=os.environ["KEEPSAKE_KEY"], host=HOST)

    def __getattr__(self, name):
        method = getattr(self.client, name)
        return lambda *args, **more: self.loop.run_until_complete(method(*args, **more))

    def close(self):
        self.loop.run_until_complete(self.client.async_client.aclose())
        self.loop.close()


@pytest.fixture(params=["waits", "awaited"])
def client(request):
    if request.param == "waits":
        yield MemoryClient(api_key=os.environ["KEEPSAKE_KEY"], host=HOST)
        return
    awaited = Awaited()
    awaited.delete_all(user_id=USER)
    yield awaited
    awaited.close()


def refused(client, why):
    """The client raises what the server said; the awaited one of the last 1.x tells the status alone."""
    return pytest.raises(Exception, match=why if NEW or isinstance(client, MemoryClient) else "Client error '4")


def kept(client, text, **more):
    (made,) = client.add(text, user_id=USER, infer=False, **more)["results"]
    return made["id"]


def listed(client, **filters):
    return {each["id"]: each for each in client.get_all(filters={"user_id": USER, **filters})["results"]}


def test_add_get_update_history_delete(client):
    memory_id = kept(client, TEXT, metadata={"source": "crm"}, agent_id="helper", app_id="shop", run_id="r1")
    memory = client.get(memory_id)
    assert memory["memory"] == TEXT
    assert memory["metadata"] == {"source": "crm"}
    assert (memory["agent_id"], memory["app_id"], memory["run_id"]) == ("helper", "shop", "r1")
    client.update(memory_id, text="I keep  fifty hens", metadata={"source": "me"})
    changed = client.get(memory_id)
    assert (changed["memory"], changed["metadata"]) == ("I keep  fifty hens", {"source": "me"})
    assert changed["agent_id"] == "helper"
    happened = client.history(memory_id)
    assert [(each["event"], each["old_memory"], each["new_memory"]) for each in happened] == [
        ("ADD", None, TEXT),
        ("UPDATE", TEXT, "I keep  fifty hens"),
    ]
    assert client.delete(memory_id)["message"]
    assert client.history(memory_id)[-1]["event"] == "DELETE"
    with refused(client, "no such memory"):
        client.get(memory_id)


def test_messages_and_texts_are_kept_or_learned_from(client):
    messages = [{"role": "user", "content": "I play the oboe."}, {"role": "assistant", "content": "How nice!"}]
    made = client.add(messages, user_id=USER, infer=False)
    assert [each["memory"] for each in made["results"]] == ["I play the oboe.", "How nice!"]
    told = client.add("I moved to a farm near Basel and keep bees there.", user_id=USER, run_id="learned")
    assert told["status"] == "PENDING"
    assert told["event_id"]


def test_search_finds_by_meaning_within_filters(client):
    hens, oboe = kept(client, "The user keeps hens.", run_id="s1"), kept(client, "The user plays oboe.", run_id="s2")
    results = client.search("Who keeps hens?", filters={"user_id": USER})["results"]
    found = [each["id"] for each in results]
    assert found[0] == hens
    assert results[0]["score"] > 0
    only = client.search("hens", filters={"AND": [{"user_id": USER}, {"run_id": "s2"}]}, threshold=0.0)["results"]
    assert hens not in {each["id"] for each in only}
    assert oboe in {each["id"] for each in client.search("oboe", filters={"user_id": USER}, top_k=3)["results"]}


def test_filters_have_all_operators(client):
    ids = [kept(client, f"note number {n}", metadata={"n": n, "word": f"Word{n}"}, run_id="f") for n in range(4)]

    def chosen(**wanted):
        return {ids.index(each) for each in listed(client, run_id="f", **wanted) if each in ids}

    def having(name, **wanted):
        return chosen(metadata={name: wanted})

    assert having("n", eq=1) == {1}
    assert having("n", ne=1) == {0, 2, 3}
    assert having("n", **{"in": [1, 2]}) == {1, 2}
    assert (having("n", gt=1), having("n", gte=1)) == ({2, 3}, {1, 2, 3})
    assert (having("n", lt=1), having("n", lte=1)) == ({0}, {0, 1})
    assert having("word", contains="Word3") == {3}
    assert having("word", icontains="wORD2") == {2}
    assert chosen(metadata={"n": 2}) == {2}
    assert chosen(OR=[{"metadata": {"n": 0}}, {"metadata": {"n": 3}}]) == {0, 3}
    assert chosen(AND=[{"metadata": {"n": {"gt": 0}}}, {"metadata": {"n": {"lt": 3}}}]) == {1, 2}
    assert chosen(NOT=[{"metadata": {"n": 0}}]) == {1, 2, 3}
    assert chosen(keywords={"icontains": "NUMBER 3"}) == {3}
    assert chosen(created_at={"gte": "2001-01-01", "lt": "2999-01-01"}) == {0, 1, 2, 3}
    assert chosen(memory_ids=[ids[0]]) == {0}
    assert chosen(categories={"contains": "knowledge"}) == {0, 1, 2, 3}
    assert chosen(agent_id="*") == set()
    with refused(client, "no filter"):
        listed(client, shoe_size=3)


def test_pages(client):
    made = {kept(client, f"page note {n}", run_id="p") for n in range(3)}
    filters = {"AND": [{"user_id": USER}, {"run_id": "p"}]}
    first = client.get_all(filters=filters, page=1, page_size=2)
    second = client.get_all(filters=filters, page=2, page_size=2)
    assert (first["count"], len(first["results"]), len(second["results"])) == (3, 2, 1)
    assert first["next"]
    assert second["next"] is None
    assert {each["id"] for each in first["results"] + second["results"]} == made


def test_batches(client):
    ids = [kept(client, f"batch note {n}", run_id="b") for n in range(2)]
    client.batch_update([{"memory_id": each, "text": f"changed {each}"} for each in ids])
    assert {each["memory"] for each in listed(client, run_id="b").values()} == {f"changed {each}" for each in ids}
    client.batch_delete([{"memory_id": each} for each in ids])
    assert listed(client, run_id="b") == {}


def test_entities_feedback_exports_and_summary(client):
    memory_id = kept(client, "export me", run_id="e", agent_id="exporter")
    names = {(each["type"], each["name"]) for each in client.users()["results"]}
    assert ("user", USER) in names
    if NEW:  # The last 1.x raises a TypeError of its own after the answer has come.
        assert client.feedback(memory_id, feedback="POSITIVE")["feedback"] == "POSITIVE"
    with pytest.raises(ValueError, match="feedback"):
        client.feedback(memory_id, feedback="SO SO")
    named = client.create_memory_export(schema="{}", filters={"user_id": USER, "run_id": "e"})
    shown = client.get_memory_export(memory_export_id=named["id"])["memories"]
    assert [each["memory"] for each in shown] == ["export me"]
    assert isinstance(client.get_summary(filters={"user_id": USER})["summary"], str)


def test_a_delete_has_a_scope(client):
    kept(client, "stays here", run_id="stays")
    goes = kept(client, "goes away", run_id="goes")
    for unscoped in ({}, {"user_id": "*"}, {"filters": {"user_id": USER}}):
        with refused(client, r"scope|Name"):
            client.delete_all(**unscoped)
    assert goes in listed(client, run_id="goes")
    client.delete_all(user_id=USER, run_id="goes")
    assert listed(client, run_id="goes") == {}
    assert len(listed(client, run_id="stays")) == 1
    client.delete_users(user_id=USER)
    assert listed(client) == {}


@pytest.mark.skipif(not OTHER, reason="a personal key acts for its owner alone")
def test_a_service_keeps_people_apart(client):
    mine = kept(client, "of the one", run_id="apart")
    (other,) = client.add("of the other", user_id=OTHER, infer=False)["results"]
    assert client.get(other["id"])["memory"] == "of the other"
    assert other["id"] not in listed(client)
    assert mine not in {each["id"] for each in client.get_all(filters={"user_id": OTHER})["results"]}
    for both in ({"OR": [{"user_id": USER}, {"user_id": OTHER}]}, {"user_id": "*"}):
        with refused(client, "user_id"):
            client.get_all(filters=both)


@pytest.mark.skipif(bool(OTHER), reason="a service names anybody")
def test_a_personal_key_acts_for_its_owner_alone(client):
    for call in (lambda: client.add("not here", user_id="somebody", infer=False),
                 lambda: client.get_all(filters={"user_id": "somebody"})):  # fmt: skip
        with refused(client, "owner only"):
            call()


@pytest.mark.skipif(not NEW, reason="the third version refuses what the second took")
def test_names_stand_in_the_filters(client):
    with pytest.raises(ValueError, match="filters"):
        client.get_all(user_id=USER)


def test_errors_are_the_clients_own():
    with pytest.raises(ValueError, match="not known"):
        MemoryClient(api_key="ks_aaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", host=HOST)
