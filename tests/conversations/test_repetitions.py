"""What else says the same is found among many messages, and in whatever language they were taken to be."""

import pytest

from conversations.actions import NewMessage, messages_append
from conversations.models import Message
from memories import queries
from tests import factories
from tests.assistant.test_withholding import me, say
from tests.memories.rows import remember

pytestmark = pytest.mark.django_db

CELLO = "The user plays the cello in an orchestra."


def also_said(person, memory):
    return [(each.quote, each.surely) for each in queries.also_said(me(person), memory.pk)]


def test_a_repetition_is_found_behind_hundreds_of_later_messages_that_share_a_word(owner):
    (memory,) = remember(owner, CELLO)
    say(owner, "My orchestra lets me play the cello.")
    talk = factories.ConversationFactory(user=owner)
    for part in range(3):
        later = [f"Yesterday we went to hear an orchestra in town {part}-{number}." for number in range(80)]
        messages_append(me(owner), talk.pk, [NewMessage("user", content) for content in later])
    assert also_said(owner, memory) == [("My orchestra lets me play the cello.", True)]


def test_a_repetition_that_was_taken_for_another_language_is_found(owner):
    (memory,) = remember(owner, CELLO)
    talk = say(owner, "Cellos, orchestras and I.")
    Message.objects.filter(conversation=talk).update(search_config="simple")  # Its words are not reduced to stems.
    assert also_said(owner, memory) == [("Cellos, orchestras and I.", True)]
