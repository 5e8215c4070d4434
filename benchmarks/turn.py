"""Latency of preparing a turn: ``python -m benchmarks.turn [--json OUT]``.

Starts a separate Keepsake on durable storage, with gunicorn as in production (one process), and measures for people
with 60 memories and 200 messages, and with 1,000 and 10,000, one client at a time, each call with a different text:

- ``turn/`` over HTTP, with and without ``save``, and in this process, with CPU time and number of statements;
- ``memories/query/`` with all sources, in the same ways.

Messages are in summarised conversations of twenty. Times are in milliseconds. ``--embedder hashing`` leaves out the
time of the bundled embedder; ``--without-statistics`` skips ANALYZE after the bulk load.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import django

from tests.assistant.deployment import Answer, Client, own_deployment

from .ingest import spread
from .query import DOES, THINGS

SIZES = ("60:200", "1000:10000")
ASKED = 200
WARM = 30
TALK = 20
CATEGORIES = ("context", "person", "event", "knowledge", "tasks")
SOURCES = ["memories", "facts", "chunks", "turns"]
WHEN = ("in the morning", "on Sundays", "after work", "when it rains", "before the holidays", "with the children")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="bundled", help="the embedder of what is stored and asked")
    parser.add_argument("--sizes", nargs="+", default=SIZES, metavar="MEMORIES:MESSAGES")
    parser.add_argument("--without-statistics", action="store_true", help="as right after a bulk load")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to a file as well")
    options = parser.parse_args()
    settings = {"KEEPSAKE_EMBEDDER": options.embedder, "MEMORY_BLOCK_TOKENS": "1000000", "LOG_LEVEL": "ERROR"}
    figures: dict[str, Any] = {}
    with own_deployment(durable=True, **settings) as deployment:
        deployment.worker.stop()
        os.environ.update(deployment.environment, DJANGO_SETTINGS_MODULE="memory_project.settings")
        django.setup()
        for size in options.sizes:
            memories, messages = map(int, size.split(":"))
            person = somebody(memories, messages, analysed=not options.without_statistics)
            key = deployment.manage("create_agent_key", f"agent{memories}", f"--user={person.username}", "--quiet")
            for name, value in measure(person, deployment.client(key)).items():
                figures[f"{memories}_{messages}_{name}"] = value
                print(f"{memories:6} memories {messages:6} messages  {name:28} {value}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


# --- A person with memories and conversations -------------------------------------------------------------------


def sentence(chance: random.Random) -> str:
    """Return one of some thousand sentences."""
    one, other = chance.sample(THINGS, 2)
    return f"Maria {chance.choice(DOES)} {one} and {other} {chance.choice(WHEN)}, as her father did near Porto."


def somebody(memories: int, messages: int, *, analysed: bool = True) -> Any:
    """Create a person with that many memories and messages, embedded by the measured embedder."""
    from django.db import connections

    from accounts.actions import user_create
    from tests.memories.rows import remember

    chance, person = random.Random(memories), user_create(f"person-{memories}-{messages}")
    for first in range(0, memories, 500):
        rows = [
            {"content": f"Note {number}: {sentence(chance)}", "category": chance.choice(CATEGORIES)}
            for number in range(first, min(first + 500, memories))
        ]
        remember(person, *(row | embedding_of(row["content"].partition(": ")[2]) for row in rows))
    for _ in range(0, messages, TALK):
        talk(person, [f"{sentence(chance)}" for _ in range(TALK)])
    if analysed:
        with connections["owner"].cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
    return person


def talk(person: Any, said: list[str]) -> None:
    """Add one conversation with its summary and vectors."""
    from accounts.queries import principal_for_person
    from conversations.actions import NewMessage, chunk_write, conversation_create, messages_append
    from journal.actions import ledger_write
    from language.backends import get_embedder

    principal = principal_for_person(person.pk)
    conversation = conversation_create(principal)
    new = [NewMessage(("user", "assistant")[number % 2], content) for number, content in enumerate(said)]
    rows = messages_append(principal, conversation.pk, new, follow_up=False)
    for row in rows:
        for name, value in embedding_of(row.content).items():
            setattr(row, name, value)
    type(rows[0]).objects.bulk_update(rows, ["embedding", "embedding_model"])
    conversation.refresh_from_db()
    summary = f"They spoke of this: {said[0]} {said[-1]}"
    vector = embedding_of(said[0])["embedding"]
    with ledger_write(principal.actor, person.pk) as write:
        made_by = {"written_by": "benchmark", "embedding": vector, "embedding_model": get_embedder().name}
        chunk_write(write, conversation, content=summary, start=0, end=len(said), **made_by)


@cache
def embedding_of(content: str) -> dict[str, Any]:
    """Return the vector's columns. Cached, since many texts are the same."""
    from language.backends import get_embedder

    embedder = get_embedder()
    return {"embedding": embedder.embed_passages([content])[0], "embedding_model": embedder.name}


