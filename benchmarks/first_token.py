"""What Keepsake adds to the time to first token: ``python -m benchmarks.first_token [--memories 1000] [--json OUT]``.

Starts a separate Keepsake on durable storage, with gunicorn as in production (one process), for a person with that many
memories and messages. The assistant's model is a Messages API server in this process that answers at once. A client
sends messages with ``reply/``, in a new conversation each time and repeatedly in one, and reads the stream. For each
reply it prints three times in milliseconds by one clock: until the model's server has the request, from there to the
client's first token, and the sum. They contain no model time, only that of the simulated server.

The worker is stopped, so nothing is extracted meanwhile. ``--embedder hashing`` leaves out the time of the bundled
embedder.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import django

from tests.assistant.deployment import own_deployment
from tests.language.messages_api import KEY, MODEL, MessagesServer, spoken

from .ingest import spread
from .turn import question, somebody

ASKED = 100
WARM = 15


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="bundled", help="the embedder of what is stored and said")
    parser.add_argument("--memories", type=int, default=1_000)
    parser.add_argument("--messages", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=ASKED)
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to a file as well")
    options = parser.parse_args()
    with MessagesServer.serving() as server:
        settings = {
            "KEEPSAKE_EMBEDDER": options.embedder,
            "KEEPSAKE_REPLY_MODEL": MODEL,
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": server.url,
            "MEMORY_BLOCK_TOKENS": "1000000",
            "LOG_LEVEL": "ERROR",
        }
        with own_deployment(durable=True, **settings) as deployment:
            deployment.worker.stop()
            os.environ.update(deployment.environment, DJANGO_SETTINGS_MODULE="memory_project.settings")
            django.setup()
            person = somebody(options.memories, options.messages)
            read_later(person)
            key = deployment.manage("create_agent_key", "talker", f"--user={person.username}", "--quiet")
            figures = measure(deployment.client(key), server, options.rounds)
    for name, value in figures.items():
        print(f"{options.memories:6} memories {options.messages:6} messages  {name:36} {value}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def read_later(person: Any) -> None:
    """Switch extraction to the end of a conversation, so that no reply waits for it."""
    from accounts.actions import preferences_set
    from accounts.queries import principal_for_person

    preferences_set(principal_for_person(person.pk), extract_each_message=False)


def measure(client: Any, server: Any, rounds: int) -> dict[str, Any]:
    """Measure the three times, in new conversations and in one that continues."""
    came: list[float] = []

    def answer(handler: Any) -> None:
        came.append(time.perf_counter())
        spoken("That ", "was Maria.")(handler)

    server.answers(answer)
    one = begin(client)
    ways = {"new": lambda: begin(client), "goes_on": lambda: one}
    figures: dict[str, Any] = {}
    for name, conversation in ways.items():
        seconds = [times(client, conversation(), number, came) for number in range(WARM + rounds)][WARM:]
        figures |= {
            f"{name}_until_the_model_ms": spread([model - begun for begun, model, _token in seconds]),
            f"{name}_from_the_model_ms": spread([token - model for _begun, model, token in seconds]),
            f"{name}_first_token_ms": spread([token - begun for begun, _model, token in seconds]),
        }
    return figures


def begin(client: Any) -> str:
    """Create a conversation and return its id."""
    made: str = client.post("/api/v1/conversations/", {}).json()["id"]
    return made


def times(client: Any, conversation: str, number: int, came: list[float]) -> tuple[float, float, float]:
    """Return when a message was sent, when the model's server had the request, and when the first token was read.

    The stream is read to its end, so that the server is idle at the next message.
    """
    came.clear()
    begun, token = time.perf_counter(), 0.0
    for event, data in client.stream(f"/api/v1/conversations/{conversation}/reply/", {"content": question(number)}):
        if event == "token" and not token:
            token = time.perf_counter()
        if event == "error":
            sys.exit(f"The reply failed: {data}")
    if not (came and token):
        sys.exit("The model was not asked, or nothing was said.")
    return begun, came[0], token


if __name__ == "__main__":
    main()
