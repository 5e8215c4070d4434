"""Latency and rate of appending messages over HTTP: ``python -m benchmarks.ingest [--worker] [--json OUT]``.

Starts a separate Keepsake on durable storage, with gunicorn as in production (one process) and the bundled embedder,
and appends through its socket:

- hot append: one message at a time to a conversation with 1,000 messages;
- ingest: one client and four, with 1 and 100 messages per request; the four write to conversations of four people, and
  to one conversation.

With ``--worker`` a Celery worker indexes and summarises the messages at the same time on the same machine; without it
the queue only grows. Times are in milliseconds as the client sees them, rates in messages per second.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.assistant.deployment import Answer, Client, Deployment, own_deployment

CONVERSATIONS = "/api/v1/conversations/"
HOT_MILLISECONDS = 150
SENTENCE = (
    "We walked up to the old chapel on day {n}, she told me how her father had built the wall, and then it rained."
)


def main() -> None:
    """Measure and print; exit with 1 when the hot append exceeds its limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", action="store_true", help="let a worker process what comes in")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to a file as well")
    options = parser.parse_args()
    with own_deployment(durable=True, KEEPSAKE_EMBEDDER="bundled", LOG_LEVEL="WARNING") as deployment:
        if not options.worker:
            deployment.worker.stop()
        figures = measure(deployment)
    for name, value in figures.items():
        print(f"{name:45} {value}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    if figures["hot_append_ms"]["p95"] >= HOT_MILLISECONDS:
        sys.exit(f"The hot append takes {HOT_MILLISECONDS} ms or more.")


def measure(deployment: Deployment) -> dict[str, Any]:
    """Return all figures by name."""
    client = deployment.client()
    figures: dict[str, Any] = {}
    talk = open_conversation(client)
    for _ in range(2):
        append(client, talk, 500)
    figures["hot_append_ms"] = spread([append(client, talk, 1).seconds for _ in range(300)])
    figures["one_client_one_a_request"] = rate(client, talk, requests=300, size=1)
    figures["one_client_hundred_a_request"] = rate(client, open_conversation(client), requests=20, size=100)
    service = deployment.manage("create_agent_key", "service", "--user=olga", "--service", "--quiet")
    people = [deployment.client(service, f"person-{number}") for number in range(4)]
    own = [(person, open_conversation(person)) for person in people]
    figures["four_people_one_a_request"] = together(own, requests=100, size=1)
    figures["four_people_hundred_a_request"] = together(own, requests=10, size=100)
    shared = open_conversation(people[0])
    same = [(deployment.client(service, "person-0"), shared) for _ in range(4)]
    figures["four_clients_one_conversation_one_a_request"] = together(same, requests=100, size=1)
    return figures


def open_conversation(client: Client) -> str:
    """Open a conversation and return the path of its messages."""
    return f"{CONVERSATIONS}{client.post(CONVERSATIONS, {}).json()['id']}/messages/"


def append(client: Client, talk: str, size: int) -> Answer:
    """Append messages in one request."""
    messages = [{"role": ("user", "assistant")[n % 2], "content": SENTENCE.format(n=n)} for n in range(size)]
    answer: Answer = client.post(talk, {"messages": messages})
    if answer.status != 201:
        sys.exit(f"Appending was answered with {answer.status}: {answer.text[:300]}")
    return answer


def rate(client: Client, talk: str, *, requests: int, size: int) -> int:
    """Return the messages per second of one client with sequential requests."""
    return per_second(lambda: [append(client, talk, size) for _ in range(requests)], requests * size)


def together(writers: Sequence[tuple[Client, str]], *, requests: int, size: int) -> int:
    """Return the messages per second of several concurrent clients."""
    with ThreadPoolExecutor(len(writers)) as pool:
        return per_second(
            lambda: list(pool.map(lambda writer: rate(*writer, requests=requests, size=size), writers)),
            requests * size * len(writers),
        )


def per_second(work: Callable[[], object], messages: int) -> int:
    """Run ``work`` and return its messages per second."""
    began = time.perf_counter()
    work()
    return round(messages / (time.perf_counter() - began))


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Return minimum, median, 95th percentile and maximum in ms. The minimum is the least affected by load."""
    percentiles = statistics.quantiles(seconds, n=100)
    return {
        "min": round(min(seconds) * 1_000, 1),
        "p50": round(percentiles[49] * 1_000, 1),
        "p95": round(percentiles[94] * 1_000, 1),
        "max": round(max(seconds) * 1_000, 1),
    }


if __name__ == "__main__":
    main()
