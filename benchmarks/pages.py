"""Latency of each page for a person with much data:
``python -m benchmarks.pages [--memories 5000] [--conversations 1000] [--rounds 40] [--only NAME] [--json OUT]``.

Fills the database of the environment, which has to be empty or filled by an earlier run, with one person: memories of
all categories, a tenth of them waiting for review, facts about four legacies, conversations of ten messages and one of
2,000, agents with disclosures. Then it requests each page in this process, with all middleware, and prints p50 and p95
in milliseconds of the wall clock and of this process's CPU time (which depends less on other load), the mean CPU time
of the database's process, the queries, and the size.

``python -m memory_project.embedded python -m benchmarks.pages`` starts a database for it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import time
from datetime import timedelta
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import django
import psutil

from .desk import add_facts, percentile, sentence

NAME = "collector"
LONG_TALK = 2_000
TALKED = 10
AGENTS = 8
FACTS = 1_000
BATCH = 500
REACH_MS = 50


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=5_000)
    parser.add_argument("--conversations", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=40, help="how often each page is called")
    parser.add_argument("--only", default="", help="pages whose name holds this")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to a file as well")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_project.settings")
    os.environ.setdefault("LOG_LEVEL", "ERROR")
    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connections
    from django.test import override_settings

    from accounts.models import User
    from memory_project.preloading import preload, preload_pages

    call_command("migrate", database="owner", verbosity=0)
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(ALLOWED_HOSTS=["*"], STORAGES={**settings.STORAGES, "staticfiles": plain}):
        person = User.objects.filter(username=NAME).first() or fill(options.memories, options.conversations)
        with connections["owner"].cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
        # As a server does before it serves: a collection would otherwise walk the models, views, and what filling left.
        preload_pages()
        preload()
        pages = {name: path for name, path in pages_of(person).items() if options.only in name}
        figures = {name: measure(person, path, options.rounds) for name, path in pages.items()}
    head = ("p50 ms", "p95 ms", "CPU p50", "CPU p95", "DB CPU", "queries", "bytes")
    print(f"{'page':32}" + "".join(f"{title:>9}" for title in head))
    for name, each in figures.items():
        mark = " *" if each["p95"] > REACH_MS else ""
        print(f"{name:32}" + "".join(f"{value:>9,}" for value in each.values()) + mark)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def fill(memories: int, conversations: int) -> Any:
    """Create the person with all data."""
    from accounts.actions import agent_create, legacy_create, user_create
    from accounts.queries import principal_for_person
    from memories.models import Disclosure, Memory

    person = user_create(NAME, display_name="Clara Collector", password=token_urlsafe())
    principal = principal_for_person(person.pk)
    chance = random.Random(7)
    legacies = [legacy_create(principal, f"Legacy {number}")[0] for number in range(4)]
    remember_much(person, memories, chance)
    Memory.objects.filter(pk__in=Memory.objects.order_by("pk").values("pk")[: memories // 10]).update(reviewed_at=None)
    for legacy in legacies:
        add_facts(principal, legacy.pk, FACTS // len(legacies), chance)
    talk_much(principal, conversations, legacies, chance)
    ids = list(Memory.objects.values_list("pk", flat=True)[:200])
    for number in range(AGENTS):
        agent = agent_create(principal, f"Agent {number}")
        Disclosure.objects.bulk_create(
            Disclosure(user=person, agent=agent, by="turn", memories=chance.sample(ids, 20)) for _ in range(200)
        )
    return person


def remember_much(person: Any, count: int, chance: random.Random) -> None:
    """Add ``count`` memories with different wordings, spread over two years."""
    from django.utils import timezone

    from accounts import categories
    from language.backends import get_embedder
    from tests.memories.rows import remember

    embedder, names = get_embedder(), sorted(categories.load().by_name)
    begun = timezone.now() - timedelta(days=730)
    for first in range(0, count, BATCH):
        rows = [
            {
                "content": f"{sentence(chance)[:-1]} for the {n}th time.",
                "subject": chance.choice(["", "Rosa", "Otto", "Project X"]),
                "category": chance.choice(names),
                "created_at": begun + timedelta(hours=n * 3),
                "reviewed_at": begun + timedelta(hours=n * 3 + 1),
                "embedding": [chance.gauss(0, 1) for _ in range(embedder.dimensions)],
                "embedding_model": embedder.name,
                "index_not_before": None,
            }
            for n in range(first, min(count, first + BATCH))
        ]
        remember(person, *rows)


def talk_much(principal: Any, count: int, legacies: list[Any], chance: random.Random) -> None:
    """Add ``count`` conversations and a long one, with all messages indexed."""
    from conversations.actions import NewMessage, conversation_create, messages_append
    from conversations.models import Conversation, Message
    from language.backends import get_embedder

    def said(number: int) -> list[NewMessage]:
        return [NewMessage("assistant" if each % 2 else "user", sentence(chance)) for each in range(number)]

    for number in range(count):
        legacy = legacies[number % 5].pk if number % 5 < len(legacies) else None
        talk = conversation_create(principal, legacy_id=legacy, title=f"Talk {number}")
        messages_append(principal, talk.pk, said(TALKED))
    long = conversation_create(principal, title="The long talk")
    for _ in range(LONG_TALK // 100):
        messages_append(principal, long.pk, said(100))
    embedder = get_embedder()
    waiting = list(Message.objects.filter(embedding=None).only("pk"))
    for message in waiting:
        message.embedding = [chance.gauss(0, 1) for _ in range(embedder.dimensions)]
        message.embedding_model = embedder.name
    Message.objects.bulk_update(waiting, ["embedding", "embedding_model"], batch_size=BATCH)
    Conversation.objects.update(finished_at=None)


def pages_of(person: Any) -> dict[str, str]:
    """Return the paths of the pages by name."""
    from accounts.models import Agent, Legacy
    from conversations.models import Conversation
    from facts.models import LegacyFact
    from memories.models import Memory

    memory = Memory.objects.filter(user=person, state="active").values_list("pk", flat=True)[100]
    fact = LegacyFact.objects.values_list("pk", flat=True)[10]
    legacy = Legacy.objects.order_by("name").values_list("pk", flat=True)[0]
    agent = Agent.objects.values_list("pk", flat=True)[0]
    long = Conversation.objects.get(title="The long talk").pk
    short = Conversation.objects.get(title="Talk 7").pk
    return {
        "home": "/",
        "review": "/review/",
        "review, the next ones": "/review/ahead/",
        "memories": "/memories/",
        "memories, page 50": "/memories/?page=50",
        "memories, one category": "/memories/?category=interests",
        "memories, searched": "/memories/?search=where+are+the+old+radios",
        "a memory": f"/memories/{memory}/",
        "a memory, who saw it": f"/memories/{memory}/seen/",
        "erasing a memory": f"/memories/{memory}/erase/",
        "erasing what repeats it, too": f"/memories/{memory}/erase/?elsewhere=yes",
        "a memory's row, opened": f"/memories/{memory}/opened/",
        "tidying": "/memories/tidy/",
        "facts": "/facts/",
        "facts, searched": "/facts/?search=bees",
        "a fact": f"/facts/{fact}/",
        "erasing a fact": f"/facts/{fact}/erase/",
        "a legacy": f"/legacies/{legacy}/",
        "members of a legacy": f"/legacies/{legacy}/members/",
        "conversations": "/conversations/",
        "conversations, page 40": "/conversations/?page=40",
        "conversations, searched": "/conversations/?search=mended+boats",
        "a conversation": f"/conversations/{short}/",
        "a long conversation": f"/conversations/{long}/",
        "in a long conversation": f"/conversations/{long}/?at=1000",
        "removing a conversation": f"/conversations/{short}/remove/",
        "removing what repeats it, too": f"/conversations/{short}/remove/?elsewhere=yes",
        "removing a message": f"/conversations/{short}/1/remove/",
        "removing what repeats a message": f"/conversations/{short}/1/remove/?elsewhere=yes",
        "talk": "/talk/",
        "agents": "/agents/",
        "an agent": f"/agents/{agent}/",
        "what an agent was shown": f"/agents/{agent}/shown/",
        "connect an agent": "/agents/connect/",
        "places": "/places/",
        "timeline": "/timeline/",
        "pictures": "/timeline/pictures/",
        "import": "/import/",
        "your data": "/data/",
        "withheld": "/withheld/",
        "invitations": "/invitations/",
        "preferences": "/preferences/",
        "password": "/preferences/password/",
    }


def measure(person: Any, path: str, rounds: int) -> dict[str, Any]:
    """Measure one page, requested by a signed-in client after a warm-up."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(headers={"HX-Request": "true"} if path.endswith("/opened/") else None)
    client.force_login(person)
    client.get(path)
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(path)
    # Before the next request, which clears the log.
    queries = len(captured)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = psutil.Process(cursor.fetchone()[0])
    if answer.status_code != 200:
        raise SystemExit(f"{path} was answered with {answer.status_code}.")
    clock: list[float] = []
    processor: list[float] = []
    before = sum(backend.cpu_times()[:2])
    for _ in range(rounds):
        began, worked = time.perf_counter(), time.process_time()
        answer = client.get(path)
        size = len(answer.getvalue())
        clock.append(1_000 * (time.perf_counter() - began))
        processor.append(1_000 * (time.process_time() - worked))
    return {
        "p50": round(statistics.median(clock), 1),
        "p95": round(percentile(clock, 95), 1),
        "cpu_p50": round(statistics.median(processor), 1),
        "cpu_p95": round(percentile(processor, 95), 1),
        "database": round(1_000 * (sum(backend.cpu_times()[:2]) - before) / rounds, 1),
        "queries": queries,
        "bytes": size,
    }


if __name__ == "__main__":
    main()
