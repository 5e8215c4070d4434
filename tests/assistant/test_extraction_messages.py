"""Reading messages by themselves: which ones, once, in order, whatever happens to workers; hold, decline, release."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.actions import preferences_set
from accounts.queries import principal_for_job, principal_for_person
from accounts.scope import enter
from assistant.learn import actions as extraction
from assistant.learn import summarizing as actions
from conversations.actions import PassagePlace, messages_append, passages_withhold
from conversations.models import Conversation, Message
from journal.exceptions import Gated, NotFound, NotYoursToDecide, Refused
from journal.leases import cancel_job, open_job
from journal.models import Change, JobRun, OperationEvent
from language.base import Extraction, MemoryCandidate, ModelUnavailable
from memories import actions as memories
from memories.models import Memory, PlaceMention, Proposal
from memories.records import UNANSWERED, NewMemory
from statements.models import Candidate, Suppression
from tests.conftest import AwayEmbedder
from tests.factories import MemoryFactory
from tests.memories.state import check

from .conftest import say
from .extracting import QUOTE, TEA, add, contents, operations, update

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch, django_capture_on_commit_callbacks):
    """``sent(function, …)`` calls it and returns the tasks that it started."""
    tasks = []
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda _, name, args=(), **__: tasks.append((name, *args)))

    def run(function, *args, **kwargs):
        tasks.clear()
        with django_capture_on_commit_callbacks(execute=True):
            function(*args, **kwargs)
        return list(tasks)

    return run


def marks(conversation):
    rows = Message.objects.filter(conversation=conversation).order_by("index")
    return [(each.processed, each.declined, each.reading_due is not None) for each in rows]


def read_all(conversation):
    JobRun.objects.filter(kind=extraction.JOB, state="waiting").update(not_before=timezone.now())
    return extraction.extract_messages(conversation.pk)


class TestWhichAreRead:
    @pytest.mark.parametrize(
        ("preference", "channel", "expected"),
        [
            (None, "assistant", True),
            (None, "", False),
            (None, "demo", False),
            (True, "", True),
            (False, "assistant", False),
        ],
    )
    def test_the_preference_decides_else_the_channel(self, owner, me, talk, sent, preference, channel, expected):
        preferences_set(me, extract_each_message=preference)
        conversation = talk(owner, channel=channel)
        tasks = sent(say, owner, conversation, TEA, "Lovely.")
        assert marks(conversation) == [(False, False, expected), (False, False, False)]
        assert (("assistant.extract_messages", str(conversation.pk)) in tasks) == expected

    @pytest.mark.parametrize("off", ["private", "has_memory"])
    def test_none_where_nothing_is_learned(self, owner, me, talk, sent, off):
        if off == "has_memory":
            preferences_set(me, has_memory=False)
        conversation = talk(owner, channel="assistant", private=off == "private")
        tasks = sent(say, owner, conversation, TEA)
        assert marks(conversation) == [(False, False, False)]
        assert [name for name, *_ in tasks] == ["conversations.index_messages"]

    @pytest.mark.parametrize(
        ("said", "preference", "expected"),
        [
            ("Actually, my dog is called Max, not Rex.", None, True),
            ("My dog is called Max, not Rex.", None, True),
            ("I no longer live in Porto.", None, True),
            ("I don't play the cello any more.", None, True),
            ("Sorry, I meant the viola.", None, True),
            ("That's wrong, she is my aunt.", None, True),
            ("Actually, my dog is called Max, not Rex.", False, False),
            ("I sold the Volvo; I drive a Skoda now.", None, True),
            ("I sold the Volvo; I drive a Skoda now.", False, False),
            ("Do I no longer live in Porto?", None, False),
            ("Not bad at all!", None, False),
            ("We swam, and the water was lovely.", None, False),
        ],
    )
    def test_what_corrects_something_in_so_many_words_is_read_at_once(
        self, owner, me, talk, sent, said, preference, expected
    ):
        """Reproduction: it counted once the talk was finished or 30 messages long; prompts said the old thing again."""
        preferences_set(me, extract_each_message=preference)
        conversation = talk(owner)
        tasks = sent(say, owner, conversation, said)
        assert (("assistant.extract_messages", str(conversation.pk)) in tasks) == expected
        assert marks(conversation) == [(False, False, expected)]

    def test_none_that_an_import_brings(self, owner, me, talk):
        from conversations.actions import NewMessage

        conversation = talk(owner, channel="assistant")
        messages_append(me, conversation.pk, [NewMessage("user", TEA)], follow_up=False)
        assert marks(conversation) == [(False, False, False)]


class TestReading:
    @pytest.fixture
    def conversation(self, owner, talk):
        return talk(owner, channel="assistant")

    def test_stores_what_it_finds_and_marks_the_message(self, owner, model, conversation):
        model.calls([add()])
        say(owner, conversation, TEA, "Lovely.")
        assert extraction.extract_messages(conversation.pk) == 1
        assert contents() == ["The user drinks green tea."]
        assert marks(conversation) == [(True, False, False), (False, False, False)]
        assert Memory.objects.get().source_conversation == conversation
        assert JobRun.objects.get(kind="extract_messages").result == {"messages": 1}
        check(owner)

    def test_twice_does_it_once(self, owner, model, conversation):
        model.calls([add()])
        say(owner, conversation, TEA)
        assert [extraction.extract_messages(conversation.pk) for _ in range(2)] == [1, 0]
        assert len(model.tool_requests) == 2  # The rounds of one reading.

    def test_shows_what_was_said_before_which_is_no_evidence(self, owner, model, conversation):
        say(owner, conversation, *[f"Message {n} about green tea." for n in range(9)])
        Message.objects.filter(index__lt=8).update(reading_due=None)
        model.calls([add(index=6, quote="green tea"), add(index=7, quote="green tea"), add(index=8, quote="green tea")])
        extraction.extract_messages(conversation.pk)
        assert [message.index for message in model.tool_requests[0].messages] == list(range(2, 9))
        assert [result.ok for result in model.told] == [False, False, True]
        assert "was read before" in model.told[0].content
        assert "is not the user's" in model.told[1].content

    def test_takes_what_waits_together_in_order(self, owner, model, conversation):
        say(owner, conversation, *[f"Message {n}." for n in range(50)])
        assert extraction.extract_messages(conversation.pk) == 25
        assert [min(m.index for m in request.messages if m.role == "user") for request in model.tool_requests][:1] == [
            0
        ]
        assert len(model.tool_requests) == 3

    def test_three_changes_a_message_and_so_many_a_day(self, owner, model, conversation, settings):
        settings.EXTRACTED_PER_USER_AND_DAY = 4
        model.calls([add(f"The user {does} at home.") for does in ("sings", "knits", "paints", "bakes")])
        say(owner, conversation, TEA)
        extraction.extract_messages(conversation.pk)
        assert len(operations("ok")) == 3
        model.calls([add(f"The user {does} abroad.", index=1) for does in ("sails", "skis", "dives")])
        messages_append(principal_for_person(owner.pk), conversation.pk, [user(TEA)])
        extraction.extract_messages(conversation.pk)
        assert len(operations("ok")) == 4
        assert operations("skipped") == ["waiting"] * 4
        assert "The user bakes at home." in contents()

    def test_leaves_its_memories_out_of_the_batch(self, owner, model, conversation, legacy):
        model.calls([add()])
        say(owner, conversation, TEA, "Lovely.", "I get up early.")
        extraction.extract_messages(conversation.pk)
        Message.objects.filter(index=2).update(processed=False)
        model.calls([add("The user loves green tea."), add("The user gets up early.", index=2, quote="get up early")])
        actions.conversation_finish(principal_for_person(owner.pk), conversation.pk)
        actions.maybe_summarize(conversation.pk)
        assert contents() == ["The user drinks green tea.", "The user gets up early."]
        assert [message.index for message in model.requests[-1].messages] == [0, 1, 2], "but it is summarised"

    def test_one_that_still_waits_is_left_out_of_the_batch_too(self, owner, model, conversation):
        say(owner, conversation, TEA)
        model.calls([add()])
        actions.conversation_finish(principal_for_person(owner.pk), conversation.pk)
        assert actions.maybe_summarize(conversation.pk) == 1
        assert model.tool_requests == []
        assert extraction.extract_messages(conversation.pk) == 1
        assert contents() == ["The user drinks green tea."]

    def test_notes_places(self, owner, me, model, conversation):
        memories.place_add(me, "1", "Café Lisboa")
        say(owner, conversation, "I was at cafe lisboa.")
        extraction.extract_messages(conversation.pk)
        assert PlaceMention.objects.get().message.index == 0

    def test_with_the_embedder_away_stores_it_without_a_vector(self, owner, model, conversation, monkeypatch):
        model.calls([add(), add("The user likes to drink green tea.")])
        say(owner, conversation, TEA)
        for module in ("statements.wording", "assistant.recall.search"):
            monkeypatch.setattr(f"{module}.get_embedder", AwayEmbedder)
        assert extraction.extract_messages(conversation.pk) == 1
        assert len(contents()) == 2
        assert not Memory.objects.filter(embedding__isnull=False).exists()
        check(owner)

    def test_without_agentic_memory_only_adds(self, owner, me, model, conversation):
        preferences_set(me, agentic_memory=False)
        found = MemoryCandidate("preference", "The user drinks green tea.", (0,), QUOTE)
        model.answer = lambda _: Extraction("Tea.", "scripted", memories=(found,))
        say(owner, conversation, TEA)
        extraction.extract_messages(conversation.pk)
        assert contents() == ["The user drinks green tea."]
        assert model.tool_requests == []

    @pytest.mark.parametrize("when", ["before", "while"])
    def test_with_memory_off_learns_nothing_and_is_done(self, owner, me, model, conversation, when):
        say(owner, conversation, TEA)

        def off(_=None):
            preferences_set(me, has_memory=False)
            return [add()]

        model.calls(off)
        if when == "before":
            off()
        assert extraction.extract_messages(conversation.pk) == 1
        assert contents() == []
        assert marks(conversation) == [(False, False, False)]

    def test_what_was_said_with_memory_off_is_not_even_context(self, owner, me, model, conversation):
        preferences_set(me, has_memory=False)
        say(owner, conversation, "I sleep badly.")
        extraction.message_hold(me, conversation.pk, 0)
        preferences_set(me, has_memory=True)
        extraction.message_release(me, conversation.pk, 0)
        say(owner, conversation, TEA)
        model.calls([add(index=1), add("The user sleeps badly.", index=0, quote="sleep badly")])
        assert extraction.extract_messages(conversation.pk) == 2
        assert contents() == ["The user drinks green tea."]
        assert [each.content for each in model.tool_requests[0].messages] == [TEA]

    def test_of_text_out_of_memory_learns_nothing(self, owner, model, conversation):
        say(owner, conversation, "<facts_about_the_legacy>I drink green tea</facts_about_the_legacy>")
        assert extraction.extract_messages(conversation.pk) == 1
        assert model.tool_requests == []
        assert marks(conversation) == [(True, False, False)]

    @pytest.mark.parametrize("how", ["message_decline", "message_hold"])
    def test_what_is_decided_while_the_model_thinks_counts(self, owner, me, model, conversation, how):
        say(owner, conversation, TEA)

        def decided(_):
            getattr(extraction, how)(me, conversation.pk, 0)
            return [add()]

        model.calls(decided)
        extraction.extract_messages(conversation.pk)
        assert contents() == []
        assert not Message.objects.get(index=0).processed

    def test_says_in_the_log_how_it_began_and_ended(self, owner, model, conversation):
        model.calls([add()])
        say(owner, conversation, TEA)
        extraction.extract_messages(conversation.pk)
        rows = OperationEvent.objects.filter(op__startswith="update_").order_by("at")
        assert [(each.op, each.status, each.thread_id) for each in rows] == [
            ("update_started", "ok", str(conversation.pk)),
            ("update_completed", "ok", str(conversation.pk)),
        ]


class TestWorkers:
    @pytest.fixture
    def conversation(self, owner, talk):
        conversation = talk(owner, channel="assistant")
        say(owner, conversation, TEA)
        return conversation

    def test_an_unknown_conversation_is_nothing_to_do(self):
        assert extraction.extract_messages("00000000-0000-4000-8000-000000000000") == 0

    def test_a_model_that_is_away_leaves_the_messages(self, model, conversation, monkeypatch):
        def away(_):
            raise ModelUnavailable("away")

        model.calls([add()])
        with monkeypatch.context() as patch:
            patch.setattr(model, "choose_tools", away)
            assert extraction.extract_messages(conversation.pk) == 0
        job = JobRun.objects.get()
        assert (job.state, job.error_code) == ("waiting", "ModelUnavailable")
        assert OperationEvent.objects.filter(op="extract_messages", status="error").exists()
        assert extraction.extract_messages(conversation.pk) == 0, "it waits for its time"
        assert actions.sweep()["unread"] == 0
        assert read_all(conversation) == 1
        assert contents() == ["The user drinks green tea."]

    def test_any_other_failure_too(self, model, conversation, monkeypatch):
        def broken(*_):
            raise ZeroDivisionError

        model.calls([add()])
        with monkeypatch.context() as patch:
            patch.setattr("assistant.learn.actions.mention_places", broken)
            with pytest.raises(ZeroDivisionError):
                extraction.extract_messages(conversation.pk)
        assert contents() == []
        assert marks(conversation) == [(False, False, True)]
        assert read_all(conversation) == 1

    def test_one_that_holds_the_conversation_keeps_others_out(self, model, conversation):
        model.calls(lambda _: [add()] if extraction.extract_messages(conversation.pk) == 0 else [])
        assert extraction.extract_messages(conversation.pk) == 1
        assert len(model.tool_requests) == 1 + 1  # Two rounds, one worker.
        assert contents() == ["The user drinks green tea."]

    @pytest.mark.parametrize("when", ["between two questions", "before the write"])
    def test_one_that_lost_its_lease_writes_nothing(self, model, conversation, when, monkeypatch):
        def taken(_=None):
            JobRun.objects.update(lease_token="00000000-0000-4000-8000-000000000000")
            return [add()]

        if when == "before the write":
            model.calls([add()])
            real = extraction.find_memories
            monkeypatch.setattr(
                extraction, "find_memories", lambda *args, **kwargs: (real(*args, **kwargs), taken())[0]
            )
        else:
            model.calls(taken)
        assert extraction.extract_messages(conversation.pk) == 0
        assert contents() == []
        assert marks(conversation) == [(False, False, True)]

    def test_one_that_was_killed_is_found_by_the_sweep(self, owner, model, conversation, sent):
        job = open_job(extraction.JOB, conversation.pk, user_id=owner.pk)
        JobRun.objects.filter(pk=job.pk).update(
            state="running", lease_token=job.pk, lease_until=timezone.now() + timedelta(minutes=1)
        )
        assert ("assistant.extract_messages", str(conversation.pk)) not in sent(actions.sweep)
        JobRun.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        assert ("assistant.extract_messages", str(conversation.pk)) in sent(actions.sweep)
        model.calls([add()])
        assert extraction.extract_messages(conversation.pk) == 1
        assert contents() == ["The user drinks green tea."]

    def test_a_lost_task_is_found_by_the_sweep(self, conversation, model, sent):
        assert ("assistant.extract_messages", str(conversation.pk)) in sent(actions.sweep)
        assert extraction.extract_messages(conversation.pk) == 1
        assert actions.sweep()["unread"] == 0

    def test_what_staff_cancelled_waits_for_the_next_message(self, owner, conversation, model):
        cancel_job(open_job(extraction.JOB, conversation.pk, user_id=owner.pk))
        assert actions.sweep()["unread"] == 0
        say(owner, conversation, "And coffee.")
        assert actions.sweep()["unread"] == 1

    def test_people_kept_out_are_left_alone(self, owner, conversation, model):
        owner.is_active = False
        owner.save(update_fields=["is_active"])
        assert actions.sweep()["unread"] == 0
        assert extraction.extract_messages(conversation.pk) == 0
        assert JobRun.objects.get().error_code == "NotFound"

    def test_a_message_that_came_meanwhile_is_read_by_the_same_worker(self, owner, conversation, model):
        def more(_):
            if Message.objects.count() == 1:
                say(owner, conversation, "I get up early.")
            return []

        model.calls(more)
        assert extraction.extract_messages(conversation.pk) == 2
        assert marks(conversation) == [(True, False, False)] * 2

    def test_a_message_of_which_a_part_was_withheld_meanwhile_is_read_again(self, owner, me, conversation, model):
        """Nothing was learned of the rest, which the person keeps."""
        say(owner, conversation, "My mother smuggled amber. I breed ferrets.")
        place, texts = PassagePlace(conversation.pk, 1, "My mother smuggled amber."), []

        def withhold(request):
            texts.append(str(request))
            if len(texts) == 1:
                passages_withhold(me, [place])
            return []

        model.calls(withhold)
        extraction.extract_messages(conversation.pk)
        assert ["amber" in text for text in texts] == [True, False]
        assert "I breed ferrets." in texts[1]
        assert marks(conversation) == [(True, False, False)] * 2

    def test_a_job_that_came_too_late_is_ended(self, owner, conversation, model):
        extraction.extract_messages(conversation.pk)
        job = open_job(extraction.JOB, conversation.pk, user_id=owner.pk)
        assert extraction.extract_messages(conversation.pk) == 0
        job.refresh_from_db()
        assert job.state == "done"


def user(content):
    from conversations.actions import NewMessage

    return NewMessage("user", content)


class TestHolding:
    @pytest.fixture
    def conversation(self, owner, talk):
        conversation = talk(owner)
        say(owner, conversation, TEA, "Shall I remember that?", "I get up early.")
        return conversation

    def summarise(self, owner, conversation):
        actions.conversation_finish(principal_for_person(owner.pk), conversation.pk)
        assert actions.maybe_summarize(conversation.pk) == 1

    def test_keeps_a_message_from_everything_that_learns(self, owner, me, model, conversation):
        extraction.message_hold(me, conversation.pk, 0)
        model.calls([add(), add("The user gets up early.", index=2, quote="get up early")])
        self.summarise(owner, conversation)
        assert contents() == ["The user gets up early."]
        assert [message.index for message in model.requests[0].messages] == [1, 2]
        assert extraction.extract_messages(conversation.pk) == 0
        assert actions.sweep()["unread"] == 0

    def test_lapses_after_a_day(self, owner, me, model, conversation, time_machine):
        time_machine.move_to("2026-03-01T10:00:00Z")
        Message.objects.update(created_at=timezone.now(), at=timezone.now())
        extraction.message_hold(me, conversation.pk, 0)
        self.summarise(owner, conversation)
        time_machine.move_to("2026-03-02T10:00:01Z")
        assert actions.sweep()["unread"] == 1
        model.calls([add()])
        assert extraction.extract_messages(conversation.pk) == 1
        memory = Memory.objects.get()
        # They were asked and did not say yes, so it is in no prompt until they approve it.
        assert (memory.content, memory.state, memory.state_reason) == (
            "The user drinks green tea.",
            "proposed",
            UNANSWERED,
        )

    def test_changes_nothing_unanswered(self, me, model, conversation, time_machine):
        time_machine.move_to("2026-03-01T10:00:00Z")
        known = MemoryFactory(user=conversation.user, content="The user drinks black tea.")
        Message.objects.update(created_at=timezone.now(), at=timezone.now())
        extraction.message_hold(me, conversation.pk, 0)
        time_machine.move_to("2026-03-02T10:00:01Z")
        model.calls([update(known, "The user drinks green tea.")])
        assert extraction.extract_messages(conversation.pk) == 1
        known.refresh_from_db()
        assert (known.content, Proposal.objects.get().reason) == ("The user drinks black tea.", UNANSWERED)

    def test_a_later_yes_in_the_talk_is_an_answer(self, me, model, conversation, time_machine):
        time_machine.move_to("2026-03-01T10:00:00Z")
        Message.objects.update(created_at=timezone.now(), at=timezone.now())
        extraction.message_hold(me, conversation.pk, 0)
        Message.objects.filter(index=1).update(content="Shall I remember that?", role="assistant")
        Message.objects.filter(index=2).update(content="Yes, please.", role="user")
        time_machine.move_to("2026-03-02T10:00:01Z")
        model.calls([add()])
        assert extraction.extract_messages(conversation.pk) == 1
        assert Memory.objects.get().state == "active"

    def test_ends_with_its_release(self, me, model, conversation, sent):
        extraction.message_hold(me, conversation.pk, 0)
        tasks = sent(extraction.message_release, me, conversation.pk, 0)
        assert tasks == [("assistant.extract_messages", str(conversation.pk))]
        model.calls([add()])
        assert extraction.extract_messages(conversation.pk) == 1
        assert contents() == ["The user drinks green tea."]

    def test_of_what_was_read_changes_nothing(self, me, model, conversation):
        Message.objects.filter(index=0).update(processed=True)
        message = extraction.message_hold(me, conversation.pk, 0)
        assert (message.held_until, message.reading_due) == (None, None)

    def test_nor_of_what_a_batch_has_read(self, owner, me, model, conversation):
        model.calls([add()])
        self.summarise(owner, conversation)
        message = extraction.message_hold(me, conversation.pk, 0)
        assert (message.held_until, message.reading_due) == (None, None)

    def test_of_what_a_batch_left_alone_goes_on(self, owner, me, model, conversation):
        until = extraction.message_hold(me, conversation.pk, 0).held_until
        self.summarise(owner, conversation)
        assert extraction.message_hold(me, conversation.pk, 0).held_until > until

    def test_releasing_what_is_not_held_changes_nothing(self, me, conversation, sent):
        assert sent(extraction.message_release, me, conversation.pk, 0) == []
        assert marks(conversation)[0] == (False, False, False)


class TestDeclining:
    @pytest.fixture
    def conversation(self, owner, talk):
        conversation = talk(owner, channel="assistant")
        say(owner, conversation, TEA, "Shall I remember that?", "I get up early.")
        return conversation

    def test_keeps_a_message_from_ever_being_learned_from(self, owner, me, model, conversation):
        extraction.message_decline(me, conversation.pk, 0)
        model.calls([add(), add("The user gets up early.", index=2, quote="get up early")])
        assert extraction.extract_messages(conversation.pk) == 1
        actions.conversation_finish(me, conversation.pk)
        actions.maybe_summarize(conversation.pk)
        assert contents() == ["The user gets up early."]
        assert all(message.index != 0 for request in model.requests for message in request.messages)
        change = Change.objects.get(object_type="message")
        assert (change.event, change.conversation_id) == ("WITHHOLD", conversation.pk)

    def test_takes_back_what_was_learned_from_it_alone(self, owner, me, model, conversation):
        both = add("The user gets up early.")
        model.calls([add(), both, add("The user has a cat.", index=2, quote="get up early")])
        extraction.extract_messages(conversation.pk)
        cat = Memory.objects.get(content="The user has a cat.")
        early = Memory.objects.get(content="The user gets up early.")
        memories.memory_approve(me, early.pk)
        extraction.message_decline(me, conversation.pk, 0)
        assert contents() == [early.content, cat.content], "what they approved, or said elsewhere, stays"
        gone = Memory.objects.get(content="The user drinks green tea.")
        assert (gone.state, gone.deleted_why) == ("archived", "person")
        check(owner)
        model.calls([add(index=2, quote="get up early")])
        Message.objects.filter(index=2).update(processed=False, reading_due=timezone.now())
        extraction.extract_messages(conversation.pk)
        assert "suppressed" in operations()
        assert contents() == [early.content, cat.content]

    def test_of_a_candidate_leaves_a_suppression_for_its_wording(self, owner, me, model, conversation):
        extraction.message_decline(me, conversation.pk, 0, "The user drinks green tea.")
        assert Suppression.objects.get().embedding is not None
        model.calls([add(index=2, quote="get up early")])
        extraction.extract_messages(conversation.pk)
        assert contents() == []
        memories.memory_add(me, NewMemory("The user drinks green tea.", "preference"))
        assert contents() == ["The user drinks green tea."]
        assert not Suppression.objects.exists()

    @pytest.mark.parametrize("candidate", ["tea", "The card is 4111 1111 1111 1111."])
    def test_with_a_candidate_that_could_not_be_stored_is_refused(self, me, conversation, candidate):
        with pytest.raises(Gated):
            extraction.message_decline(me, conversation.pk, 0, candidate)
        assert not Message.objects.filter(declined=True).exists()

    def test_twice_is_once(self, me, conversation):
        extraction.message_decline(me, conversation.pk, 0)
        extraction.message_decline(me, conversation.pk, 0)
        assert Change.objects.filter(object_type="message").count() == 1
        assert extraction.message_hold(me, conversation.pk, 0).held_until is None

    def test_is_taken_back_by_the_person_only(self, me, agent, model, conversation):
        from tests.factories import agent_principal

        extraction.message_decline(me, conversation.pk, 0)
        with pytest.raises(NotYoursToDecide):
            extraction.message_release(agent_principal(agent), conversation.pk, 0)
        extraction.message_release(me, conversation.pk, 0)
        assert marks(conversation)[0] == (False, False, True)

    def test_taken_back_of_what_was_read_does_not_read_it_again(self, me, model, conversation):
        extraction.extract_messages(conversation.pk)
        extraction.message_decline(me, conversation.pk, 0)
        extraction.message_release(me, conversation.pk, 0)
        assert marks(conversation)[0] == (True, False, False)

    def test_is_for_what_the_person_said(self, me, conversation):
        for action in (extraction.message_hold, extraction.message_decline, extraction.message_release):
            with pytest.raises(Refused):
                action(me, conversation.pk, 1)
            with pytest.raises(NotFound):
                action(me, conversation.pk, 99)

    def test_a_job_may_read_but_somebody_else_may_not_mark(self, stranger, conversation):
        with pytest.raises(NotFound):
            extraction.message_hold(enter(principal_for_job(stranger.pk)), conversation.pk, 0)


class TestOverRest:
    @pytest.fixture
    def conversation(self, owner, agent, talk):
        conversation = talk(owner, channel="assistant")
        say(owner, conversation, TEA, "Shall I remember that?")
        return conversation

    def address(self, conversation, index=0):
        return f"/api/v1/conversations/{conversation.pk}/messages/{index}/"

    def test_hold_release_decline(self, api, agent, conversation):
        Conversation.objects.filter(pk=conversation.pk).update(agent=agent)
        client = api(agent)
        held = client.patch(self.address(conversation), {"held": True})
        assert (held.status_code, held.json()["index"], held.json()["processed"]) == (200, 0, False)
        assert held.json()["held_until"]
        assert client.patch(self.address(conversation), {"held": False}).json()["held_until"] is None
        body = {"declined": True, "candidate": "The user drinks green tea."}
        declined = client.patch(self.address(conversation), body)
        assert declined.json()["declined"] is True
        assert Suppression.objects.count() == 1
        back = client.patch(self.address(conversation), {"declined": False})
        assert (back.status_code, back.json()["code"]) == (403, "not_yours_to_decide")

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"held": True, "declined": True},
            {"held": True, "candidate": "The user drinks tea."},
            {"declined": False, "candidate": "The user drinks tea."},
            {"declined": True, "candidate": "x" * 501},
            {"held": "perhaps"},
        ],
    )
    def test_anything_else_is_refused(self, api, owner, conversation, body):
        assert api(owner).patch(self.address(conversation), body).status_code == 400
        assert marks(conversation)[0] == (False, False, True)

    @pytest.mark.parametrize("index", [1, 7])
    def test_a_message_that_is_not_the_persons_or_not_there(self, api, owner, conversation, index):
        answer = api(owner).patch(self.address(conversation, index), {"held": True})
        assert answer.status_code == (400 if index == 1 else 404)

    @pytest.mark.parametrize("who", ["member", "stranger", "staff", "other_agent"])
    def test_nobody_else_marks(self, api, request, conversation, who):
        assert api(request.getfixturevalue(who)).patch(self.address(conversation), {"held": True}).status_code == 404

    def test_nor_a_key_that_only_reads(self, api, owner, conversation):
        from tests.conftest import with_key
        from tests.factories import AgentFactory

        reader = with_key(AgentFactory(owner=owner), ["read"])
        assert api(reader).patch(self.address(conversation), {"held": True}).status_code == 403


def test_conversations_are_found_by_what_waits(owner, talk):
    talk(owner, count=3)
    waiting = talk(owner, channel="assistant", count=1)
    assert extraction.unread_conversations(10) == [waiting.pk]
    assert extraction.unread_conversations(0) == []
    assert Conversation.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_eight_workers_at_once_read_it_once(owner, talk, model, at_once):
    model.calls([add()])
    conversation = talk(owner, channel="assistant")
    say(owner, conversation, TEA)
    read = at_once(lambda _: extraction.extract_messages(conversation.pk), 8)
    assert sorted(read) == [0] * 7 + [1]
    assert contents() == ["The user drinks green tea."]
    check(owner)


@pytest.mark.django_db(transaction=True)
def test_the_cap_of_a_day_is_exact_whoever_writes_beside(owner, talk, model, at_once, settings):
    settings.EXTRACTED_PER_USER_AND_DAY = 5
    talks = [talk(owner, channel="assistant") for _ in range(4)]
    for conversation in talks:
        say(owner, conversation, TEA)
    model.calls(
        lambda request: [add(f"The user has the cup {request.messages[0].at.timestamp()} {n}.") for n in range(3)]
    )
    at_once(lambda number: extraction.extract_messages(talks[number].pk), 4)
    assert len(operations("ok")) == 5
    assert Candidate.objects.count() == 7
    check(owner)
