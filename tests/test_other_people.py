"""Every page and every call that names something, tried on what is somebody else's: nobody reads or changes it."""

import itertools
import re
from contextlib import nullcontext

import pytest
from django.db import connection

from accounts.models import Grant
from conversations.models import Message
from facts.models import LegacyFact
from interop.mem0.api import urlpatterns as mem0_patterns
from memories.models import Memory
from tests import factories
from tests.conftest import taken_back, with_key
from tests.emptying import table_names
from tests.every_call import API, BODIES, TRIED_ON, filled, methods, routes

pytestmark = pytest.mark.django_db

STEPS = {
    "decision": [
        "approve", "edit", "reject", "dont_keep", "this_one", "share", "unshare", "archive", "restore", "pin", "unpin",
    ],
    "noun": ["memory", "fact"],
}  # fmt: skip
"""What stands in addresses beside ids."""
FORM = {
    "content": "Mine now.", "name": "Mine now", "notes": "", "text": "Mine now.", "version": "1", "role": "owner",
    "confirm": "yes", "at_once": "yes", "messages": "yes", "ids": "all", "url": "https://evil.example/",
}  # fmt: skip
"""What forms are sent with: the fields of all of them."""
FOR_EVERYBODY = {"api-receipt", "receipt-page", "tool", "docs-operation"}
"""What is under an id that nobody guesses and tells nothing of anybody, or under a name of ours."""
THEIR_OWN = {"PUT thread", "POST changes-undo", "POST graphs-prune", "POST graphs-delete-runs"}
"""What is the caller's own by the same name or number."""
TOLD_OF_EACH = {"POST memory-bulk-delete"}
"""What answers 200 and says of each id that there is nothing of it."""
NOTED = {"accounts_grant", "accounts_agentkey", "django_session", "journal_operationevent", "accounts_externalidentity"}
"""Tables in which it is noted that somebody asked."""


def tries(rows, *, all_of_them=False):
    """Each call with an id in its address or its body, or any: its name, its address, how it is sent, and what."""
    for route, pattern in routes():
        known = rows | {name: rows[row] for name, row in TRIED_ON.get(route.name, {}).items()}
        # An address of pages names what it is about by the first part of its path.
        known["pk"] = known["fact_id" if pattern.startswith("/facts/") or "fact" in route.name else "memory_id"]
        parts = list(route.pattern.converters)
        for step in itertools.product(*(STEPS.get(part, [known.get(part)]) for part in parts)):
            values = dict(zip(parts, step, strict=True))
            if None in step:
                continue
            address = re.sub(r"<(?:\w+:)?(\w+)>", lambda match: str(values[match[1]]), pattern)  # noqa: B023
            is_call = address.startswith(API)
            for method in methods(route) if is_call else ["get", "post"]:
                call = f"{method.upper()} {route.name}"
                body = BODIES.get(call) if is_call else FORM
                if all_of_them or parts or (is_call and re.search(r"'{\w+}'", str(body))):
                    yield call, address, method, body


def send(client, rows, address, method, body):
    form = "multipart" if callable(body) or not address.startswith(API) else "json"
    more = {} if method == "get" else {"format": form}
    return getattr(client, method)(address, filled(body, rows), **more)


def digest():
    """What stands in every table, by its name."""
    names = [name for name in table_names() if name.strip('"') not in NOTED]
    parts = [f"SELECT '{name}', md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {name} AS t" for name in names]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts))
        return dict(cursor.fetchall())


@pytest.fixture
def told(rows):
    """Whatever the owner's memories, facts and messages say."""
    return [text for model in (Memory, LegacyFact, Message) for text in model.objects.values_list("content", flat=True)]


@pytest.fixture
def callers(stranger, staff, other_agent, service, owner, api):
    """Those who have no business with anything of the owner's, and an agent of theirs that may see none of it."""
    factories.ExternalIdentityFactory(user=stranger, issuer=service.issuer, external_id="42")
    narrowed = with_key(factories.AgentFactory(owner=owner))
    Grant.objects.create(user=owner, agent=narrowed, categories=[], sources=[])
    return {
        "stranger": api(stranger),
        "staff": api(staff),
        "other agent": api(other_agent),
        "service": api(service, "42"),
        "narrowed": api(narrowed),
    }


