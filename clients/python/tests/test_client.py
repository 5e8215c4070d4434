"""The client against a server, whose address and key stand in KEEPSAKE_URL and KEEPSAKE_KEY."""

from __future__ import annotations

import asyncio

import pytest
from keepsake import AsyncKeepsake, Conflict, Keepsake, NotAuthenticated, NotFound, Refused


def test_what_is_remembered_is_found_changed_and_put_away() -> None:
    with Keepsake() as client:
        made = client.add("The user keeps forty hens.", "interests", metadata={"source": "test"})
        assert made["outcome"] == "created"
        assert client.add("The user keeps forty hens.", "interests")["outcome"] == "reinforced"
        assert [each["id"] for each in client.search("hens")["results"]] == [made["id"]]
        assert client.update(made["id"], "The user keeps fifty hens.")["version"] == 2
        assert [each["id"] for each in client.memories(filters={"metadata": {"source": "test"}})] == [made["id"]]
        assert [each["content"] for each in client.get(made["id"])["versions"]][-1] == "The user keeps fifty hens."
        assert client.amend(made["id"], importance=4)["importance"] == 4
        client.delete(made["id"])
        assert client.restore(made["id"])["state"] == "active"
        assert [each["object"] for each in client.changes() if each["object_type"] == "memory"][-1] == made["id"]
        last = [each["rev"] for each in client.changes()][-1]
        assert [each["event"] for each in client.changes(last - 1, wait=1)] == ["RESTORE"]
        assert next(client.history(made["id"]))["event"] == "RESTORE"


def test_what_goes_wrong_has_a_class() -> None:
    with Keepsake() as client:
        with pytest.raises(NotFound):
            client.get("zzzzzzzz")
        with pytest.raises(Refused):
            client.add("The user's password is hunter2-Qx8!fz9.", "interests")
        made = client.add("The user plays the oboe.", "interests", subject="Oboe")
        with pytest.raises(Conflict) as error:
            client.add("The user repairs old harpsichords.", "interests", subject="Oboe")
        assert error.value.body["memory"]["id"] == made["id"]
    with Keepsake(key="ks_no.such") as nobody, pytest.raises(NotAuthenticated):
        nobody.topics()


def test_many_things_and_a_conversation() -> None:
    async def talk() -> None:
        async with AsyncKeepsake() as client:
            items = [
                {"content": f"The user owns book number {number}.", "category": "interests", "insist": True}
                for number in range(120)
            ]
            added = await client.add_many(items)
            assert [each["index"] for each in added] == list(range(120))
            listed = {each["id"] async for each in client.memories()}
            assert {each["id"] for each in added if each["status"] == 201} <= listed
            conversation = await client.create_conversation(title="Books")
            said = await client.append(conversation["id"], [{"role": "user", "content": "I own many books."}])
            assert said["messages"][0]["index"] == 0
            turn = await client.turn(conversation["id"], "Which books do I own?")
            assert "books" in turn["text"]
            events = [each async for each in client.reply(conversation["id"], "Hello there.", mode="chat")]
            assert events[-1].name == "done"
            assert [each["role"] async for each in client.messages(conversation["id"])][:2] == ["user", "user"]

    asyncio.run(talk())


def test_a_state_is_saved_once() -> None:
    with Keepsake() as client:
        assert client.save_state("plan", {"step": 1}, version=0)["version"] == 1
        with pytest.raises(Conflict):
            client.save_state("plan", {"step": 2}, version=0)
        assert client.load_state("plan")["state"] == {"step": 1}
        assert [each["thread"] for each in client.threads()] == ["plan"]
        client.delete_thread("plan")
