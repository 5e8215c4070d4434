"""Latency of reading the memory block and of evictions: ``python -m benchmarks.memory_block [--json OUT]``.

Starts a separate Keepsake on durable storage, with gunicorn as in production (one process), and measures:

- reading the block, warm and cold, of people with 10, 100 and 1,000 memories, in this process and over HTTP: for these,
  the budget is raised to a million tokens, since 10,000 hold about 250;
- evicting all but one of 100, 1,000 and 5,000 memories, each with a vector of 384 dimensions: the statement alone, and
  the whole transaction with a change in the log for each.

Times are in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import django

from tests.assistant.deployment import Deployment, own_deployment

from .ingest import spread

SIZES = (10, 100, 1_000)
EVICTED = (100, 1_000, 5_000)
CATEGORIES = ("profile", "person", "preference", "context", "project", "goals")
BATCH = 500


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to a file as well")
    options = parser.parse_args()
    with own_deployment(durable=True, MEMORY_BLOCK_TOKENS="1000000", LOG_LEVEL="ERROR") as deployment:
        deployment.worker.stop()
        os.environ.update(deployment.environment, DJANGO_SETTINGS_MODULE="memory_project.settings")
        figures = measure(deployment)
    for name, value in figures.items():
        print(f"{name:45} {value}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def measure(deployment: Deployment) -> dict[str, Any]:
    """Return all figures by name."""
    django.setup()
    figures: dict[str, Any] = {}
    for size in SIZES:
        figures |= reading(deployment, size)
    for size in EVICTED:
        figures |= evicting(size)
    return figures


def reading(deployment: Deployment, size: int) -> dict[str, Any]:
    """Measure reading a cached and an uncached block."""
    from accounts.queries import principal_for_person
    from memories.block import memory_block

    person = remember(size)
    principal = principal_for_person(person.pk)
    client = deployment.client(deployment.manage("create_agent_key", "reader", f"--user={person.username}", "--quiet"))

    def over_http() -> float:
        answer = client.get("/api/v1/memories/context/")
        if answer.status != 200:
            sys.exit(f"The block was answered with {answer.status}: {answer.text[:300]}")
        return answer.seconds

    name = f"block_of_{size}_memories"
    return {
        f"{name}_tokens": memory_block(principal).tokens,
        **warm_and_cold(name, lambda: seconds(lambda: memory_block(principal))),
        **warm_and_cold(f"{name}_over_http", over_http),
    }


def warm_and_cold(name: str, read: Callable[[], float]) -> dict[str, Any]:
    """Measure reads with a warm and with a cold cache."""
    from django.core.cache import cache

    read()
    warm = [read() for _ in range(500)]
    cold = []
    for _ in range(100):
        cache.clear()
        cold.append(read())
    return {f"{name}_warm_ms": spread(warm), f"{name}_cold_ms": spread(cold)}


def evicting(size: int) -> dict[str, Any]:
    """Measure one eviction of all memories but the newest."""
    from django.conf import settings
    from django.db import connection

    from journal.actions import ledger_write
    from journal.records import Actor
    from memories.actions.budget import block_evict
    from memories.models import Memory

    person = remember(size)
    newest = Memory.objects.filter(user=person).latest("created_at")
    settings.MEMORY_BLOCK_TOKENS = newest.tokens
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE memories_memory")
    took = []

    def act() -> None:
        with ledger_write(Actor("job", "benchmark"), person.pk) as write:
            took.append(seconds(lambda: block_evict(write, person.pk)))

    whole = seconds(act)
    left = Memory.objects.filter(user=person, state="active").count()
    settings.MEMORY_BLOCK_TOKENS = 1_000_000
    return {
        f"evict_{size - left}_in_one_statement_ms": round(took[0] * 1_000, 1),
        f"evict_{size - left}_with_log_and_commit_ms": round(whole * 1_000, 1),
    }


def remember(size: int) -> Any:
    """Create a person with ``size`` memories in the block."""
    from django.utils import timezone

    from accounts.actions import user_create
    from tests.memories.rows import remember

    person, chance = user_create(f"person-{random.getrandbits(64)}"), random.Random(size)
    begun = timezone.now() - timedelta(days=1)
    for first in range(0, size, BATCH):
        rows = [
            {
                "content": f"Number {n} {chance.choice(['likes', 'plans', 'avoids'])} the walk by the sea near Porto.",
                "subject": chance.choice(["", "Alec", "Project X"]),
                "category": chance.choice(CATEGORIES),
                "created_at": begun + timedelta(seconds=n),
                "embedding": [chance.gauss(0, 1) for _ in range(384)],
                "embedding_model": "benchmark",
                "index_not_before": None,
            }
            for n in range(first, min(size, first + BATCH))
        ]
        remember(person, *rows)
    return person


def seconds(work: Callable[[], object]) -> float:
    """Run ``work`` and return its duration in seconds."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
