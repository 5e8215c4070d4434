"""Keepsake beside its peers and beside bare SQL: ``python -m benchmarks.peers [--peers PYTHON] [--json OUT]``.

``make bench`` runs it. Starts a Keepsake of its own on durable storage, with gunicorn as in production (one process),
fills it and the tables of the peers on the same PostgreSQL with the same memories and vectors, and lets all do the same
work in turn. BENCH_SCALE says how many memories the database holds (200,000). docs/benchmarks.md says what is fair
about it and what isn't.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import django
import numpy as np
import psycopg
from psycopg import sql

from language.embedders.hashing import HashingEmbedder
from memory_project.embedded.postgres import OWNER_ROLE, Postgres
from tests.assistant.deployment import Deployment, own_deployment

from .channel import Channel, Remote, peers_process
from .measuring import Local, Measured, Measuring, Rounds
from .plan import MEMORIES, Plan
from .report import render, render_growth
from .system import MANY

BLOCK_TOKENS = 10_000_000
EXACT_MEM0 = "mem0 exact"
SAMPLED = 5
"""Questions of each size that Keepsake's statements answer without any index as well."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, metavar="PYTHON", help="the Python that has the peers; none are measured")
    parser.add_argument("--quick", action="store_true", help="a few rounds only, to try whether it runs")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to a file as well")
    parser.add_argument("--beside", type=Path, metavar="FILE", help="compare with what --json wrote of an earlier run")
    options = parser.parse_args()
    earlier = json.loads(options.beside.read_text(encoding="utf-8")) if options.beside else None
    plan = Plan(int(os.environ.get("BENCH_SCALE") or MEMORIES))
    rounds = Rounds(search=6, read=3, add=3, add_many=1, warm_up=1) if options.quick else Rounds()
    # A budget for the block would put away what 10,000 memories are more than.
    settings = {"KEEPSAKE_EMBEDDER": "hashing", "MEMORY_BLOCK_TOKENS": str(BLOCK_TOKENS), "LOG_LEVEL": "ERROR"}
    with own_deployment(durable=True, **settings) as deployment:
        deployment.worker.stop()
        os.environ.update(deployment.environment, DJANGO_SETTINGS_MODULE="memory_project.settings")
        django.setup()
        figures = run(deployment, plan, rounds, options.peers)
    # As JSON has it: sizes are text there.
    written = json.dumps(figures, indent=2)
    if options.json:
        options.json.write_text(written + "\n", encoding="utf-8")
    if earlier is not None:
        print("\n" + render_growth(json.loads(written), earlier))
    if figures["wrong"]:
        sys.exit("There were wrong answers.")


def run(deployment: Deployment, plan: Plan, rounds: Rounds, python: Path | None) -> dict[str, Any]:
    """Fill, measure, print; returns all figures."""
    from .filling import fill_keepsake

    embedder = HashingEmbedder()
    with ExitStack() as stack:
        directory = Path(stack.enter_context(TemporaryDirectory(prefix="keepsake-bench-")))
        with telling(f"{plan.memories:,} memories of {len(plan.people):,} people: vectors"):
            vectors = embed_all(plan, embedder)
        with telling("Keepsake's tables"):
            edges = fill_keepsake(plan, vectors, deployment.environment["DATABASE_OWNER_URL"], embedder.name)
        peers: list[Remote] = []
        versions: Mapping[str, str] = {}
        if python is not None:
            np.save(directory / "vectors.npy", vectors)
            url = peers_database(deployment)
            channel = stack.enter_context(peers_process(python, url, directory, plan.memories))
            versions = channel.ask("versions")["versions"]
            peers = fill_peers(channel, url)
        measuring = Measuring(plan, vectors, embedder.embed_query, rounds)
        systems, share_found = own_systems(deployment, plan)
        result = measuring.run([*systems, *peers], say)
        for size in plan.sizes:
            judge(measuring, size, share_found)
    took = embedding_takes(embedder, plan)
    print(heading(plan, rounds, edges, versions, took))
    print(render(result))
    facts = {"memories": plan.memories, "people": len(plan.people), "rounds": asdict(rounds), "relations": edges}
    return {**facts, "versions": dict(versions), "embedding_ms": took, **result.plain()}


