"""Latency of the review desk and the staff's pages:
``python -m benchmarks.desk [--facts 2000] [--rounds 40] [--json OUT]``.

Fills the database of the environment, which has to be empty, with one person's facts about four legacies, a quarter of
them waiting, each from a conversation. Then it requests every page in this process, with all middleware, and prints for
each the server's time (p50 and p95 in milliseconds), its queries, and the size of the response, plain and gzipped.

``python -m memory_project.embedded python -m benchmarks.desk`` starts a database for it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import django

LEGACIES = 4
MESSAGES = 200
QUARANTINED = 100
_WHO = ("Rosa", "Otto", "Ines", "Anton")
_DID = ("kept", "sold", "mended", "painted", "loved", "hated", "collected", "carried")
_WHAT = ("clocks", "bees", "maps", "boats", "chess boards", "old radios", "roses", "accordions", "letters", "coats")


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=40, help="how often each page is called")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to a file as well")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_project.settings")
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test import override_settings

    call_command("migrate", database="owner", verbosity=0)
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(ALLOWED_HOSTS=["*"], STORAGES={**settings.STORAGES, "staticfiles": plain}):
        figures = measure(fill(options.facts), options.rounds)
    print(f"{'page':28} {'p50 ms':>8} {'p95 ms':>8} {'queries':>8} {'bytes':>9} {'gzip':>8}")
    for name, each in figures.items():
        print(
            f"{name:28} {each['p50_ms']:8} {each['p95_ms']:8} {each['queries']:8} {each['bytes']:9,} {each['gzip']:8,}"
        )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def fill(count: int) -> UUID:
    """Create a person with facts through the actions. Returns the person's id."""
    from accounts.actions import invitation_accept, legacy_create, user_create
    from accounts.queries import principal_for_person
    from conversations.actions import NewMessage, conversation_create, messages_append
    from facts.models import FactEvidence, LegacyFact

    person = user_create("reviewer", display_name="Rita Reviewer")
    others = [user_create(f"member{number}", display_name=f"Member {number}") for number in range(3)]
    principal = principal_for_person(person.pk)
    chance = random.Random(7)
    for number in range(LEGACIES):
        legacy, sent = legacy_create(principal, f"Legacy {number}", [other.username for other in others])
        for other, invited in zip(others, sent, strict=True):
            invitation_accept(principal_for_person(other.pk), invited.code)
        talk = conversation_create(principal, legacy_id=legacy.pk, title=f"Talk {number}")
        said = [
            NewMessage("user", f"I remember {sentence(chance)} And then {sentence(chance)}") for _ in range(MESSAGES)
        ]
        messages = messages_append(principal, talk.pk, said)
        facts = add_facts(principal, legacy.pk, count // LEGACIES, chance)
        FactEvidence.objects.bulk_create(
            FactEvidence(fact=fact, message=chance.choice(messages), quote="I remember") for fact in facts
        )
    waiting = list(LegacyFact.objects.order_by("?").values_list("pk", flat=True)[: count // 4])
    LegacyFact.objects.filter(pk__in=waiting).update(reviewed_at=None, written_by="offline rules 1")
    return person.pk


def add_facts(principal: Any, legacy_id: UUID, count: int, chance: random.Random) -> list[Any]:
    """Add facts with different wordings as the person."""
    from facts.actions import fact_add
    from facts.models import LegacyFact

    categories = LegacyFact.Category.values
    return [
        fact_add(principal, legacy_id, f"{sentence(chance)[:-1]} in {1900 + number}.", chance.choice(categories))
        for number in range(count)
    ]


def sentence(chance: random.Random) -> str:
    """Return a random sentence."""
    return f"{chance.choice(_WHO)} {chance.choice(_DID)} {chance.choice(_WHAT)} with {chance.choice(_WHO)}."


def measure(person_id: UUID, rounds: int) -> dict[str, dict[str, Any]]:
    """Measure the person's pages. Returns the figures by page."""
    from django.test import Client

    from accounts.models import Legacy, User
    from facts.models import LegacyFact

    client = Client(raise_request_exception=True)
    client.force_login(User.objects.get(pk=person_id))
    legacy = Legacy.objects.order_by("name").values_list("pk", flat=True)[0]
    facts = list(LegacyFact.objects.filter(legacy_id=legacy).values_list("pk", flat=True)[:rounds])
    shown: Iterator[UUID] = iter(facts * 2)
    waiting = LegacyFact.objects.filter(reviewed_at=None).order_by("extracted_at", "id").values_list("pk", flat=True)
    ahead = iter(list(waiting[: rounds + 5]))
    some = [f"{fact}:1" for fact in LegacyFact.objects.values_list("pk", flat=True)[:1_000]]

    def decide() -> Any:
        return client.post(f"/facts/{next(ahead)}/approve/", {"next": "/review/", "version": 1}, headers=HTMX)

    calls: dict[str, Callable[[], Any]] = {
        "home": lambda: client.get("/"),
        "queue": lambda: client.get("/review/"),
        "queue, one legacy": lambda: client.get(f"/review/?legacy={legacy}&category=hobby"),
        "queue, decision": decide,
        "list of all": lambda: client.get("/facts/"),
        "list of a legacy": lambda: client.get(f"/legacies/{legacy}/"),
        "list, searched, filtered": lambda: client.get("/facts/?search=bees&category=hobby&sort=wording&written_by=me"),
        "fact": lambda: client.get(f"/facts/{next(shown)}/"),
        "preferences": lambda: client.get("/preferences/"),
        "timeline": lambda: client.get("/timeline/"),
        "timeline, of one agent": lambda: client.get(f"/timeline/?who={legacy}"),
        "timeline, in pictures": lambda: client.get("/timeline/pictures/"),
        "legacy, to be ended": lambda: client.get(f"/legacies/{legacy}/end/"),
        "bulk, asking, 1,000": lambda: client.post(
            "/facts/bulk/", {"decision": "share", "all": "yes", "next": "/facts/"}
        ),
    }
    figures = {name: spread(call, rounds) for name, call in calls.items()}
    figures["bulk, sharing 1,000"] = spread(share_and_undo(client, " ".join(some)), 1)
    return {**figures, **measure_staff(rounds)}


def measure_staff(rounds: int) -> dict[str, dict[str, Any]]:
    """Measure the staff's pages with a hundred quarantined facts. Returns the figures by page."""
    from django.test import Client

    from accounts.actions import user_create
    from accounts.queries import principal_for_staff
    from facts.actions import fact_quarantine
    from facts.models import LegacyFact

    moderator = user_create("moderator", superuser=True)
    client = Client(raise_request_exception=True)
    client.force_login(moderator)
    facts = list(LegacyFact.objects.filter(state="active").values_list("pk", flat=True)[:QUARANTINED])
    for fact in facts:
        fact_quarantine(principal_for_staff(moderator), fact, "Measured.")
    rows = "/admin/facts/legacyfact/"
    opened = {"_form_submitted": "True", "reason": "Measured."}
    calls: dict[str, Callable[[], Any]] = {
        "staff: what waits": lambda: client.get("/admin/"),
        "staff: facts": lambda: client.get(rows),
        "staff: facts, searched": lambda: client.get(f"{rows}?q=reviewer"),
        "staff: quarantine queue": lambda: client.get(f"{rows}?state__exact=quarantined"),
        "staff: a fact": lambda: client.get(f"{rows}{facts[0]}/change/"),
        "staff: opening a text": lambda: client.post(f"{rows}{facts[1]}/open/", opened),
        "staff: jobs": lambda: client.get("/admin/journal/jobrun/"),
        "staff: changes": lambda: client.get("/admin/journal/change/"),
        "staff: messages": lambda: client.get("/admin/conversations/message/"),
    }
    return {name: spread(call, rounds) for name, call in calls.items()}


HTMX = {"HX-Request": "true"}


def share_and_undo(client: Any, some: str) -> Callable[[], Any]:
    """Return a call that shares a thousand facts at once."""
    return lambda: client.post("/facts/bulk/carry-out/", {"decision": "share", "facts": some})


def spread(call: Callable[[], Any], rounds: int) -> dict[str, Any]:
    """Call it ``rounds`` times, after a warm-up if there are several. Returns times, queries and bytes."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    if rounds > 1:
        with CaptureQueriesContext(connection) as captured:
            answer = call()
        queries: int | str = len(captured)
    else:
        queries = "-"
    seconds = []
    for _ in range(rounds):
        began = time.perf_counter()
        answer = call()
        seconds.append(time.perf_counter() - began)
    if answer.status_code not in {200, 302}:
        raise SystemExit(f"A page was answered with {answer.status_code}.")
    return {
        "p50_ms": round(statistics.median(seconds) * 1_000, 1),
        "p95_ms": round(percentile(seconds, 95) * 1_000, 1),
        "queries": queries,
        "bytes": len(answer.content),
        "gzip": len(gzip.compress(answer.content, 6)),
    }


def percentile(seconds: Sequence[float], percent: int) -> float:
    """Return a percentile of the values."""
    return sorted(seconds)[min(len(seconds) - 1, len(seconds) * percent // 100)]


if __name__ == "__main__":
    main()
