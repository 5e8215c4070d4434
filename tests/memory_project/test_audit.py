"""``manage.py audit`` holds on a person of whom every table holds something, and tells of each fault."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from memories.models import Memory, MemoryPlanItem
from tests.assistant.rich import rich_person

pytestmark = pytest.mark.django_db(transaction=True)


def audit():
    out = StringIO()
    call_command("audit", stdout=out)
    return out.getvalue()


FAULTS = {
    "UPDATE journal_ledger SET rev = rev + 1 WHERE kind = 'user'": "the revisions of a ledger have a hole",
    "UPDATE journal_ledger SET memories = memories + 1 WHERE kind = 'user'": "what is remembered",
    "UPDATE journal_ledger SET block_tokens = block_tokens + 1 WHERE kind = 'user'": "what is remembered",
    "UPDATE journal_ledger SET turns = turns + 1 WHERE kind = 'user'": "what was said",
    "UPDATE journal_ledger SET facts = facts + 1 WHERE kind = 'legacy'": "its facts",
    "UPDATE memories_memory SET version = version + 1": "the versions of a memory have a hole",
    "UPDATE conversations_conversation SET summarized_upto = summarized_upto - 1": "summaries do not cover",
    "UPDATE conversations_conversation SET message_count = message_count + 1": "messages have a hole",
    "UPDATE memories_tombstone SET fingerprint = 'plain words ' || id": "a suppression holds more",
}


def test_each_fault_is_found_and_named_without_a_text():
    rich_person()
    assert "checks hold." in audit()
    for sql, told in FAULTS.items():
        out = StringIO()
        undo = sql.replace(" - 1", " + 1") if " - 1" in sql else sql.replace(" + 1", " - 1")
        with connection.cursor() as cursor:
            cursor.execute(sql)
        with pytest.raises(CommandError, match="checks failed"):
            call_command("audit", stdout=out)
        assert told in out.getvalue()
        assert "marker" not in out.getvalue()
        if undo != sql:
            with connection.cursor() as cursor:
                cursor.execute(undo)
            audit()


ORPHANS = {
    "UPDATE memories_memory SET embedding = array_fill(0.5::real, ARRAY[vector_dims(embedding)])::halfvec "
    "WHERE embedding IS NOT NULL": "vector is not that of its current version",
    "UPDATE memories_memoryversion SET content = '[erased]' WHERE embedding IS NOT NULL": "stands without a text",
    "UPDATE facts_legacyfact SET version = version + 1": "the versions of a fact have a hole",
}


def failing():
    out = StringIO()
    with pytest.raises(CommandError, match="checks failed"):
        call_command("audit", stdout=out)
    assert "marker" not in out.getvalue()
    return out.getvalue()


@pytest.mark.parametrize(("sql", "told"), ORPHANS.items(), ids=["stale vector", "orphan vector", "fact"])
def test_orphan_vectors_are_found(sql, told):
    rich_person()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL keepsake.purge = 'on'")
        cursor.execute(sql)
        assert cursor.rowcount
    assert told in failing()


def test_a_merge_that_was_done_twice_is_found():
    person = rich_person()
    ended = {"state": "applied", "content": "", "subject": "", "topics": []}
    ended["merged"] = Memory.objects.filter(user=person).first()
    first = MemoryPlanItem.objects.get(user=person)
    MemoryPlanItem.objects.filter(pk=first.pk).update(**ended)
    MemoryPlanItem.objects.create(
        user=person, plan=first.plan, position=1, kind="semantic", category="context", importance=2,
        tokens_before=9, tokens_after=5, **ended,
    )  # fmt: skip
    assert "a merge of a plan was done twice" in failing()