def own_systems(deployment: Deployment, plan: Plan) -> tuple[list[Measured], Any]:
    """Keepsake's two ways and bare SQL, and how its answers are held against those without an index."""
    from .bare import BareSql
    from .keepsake import InProcess, OverHttp, people_by_name

    people = people_by_name(plan.people)
    own = InProcess(people)
    bare = BareSql(own, deployment.environment["DATABASE_URL"])
    return [Local(each) for each in (own, OverHttp(people, deployment), bare)], bare.share_found


def judge(measuring: Measuring, size: int, share_found: Any) -> None:
    """Add to each system's quality the recall of its own ranking."""
    qualities = measuring.result.quality[size]
    asker = measuring.plan.asker(size)
    asked = measuring.plan.questions(asker, SAMPLED)
    own = statistics.fmean(share_found(asker.name, each.text) for each in asked)
    for name, quality in qualities.items():
        if name.startswith("mem0"):
            quality.recall = measuring.recall_against(size, name, EXACT_MEM0)
        elif name.startswith("LangGraph"):
            quality.recall = quality.nearest
        else:
            quality.recall = own


def embed_all(plan: Plan, embedder: HashingEmbedder) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The vectors of all memories, of shape (memories, dimensions), by number."""
    vectors = np.empty((plan.memories, embedder.dimensions), dtype=np.float32)
    contents = (memory.content for _, memory in plan.all_memories())
    first = 0
    while texts := list(islice(contents, 1_000)):
        vectors[first : first + len(texts)] = embedder.embed_passages(texts)
        first += len(texts)
    return vectors


def peers_database(deployment: Deployment) -> str:
    """Make a database for the peers on the same server, with the same owner, and return its address."""
    assert isinstance(deployment.postgres, Postgres)
    with deployment.postgres.superuser() as connection:
        connection.execute(sql.SQL("CREATE DATABASE peers OWNER {}").format(sql.Identifier(OWNER_ROLE)))
    return deployment.environment["DATABASE_OWNER_URL"].replace("/keepsake?", "/peers?")


def fill_peers(channel: Channel, url: str) -> list[Remote]:
    """Fill the peers' tables one after the other, and name their systems."""
    for system in ("mem0", "LangGraph store", "agno"):
        with telling(f"{system}: tables and vector indexes"):
            channel.ask("fill", system=system)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    return [Remote(channel, name, lacks) for name, lacks in channel.ask("systems")["systems"].items()]


def embedding_takes(embedder: HashingEmbedder, plan: Plan) -> float:
    """Milliseconds for a question, in the middle: each system's search holds one such."""
    took = []
    for asked in plan.questions(plan.asker(plan.sizes[0]), 200):
        began = time.perf_counter()
        embedder.embed_query(asked.text)
        took.append(time.perf_counter() - began)
    return statistics.median(took) * 1_000


def heading(plan: Plan, rounds: Rounds, edges: int, versions: Mapping[str, str], took: float) -> str:
    """What was measured on what."""
    peers = ", ".join(f"{name} {version}" for name, version in versions.items()) or "none"
    lines = (
        "",
        f"{plan.memories:,} memories of {len(plan.people):,} people, {edges:,} relations; peers: {peers}",
        f"Python {platform.python_version()}, {os.cpu_count()} processors shared with PostgreSQL; {rounds.search} "
        f"searches, {rounds.read} reads, {rounds.add} additions and {rounds.add_many} of {MANY} each",
        "Milliseconds, median (95th percentile); x: times the median of Keepsake in process.",
        f"Embedding a question takes {took:.2f} ms of every search but bare SQL's. The block's budget is raised to "
        f"{BLOCK_TOKENS:,} tokens.",
        "",
    )
    return "\n".join(lines)


def say(text: str) -> None:
    """Tell how far it is, beside the figures."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


@contextmanager
def telling(text: str) -> Iterator[None]:
    """Tell what is done and how long it took."""
    began = time.monotonic()
    yield
    say(f"{text}: {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
