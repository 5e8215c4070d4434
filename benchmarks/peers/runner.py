"""The peers' process, in a separate environment: ``python -m benchmarks.peers.runner DIRECTORY MEMORIES``.

Reads requests and writes answers as lines of JSON, until standard input ends. Network access is blocked, and the peers'
telemetry is off.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import traceback
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from benchmarks.peers.plan import Plan
from benchmarks.peers.system import System, Vectors, call, vectors_of
from language.embedders.hashing import HashingEmbedder

# Set before the peers are imported, when they read these variables.
os.environ.update(
    MEM0_TELEMETRY="False",
    AGNO_TELEMETRY="false",
    LANGSMITH_TRACING="false",
    LANGCHAIN_TRACING_V2="false",
    DO_NOT_TRACK="1",
)


def refuse(*_: object) -> NoReturn:
    """Reject a network connection. The database connection is made by libpq and not affected."""
    raise OSError("A benchmark reaches no network.")


def main(directory: str, memories: str) -> None:
    """Serve requests on the database at ``DATABASE_URL`` until standard input ends.

    Standard output is for answers only; other output goes to the log.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    socket.socket.connect = socket.socket.connect_ex = refuse  # type: ignore[method-assign]
    socket.getaddrinfo = refuse  # type: ignore[assignment]
    os.environ.update(MEM0_DIR=directory, HOME=directory)
    peers = Peers(os.environ.pop("DATABASE_URL"), Path(directory), int(memories))
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = peers.do(**asked)
        except Exception as error:  # noqa: BLE001 - the driver shows it and ends the run
            answer = {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


class Peers:
    """All peers by name."""

    def __init__(self, database_url: str, directory: Path, memories: int) -> None:
        from langchain_core.embeddings import Embeddings

        from benchmarks.peers.adapters.agno_memory import Agno
        from benchmarks.peers.adapters.langgraph_store import LangGraph
        from benchmarks.peers.adapters.mem0_pgvector import open_mem0

        class Hashing(Embeddings):
            """Keepsake's hashing embedder with LangChain's interface."""

            def __init__(self) -> None:
                self._embedder = HashingEmbedder()

            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return self._embedder.embed_passages(texts).tolist()

            def embed_query(self, text: str) -> list[float]:
                return self._embedder.embed_query(text).tolist()

        self._plan = Plan(memories)
        embeddings = Hashing()
        self._mem0 = open_mem0(database_url, directory, embeddings)
        self._langgraph = LangGraph(database_url, embeddings)
        self._agno = Agno(database_url)
        every: tuple[System, ...] = (*self._mem0, self._langgraph, self._agno)
        self._systems = {each.name: each for each in every}

    def do(self, do: str, **arguments: Any) -> Mapping[str, Any]:
        """Execute one request."""
        return getattr(self, f"do_{do}")(**arguments)

    def do_systems(self) -> Mapping[str, Any]:
        """Return the systems and the kinds of work that each lacks."""
        return {"systems": {name: dict(system.lacks) for name, system in self._systems.items()}}

    def do_versions(self) -> Mapping[str, Any]:
        """Return the installed versions."""
        from importlib.metadata import version

        return {"versions": {name: version(name) for name in ("mem0ai", "langgraph-checkpoint-postgres", "agno")}}

    def do_fill(self, system: str) -> Mapping[str, Any]:
        """Fill the tables of a peer."""
        from benchmarks.peers.adapters.mem0_pgvector import fill_mem0

        if system == "mem0":
            fill_mem0(self._mem0, self._plan, self._vectors)
        elif system == "LangGraph store":
            self._langgraph.fill(self._plan, self._vectors)
        else:
            self._agno.fill(self._plan)
        return {}

    @cached_property
    def _vectors(self) -> Vectors:
        """Return the vectors of all memories, by number."""
        return np.concatenate(
            [vectors_of(self._plan, each, HashingEmbedder(), slow=False) for each in self._plan.people]
        )

    def do_call(self, system: str, work: str, arguments: Sequence[Any]) -> Mapping[str, Any]:
        """Run one call and time it."""
        timed = call(self._systems[system], work, *arguments)
        return {"seconds": timed.seconds, "answer": timed.answer}

    def do_contents(self, system: str, person: str, ids: Sequence[str]) -> Mapping[str, Any]:
        """Return the contents of memories."""
        return {"contents": self._systems[system].contents(person, ids)}


if __name__ == "__main__":
    main(*sys.argv[1:])
