"""What the database itself refuses: what was said and its summaries stay with the person of their conversation."""

import pytest
from django.db import IntegrityError, connection, transaction

from conversations.models import ConversationChunk
from tests import factories


def refused(statement, *values):
    """Run a statement that would fail at the end of its transaction, and return what the database says of it."""
    with pytest.raises(IntegrityError) as error, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET CONSTRAINTS ALL IMMEDIATE; {statement}", values)
    return str(error.value)


@pytest.fixture
def talks(owner, stranger):
    return [factories.ConversationFactory(user=person) for person in (owner, stranger)]


def test_a_message_is_of_its_conversation_s_person(talks):
    mine, theirs = talks
    message = factories.MessageFactory(conversation=mine)
    moved = refused("UPDATE conversations_message SET conversation_id = %s WHERE id = %s", theirs.pk, message.pk)
    assert "message_of_conversation_and_user" in moved


def test_a_summary_is_of_its_conversation_s_person(talks):
    mine, theirs = talks
    chunk = ConversationChunk.objects.create(
        conversation=mine,
        user=mine.user,
        content="They spoke of bees.",
        message_range_start=0,
        message_range_end=1,
        embedding=[1.0],
        embedding_model="m",
    )
    for change, to in (("conversation_id", theirs.pk), ("user_id", theirs.user_id)):
        moved = refused(f"UPDATE conversations_conversationchunk SET {change} = %s WHERE id = %s", to, chunk.pk)
        assert "chunk_of_conversation_and_user" in moved
