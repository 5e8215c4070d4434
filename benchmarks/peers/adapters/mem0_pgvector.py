"""mem0 OSS on pgvector, with ``infer=False``: additions are stored verbatim, without a language model.

``threshold=0`` makes it return as many results as requested. Without spaCy's English model, which mem0 downloads, it
neither lemmatises nor finds entities: it does less work than it could, and is faster for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import psycopg
from langchain_core.embeddings import Embeddings
from mem0 import Memory
from mem0.configs.base import MemoryConfig
from mem0.embeddings.base import EmbeddingBase
from mem0.utils.factory import EmbedderFactory

from benchmarks.peers.copying import copy_rows, vector_text, without_indexes
from benchmarks.peers.plan import Plan
from benchmarks.peers.system import KEEPS_NOTHING, LISTED, TOP, Vectors

ALL = 10**8
HNSW = "mem0_hnsw"
EXACT = "mem0_exact"
OWNED = "mem0_exact_by_user"
MORE_EFFORT = " ".join(
    (
        "-c hnsw.ef_search=400",
        "-c hnsw.iterative_scan=relaxed_order",
        "-c hnsw.max_scan_tuples=1000000",
        "-c hnsw.scan_mem_multiplier=50",
    )
)
"""The pgvector option that makes a filtered search continue until it has enough results."""


class HashingEmbedding(EmbeddingBase):
    """Keepsake's hashing embedder with mem0's interface."""

    embeddings: Embeddings

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """Return the vector of a text."""
        return self.embeddings.embed_query(text)

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        """Return the vectors of several texts."""
        return self.embeddings.embed_documents(list(texts))


class Mem0:
    """A configuration of mem0 on one of its collections."""

    lacks: Mapping[str, str] = {**KEEPS_NOTHING, "block": "mem0 makes no text for a prompt"}

    def __init__(self, name: str, collection: str, database_url: str, directory: Path, *, options: str = "") -> None:
        self.name = name
        self._database_url = database_url
        self._collection = collection
        separator = "&" if "?" in database_url else "?"
        url = f"{database_url}{separator}options={quote(options)}" if options else database_url
        store = {
            "provider": "pgvector",
            "config": {
                "connection_string": url,
                "collection_name": collection,
                "embedding_model_dims": 384,
                "hnsw": collection == HNSW,
            },
        }
        self._memory = Memory(
            MemoryConfig(
                vector_store=store,
                # Neither is called: nothing is inferred, and the embedder is replaced below.
                llm={"provider": "openai", "config": {"api_key": "unused"}},
                embedder={"provider": "openai", "config": {"api_key": "unused", "embedding_dims": 384}},
                history_db_path=str(directory / f"history-{name.replace(' ', '-')}.db"),
            )
        )

    def make_table(self) -> None:
        """Let mem0 create its table and indexes, as at its first use."""
        self._memory.get_all(filters={"user_id": "nobody"})

    def fill(self, plan: Plan, vectors: Vectors) -> None:
        """Insert the memories as ``add`` would."""
        moment = "2026-01-01T00:00:00+00:00"

        def rows() -> Any:
            for person, memory in plan.all_written():
                payload = {
                    "user_id": person.name,
                    "role": "user",
                    "data": memory.content,
                    "hash": f"{memory.number:032x}",
                    "created_at": moment,
                    "updated_at": moment,
                    "text_lemmatized": memory.content,
                }
                yield UUID(int=memory.number), vector_text(vectors[memory.number]), json.dumps(payload)

        with psycopg.connect(self._database_url, autocommit=True) as connection:
            columns = ("id", "vector", "payload")
            with without_indexes(connection, self._collection, plan.memories):
                copy_rows(connection, self._collection, columns, rows())

    def fill_from(self, other: str) -> None:
        """Copy the rows of another collection."""
        with psycopg.connect(self._database_url, autocommit=True) as connection:
            connection.execute(f"INSERT INTO {self._collection} SELECT * FROM {other}")
            if self._collection == OWNED:
                connection.execute(f"CREATE INDEX ON {self._collection} ((payload ->> 'user_id'))")

    def prepare(self, work: str, *arguments: object) -> None:
        """Do nothing."""

    def add(self, person: str, text: str) -> list[str]:
        """One call of ``add``."""
        return _ids(self._memory.add(text, user_id=person, infer=False))

    def add_many(self, person: str, texts: Sequence[str]) -> list[str]:
        """One call of ``add`` with a message per statement."""
        messages = [{"role": "user", "content": text} for text in texts]
        return _ids(self._memory.add(messages, user_id=person, infer=False))

    def search(self, person: str, text: str) -> list[str]:
        """``search`` with the required filter."""
        return _ids(self._memory.search(text, filters={"user_id": person}, top_k=TOP, threshold=0.0))

    def list(self, person: str) -> list[str]:
        """``get_all``; it has no order."""
        return _ids(self._memory.get_all(filters={"user_id": person}, top_k=LISTED))

    def block(self, person: str) -> str:
        """Not supported."""
        raise NotImplementedError

    def contents(self, person: str, ids: Sequence[str]) -> Sequence[str]:
        """Read one by one."""
        return [self._memory.get(memory_id)["memory"] for memory_id in ids]


def open_mem0(database_url: str, directory: Path, embeddings: Embeddings) -> list[Mem0]:
    """Return the default configuration and three with a higher recall."""
    HashingEmbedding.embeddings = embeddings
    EmbedderFactory.provider_to_class["openai"] = f"{__name__}.HashingEmbedding"
    return [
        Mem0("mem0 default", HNSW, database_url, directory),
        Mem0("mem0 iterative", HNSW, database_url, directory, options=MORE_EFFORT),
        Mem0("mem0 exact", EXACT, database_url, directory),
        Mem0("mem0 exact+index", OWNED, database_url, directory),
    ]


def fill_mem0(systems: Sequence[Mem0], plan: Plan, vectors: Vectors) -> None:
    """Create and fill the three collections that the four configurations use."""
    first, _, *copies = systems
    first.make_table()
    first.fill(plan, vectors)
    for system in copies:
        system.make_table()
        system.fill_from(HNSW)


def _ids(answer: Mapping[str, Any]) -> list[str]:
    numbers = ((each["id"], UUID(each["id"]).int) for each in answer["results"])
    return [f"{number:08d}" if number < ALL else memory_id for memory_id, number in numbers]
