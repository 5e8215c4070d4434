"""The effect of the ranking weights of memories: ``python -m benchmarks.ranking FILE [--embedder NAME]``.

Starts a separate Keepsake and stores the observations of each conversation of a LoCoMo file as memories: one-sentence
statements of the dataset, each with its source turn. They are related as on a write, and dated by the distance of their
session from the last one. It asks the questions through the code of ``POST memories/query/`` and prints the recall of
their gold turns by the first 5 and 10 memories, in percent; then the same with each weight of ``RANKED`` at zero and
doubled. Questions whose gold turns have no observation are skipped.

Observations have no importance, pins or insights, so those weights can't be measured with them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import django

from tests.assistant.deployment import own_deployment

RANKED = ("RANK_RELATED", "RANK_RECENCY")
DEPTHS = (5, 10)
UNANSWERED = 5
"""The category of unanswerable questions."""

Asked = tuple[str, frozenset[str]]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--embedder", default="bundled")
    options = parser.parse_args()
    cases = json.loads(options.file.read_text(encoding="utf-8"))
    settings = {"KEEPSAKE_EMBEDDER": options.embedder, "MEMORY_BLOCK_TOKENS": "1000000", "LOG_LEVEL": "ERROR"}
    with own_deployment(durable=False, **settings) as deployment:
        deployment.worker.stop()
        os.environ.update(deployment.environment, DJANGO_SETTINGS_MODULE="memory_project.settings")
        django.setup()
        from django.conf import settings as ours

        people = [told(case) for case in cases]
        usual = {name: getattr(ours, name) for name in RANKED}
        print(f"{'weights as they are':32}", *line(people))
        for name in RANKED:
            for value in (0.0, 2 * usual[name]):
                setattr(ours, name, value)
                print(f"{name} = {value:<{29 - len(name)}}", *line(people))
            setattr(ours, name, usual[name])


def told(case: dict[str, Any]) -> tuple[Any, dict[str, frozenset[str]], list[Asked]]:
    """Create a person with a conversation's observations. Returns the principal, turns by memory id, and questions."""
    from django.utils import timezone

    from accounts.actions import user_create
    from accounts.queries import principal_for_person
    from journal.actions import ledger_write
    from memories.actions import memories_relate
    from memories.models import Memory
    from tests.assistant.querying import embedded

    person = user_create(f"asker-{case['sample_id']}")
    told: dict[str, frozenset[str]] = {}
    dates = [value for name, value in case["conversation"].items() if name.endswith("_date_time")]
    since = timezone.now() - max(map(_moment, dates))  # The questions are asked right after the last session.
    for name, of_session in case["observation"].items():
        number = name.removeprefix("session_").removesuffix("_observation")
        at = _moment(case["conversation"].get(f"session_{number}_date_time", "")) + since
        for said in of_session.values():
            kept = [(text, turns) for text, turns in said if 5 <= len(text) <= 500]
            memories = embedded(person, *((text, "event") for text, _ in kept))
            told |= {memory.pk: _turns(turns) for memory, (_, turns) in zip(memories, kept, strict=True)}
            Memory.objects.filter(pk__in=[memory.pk for memory in memories]).update(created_at=at, updated_at=at)
    principal = principal_for_person(person.pk)
    with ledger_write(principal.actor, person.pk) as write:
        memories_relate(write, person.pk, list(told))
    known = frozenset().union(*told.values())
    questions = [(qa["question"], _turns(qa["evidence"]) & known) for qa in case["qa"] if qa["category"] != UNANSWERED]
    return principal_for_person(person.pk), told, [asked for asked in questions if asked[1]]


def line(people: Iterable[tuple[Any, dict[str, frozenset[str]], list[Asked]]]) -> list[str]:
    """Return the recall at each depth over all questions of all people, as texts."""
    from django.conf import settings

    from assistant.recall.query import Question, answer_question

    shares: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    for principal, told, questions in people:
        for text, gold in questions:
            asked = Question(text, top_k=max(DEPTHS), budget_tokens=settings.QUERY_MOST_TOKENS)
            found = [told[result.id] for result in answer_question(principal, asked).results]
            for depth in DEPTHS:
                shares[depth].append(len(gold.intersection(*[frozenset().union(*found[:depth])])) / len(gold))
    return [f"R@{depth} {100 * sum(each) / len(each):5.1f}" for depth, each in shares.items()]


def _turns(written: str | Collection[str]) -> frozenset[str]:
    return frozenset(re.findall(r"D\d+:\d+", str(written)))


def _moment(written: str) -> datetime:
    try:
        return datetime.strptime(written.upper(), "%I:%M %p ON %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        return datetime(2023, 1, 1, tzinfo=UTC)


if __name__ == "__main__":
    main()