# --- Measurements -----------------------------------------------------------------------------------------------


def measure(person: Any, client: Client) -> dict[str, Any]:
    """Return all figures of one person by name."""
    from accounts.queries import principal_for_person
    from assistant.recall.query import Question, answer_question
    from assistant.recall.turn import prepare_turn

    principal = principal_for_person(person.pk)
    path = f"/api/v1/conversations/{client.post('/api/v1/conversations/', {}).json()['id']}/turn/"
    mine = conversation_of(principal)

    def turn(number: int, **more: Any) -> None:
        checked(client.post(path, {"content": question(number), **more}), "text")

    def query(number: int) -> None:
        checked(client.post("/api/v1/memories/query/", {"query": question(number), "sources": SOURCES}), "results")

    def turn_here(number: int) -> None:
        assert prepare_turn(principal_for_person(person.pk), mine, question(number)).text

    def query_here(number: int) -> None:
        asked = Question(question(number), sources=tuple(SOURCES))
        assert answer_question(principal_for_person(person.pk), asked).results

    return {
        "turn_http_ms": timed(turn),
        "turn_saved_http_ms": timed(lambda number: turn(number, save=True)),
        "query_http_ms": timed(query),
        "turn_in_process_ms": timed(turn_here),
        "turn_processor_ms": timed(turn_here, time.process_time),
        "turn_statements": statements(turn_here),
        "query_in_process_ms": timed(query_here),
        "query_processor_ms": timed(query_here, time.process_time),
        "query_statements": statements(query_here),
    }


def conversation_of(principal: Any) -> Any:
    """Create a conversation with a first exchange."""
    from conversations.actions import NewMessage, conversation_create, messages_append

    made = conversation_create(principal)
    said = [NewMessage("user", question(-1)), NewMessage("assistant", "They all told of it, and gladly.")]
    messages_append(principal, made.pk, said, follow_up=False)
    return made.pk


def question(number: int) -> str:
    """Return the n-th question; all differ, so that no answer comes from a cache."""
    chance = random.Random(number)
    return f"Who {chance.choice(DOES)} {chance.choice(THINGS)} {chance.choice(WHEN)}, and is it number {number}?"


def checked(answer: Answer, part: str) -> None:
    """End the run unless a request succeeded and its answer has this part."""
    if answer.status != 200 or not answer.json()[part]:
        sys.exit(f"It was answered {answer.status}: {answer.text[:300]}")


def timed(ask: Callable[[int], None], clock: Callable[[], float] = time.perf_counter) -> dict[str, float]:
    """Time each question after a warm-up."""
    seconds = []
    for number in range(WARM + ASKED):
        began = clock()
        ask(number)
        seconds.append(clock() - began)
    return spread(seconds[WARM:])


def statements(ask: Callable[[int], None]) -> int:
    """Return the median number of statements per question."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    counts = []
    for number in range(1, 22):
        with CaptureQueriesContext(connection) as caught:
            ask(number)
        counts.append(len(caught))
    return statistics.median_low(counts)


if __name__ == "__main__":
    main()
