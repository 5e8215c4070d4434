"""Rate and latency of memory writes: ``python -m benchmarks.memory_writes [--only NAME] [--json OUT]``.

Starts a separate Keepsake on durable storage, with gunicorn as in production (one process), and measures:

- writes per second, one half new memories and the other half rewordings: one writer, four writers of one person, and
  four of four people, in this process and over HTTP;
- the tool ``add_to_memory`` over HTTP for a person with 10, 100 and 1,000 memories, in milliseconds.

``--embedder hashing`` leaves out the time of the bundled embedder. All statements are about different things, since
similar ones are rejected as duplicates. Each figure is printed as soon as it is known. ``--writes`` is the number of
writes per writer (150); 60 saves time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import django

from tests.assistant.deployment import Answer, Client, Deployment, own_deployment

from .ingest import per_second, spread
from .memory_block import remember

MEMORIES = "/api/v1/memories/"
TOOL = "/api/v1/tools/add_to_memory/"
SIZES = (10, 100, 1_000)
WRITERS = 4
WRITES = 150
CALLS = 200
DAYS = ("Mondays", "rainy days", "the first of May", "holidays", "Sunday mornings")
THINGS = ("violins", "old maps", "mushrooms", "engines", "poems", "clocks", "kites", "ferns")
SYLLABLES = ("ba", "do", "fi", "gu", "ke", "la", "mo", "ni", "pu", "ra", "se", "ti", "vo", "wy", "xa", "zu")

Writer = Callable[[int], None]
"""Performs its n-th write, counted from 0."""
chance = random.Random(7)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="bundled", help="the embedder to write with")
    parser.add_argument("--only", default="", help="figures whose name holds this, e.g. over_http")
    parser.add_argument("--writes", type=int, default=WRITES, help="how many each writer does")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to a file as well")
    options = parser.parse_args()
    settings = {"KEEPSAKE_EMBEDDER": options.embedder, "MEMORY_BLOCK_TOKENS": "1000000", "LOG_LEVEL": "ERROR"}
    with own_deployment(durable=True, **settings) as deployment:
        deployment.worker.stop()
        os.environ.update(deployment.environment, DJANGO_SETTINGS_MODULE="memory_project.settings")
        figures = {}
        for name, work in measures(deployment, options.writes):
            if options.only in name:
                figures[name] = work()
                print(f"{name:45} {figures[name]}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def measures(deployment: Deployment, writes: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the measurements with their names."""
    django.setup()
    key = deployment.manage("create_agent_key", "service", "--user=olga", "--service", "--quiet")
    ways: dict[str, Callable[[str], Writer]] = {
        "in_process": in_process,
        "over_http": lambda person: over_http(deployment.client(key, person)),
    }
    four = [f"one-of-four-{number}" for number in range(WRITERS)]
    for way, writer in ways.items():
        writers = {"one_writer": ["alone"], "four_writers_one_person": ["shared"] * WRITERS,
                   "four_writers_four_people": four}  # fmt: skip
        for name, people in writers.items():
            yield f"{name}_{way}_a_second", partial(together, writer, people, writes)
    for size in SIZES:
        yield f"add_to_memory_beside_{size}_ms", partial(beside, deployment, size)


def beside(deployment: Deployment, size: int) -> dict[str, float]:
    """Measure the tool's calls for a person with ``size`` memories."""
    person = remember(size)
    key = deployment.manage("create_agent_key", "model", f"--user={person.username}", "--quiet")
    return tool_calls(deployment.client(key))


def in_process(username: str) -> Writer:
    """Return a writer that calls the actions as an agent without the scope admin."""
    from dataclasses import replace

    from accounts.actions import user_create
    from accounts.models import User
    from accounts.queries import principal_for_person
    from memories.actions import memory_add, memory_update
    from memories.records import NewMemory

    person = User.objects.filter(username=username).first() or user_create(username)
    principal = replace(principal_for_person(person.pk), kind="agent", scopes=frozenset(("read", "write")))
    known: list[str] = []

    def write(number: int) -> None:
        if number % 2:
            memory_update(principal, known[-1], statement())
        else:
            known.append(memory_add(principal, NewMemory(statement(), "context"), insist=True).memory.pk)

    return write


def over_http(client: Client) -> Writer:
    """Return a writer that sends requests."""
    known: list[str] = []

    def write(number: int) -> None:
        if number % 2:
            checked(client.put(f"{MEMORIES}{known[-1]}/", {"content": statement()}))
        else:
            body = {"content": statement(), "category": "context", "insist": True}
            known.append(checked(client.post(MEMORIES, body)).json()["id"])

    return write


def together(writer: Callable[[str], Writer], people: Sequence[str], writes: int) -> int:
    """Return the writes per second of concurrent writers, one per entry of ``people``. Each warms up with two."""
    from django.db import connections

    def work(write: Writer) -> None:
        for number in range(2, 2 + writes):
            write(number)
        connections.close_all()

    writers = [writer(person) for person in people]
    for write in writers:
        write(0)
        write(1)
    with ThreadPoolExecutor(len(writers)) as pool:
        return per_second(lambda: list(pool.map(work, writers)), writes * len(writers))


def tool_calls(client: Client) -> dict[str, float]:
    """Measure calls that each add a new memory."""

    def call() -> Answer:
        body = {"arguments": {"content": statement(), "category": "person", "insist": True}}
        answer = checked(client.post(TOOL, body))
        if answer.json()["data"].get("outcome") not in {"created", "proposed"}:
            sys.exit(f"The tool answered {answer.text[:300]}")
        return answer

    call()
    return spread([call().seconds for _ in range(CALLS)])


def checked(answer: Answer) -> Answer:
    """Return a successful answer; end the benchmark otherwise. A write that waits for review (202) is a success."""
    if answer.status not in {200, 201, 202}:
        sys.exit(f"A write was answered with {answer.status}: {answer.text[:300]}")
    return answer


def statement() -> str:
    """Return a statement about something unique."""
    names = ["".join(chance.choices(SYLLABLES, k=3)).capitalize() for _ in range(3)]
    verb = chance.choice(("repairs", "collects", "paints", "studies", "sells", "fears"))
    return f"{names[0]} from {names[1]} {verb} {names[2]} {chance.choice(THINGS)} on {chance.choice(DAYS)}."


if __name__ == "__main__":
    main()
