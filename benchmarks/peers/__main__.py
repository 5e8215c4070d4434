"""Keepsake against its peers and bare SQL: ``python -m benchmarks.peers [--peers PYTHON] [--json OUT]``.

``make bench`` runs it. Starts a separate Keepsake on durable storage, with gunicorn as in production (one process),
fills it and the tables of the peers on the same PostgreSQL with the same memories and vectors, and lets all systems do
the same work in turn. BENCH_SCALE is the number of memories in the database (200,000). Filled databases are kept for
the next run. docs/benchmarks.md discusses the fairness of the comparison.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import django
import numpy as np
import psycopg
from psycopg import sql

from memory_project.embedded.account import Account
from memory_project.embedded.places import temporary_directory
from memory_project.embedded.postgres import APPLICATION_ROLE, DATABASE, OWNER_ROLE, Postgres
from tests.assistant.deployment import Deployment, unstarted_deployment

from .channel import Remote, peers_process
from .copying import building
from .kept import KEPT, Kept, kept_in, migrations
from .measuring import Local, Measured, Measuring, Replayed, Rounds
from .plan import MEMORIES, Plan
from .report import render, render_growth
from .system import ADDING, MANY, WORK

BLOCK_TOKENS = 10_000_000
EXACT_MEM0 = "mem0 exact"
SAMPLED = 5
"""The number of questions per size whose statements are repeated without any index, for the exact answer."""

EMBEDDERS = ("hashing", "bundled")
PEERS_DATABASE = "peers"


def main() -> None:
    """Fill missing databases, measure and print."""
    plan = Plan(int(os.environ.get("BENCH_SCALE") or MEMORIES))
    options = read_options(plan)
    earlier = json.loads(options.beside.read_text(encoding="utf-8")) if options.beside else None
    with place(options, plan) as kept:
        if options.fresh or not kept.note.keepsake or kept.is_outdated:
            kept.empty()
        kept.empty_queues()
        # With the usual budget, most of 10,000 memories would be evicted from the block and archived.
        settings = {
            "KEEPSAKE_EMBEDDER": options.embedder,
            "MEMORY_BLOCK_TOKENS": str(BLOCK_TOKENS),
            "LOG_LEVEL": "ERROR",
        }
        with unstarted_deployment(durable=True, data=kept.directory, **settings) as deployment:
            deployment.start_servers()
            os.environ.update(deployment.environment, DJANGO_SETTINGS_MODULE="memory_project.settings")
            django.setup()
            fill(kept, deployment, plan, options)
            if options.fill_only:
                return
            figures = run(kept, deployment, plan, options)
    # As in JSON, where sizes are strings.
    written = json.dumps(figures, indent=2)
    if options.json:
        options.json.write_text(written + "\n", encoding="utf-8")
    if earlier is not None:
        print("\n" + render_growth(json.loads(written), earlier))
    if figures["wrong"]:
        sys.exit("There were wrong answers.")


def read_options(plan: Plan) -> argparse.Namespace:
    """Parse the command line. Exits if the options are invalid."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, metavar="PYTHON", help="the Python that has the peers; none are measured")
    parser.add_argument("--embedder", choices=EMBEDDERS, default="hashing", help="Keepsake's; the peers' is hashing")
    parser.add_argument("--sizes", type=_numbers, default=(), metavar="N,N", help="only with so many memories")
    parser.add_argument("--only", type=_names, default=WORK, metavar="WORK,WORK", help=f"of {', '.join(WORK)}")
    parser.add_argument("--rounds", type=int, metavar="N", help="so many searches and reads of each kind")
    parser.add_argument("--quick", action="store_true", help="a few rounds only, to try whether it runs")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to a file as well")
    parser.add_argument("--beside", type=Path, metavar="FILE", help="compare with what --json wrote of an earlier run")
    parser.add_argument("--data", type=Path, default=KEPT, metavar="DIR", help="where filled databases are kept")
    parser.add_argument("--fresh", action="store_true", help="fill anew what is there already")
    parser.add_argument("--throw-away", action="store_true", help="keep nothing")
    parser.add_argument("--fill-only", action="store_true", help="fill what is not there yet, and measure nothing")
    options = parser.parse_args()
    if options.peers and options.embedder != "hashing":
        parser.error("The peers are measured with --embedder hashing.")
    if unknown := set(options.sizes) - set(plan.sizes):
        parser.error(f"With {plan.memories:,} memories, nobody asks who has {unknown.pop()}: {plan.sizes}.")
    if unknown_work := set(options.only) - set(WORK):
        parser.error(f"{unknown_work.pop()} is none of {', '.join(WORK)}.")
    options.measured = Rounds(search=6, read=3, add=3, add_many=1, warm_up=1) if options.quick else Rounds()
    if options.rounds:
        options.measured = replace(options.measured, search=options.rounds, read=options.rounds)
    return options


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


