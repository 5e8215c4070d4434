"""Latency of memory queries: ``python -m benchmarks.query [--embedder NAME] [--memories N] [--json OUT]``.

Starts a separate Keepsake on durable storage, with gunicorn as in production (one process), and measures, for a person
with N memories (1,000), one client at a time:

- ``memory.query`` over HTTP as bullets, with filters, and as of a past time, including the embedding of the question;
- the same in this process, with its CPU time.

Times are in milliseconds. ``--embedder hashing`` leaves out the time of the bundled embedder.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

from tests.assistant.deployment import Client, own_deployment

from .ingest import spread

QUERY = "/api/v1/memories/query/"
ASKED = 200
WARM = 20
THINGS = ("boats", "hens", "trains", "pianos", "violins", "gardens", "offices", "walks", "novels", "kitchens")
DOES = ("likes", "plans", "avoids", "remembers", "paints", "mends", "collects", "counts")
CATEGORIES = ("context", "person", "event", "knowledge", "tasks")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="bundled", help="the embedder of memories and questions")
    parser.add_argument("--memories", type=int, default=1_000)
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to a file as well")
    options = parser.parse_args()
    settings = {"KEEPSAKE_EMBEDDER": options.embedder, "MEMORY_BLOCK_TOKENS": "1000000", "LOG_LEVEL": "ERROR"}
    with own_deployment(durable=True, **settings) as deployment:
        deployment.worker.stop()
        os.environ.update(deployment.environment, DJANGO_SETTINGS_MODULE="memory_project.settings")
        django.setup()
        person = remember(options.memories)
        key = deployment.manage("create_agent_key", "asker", f"--user={person.username}", "--quiet")
        figures = over_http(deployment.client(key)) | in_process(person)
    for name, value in figures.items():
        print(f"{name:45} {value}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def remember(size: int) -> Any:
    """Create a person with ``size`` memories, embedded by the measured embedder."""
    from django.db import connections

    from accounts.actions import user_create
    from tests.assistant.querying import embedded

    chance, person = random.Random(size), user_create("asker")
    statements = []
    for number in range(size):
        content = f"Number {number} {chance.choice(DOES)} {chance.choice(THINGS)} and {chance.choice(THINGS)}."
        statements.append((content, chance.choice(CATEGORIES)))
    for first in range(0, size, 100):
        embedded(person, *statements[first : first + 100])
    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return person


def question(number: int) -> str:
    """Return the n-th question; all differ, so that no answer comes from a cache."""
    chance = random.Random(number)
    return f"Who {chance.choice(DOES)} {chance.choice(THINGS)}, and is it number {number}?"


def over_http(client: Client) -> dict[str, Any]:
    """Measure requests on one persistent connection."""
    ways: dict[str, dict[str, Any]] = {
        "bullets": {},
        "filters": {"filters": {"importance_min": 2, "pinned": False}, "categories": ["tasks", "event"]},
        "as_of": {"as_of": "2100-01-01T00:00:00Z"},
    }
    figures = {}
    for way, body in ways.items():

        def ask(number: int, body: dict[str, Any] = body) -> None:
            answer = client.post(QUERY, {"query": question(number), "sources": ["memories"], **body})
            assert answer.status == 200, answer.text
            assert answer.json()["results"]

        figures[f"http_{way}_ms"] = timed(ask, time.perf_counter)
    return figures


def in_process(person: Any) -> dict[str, Any]:
    """Measure the function behind the request."""
    from accounts.queries import principal_for_person
    from assistant.recall.query import Question, answer_question

    principal = principal_for_person(person.pk)

    def ask(number: int) -> None:
        assert answer_question(principal, Question(question(number))).results

    return {
        "in_process_ms": timed(ask, time.perf_counter),
        "in_process_processor_ms": timed(ask, time.process_time),
    }


def timed(ask: Callable[[int], None], clock: Callable[[], float]) -> dict[str, float]:
    """Time each question after a warm-up and return the spread."""
    for number in range(WARM):
        ask(number)
    seconds = []
    for number in range(WARM, WARM + ASKED):
        began = clock()
        ask(number)
        seconds.append(clock() - began)
    return spread(seconds)


if __name__ == "__main__":
    main()
