"""What somebody corrects in a talk counts at once: read once, nothing left out, and no prompt says the old thing."""

import pytest
from django.db import connection
from django.utils import timezone

from accounts.queries import principal_for_person
from assistant.learn import actions as reading
from assistant.learn import summarizing
from assistant.learn.knowing import known_memories
from assistant.recall.turn import FORMATS, prepare_turn
from conversations.actions import NewMessage, conversation_create, messages_append
from conversations.models import ConversationChunk, Message
from journal.models import JobRun
from language.base import Extraction, ModelUnavailable
from memories import actions as memories
from memories.models import Memory, MemoryVersion
from memories.records import NewMemory
from memory_project.management.commands.audit import INVARIANTS

from .conftest import say
from .extracting import contents

pytestmark = pytest.mark.django_db
CORRECTION = "Actually it's the viola, not the cello."
RIGHT = "The user plays the viola."


@pytest.fixture
def remembered(me):
    """Cello, as it stands in the block that the talk is pinned to."""
    return memories.memory_add(me, NewMemory("The user plays the cello.", "profile")).memory


@pytest.fixture
def conversation(owner, me, talk, remembered):
    conversation = talk(owner)
    turn(me, conversation, "Good morning.")
    return conversation


def turn(me, conversation, said):
    """A turn that is saved, with its answer."""
    prepare_turn(principal_for_person(me.user_id), conversation.pk, said, save=True)
    messages_append(me, conversation.pk, [NewMessage("assistant", "I see.")])


def let_time_pass():
    """Jobs whose lease or whose wait was to end have it behind them."""
    JobRun.objects.filter(state="waiting").update(not_before=timezone.now())
    JobRun.objects.filter(state="running").update(lease_until=timezone.now())


def work(conversation):
    """What the worker does with a conversation, told by the queue or found by the sweep."""
    reading.extract_messages(conversation.pk)
    summarizing.maybe_summarize(conversation.pk)


def check_prompts(me, conversation, memory):
    """The last that any prompt says of the memory is the viola, there and in a talk that begins now."""
    for format_name in FORMATS:
        made = prepare_turn(principal_for_person(me.user_id), conversation.pk, "What do I play?", format=format_name)
        for text in (made.text, made.difference):
            last = [line for line in text.splitlines() if f"[id:{memory.pk}]" in line][-1]
            assert "now: " in last
            assert "viola" in last
            assert "cello" not in last
    assert contents() == [RIGHT]
    assert "cello" not in str(list(Memory.objects.filter(state="active").values()))


def check_record(conversation):
    """Every message is read once, the chunks cover each once, and no invariant is broken."""
    users = Message.objects.filter(conversation=conversation, role="user")
    assert not users.filter(reading_due__isnull=False).exists()
    ranges = ConversationChunk.objects.filter(conversation=conversation).order_by("message_range_start")
    covered = [n for chunk in ranges for n in range(chunk.message_range_start, chunk.message_range_end)]
    assert len(covered) == len(set(covered))
    assert MemoryVersion.objects.filter(content=RIGHT).count() == 1
    with connection.cursor() as cursor:
        for name, sql in INVARIANTS.items():  # Those of ``manage.py audit``.
            cursor.execute(sql)
            assert cursor.fetchall() == [], name


