"""What an import brings of words that the person withheld: they are withheld again, however its messages are cut."""

import pytest
from django.utils import timezone

from assistant.imports.loading import append_step, plan_step
from assistant.imports.run import _remove
from conversations.actions import withheld_erase
from conversations.imports.records import ParsedConversation, ParsedMessage
from conversations.models import Conversation, Message, Withheld
from conversations.passages import MARK
from memories.actions import memory_restore
from statements.models import Suppression
from tests.assistant.test_erasure import erase
from tests.assistant.test_withholding import SAID, dont_keep, learned, me, record, say

pytestmark = pytest.mark.django_db

LONGER = f"Good evening. It rained all day. {SAID} What shall I cook?"
LINES = "Good evening\nIt rained, and I play the\ncello in an orchestra\nWhat shall I cook?"


def bring(person, content, external_id="other", role="user"):
    """What is left of a message that an import brings."""
    parsed = ParsedConversation(external_id, "", (ParsedMessage(role, content), ParsedMessage("user", "Bye.")))
    step = plan_step(me(person), parsed, channel="jsonl", legacy_id=None)
    assert sum(append_step(me(person), step, channel="jsonl", legacy_id=None)) == 2
    return record(Conversation.objects.get(external_id=external_id))[0]


@pytest.fixture
def memory(owner):
    """A memory that the person does not want kept, with its sentence withheld."""
    memory = learned(owner, say(owner, SAID))
    dont_keep(owner, memory)
    return memory


def withheld_words():
    """All text that is stored of what was withheld."""
    return set(Withheld.objects.values_list("text", flat=True)) - {""}


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("content", [LONGER, LINES])
def test_inside_a_longer_message(owner, memory, role, content):
    shown = bring(owner, content, role=role)
    assert "cello" not in shown
    assert MARK in shown
    assert (shown.startswith("Good evening"), shown.endswith("What shall I cook?")) == (True, True)


def test_when_no_text_of_it_is_stored_any_more(owner, memory):
    Withheld.objects.update(erase_at=timezone.now())
    withheld_erase()
    assert not withheld_words()
    assert "cello" not in bring(owner, LONGER)
    assert not withheld_words()


def test_after_an_erasure(owner):
    talk = say(owner, SAID)
    erase(owner, "message", Message.objects.filter(conversation=talk).earliest("index").pk)
    assert "cello" not in bring(owner, LONGER)
    assert not withheld_words()


def test_after_the_import_that_brought_it_was_undone_until_it_is_given_back(owner):
    bring(owner, SAID, "first")
    talk = Conversation.objects.get(external_id="first")
    Conversation.objects.update(brought_messages=2)
    memory = learned(owner, talk)
    dont_keep(owner, memory)
    talk.refresh_from_db()
    assert _remove(me(owner), talk)
    assert not withheld_words()
    assert "cello" not in bring(owner, LONGER)
    memory_restore(me(owner), memory.pk)
    assert not Suppression.objects.exists()
    assert bring(owner, f"{LONGER} Or bake?", "third") == f"{LONGER} Or bake?"


def test_given_back_it_stands_where_it_stood(owner, memory):
    bring(owner, LONGER)
    memory_restore(me(owner), memory.pk)
    assert record(Conversation.objects.get(external_id="other"))[0] == LONGER


def test_another_person_and_another_sentence_lose_nothing(owner, stranger, memory):
    assert bring(stranger, LONGER) == LONGER
    other = "My sister plays the cello. I play the piano in a band."
    assert bring(owner, other, "third") == other


def test_it_is_recognised_when_it_is_brought_again(owner, memory):
    bring(owner, LONGER)
    parsed = ParsedConversation("other", "", (ParsedMessage("user", LONGER), ParsedMessage("user", "Bye.")))
    step = plan_step(me(owner), parsed, channel="jsonl", legacy_id=None)
    assert (step.missing, step.objection) == (0, "")
