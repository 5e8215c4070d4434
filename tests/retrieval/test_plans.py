"""What PostgreSQL does for a search: it reads one owner's rows, the vectors from a covering index alone."""

import json
from dataclasses import replace
from functools import partial
from itertools import chain
from unittest import mock

import numpy as np
import pytest
from django.db import connections
from django.utils import timezone
from psycopg import RawCursor

from accounts.models import Legacy, Member
from conversations.models import Conversation, ConversationChunk, Message
from facts.models import LegacyFact
from retrieval import prepared
from retrieval.search import Corpus, SearchQuery, hybrid_search, nearest
from tests import factories
from tests.assistant.processes import wait_for
from tests.retrieval.rows import MODEL, principal, unit

PEOPLE = 15
ROWS = 160
"""Rows of each person, or legacy, in each table."""

INDEXES = {Message: "message_vectors", ConversationChunk: "chunk_readable_vectors", LegacyFact: "fact_vectors"}


@pytest.fixture
def filled(transactional_db):
    """Fill the three tables with rows of many people, mixed as they come in; return one person's legacy.

    They are made anew before: what other tests deleted left pages and entries of indexes, which change the plans.
    """
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(model._meta.db_table for model in INDEXES)} CASCADE")
    random = np.random.default_rng(7)
    people = [factories.UserFactory() for _ in range(PEOPLE)]
    legacies = [factories.LegacyFactory(owner=person) for person in people]
    talks = Conversation.objects.bulk_create([Conversation(user=person) for person in people])
    for model in INDEXES:
        model.objects.bulk_create(
            model(**searchable(random, number), user=person, **of_its_own(model, number, legacy, talk))
            for number in range(ROWS)
            for person, legacy, talk in zip(people, legacies, talks, strict=True)
        )
    return legacies[7]


def searchable(random, number):
    vector = random.normal(size=384)
    return {
        "embedding": vector / np.linalg.norm(vector),
        "embedding_model": MODEL,
        "search_config": "english",
        "search_text": f"word{number} bees garden",
        "search_length": 3,
    }


def of_its_own(model, number, legacy, talk):
    if model is LegacyFact:
        return {
            "legacy": legacy,
            "category": "other",
            "content": "She kept bees.",
            "tokens": 1,
            "active_since": timezone.now(),
        }
    if model is ConversationChunk:
        return {"conversation": talk, "message_range_start": number, "message_range_end": number + 1}
    return {"conversation": talk, "index": number, "role": "user", "content": "x", "tokens": 1, "at": timezone.now()}


def visible_rows(model, legacy, review="after"):
    person = replace(principal(legacy.memberships.get().user), review=review)
    if model is LegacyFact:
        return model.objects.visible_to(person).in_use(person).filter(legacy=legacy)
    return model.objects.visible_to(person).recallable(None)


def plan_of(call):
    """The nodes of the plan of the one statement that ``call`` sends, with the rows that each gave."""
    with mock.patch.object(prepared, "_run", side_effect=prepared._run) as run:
        assert call()
    (asked,) = run.call_args.args[0]
    statement, values = asked.statement, asked.values
    connections["default"].ensure_connection()
    with RawCursor(connections["default"].connection) as cursor:
        cursor.execute(
            f"EXPLAIN (ANALYZE, FORMAT JSON) {statement.text}", [values[name] for name in statement.parameters]
        )
        (answer,) = cursor.fetchone()
    found = json.loads(answer) if isinstance(answer, str) else answer
    todo, nodes = [found[0]["Plan"]], []
    while todo:
        nodes.append(todo.pop())
        todo += nodes[-1].get("Plans", [])
    return nodes


OTHERS = """
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
"""


def settled(nears):
    """Vacuum, and say whether every row is known to be visible to all. An open transaction elsewhere delays that.

    By what has to be looked up in the tables: a page without rows, left over when a table grew, is never marked.
    """
    with connections["default"].cursor() as cursor:
        # What a thread of an earlier test has left behind does nothing any more but hold rows back.
        cursor.execute(
            f"SELECT pg_terminate_backend(pid) {OTHERS} AND usename = current_user AND state LIKE 'idle in %%'"
        )
    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE " + ", ".join(model._meta.db_table for model in (*nears, Member, Legacy)))
    return all(node.get("Heap Fetches") == 0 for model, near in nears.items() for node in scans_of(model, near))


def scans_of(model, call):
    """Where a table is read in the plan of a call."""
    return [node for node in plan_of(call) if node.get("Relation Name") == model._meta.db_table]


def open_transactions():
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"SELECT usename, application_name, state, xact_start, backend_type, left(query, 80) {OTHERS}")
        return str(cursor.fetchall())


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_a_search_reads_one_owners_rows_once_and_the_nearest_are_found_in_the_index_alone(filled):
    vector = unit(*range(1, 385))
    query = SearchQuery("bees in the garden, word7", vector, MODEL, 10)
    searches = {
        model: [
            partial(hybrid_search, visible_rows(model, filled), query, Corpus(ROWS, 3 * ROWS)),
            partial(nearest, visible_rows(model, filled), vector, MODEL, 10, -1),
        ]
        for model in INDEXES
    }

    # Nothing is known of the tables yet, so every estimate is wrong; the work must grow with the rows all the same.
    for call in chain(*searches.values()):
        assert max(node["Actual Loops"] * max(node["Actual Rows"], 1) for node in plan_of(call)) <= 3 * ROWS

    wait_for(lambda: settled({model: near for model, (_, near) in searches.items()}), open_transactions)
    for model, (search, near) in searches.items():
        nodes = plan_of(search)
        ours = [node for node in nodes if node.get("Relation Name") == model._meta.db_table]
        # What was found is fetched one by one; all else is read once.
        (scan,) = [node for node in ours if node["Actual Loops"] == 1]
        assert sum(node["Actual Loops"] for node in ours) == 1 + query.top_k
        assert scan["Actual Rows"] == ROWS
        assert scan["Node Type"] != "Seq Scan"
        assert not [node for node in nodes if "hnsw" in node.get("Index Name", "")]

        (scan,) = scans_of(model, near)
        assert (scan["Node Type"], scan["Index Name"]) == ("Index Only Scan", INDEXES[model])
        assert (scan["Actual Rows"], scan["Heap Fetches"]) == (ROWS, 0)

    LegacyFact.objects.filter(legacy=filled).update(reviewed_at=timezone.now())
    LegacyFact.objects.filter(pk=LegacyFact.objects.filter(legacy=filled).first().pk).update(reviewed_at=None)
    nodes = plan_of(partial(nearest, visible_rows(LegacyFact, filled, "before"), vector, MODEL, 10, -1))
    only = [node for node in nodes if node["Node Type"] == "Index Only Scan"]
    assert "fact_vectors" in {node["Index Name"] for node in only}
    assert max(node["Actual Loops"] * max(node["Actual Rows"], 1) for node in nodes) <= 3 * ROWS
