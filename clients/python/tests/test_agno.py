"""agno's memory manager and agents over ``KeepsakeDb``, against a server and a scripted model.

``KEEPSAKE_USER_ID`` is the user that they name; ``KEEPSAKE_OTHER`` another one, for a service's key.
"""

from __future__ import annotations

import asyncio
import os
from importlib.metadata import version
from typing import Any

import pytest
from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.db.schemas import UserMemory
from agno.memory import MemoryManager
from agno.models.openai import OpenAIChat
from chat_api import called, chat_model, said
from keepsake import Keepsake, NotAllowed, Refused
from keepsake.agno import KeepsakeDb

USER = os.environ["KEEPSAKE_USER_ID"]
OTHER = os.environ.get("KEEPSAKE_OTHER", "")
EACH_RUN = "enable_user_memories" if version("agno").startswith("2.") else "update_memory_on_run"
HENS = "Likes to read about hens"


@pytest.fixture
def db() -> Any:
    database = KeepsakeDb()
    yield database
    database.delete_user_memories([each.memory_id for each in database.get_user_memories(USER)], USER)
    database.close()


def kept(db: KeepsakeDb, **more: Any) -> list[str]:
    return [each.memory for each in db.get_user_memories(USER, **more)]


def model(url: str) -> OpenAIChat:
    return OpenAIChat(id="stub", base_url=url, api_key="none")


def test_a_memory_manager_adds_changes_and_forgets(db: KeepsakeDb) -> None:
    script = [called("add_memory", memory=HENS, topics=["hobbies"]), said("Done.")]
    with chat_model(*script) as (url, asked):
        manager = MemoryManager(model=model(url), db=db)
        manager.create_user_memories("I love reading about hens.", user_id=USER)
    assert len(asked) == 2
    (memory,) = manager.get_user_memories(USER)
    assert (memory.memory, memory.topics, memory.user_id) == (HENS, ["hobbies"], USER)
    changes = called("update_memory", memory_id=memory.memory_id, memory="Likes ducks")
    with chat_model(changes, said("Done.")) as (url, asked):
        manager.model = model(url)
        manager.create_user_memories("No, about ducks.", user_id=USER)
    assert HENS in str(asked[0]["messages"])
    (changed,) = manager.get_user_memories(USER)
    assert (changed.memory, changed.memory_id) == ("Likes ducks", memory.memory_id)
    with chat_model(called("delete_memory", memory_id=memory.memory_id), said("Done.")) as (url, asked):
        manager.model = model(url)
        asyncio.run(manager.acreate_user_memories("Forget the ducks.", user_id=USER))
    assert manager.get_user_memories(USER) == []


def test_an_agent_remembers_in_one_session_and_knows_in_another(db: KeepsakeDb) -> None:
    told: dict[str, Any] = {EACH_RUN: True}
    script = [called("add_memory", memory=HENS, topics=["hobbies"]), said("Done.")]  # agno asks for both at once.
    with chat_model(*script) as (url, asked):
        Agent(model=model(url), db=db, telemetry=False, **told).run("I love hens.", user_id=USER, session_id="one")
    assert kept(db) == [HENS]
    with chat_model(said("About hens.")) as (url, asked):
        sessions = {"db": InMemoryDb(), "memory_manager": MemoryManager(db=KeepsakeDb())}
        agent = Agent(model=model(url), telemetry=False, add_memories_to_context=True, **sessions)
        assert agent.run("What do I read?", user_id=USER, session_id="two").content == "About hens."
    assert HENS in str(asked[0]["messages"][0])
    assert agent.get_user_memories(user_id=USER)[0].memory == HENS


@pytest.mark.parametrize("awaited", [False, True])
def test_a_streamed_run_remembers_too(db: KeepsakeDb, awaited: bool) -> None:
    def told(event: Any) -> str:
        return str(event.content or "") if event.event == "RunContent" else ""

    async def talk(agent: Agent) -> str:
        return "".join([told(each) async for each in agent.arun("I love hens.", user_id=USER, stream=True)])

    settings: dict[str, Any] = {EACH_RUN: True, "telemetry": False}
    with chat_model(called("add_memory", memory=HENS, topics=["hobbies"]), said("How nice.")) as (url, _):
        agent = Agent(
            model=model(url), db=InMemoryDb(), memory_manager=MemoryManager(model=model(url), db=db), **settings
        )
        run = None if awaited else agent.run("I love hens.", user_id=USER, stream=True)
        text = asyncio.run(talk(agent)) if run is None else "".join(map(told, run))
    assert text == "How nice."
    assert kept(db) == [HENS]