@pytest.mark.timeout(900)
@pytest.mark.parametrize("caller", ["stranger", "staff", "other agent", "service", "narrowed"])
def test_nobody_reads_or_changes_what_is_somebody_else_s(caller, callers, rows, told, settings):
    settings.TELEGRAM_SECRET_TOKEN, settings.TELEGRAM_BOT_NAME = "a-secret", "keepsake_bot"
    client, taken, tried = callers[caller], [], 0
    before = digest()
    for call, address, method, body in tries(rows):
        signs_in = caller in {"stranger", "staff"}
        if call.partition(" ")[2] in FOR_EVERYBODY or call in THEIR_OWN or not (signs_in or address.startswith(API)):
            continue
        with taken_back() if caller == "narrowed" else nullcontext():
            answer = send(client, rows, address, method, body)
        tried += answer.status_code != 405
        said = b"".join(answer).decode() if answer.streaming else answer.content.decode()
        refused = answer.status_code in {302, 401, 403, 404, 405} or call in TOLD_OF_EACH or caller == "narrowed"
        shown = [text for text in told if text in said]
        if shown or not refused:
            taken.append((call, address, answer.status_code, shown or said[:300]))
    assert not taken, "\n".join(map(str, taken))
    assert {name for name, stood in digest().items() if stood != before[name]} == set()
    assert tried > 80


def test_no_call_takes_a_field_that_it_does_not_declare(api, owner, stranger, rows):
    """Whose a thing is, how it stands and who reviewed it are nobody's to send along."""
    more = {
        "user": str(stranger.pk),
        "user_id": str(stranger.pk),
        "reviewed_at": "2026-01-01T00:00:00Z",
        "own_word": True,
    }
    client, taken, before = api(owner), [], digest()
    for call, address, method, body in tries(rows, all_of_them=True):
        if method in {"post", "put", "patch"} and address.startswith(API) and not callable(body):
            answer = send(client, rows, address, method, {**(body or {}), **more})
            if answer.status_code not in {400, 405}:
                taken.append((call, answer.status_code, answer.content[:200]))
    assert not taken, "\n".join(map(str, taken))
    assert digest() == before


def mem0_tries(rows, service_name):
    """Each mem0 route with the owner's ids and names, by every method: the method, the address and what is sent."""
    memory, named = str(rows["memory_id"]), {"user_id": service_name}
    bodies = [
        {"memory_id": memory, "text": "Mine now.", "feedback": "POSITIVE", "query": "hens"},
        {"memories": [{"memory_id": memory, "text": "Mine now."}], "filters": named, "query": "hens"},
        {"messages": "Mine now.", "infer": False, "agent_id": str(rows["agent_id"]), "query": "hens"},
    ]
    values = {"memory_id": memory, "event_id": rows["job_id"]}
    for route in mem0_patterns:
        for kind, name in [("user", service_name), ("agent", rows["agent_id"]), ("run", "r1")]:
            parts = {**values, "kind": kind, "name": name}
            address = re.sub(r"<(?:\w+:)?(\w+)>", lambda match: str(parts[match[1]]), f"/mem0/{route.pattern}")  # noqa: B023
            for method in methods(route):
                asks = [None] if method in {"get", "delete"} and "batch" not in address else bodies
                for body in asks:
                    yield method, address + (f"?user_id={service_name}" if body is None else ""), body
            if not route.pattern.converters:
                break


def test_the_routes_of_mem0_tell_the_owner_s_agent_what_nobody_else_is_told(api, agent, rows, told, owner):
    said = [api(agent).get(address).content.decode() for method, address, _ in mem0_tries(rows, owner.username)
            if method == "get"]  # fmt: skip
    assert any(text in each for each in said for text in told)


@pytest.mark.parametrize("caller", ["other agent", "service", "narrowed"])
def test_nobody_reads_or_changes_what_is_somebody_else_s_by_the_routes_of_mem0(caller, callers, rows, told, owner):
    """A caller writes for its own person; of the owner's nothing is told and nothing changes, whatever is named."""
    client, tried = callers[caller], 0
    name = owner.username
    before = digest_of(owner)
    for method, address, body in mem0_tries(rows, name):
        answer = getattr(client, method)(address, body, format="json") if body else getattr(client, method)(address)
        tried += answer.status_code != 405
        said = answer.content.decode()
        assert answer.status_code < 500, (method, address, body)
        assert not [text for text in told if text in said], (method, address, body, said[:300])
    assert {table for table, stood in digest_of(owner).items() if stood != before[table]} == set()
    assert tried > 30


def digest_of(person):
    """What stands of a person in every table that says whose a row is, by its name."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT table_name FROM information_schema.columns WHERE column_name = 'user_id'"
                       " AND table_schema = 'public'")  # fmt: skip
        names = sorted({name for (name,) in cursor.fetchall()} - NOTED)
        parts = [f"SELECT '{name}', md5(string_agg(t::text, '|' ORDER BY t::text)) FROM \"{name}\" AS t"
                 f" WHERE user_id = %(person)s" for name in names]  # fmt: skip
        cursor.execute(" UNION ALL ".join(parts), {"person": person.pk})
        return dict(cursor.fetchall())
