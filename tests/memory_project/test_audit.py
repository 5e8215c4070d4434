"""``manage.py audit`` holds on a person of whom every table holds something, and tells of each fault."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

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