def test_lists_are_narrowed_ordered_and_paged(db: KeepsakeDb) -> None:
    for number in range(3):
        topics = ["even"] if number % 2 == 0 else ["odd"]
        memory = UserMemory(f"Note {number}", f"id-{number}", topics, USER, agent_id="a" if number else None)
        assert db.upsert_user_memory(memory).memory_id == f"id-{number}"
    assert kept(db) == ["Note 0", "Note 1", "Note 2"]
    assert kept(db, topics=["odd", "none"]) == ["Note 1"]
    assert kept(db, search_content="nOTE 2") == ["Note 2"]
    assert kept(db, agent_id="a") == ["Note 1", "Note 2"]
    assert kept(db, limit=2, page=2) == ["Note 2"]
    assert kept(db, limit=2, page=7) == []
    assert kept(db, sort_by="created_at", sort_order="desc", limit=1) == ["Note 2"]
    plain, count = db.get_user_memories(USER, limit=1, deserialize=False)
    assert (plain[0]["memory"], plain[0]["memory_id"], count) == ("Note 0", "id-0", 3)
    assert db.get_all_memory_topics(USER) == ["even", "odd"]
    told, people = db.get_user_memory_stats(user_id=USER)
    assert (told[0]["total_memories"], people) == (3, 1)
    assert db.get_user_memory("id-1", user_id=USER, deserialize=False)["agent_id"] == "a"
    assert db.get_user_memory("id-9", user_id=USER) is None


def test_what_was_there_before_is_changed_by_its_own_id(db: KeepsakeDb) -> None:
    with Keepsake(user=USER if OTHER else "") as client:
        made = client.add("The user keeps forty hens.", "interests", metadata={"source": "crm"})
    (memory,) = db.get_user_memories(USER)
    assert memory.memory_id == made["id"]
    memory.memory, memory.topics = "The user keeps fifty hens.", ["hens"]
    (changed,) = db.upsert_memories([memory])
    assert (changed.memory, changed.topics, changed.memory_id) == (memory.memory, ["hens"], made["id"])
    with Keepsake(user=USER if OTHER else "") as client:
        after = client.get(made["id"])
    assert (after["version"], after["category"], after["metadata"]) == (2, "interests", {"source": "crm"})


def test_what_is_cleared_is_one_persons_and_the_gates_hold(db: KeepsakeDb) -> None:
    manager = MemoryManager(db=db)
    assert manager.add_user_memory(UserMemory("Likes rye bread"), user_id=USER)
    with pytest.raises(NotImplementedError, match="whose"):
        manager.clear()
    with pytest.raises(Refused):
        db.upsert_user_memory(UserMemory("The user's password is hunter2-Qx8!fz9.", user_id=USER))
    assert kept(db) == ["Likes rye bread"]
    manager.clear_user_memories(USER)
    assert kept(db) == []


@pytest.mark.skipif(not OTHER, reason="a personal key acts for its owner alone")
def test_a_service_keeps_people_apart(db: KeepsakeDb) -> None:
    db.upsert_user_memory(UserMemory("of the one", user_id=USER))
    db.upsert_user_memory(UserMemory("of the other", user_id=OTHER))
    assert kept(db) == ["of the one"]
    assert [each.memory for each in db.get_user_memories(OTHER)] == ["of the other"]
    assert db.get_user_memories() == []


@pytest.mark.skipif(bool(OTHER), reason="a service names anybody")
def test_a_personal_key_acts_for_its_owner_alone(db: KeepsakeDb) -> None:
    db.upsert_user_memory(UserMemory("mine"))
    assert kept(db) == ["mine"]
    with pytest.raises(NotAllowed, match="owner only"):
        db.get_user_memories("somebody")
