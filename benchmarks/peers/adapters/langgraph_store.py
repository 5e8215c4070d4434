"""LangGraph's PostgresStore with pgvector, created with ``from_conn_string``: one connection, prepared statements.

Its search asks for the nearest rows of a namespace. PostgreSQL's planner either sorts all of those, or uses the store's
vector index over everybody's rows, which then returns few of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from uuid import uuid4

import psycopg
from langchain_core.embeddings import Embeddings
from langgraph.store.base import PutOp
from langgraph.store.postgres import PostgresStore

from benchmarks.peers.copying import copy_rows, vector_text, without_indexes
from benchmarks.peers.plan import Plan
from benchmarks.peers.system import KEEPS_NOTHING, LISTED, TOP, Vectors


class LangGraph:
    """LangGraph's store with a namespace per person."""

    name = "LangGraph store"
    lacks: Mapping[str, str] = {**KEEPS_NOTHING, "block": "the store makes no text for a prompt"}

    def __init__(self, database_url: str, embeddings: Embeddings) -> None:
        self._database_url = database_url
        self._open = ExitStack()
        index = {"dims": 384, "embed": embeddings, "fields": ["text"]}
        self._store = self._open.enter_context(PostgresStore.from_conn_string(database_url, index=index))

    def fill(self, plan: Plan, vectors: Vectors) -> None:
        """Let the store create its tables and insert the memories as ``put`` would."""
        self._store.setup()
        with psycopg.connect(self._database_url, autocommit=True) as connection:
            rows = (
                (f"memories.{person.name}", memory.id, json.dumps({"text": memory.content}))
                for person, memory in plan.all_written()
            )
            copy_rows(connection, "store", ("prefix", "key", "value"), rows)
            embedded = (
                (f"memories.{person.name}", memory.id, "text", vector_text(vectors[memory.number]))
                for person, memory in plan.all_written()
            )
            with without_indexes(connection, "store_vectors", plan.memories):
                copy_rows(connection, "store_vectors", ("prefix", "key", "field_name", "embedding"), embedded)

    def prepare(self, work: str, *arguments: object) -> None:
        """Do nothing."""

    def add(self, person: str, text: str) -> list[str]:
        """``put``, with a new key."""
        key = str(uuid4())
        self._store.put(_namespace(person), key, {"text": text})
        return [key]

    def add_many(self, person: str, texts: Sequence[str]) -> list[str]:
        """One ``batch``."""
        keys = [str(uuid4()) for _ in texts]
        puts = [PutOp(_namespace(person), key, {"text": text}) for key, text in zip(keys, texts, strict=True)]
        self._store.batch(puts)
        return keys

    def search(self, person: str, text: str) -> list[str]:
        """``search`` with a query."""
        return [item.key for item in self._store.search(_namespace(person), query=text, limit=TOP)]

    def list(self, person: str) -> list[str]:
        """``search`` without a query: the newest first."""
        return [item.key for item in self._store.search(_namespace(person), limit=LISTED)]

    def block(self, person: str) -> str:
        """Not supported."""
        raise NotImplementedError

    def contents(self, person: str, ids: Sequence[str]) -> Sequence[str]:
        """Read one by one."""
        found = (self._store.get(_namespace(person), key) for key in ids)
        return [item.value["text"] if item else "" for item in found]


def _namespace(person: str) -> tuple[str, ...]:
    return ("memories", person)
