"""Check filters against a Python reference: ``python -m benchmarks.query_filters [--questions N] [--seed S]``.

Starts a separate Keepsake, fills it with memories of several people in every state, category and kind, runs random
filtered queries through the code of ``POST memories/query/``, and counts false positives and false negatives. Prints
both; exits with 1 unless both are 0.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections import Counter

import django

from tests.assistant.deployment import own_deployment

PEOPLE = 5
MEMORIES = 120


def main() -> None:
    """Run the queries and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    with own_deployment(durable=False, KEEPSAKE_EMBEDDER="hashing", LOG_LEVEL="ERROR") as deployment:
        deployment.worker.stop()
        os.environ.update(deployment.environment, DJANGO_SETTINGS_MODULE="memory_project.settings")
        django.setup()
        wrong, missed, found = ask(options.questions, options.seed)
    print(f"questions {options.questions}, with an answer {found}, wrong rows {wrong}, missed rows {missed}")
    sys.exit(1 if wrong or missed else 0)


def ask(questions: int, seed: int) -> tuple[int, int, int]:
    """Return the numbers of false positives, of false negatives, and of questions with results."""
    from accounts.actions import user_create
    from accounts.queries import principal_for_person
    from assistant.recall.query import Question, answer_question
    from retrieval.filters import Filters
    from tests.assistant.querying import narrowed_by_hand, random_filters, random_memories

    chance = random.Random(seed)
    people = [user_create(f"filters-{seed}-{number}") for number in range(PEOPLE)]
    own = {person.pk: random_memories(person, chance, MEMORIES) for person in people}
    wrong = missed = found = 0
    for number in range(questions):
        person = people[number % PEOPLE]
        categories, filters = random_filters(chance, person)
        question = Question("boats", categories=categories, filters=Filters(**filters), top_k=100, budget_tokens=9_999)
        got = {result.id for result in answer_question(principal_for_person(person.pk), question).results}
        wanted = narrowed_by_hand(own[person.pk], categories, filters)
        shelves = Counter(memory.category for memory in own[person.pk] if memory.pk in wanted)
        wrong += len(got - wanted)
        # Memories above a category's limit in categories.yaml are skipped.
        missed += len(wanted - got) if max(shelves.values(), default=0) <= 10 else 0
        found += bool(got)
        if number % 1_000 == 999:
            print(f"{number + 1} asked", file=sys.stderr)
    return wrong, missed, found


if __name__ == "__main__":
    main()