class TestACorrection:
    @pytest.fixture(params=["goes on", "is finished right after", "is finished and worked on first"])
    def after(self, request):
        """What happens to the talk after the correction."""
        return request.param

    def test_two_turns_later_every_prompt_says_viola(self, me, conversation, remembered, after):
        turn(me, conversation, CORRECTION)
        if after != "goes on":
            summarizing.conversation_finish(me, conversation.pk)
        if after == "is finished and worked on first":
            summarizing.maybe_summarize(conversation.pk)
        work(conversation)
        for said in ("We rehearse on Fridays." if after == "goes on" else "Good.", "What else?"):
            turn(me, conversation, said)
        check_prompts(me, conversation, remembered)
        check_record(conversation)

    def test_of_what_came_in_together_with_it(self, owner, me, talk):
        conversation = talk(owner)
        say(owner, conversation, "I play the cello.", "How nice.", "I live by the sea.", "Lovely.", CORRECTION)
        work(conversation)
        assert contents() == ["The user lives by the sea.", RIGHT]

    def test_takes_along_what_was_said_there_and_nobody_has_read(self, owner, me, talk):
        """The batch would learn it as it was said, after the correction."""
        conversation = talk(owner)
        for said in ("I play the cello.", CORRECTION):
            say(owner, conversation, said, "I see.")
        assert Message.objects.filter(reading_due__isnull=False).count() == 2
        work(conversation)
        assert contents() == [RIGHT]
        summarizing.conversation_finish(me, conversation.pk)
        work(conversation)
        assert contents() == [RIGHT]
        assert Memory.objects.count() == 1
        check_record(conversation)

    def test_while_a_batch_is_under_way_is_read_by_itself(self, owner, me, talk, model):
        """The batch began before it was said, and leaves what it had read to the reading."""
        conversation = talk(owner)
        say(owner, conversation, "I play the cello.", "I see.")
        summarizing.conversation_finish(me, conversation.pk)

        def answer(request):
            if Message.objects.filter(conversation=conversation).count() == 2:
                say(owner, conversation, CORRECTION)
            return Extraction("They spoke of music.", "scripted")

        model.answer = answer
        model.calls([("add_to_memory", _cello())])
        summarizing.maybe_summarize(conversation.pk)
        assert contents() == []
        model.calls([("add_to_memory", {**_cello(), "content": RIGHT})])
        work(conversation)
        assert contents() == [RIGHT]
        check_record(conversation)

    def test_with_the_model_away_is_read_by_the_rules(self, me, conversation, remembered, model, monkeypatch):
        away(model, monkeypatch)
        turn(me, conversation, CORRECTION)
        summarizing.conversation_finish(me, conversation.pk)
        work(conversation)
        turn(me, conversation, "Good.")
        check_prompts(me, conversation, remembered)
        assert JobRun.objects.get(kind=reading.JOB).state == "done"
        monkeypatch.undo()
        asked = len(model.tool_requests)
        let_time_pass()
        model.calls([])
        summarizing.conversation_finish(me, conversation.pk)
        work(conversation)
        assert CORRECTION not in {said for request in model.tool_requests[asked:] for said in _teaching(request)}
        check_prompts(me, conversation, remembered)
        check_record(conversation)

    def test_with_the_model_away_what_the_rules_cannot_mend_waits(self, me, conversation, model, monkeypatch):
        away(model, monkeypatch)
        turn(me, conversation, "Actually it's Faro, not Porto.")
        turn(me, conversation, "Sorry, I meant the other one.")
        work(conversation)
        assert Message.objects.filter(reading_due__isnull=False).count() == 3
        assert contents() == ["The user plays the cello."]

    @pytest.mark.parametrize("where", ["writing.record_update", "actions.mention_places", "actions.find_memories"])
    def test_with_the_worker_killed_in_the_middle_is_read_once(self, me, conversation, remembered, monkeypatch, where):
        class Killed(BaseException):
            pass

        def kill(*_, **__):
            raise Killed

        turn(me, conversation, CORRECTION)
        summarizing.conversation_finish(me, conversation.pk)
        with monkeypatch.context() as patch:
            patch.setattr(f"assistant.learn.{where}", kill)
            with pytest.raises(Killed):
                reading.extract_messages(conversation.pk)
        assert contents() == ["The user plays the cello."]
        summarizing.maybe_summarize(conversation.pk)  # The batch leaves it to the reading all the same.
        assert contents() == ["The user plays the cello."]
        let_time_pass()
        assert summarizing.sweep()["unread"] == 1
        work(conversation)
        turn(me, conversation, "Good.")
        check_prompts(me, conversation, remembered)
        check_record(conversation)


def away(model, monkeypatch):
    def raises(_):
        raise ModelUnavailable("away")

    for method in ("choose_tools", "extract"):
        monkeypatch.setattr(model, method, raises)


def _cello():
    return {
        "content": "The user plays the cello.",
        "category": "profile",
        "evidence": {"index": 0, "quote": "I play the cello."},
    }


def _teaching(request):
    return [message.content for message in request.messages if message.role == "user"]


def test_a_new_age_is_told_of_one_memory_among_many_nearer_ones(me, talk, owner):
    """The memory has no word of the message, and is not in the block."""
    for number in range(25):
        memories.memory_add(me, NewMemory(f"The user turned to page {number + 100} yesterday.", "event"))
    age = memories.memory_add(me, NewMemory("The user is 58.", "history")).memory
    assert age.pk in {each.id for each in known_memories(me, ["I turned 59!"], vectors=True)}
    conversation = talk(owner)
    say(owner, conversation, "I turned 59 yesterday!")
    summarizing.conversation_finish(me, conversation.pk)
    work(conversation)
    age.refresh_from_db()
    assert age.content == "The user is 59."


def test_what_an_agent_relays_to_have_changed_counts_before_the_talk_ends(settings, bot):
    """Reproduction: the prompts said that the user drives a Volvo until the conversation had thirty messages."""
    settings.KEEPSAKE_EMBEDDER = "bundled"
    memories.memory_add(bot, NewMemory("The user drives a Volvo.", "context"))
    conversation = conversation_create(bot)
    prepare_turn(bot, conversation.pk, "I sold the Volvo; I drive a Skoda now.", save=True)
    reading.extract_messages(conversation.pk)
    assert sorted(contents()) == ["The user drives a Skoda.", "The user sold the Volvo."]