@contextmanager
def place(options: argparse.Namespace, plan: Plan) -> Iterator[Kept]:
    """Yield the persistent directory for this scale and embedder, or a temporary one."""
    if not options.throw_away:
        with kept_in(options.data.resolve() / f"{plan.memories}-{options.embedder}") as kept:
            yield kept
        return
    directory = temporary_directory("keepsake-bench-", Account.for_servers())
    try:
        with kept_in(directory) as kept:
            yield kept
    finally:
        shutil.rmtree(directory)


def fill(kept: Kept, deployment: Deployment, plan: Plan, options: argparse.Namespace) -> None:
    """Fill missing databases and migrate existing ones to this checkout."""
    from django.db import connections
    from django.db.backends.postgresql.base import DatabaseWrapper

    from .earlier import make_tables
    from .filling import fill_keepsake

    postgres = postgres_of(deployment)
    kept.restore(postgres)
    deployment.migrate()
    server = f"host={postgres.sockets} user=postgres dbname={DATABASE}"
    if not kept.note.keepsake:
        with telling(f"{plan.memories:,} memories of {len(plan.people):,} people"), without_waiting(postgres):
            kept.note_keepsake(fill_keepsake(plan, server, kept.directory, slow=options.embedder == "bundled"))
    elif kept.note.migrations != migrations():
        with telling("Migrations that are new"), postgres.superuser(DATABASE) as superuser:
            kept.drop_copy(postgres, DATABASE)
            superuser.execute("VACUUM ANALYZE")
            kept.note_keepsake(kept.note.relations)
    if not kept.has_earlier:
        with telling("The earlier tables"), postgres.superuser(DATABASE) as superuser:
            kept.drop_copy(postgres, DATABASE)
            make_tables(superuser, APPLICATION_ROLE, plan.memories)
        kept.note_earlier()
    if options.peers and not kept.has_peers:
        with without_waiting(postgres):
            fill_peers(kept, postgres, plan, options.peers)
        kept.note_peers()
    for connection in connections.all():
        assert isinstance(connection, DatabaseWrapper)
        connection.close()
        connection.close_pool()


def run(kept: Kept, deployment: Deployment, plan: Plan, options: argparse.Namespace) -> dict[str, Any]:
    """Measure and print. Returns all figures."""
    from language.backends import get_embedder

    from .filling import vectors_file

    if set(options.only).intersection(ADDING):
        with telling("A copy to add to"):
            kept.prepare_to_add(postgres_of(deployment))
    deployment.start_web()
    embedder = get_embedder()
    with ExitStack() as stack:
        peers: list[Remote] = []
        versions: Mapping[str, str] = {}
        if options.peers:
            directory = Path(stack.enter_context(TemporaryDirectory(prefix="keepsake-bench-")))
            url = peers_url(postgres_of(deployment))
            channel = stack.enter_context(peers_process(options.peers, url, directory, plan.memories))
            versions = channel.ask("versions")["versions"]
            peers = [Remote(channel, name, lacks) for name, lacks in channel.ask("systems")["systems"].items()]
        askers = map(plan.asker, plan.sizes)
        vectors = {asker.name: np.load(vectors_file(kept.directory, asker)) for asker in askers}
        measuring = Measuring(plan, vectors, embedder.embed_query, options.measured)
        systems, share_found = own_systems(deployment, plan)
        result = measuring.run([*systems, *peers], say, sizes=options.sizes, works=options.only)
        for size in result.quality:
            judge(measuring, size, share_found)
    print(heading(plan, options, kept.note.relations, versions, result.embedding_ms))
    print(render(result))
    facts = {"memories": plan.memories, "people": len(plan.people), "relations": kept.note.relations}
    how = {"rounds": asdict(options.measured), "embedder": embedder.name, "versions": dict(versions)}
    return {**facts, **how, **result.plain()}


