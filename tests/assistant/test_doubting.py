"""What somebody says that a memory no longer fits is asked about, beside their words, and changes nothing by itself."""

import pytest

from accounts.actions import preferences_set
from accounts.queries import principal_for_person
from assistant.learn import actions as learning
from assistant.learn import tools
from conversations.models import Message
from journal.models import Change
from journal.undo import undo
from language.backends import embedder_replaced
from language.embedders.e5.embedder import BundledEmbedder
from memories import actions as memories
from memories.models import Memory
from memories.records import NewMemory
from statements.models import Doubt
from tests.desk.test_out_of_date import waiting

from .conftest import say
from .extracting import evidence, operations
from .replying import say as say_in_chat
from .replying import text_of

pytestmark = pytest.mark.django_db(transaction=True)
CAT, GONE = "The user's cat is called Momo.", "Momo died on Friday, we buried her under the lilac."


@pytest.fixture
def memory(owner):
    """A reviewed memory of a cat."""
    return memories.memory_add(principal_for_person(owner.pk), NewMemory(CAT, "person")).memory


@pytest.fixture
def doubted(owner, talk, model, memory):
    """The memory after a model has asked about it."""
    model.calls([(tools.DOUBT, {"memory_id": memory.pk, "evidence": evidence(0, "Momo died")})])
    conversation = talk(owner, channel="assistant")
    say(owner, conversation, GONE)
    learning.extract_messages(conversation.pk)
    memory.refresh_from_db()
    return memory


def test_it_waits_unchanged_beside_what_was_said(owner, client, doubted):
    assert (doubted.content, doubted.version, doubted.state) == (CAT, 1, "active")
    assert operations("ok") == ["doubt"]
    assert waiting(owner, {"cat": doubted}) == ["cat"]
    client.force_login(owner)
    page = client.get(f"/review/?item=memory-{doubted.pk}").content.decode()
    assert "It may be out of date" in page
    assert GONE in page
    assert "asked whether it still holds" in client.get(f"/memories/{doubted.pk}/").content.decode()


def test_the_change_tells_of_no_words(doubted):
    change = Change.objects.get(event="DOUBT")
    message = Message.objects.get(content=GONE)
    assert (change.object_id, change.conversation_id) == (doubted.pk, message.conversation_id)
    assert change.meta == {"message": str(message.pk)}


def test_once_its_words_are_erased_it_still_waits(owner, client, doubted):
    Message.objects.filter(content=GONE).delete()
    client.force_login(owner)
    page = client.get(f"/review/?item=memory-{doubted.pk}").content.decode()
    assert "Not there any more" in page
    assert "lilac" not in page


def test_the_person_s_word_settles_it(owner, doubted):
    me = principal_for_person(owner.pk)
    assert memories.memories_decide(me, {doubted.pk: None}, "approve").done == 1
    assert waiting(owner, {"cat": doubted}) == []


def test_it_waits_again_once_the_decision_is_undone(owner, doubted):
    me = principal_for_person(owner.pk)
    memories.memory_approve(me, doubted.pk)
    assert waiting(owner, {"cat": doubted}) == []
    rev = Change.objects.get(event="APPROVE", object_id=doubted.pk).rev
    assert undo(me, rev, rev).objects == [("memory", doubted.pk)]
    assert waiting(owner, {"cat": doubted}) == ["cat"]
    memories.memory_approve(me, doubted.pk)
    assert waiting(owner, {"cat": doubted}) == []


def test_undo_takes_the_mark_away(owner, doubted):
    me, rev = principal_for_person(owner.pk), Change.objects.get(event="DOUBT").rev
    assert undo(me, rev, rev).objects == [("memory", doubted.pk)]
    assert not Doubt.objects.exists()
    doubted.refresh_from_db()
    assert (doubted.content, doubted.version, doubted.state) == (CAT, 1, "active")
    assert [(each.rev, each.why) for each in undo(me, rev, rev).left] == [(rev, "built_on")]


def test_an_agent_cannot_take_the_mark_away(bot, doubted):
    rev = Change.objects.get(event="DOUBT").rev
    memories.memory_add(bot, NewMemory("The user plays the harp.", "person"))
    left = undo(bot, rev, Change.objects.latest("rev").rev).left
    assert (rev, "not_yours") in [(each.rev, each.why) for each in left]
    assert Doubt.objects.exists()


def test_a_change_before_a_mark_can_be_undone(owner, memory, doubted):
    me = principal_for_person(owner.pk)
    added = Change.objects.get(event="ADD", object_id=memory.pk).rev
    assert undo(me, added, added).undone == 1


def test_where_the_model_may_only_add_nothing_is_asked(owner, talk, model, memory):
    preferences_set(principal_for_person(owner.pk), agentic_memory=False)
    model.calls([(tools.DOUBT, {"memory_id": memory.pk, "evidence": evidence(0, "Momo died")})])
    conversation = talk(owner, channel="assistant")
    say(owner, conversation, GONE)
    learning.extract_messages(conversation.pk)
    assert not Doubt.objects.exists()


def test_the_answer_says_so_without_a_model(owner, api, talk):
    with embedder_replaced(BundledEmbedder()):
        memory = memories.memory_add(principal_for_person(owner.pk), NewMemory(CAT, "person")).memory
        conversation = talk(owner)
        assert "Shall I remember" in text_of(say_in_chat(api(owner), conversation, GONE))
        told = text_of(say_in_chat(api(owner), conversation, "Yes"))
        learning.extract_messages(conversation.pk)
    assert "This waits for your answer: Your cat is called Momo. Does it still hold?" in told
    assert Doubt.objects.get().object_id == memory.pk
    assert Memory.objects.get(pk=memory.pk).content == CAT
