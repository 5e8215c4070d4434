"""What deciding about many costs, and undoing it: as many statements for a thousand as for one."""

from collections import defaultdict
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.queries import principal_for_person
from facts.actions import facts_decide
from facts.models import LegacyFact
from journal.models import UndoStep
from journal.undo import undo
from memories.actions import memories_decide
from memories.models import Memory
from tests.factories import LegacyFactFactory
from tests.memories.rows import remember

pytestmark = pytest.mark.django_db

MOST = 40


def counted(call):
    with CaptureQueriesContext(connection) as asked:
        result = call()
    return result, len(asked)


@pytest.mark.parametrize("decision", ["approve", "reject", "archive", "restore", "pin", "unpin"])
def test_memories(owner, settings, decision):
    settings.MEMORY_BLOCK_TOKENS = 1_000_000
    me = principal_for_person(owner.pk)
    costs = set()
    for much in (3, 300):
        memories = remember(owner, *(f"The user knows {much} and {n} songs." for n in range(much)))
        ids = dict.fromkeys((memory.pk for memory in memories), None)
        if decision in {"restore", "unpin"}:
            memories_decide(me, ids, {"restore": "archive", "unpin": "pin"}[decision])
        Memory.objects.filter(pk__in=ids).update(reviewed_at=None)
        before = list(Memory.objects.filter(pk__in=ids).order_by("pk").values_list("state", "pinned", "reviewed_at"))
        result, decided = counted(lambda ids=ids: memories_decide(me, ids, decision))
        assert result.done == much
        undone, back = counted(lambda result=result: undo(me, result.first_rev, result.last_rev))
        assert (undone.undone, undone.left) == (much, [])
        after = list(Memory.objects.filter(pk__in=ids).order_by("pk").values_list("state", "pinned", "reviewed_at"))
        assert after == before
        costs.add((decided, back))
    assert len(costs) == 1
    assert max(costs.pop()) <= MOST


def test_no_statement_about_the_log_lists_what_it_found(owner):
    me = principal_for_person(owner.pk)
    longest = []
    for much in (3, 300):
        memories = remember(owner, *(f"The user knows {much} and {n} songs." for n in range(much)))
        result = memories_decide(me, {memory.pk: None for memory in memories}, "pin")
        with CaptureQueriesContext(connection) as asked:
            assert undo(me, result.first_rev, result.last_rev).undone == much
        statements = [each["sql"] or "" for each in asked]  # None for one that came prepared.
        read = [sql for sql in statements if sql.startswith("SELECT") and 'FROM "journal_' in sql]
        assert len(read) >= 4
        longest.append(max(map(len, read)))
    assert longest[1] <= longest[0] + 50  # Revisions have more digits.


def test_facts(owner, legacy):
    """Each decision is about the same facts: undone, they stand as they stood."""
    me = principal_for_person(owner.pk)
    costs = defaultdict(set)
    for much in (3, 300):
        ids = {LegacyFactFactory(legacy=legacy, user=owner, visibility="private").pk: None for _ in range(much)}
        LegacyFact.objects.filter(pk__in=ids).update(reviewed_at=None)
        rows = LegacyFact.objects.filter(pk__in=ids).order_by("pk").values_list("state", "visibility", "reviewed_at")
        before = list(rows)
        for decision in ("approve", "reject", "share", "delete"):
            result, decided = counted(partial(facts_decide, me, ids, decision))
            assert result.done == much
            assert list(rows.all()) != before
            undone, back = counted(partial(undo, me, result.first_rev, result.last_rev))
            assert (undone.undone, undone.left) == (much, [])
            assert list(rows.all()) == before
            costs[decision].add((decided, back))
    for each in costs.values():
        assert len(each) == 1
        assert max(each.pop()) <= MOST
    assert UndoStep.objects.exists()
