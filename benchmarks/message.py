"""Processor time of reading one message without a language model: ``python -m benchmarks.message [--json OUT]``.

Chooses the memory tool calls for messages of about 200 characters, in one process and without a database, beside 0, 10
and 60 memories of the person. No two messages are equal, the memories are the same. Prints the median and the 95th
percentile in milliseconds of processor time, the medians of what parsing and embedding take of it, the time of the
first message, which meets memories that were not parsed yet, and that of a loop of 200,000 additions beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from . import set_up_without_servers

SIZES = (0, 10, 60)
ROUNDS = 60
_AT = datetime(2026, 11, 20, 18, tzinfo=UTC)
_NAMES = ("Anna", "Piotr", "Gail", "Leo", "Otto", "Clara", "Ben", "Mira", "Tomas", "Ruth", "Ines", "Hugo")
_PLACES = ("Porto", "Leeds", "Turin", "Bergen", "Ghent", "Cork", "Graz", "Tours", "Basel", "Gdansk")
_THINGS = ("a cello", "two goats", "an old van", "a greenhouse", "a loom", "a canoe", "some hives", "a kiln")
_DOES = ("works as a nurse at the hospital", "plays the cello on Tuesdays", "is allergic to nuts", "drives a blue van")
_SAID = (
    "I moved to {place} last month and started as a {number}th grade teacher, so the way to work is longer now. My "
    "{kin} {name} thinks I will get used to it, and we bought {thing}, which stands in the shed.",
    "We had dinner with {name} and her brother on Saturday, and she told me that the orchestra in {place} looks for "
    "a conductor. I still play there, though my shoulder hurts, and I sold {thing} for {number} euros.",
    "Could you look over my plan for the garden in {place}? I want to plant {number} apple trees by the fence, where "
    "{thing} is now. My {kin} {name} has a saw that I can borrow, and I'm free on Fridays now.",
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to a file as well")
    options = parser.parse_args()
    os.environ.update(KEEPSAKE_EMBEDDER="bundled", KEEPSAKE_MODEL="offline", LOG_LEVEL="ERROR")
    set_up_without_servers()
    figures = {memories: measure(memories, options.rounds) for memories in SIZES}
    for memories, told in figures.items():
        print(f"{memories:3} memories  " + "  ".join(f"{name} {value:.1f}" for name, value in told.items()))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def measure(memories: int, rounds: int) -> dict[str, float]:
    """Return milliseconds by name."""
    from language.backends import get_embedder
    from language.embedders.e5.network import Network
    from language.reading import parse
    from language.reading.choosing import choose

    chance = random.Random(memories)
    known = _known(get_embedder(), memories)  # Loads the embedder too.
    choose(_request("Hello, I am Alma and I like tea.", ()))  # Loads what reading needs.
    inside = {"parse": _Timed(parse, "_parse_one", "_parse_batch"), "embed": _Timed(Network, "read")}
    loop = _milliseconds(_add)
    taken: list[float] = []
    parts: dict[str, list[float]] = {name: [] for name in inside}
    for number in range(rounds):
        request = _request(_message(chance, number), known)
        for each in inside.values():
            each.milliseconds = 0.0
        taken.append(_milliseconds(partial(choose, request)))
        for name, each in inside.items():
            parts[name].append(each.milliseconds)
    for each in inside.values():
        each.undo()
    first, *later = taken
    return {
        "p50": statistics.median(later),
        "p95": statistics.quantiles(later, n=20)[-1],
        **{name: statistics.median(times[1:]) for name, times in parts.items()},
        "first": first,
        "loop": loop,
    }


def _message(chance: random.Random, number: int) -> str:
    words = {"place": _PLACES, "name": _NAMES, "thing": _THINGS, "kin": ("sister", "neighbour", "uncle", "daughter")}
    chosen = {name: chance.choice(values) for name, values in words.items()}
    return _SAID[number % len(_SAID)].format(number=number + 2, **chosen)


def _known(embedder: Any, count: int) -> tuple[Any, ...]:
    from language.base import KnownMemory

    own = [f"The user {does}." for does in _DOES] + ["The user lives in Seattle.", "The user's dog is called Rex."]
    own += ["I like hiking by the lake.", "I married Tom in 2011.", "The user has two goats.", "The user sold a kiln."]
    told = (
        own + [f"The user's friend {name} {does}." for name in _NAMES for does in _DOES] + ["The user sings.", "I row."]
    )
    vectors = embedder.embed_passages(told[: max(1, count)])
    return tuple(
        KnownMemory(f"m{number:07}", "person", "", content, "", _AT.date(), vector)
        for number, (content, vector) in enumerate(zip(told[:count], vectors, strict=False))
    )


def _request(said: str, known: tuple[Any, ...]) -> Any:
    from language.base import ToolRequest, ToolSpec, Utterance
    from language.reading.choosing import ADD, DELETE, DOUBT, UPDATE

    tools = [ToolSpec(name, "", {}) for name in (ADD, UPDATE, DELETE, DOUBT)]
    categories = ("context", "person", "event", "knowledge", "tasks")
    return ToolRequest([Utterance(0, "user", "Alma", said, _AT)], "Alma", known, tools, categories, 10)


class _Timed:
    """Adds up what some functions take while it stands."""

    def __init__(self, owner: Any, *names: str) -> None:
        self.milliseconds = 0.0
        self._owner, self._functions = owner, {name: getattr(owner, name) for name in names}
        for name, function in self._functions.items():
            setattr(owner, name, self._timing(function))

    def _timing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*values: Any, **named: Any) -> Any:
            start = time.process_time()
            try:
                return function(*values, **named)
            finally:
                self.milliseconds += (time.process_time() - start) * 1000

        return timed

    def undo(self) -> None:
        for name, function in self._functions.items():
            setattr(self._owner, name, function)


def _add() -> None:
    total = 0
    for number in range(200_000):
        total += number


def _milliseconds(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return (time.process_time() - start) * 1000


if __name__ == "__main__":
    main()