def postgres_of(deployment: Deployment) -> Postgres:
    """Return the deployment's database server."""
    assert isinstance(deployment.postgres, Postgres)
    return deployment.postgres


def own_systems(deployment: Deployment, plan: Plan) -> tuple[list[Measured], Any]:
    """Return Keepsake over HTTP and in process and bare SQL, and a function for the recall of its search."""
    from .bare import BareSql
    from .earlier import EarlierSql
    from .keepsake import InProcess, OverHttp, people_by_name

    people = people_by_name(plan.people)
    own = InProcess(people)
    bare = BareSql(own, deployment.environment["DATABASE_URL"])
    earlier = EarlierSql(own, deployment.environment["DATABASE_URL"])
    systems = [Local(own), Local(OverHttp(people, deployment)), Replayed(bare), Replayed(earlier)]
    return list(systems), bare.share_found


def judge(measuring: Measuring, size: int, share_found: Any) -> None:
    """Add the recall of each system's own ranking to its quality."""
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


def peers_url(postgres: Postgres) -> str:
    """Return the URL of the peers' database, which has the same owner as Keepsake's."""
    return postgres.url(OWNER_ROLE).replace(f"/{DATABASE}?", f"/{PEERS_DATABASE}?")


def fill_peers(kept: Kept, postgres: Postgres, plan: Plan, python: Path) -> None:
    """Create the peers' database on the same server and fill their tables one after the other."""
    kept.drop_copy(postgres, PEERS_DATABASE)
    with postgres.superuser() as connection:
        name = sql.Identifier(PEERS_DATABASE)
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(name, sql.Identifier(OWNER_ROLE)))
    url = peers_url(postgres)
    with (
        TemporaryDirectory(prefix="keepsake-bench-") as directory,
        peers_process(python, url, Path(directory), plan.memories) as channel,
    ):
        for system in ("mem0", "LangGraph store", "agno"):
            with telling(f"{system}: tables and vector indexes"):
                channel.ask("fill", system=system)
    with psycopg.connect(url, autocommit=True) as connection, building(connection, plan.memories):
        connection.execute("VACUUM ANALYZE")


@contextmanager
def without_waiting(postgres: Postgres) -> Iterator[None]:
    """Configure the server for bulk loading in the block: rare checkpoints, no autovacuum."""
    settings = {"max_wal_size": "16GB", "autovacuum": "off"}
    with postgres.superuser() as connection:
        for name, value in settings.items():
            connection.execute(sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(name), sql.Literal(value)))
        connection.execute("SELECT pg_reload_conf()")
        try:
            yield
        finally:
            for name in settings:
                connection.execute(sql.SQL("ALTER SYSTEM RESET {}").format(sql.Identifier(name)))
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("CHECKPOINT")


def heading(plan: Plan, options: argparse.Namespace, relations: int, versions: Mapping[str, str], took: float) -> str:
    """Return the heading of the report: scale, versions and machine."""
    peers = ", ".join(f"{name} {version}" for name, version in versions.items()) or "none"
    rounds: Rounds = options.measured
    lines = (
        "",
        f"{plan.memories:,} memories of {len(plan.people):,} people, {relations:,} relations; peers: {peers}",
        f"Python {platform.python_version()}, {os.cpu_count()} processors shared with PostgreSQL; {rounds.search} "
        f"searches, {rounds.read} reads, {rounds.add} additions and {rounds.add_many} of {MANY} each",
        "Milliseconds, median (95th percentile); x: times the median of Keepsake in process.",
        f"Embedding a question ({options.embedder}) takes {took:.2f} ms of every search but bare SQL's. The block's "
        f"budget is raised to {BLOCK_TOKENS:,} tokens.",
        "",
    )
    return "\n".join(lines)


def say(text: str) -> None:
    """Print progress to standard error."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


@contextmanager
def telling(text: str) -> Iterator[None]:
    """Print a step and its duration."""
    began = time.monotonic()
    yield
    say(f"{text}: {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
