"""agno's memories in PostgreSQL, used through its ``MemoryManager`` and the system message of its ``Agent``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from uuid import uuid4

import psycopg
from agno.agent import Agent
from agno.db.postgres import PostgresDb
from agno.db.schemas import UserMemory
from agno.memory import MemoryManager
from agno.models.openai import OpenAIChat
from agno.run.base import RunContext
from agno.session import AgentSession

from benchmarks.peers.copying import copy_rows
from benchmarks.peers.plan import Plan
from benchmarks.peers.system import KEEPS_NOTHING, LISTED

SCHEMA = "ai"
TABLE = "agno_memories"
BEGUN = 1_767_225_600  # 2026-01-01


class Agno:
    """One table of memories, without vectors."""

    name = "agno"
    lacks: Mapping[str, str] = {
        **KEEPS_NOTHING,
        "search": "agno answers with the first, the last, or what a language model picks; it has no search by itself",
    }

    def __init__(self, database_url: str) -> None:
        self._database_url = database_url
        url = database_url.replace("postgresql://", "postgresql+psycopg://", 1)
        self._db = PostgresDb(db_url=url, db_schema=SCHEMA, memory_table=TABLE)
        self._manager = MemoryManager(db=self._db)
        # An agent needs a model, but building the system message does not call it.
        self._agent = Agent(
            model=OpenAIChat(id="unused", api_key="unused"),
            db=self._db,
            memory_manager=self._manager,
            add_memories_to_context=True,
            telemetry=False,
        )

    def fill(self, plan: Plan) -> None:
        """Let agno create its table and insert the memories as ``add_user_memory`` would."""
        self._db.upsert_user_memory(UserMemory(memory="Made first.", memory_id="first", user_id="nobody", topics=[]))
        columns = ("memory_id", "memory", "user_id", "topics", "created_at", "updated_at")
        with psycopg.connect(self._database_url, autocommit=True) as connection:
            rows = (
                (
                    memory.id,
                    json.dumps(memory.content),
                    person.name,
                    json.dumps([memory.category]),
                    BEGUN + memory.number,
                    BEGUN + memory.number,
                )
                for person, memory in plan.all_written()
            )
            copy_rows(connection, f"{SCHEMA}.{TABLE}", columns, rows)

    def prepare(self, work: str, *arguments: object) -> None:
        """Do nothing."""

    def add(self, person: str, text: str) -> list[str]:
        """``add_user_memory``."""
        return [self._manager.add_user_memory(UserMemory(memory=text, topics=["context"]), user_id=person)]

    def add_many(self, person: str, texts: Sequence[str]) -> list[str]:
        """``upsert_memories``, agno's bulk call."""
        new = [
            UserMemory(memory=text, memory_id=str(uuid4()), user_id=person, topics=["context"], created_at=BEGUN)
            for text in texts
        ]
        return [memory.memory_id for memory in self._db.upsert_memories(new)]

    def search(self, person: str, text: str) -> list[str]:
        """Not supported."""
        raise NotImplementedError

    def list(self, person: str) -> list[str]:
        """List the newest by time of change."""
        found = self._db.get_user_memories(
            user_id=person, limit=LISTED, page=1, sort_by="updated_at", sort_order="desc"
        )
        return [memory.memory_id for memory in found]

    def block(self, person: str) -> str:
        """Return the system message of an agent without other instructions."""
        session = AgentSession(session_id="benchmark", user_id=person)
        context = RunContext(run_id="benchmark", session_id="benchmark", user_id=person)
        return self._agent.get_system_message(session=session, run_context=context).content

    def contents(self, person: str, ids: Sequence[str]) -> Sequence[str]:
        """Read one by one."""
        found = (self._db.get_user_memory(memory_id, user_id=person) for memory_id in ids)
        return [memory.memory if memory else "" for memory in found]
