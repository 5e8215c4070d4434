"""Duration of relating memories to their neighbours: ``python -m benchmarks.relations [--json OUT]``.

Starts a separate Keepsake on durable storage, gives a person 100 and 1,000 memories with vectors of the bundled
embedder, and measures for each, in milliseconds per edge, the whole transaction including its commit:

- all memories of the person at once, as after a change of embedder: one statement;
- the last 20, as a batch of an extraction: one statement;
- the last one alone, with the neighbours that its writer has found, without that search.

Each is repeated, with the edges of the round before removed. Edges go to the nearest three, once per pair.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

from tests.assistant.deployment import own_deployment

from .memory_writes import statement

SIZES = (100, 1_000)
BATCH = 20
ROUNDS = 15


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to a file as well")
    options = parser.parse_args()
    settings = {"KEEPSAKE_EMBEDDER": "bundled", "MEMORY_BLOCK_TOKENS": "1000000", "LOG_LEVEL": "ERROR"}
    with own_deployment(durable=True, **settings) as deployment:
        deployment.worker.stop()
        os.environ.update(deployment.environment, DJANGO_SETTINGS_MODULE="memory_project.settings")
        django.setup()
        figures: dict[str, Any] = {}
        for size in SIZES:
            figures |= measure(size)
    for name, value in figures.items():
        print(f"{name:45} {value}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def measure(size: int) -> dict[str, Any]:
    """Return all figures of a person with ``size`` memories."""
    from accounts.queries import principal_for_person
    from memories import queries
    from memories.actions import memories_relate
    from memories.actions.single import MemoryWrite
    from statements.wording import Embedded

    person, memories = remember(size)
    ids, last = [memory.pk for memory in memories], memories[-1]
    principal = principal_for_person(person.pk)
    text = Embedded(last.content, last.embedding, last.embedding_model)
    near = queries.neighbours(principal, person.pk, text, kind=last.kind, subject="", but=last.pk)
    ways: dict[str, Callable[[Any], object]] = {
        "all": lambda write: memories_relate(write, person.pk, ids),
        f"last_{BATCH}": lambda write: memories_relate(write, person.pk, ids[-BATCH:]),
        "one_by_its_writer": lambda write: MemoryWrite(write, last).relate(near),
    }
    return {f"beside_{size}_{way}_ms_an_edge": spread_of(person, relate) for way, relate in ways.items()}


def spread_of(person: Any, relate: Callable[[Any], object]) -> dict[str, float]:
    """Return the milliseconds per edge and the number of edges."""
    from journal.actions import ledger_write
    from journal.records import Actor
    from memories.models import Relation

    taken = []
    for _ in range(ROUNDS + 1):
        Relation.objects.filter(user=person).delete()
        began = time.perf_counter()
        with ledger_write(Actor("job", "benchmark"), person.pk) as write:
            relate(write)
        taken.append(time.perf_counter() - began)
    edges = Relation.objects.filter(user=person).count()
    each = sorted(seconds * 1_000 / edges for seconds in taken[1:])
    p50, fastest = statistics.median(each), each[0]
    return {"p50": round(p50, 3), "fastest": round(fastest, 3), "edges": edges}


def remember(size: int) -> tuple[Any, list[Any]]:
    """Create a person with ``size`` memories and their vectors."""
    from django.db import connections

    from accounts.actions import user_create
    from tests.assistant.querying import embedded

    person, memories = user_create(f"beside-{size}"), []
    for first in range(0, size, 100):
        memories += embedded(person, *(statement() for _ in range(first, min(first + 100, size))))
    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return person, memories


if __name__ == "__main__":
    main()
