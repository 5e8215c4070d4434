"""Rolling summary: when it starts, which range it takes, what it keeps, and that a failure changes nothing."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.actions import preferences_set
from accounts.models import Agent
from accounts.queries import principal_for_person
from accounts.scope import current_principal
from assistant.learn import summarizing as actions
from conversations.actions import PassagePlace, passages_withhold
from conversations.models import Conversation, ConversationChunk, Message
from facts.models import LegacyFact
from journal.leases import cancel_job
from journal.models import JobRun, Ledger, OperationEvent
from language.base import Extraction, FactCandidate, ModelAnswerInvalid, ModelUnavailable
from language.fillers import NOTHING_NEW
from statements.models import Candidate
from tests import factories
from tests.conftest import AwayEmbedder, with_key

from .conftest import say

pytestmark = pytest.mark.django_db


def ranges(conversation):
    chunks = ConversationChunk.objects.filter(conversation=conversation).order_by("message_range_start")
    return list(chunks.values_list("message_range_start", "message_range_end"))


def due_now(conversation):
    JobRun.objects.filter(subject_id=str(conversation.pk)).update(not_before=timezone.now())


@pytest.mark.parametrize(
    ("count", "expected"), [(0, []), (29, []), (30, []), (31, [(0, 20)]), (50, [(0, 20)]), (51, [(0, 20), (20, 40)])]
)
def test_maybe_summarize_fires_only_above_the_threshold(owner, legacy, model, talk, count, expected):
    conversation = talk(owner, legacy, count)
    assert actions.maybe_summarize(conversation.pk) == len(expected)
    assert ranges(conversation) == expected
    conversation.refresh_from_db()
    assert conversation.summarized_upto == (expected[-1][1] if expected else 0)


def test_the_batch_is_the_oldest_twenty(owner, legacy, model, talk):
    conversation = talk(owner, legacy, 31)
    actions.maybe_summarize(conversation.pk)
    (request,) = model.requests
    assert [message.index for message in request.messages] == list(range(20))
    assert request.legacy_name == legacy.name
    assert request.user_name == "Olga Owner"


def test_summarizing_again_does_nothing(owner, legacy, model, talk):
    conversation = talk(owner, legacy, 31)
    actions.maybe_summarize(conversation.pk)
    assert actions.maybe_summarize(conversation.pk) == 0
    assert len(model.requests) == 1


def test_the_database_refuses_a_range_twice_and_an_overlap(owner, legacy, model, talk):
    conversation = talk(owner, legacy, 31)
    actions.maybe_summarize(conversation.pk)
    chunk = ConversationChunk.objects.get()
    for start, end in [(0, 20), (19, 25), (5, 5), (9, 3)]:
        chunk.pk = None
        chunk._state.adding = True
        chunk.message_range_start, chunk.message_range_end = start, end
        with pytest.raises(IntegrityError), transaction.atomic():
            chunk.save(force_insert=True)
    assert ranges(conversation) == [(0, 20)]


def test_a_chunk_has_its_vector_and_says_who_wrote_it(owner, legacy, model, talk):
    conversation = talk(owner, legacy, 31)
    actions.maybe_summarize(conversation.pk)
    chunk = ConversationChunk.objects.get()
    assert chunk.embedding is not None
    assert chunk.embedding_model
    assert chunk.written_by == "scripted"
    assert (chunk.user, chunk.legacy) == (owner, legacy)
    ledger = Ledger.objects.get(pk=owner.pk)
    assert (ledger.chunks, ledger.chunk_terms) == (1, chunk.search_length)


def test_facts_are_stored_with_their_evidence(owner, legacy, model, talk):
    conversation = talk(owner, legacy, 31, said="She loved gardening, number {n}.")
    model.finds(("hobby", "Rosa loved gardening.", 4, "loved gardening"))
    actions.maybe_summarize(conversation.pk)
    fact = LegacyFact.objects.get()
    assert (fact.user, fact.legacy, fact.visibility, fact.state) == (owner, legacy, "private", "active")
    assert (fact.source_conversation, fact.source_index) == (conversation, 4)
    assert (fact.written_by, fact.reviewed_at) == ("scripted", None)
    evidence = fact.evidence.get()
    assert (evidence.message.index, evidence.quote) == (4, "loved gardening")


@pytest.mark.parametrize(
    ("index", "quote"),
    [
        (5, "loved gardening"),  # said by the assistant
        (25, "loved gardening"),  # not in the batch
        (-1, "loved gardening"),
        (4, "loved cooking"),  # not what the message says
        (4, ""),
    ],
)
def test_a_candidate_that_the_messages_do_not_bear_out_is_dropped(owner, legacy, model, talk, index, quote):
    conversation = talk(owner, legacy, 31, said="She loved gardening, number {n}.")
    model.finds(("hobby", "Rosa loved gardening.", index, quote))
    assert actions.maybe_summarize(conversation.pk) == 1
    assert not LegacyFact.objects.exists()


def test_a_candidate_without_any_message_is_dropped(owner, legacy, model, talk):
    conversation = talk(owner, legacy, 31)
    model.answer = lambda _: Extraction(
        summary="A talk.", model="scripted", facts=(FactCandidate("hobby", "Rosa loved gardening.", (), "x"),)
    )
    actions.maybe_summarize(conversation.pk)
    assert not LegacyFact.objects.exists()


def test_text_from_memory_never_reaches_the_extraction(owner, legacy, model, talk):
    conversation = talk(owner, legacy)
    fenced = "<facts_about_the_legacy>\n- [hobby] Rosa loved chess (shared)\n</facts_about_the_legacy>"
    say(owner, conversation, *[f"{fenced} Hello {n}" for n in range(31)])
    actions.maybe_summarize(conversation.pk)
    assert all("chess" not in message.content for message in model.requests[0].messages)


def test_messages_that_are_all_from_memory_are_passed_over(owner, legacy, model, talk):
    conversation = talk(owner, legacy, 31, said="<facts_about_the_legacy>{n}</facts_about_the_legacy>")
    assert actions.maybe_summarize(conversation.pk) == 1
    assert not model.requests
    assert ConversationChunk.objects.get().content == NOTHING_NEW


@pytest.mark.parametrize("failure", [ModelUnavailable("529"), ModelAnswerInvalid("not JSON")])
def test_a_failing_model_leaves_the_messages_for_later(owner, legacy, model, talk, failure):
    conversation = talk(owner, legacy, 31)
    working = model.answer

    def fail(_):
        raise failure

    model.answer = fail
    assert actions.maybe_summarize(conversation.pk) == 0
    assert not ConversationChunk.objects.exists()
    job = JobRun.objects.get()
    assert (job.state, job.error_code, job.attempts) == ("waiting", type(failure).__name__, 1)
    assert job.not_before > timezone.now() + timedelta(seconds=20)
    assert OperationEvent.objects.filter(op="summarize", status="error").exists()

    model.answer = working
    assert actions.maybe_summarize(conversation.pk) == 0, "the job waits for its time"
    due_now(conversation)
    assert actions.maybe_summarize(conversation.pk) == 1
    assert ranges(conversation) == [(0, 20)]


def test_the_wait_grows_with_each_failure(owner, legacy, model, talk):
    conversation = talk(owner, legacy, 31)
    model.answer = lambda _: Extraction(summary="  ", model="scripted")
    waits = []
    for _ in range(3):
        due_now(conversation)
        actions.maybe_summarize(conversation.pk)
        waits.append((JobRun.objects.get().not_before - timezone.now()).total_seconds())
    assert waits[0] < waits[1] < waits[2]


def test_a_failing_batch_does_not_block_appends_or_other_conversations(owner, member, legacy, model, talk):
    failing, other = talk(owner, legacy, 31), talk(member, legacy, 31)
    working = model.answer

    def answer(request):
        if request.user_name == "Olga Owner":
            raise ModelUnavailable("away")
        return working(request)

    model.answer = answer
    actions.maybe_summarize(failing.pk)
    assert actions.maybe_summarize(other.pk) == 1
    assert say(owner, failing, "still here")[0].index == 31


def test_with_the_embedder_away_the_batch_waits(owner, legacy, model, talk, monkeypatch):
    conversation = talk(owner, legacy, 31)
    with monkeypatch.context() as patch:
        patch.setattr("assistant.learn.summarizing.get_embedder", AwayEmbedder)
        assert actions.maybe_summarize(conversation.pk) == 0
    assert not ConversationChunk.objects.exists()
    assert JobRun.objects.get().error_code == "EmbedderUnavailable"
    due_now(conversation)
    assert actions.maybe_summarize(conversation.pk) == 1


def test_a_failing_write_leaves_nothing_half_done(owner, legacy, model, talk, monkeypatch):
    conversation = talk(owner, legacy, 31)

    def fail(*_, **__):
        raise IntegrityError("no")

    model.finds(("hobby", "Rosa loved gardening.", 4, "I remember her well"))
    with monkeypatch.context() as patch:
        patch.setattr("assistant.learn.telling_facts.record_extracted", fail)
        with pytest.raises(IntegrityError):
            actions.maybe_summarize(conversation.pk)
    conversation.refresh_from_db()
    assert conversation.summarized_upto == 0
    assert not ConversationChunk.objects.exists()
    assert Ledger.objects.get(pk=owner.pk).chunks == 0
    assert JobRun.objects.get().state == "waiting"


def test_a_worker_that_lost_its_lease_writes_nothing(owner, legacy, model, talk):
    conversation = talk(owner, legacy, 31)
    working = model.answer

    def taken_over(request):
        """While this worker waits for the model its lease ends and another one does the batch."""
        JobRun.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        model.answer = working
        assert actions.maybe_summarize(conversation.pk) == 1
        return working(request)

    model.answer = taken_over
    assert actions.maybe_summarize(conversation.pk) == 0
    assert ranges(conversation) == [(0, 20)]
    assert JobRun.objects.get().state == "done"


def test_finish_takes_the_rest_as_one_batch(api, owner, legacy, model, talk):
    conversation = talk(owner, legacy, 7)
    answer = api(owner).post(f"/api/v1/conversations/{conversation.pk}/finish/")
    assert answer.status_code == 202
    assert api(owner).get(f"/api/v1/jobs/{answer.json()['id']}/").json()["state"] == "waiting"
    assert actions.maybe_summarize(conversation.pk) == 1
    assert ranges(conversation) == [(0, 7)]
    assert api(owner).get(f"/api/v1/jobs/{answer.json()['id']}/").json()["state"] == "done"


def test_a_narrowed_key_sees_no_job_of_a_conversation_that_it_can_t_see(api, owner, legacy, model, talk, agent):
    """Reproduction: a key without turns was told of the person's other conversations by their jobs."""
    conversation = talk(owner, legacy, 7)
    job = f"/api/v1/jobs/{api(owner).post(f'/api/v1/conversations/{conversation.pk}/finish/').json()['id']}/"
    read = JobRun.objects.create(kind="extract_messages", subject_id=str(conversation.pk), user_id=owner.pk)
    whole = JobRun.objects.create(kind="of the whole person", subject_id="1", user_id=owner.pk)
    narrow = api(
        with_key(factories.AgentFactory(name="narrow", owner=owner, role="planner"), ["read", "write", "admin"])
    )
    paths = [job, f"/api/v1/jobs/{read.pk}/", f"/api/v1/jobs/{whole.pk}/"]
    assert [api(agent).get(path).status_code for path in paths] == [200, 200, 404]
    assert [narrow.get(path).status_code for path in paths] == [404, 404, 404]
    missing = narrow.get(f"/api/v1/jobs/{uuid4()}/")
    assert narrow.get(job).content == missing.content
    assert narrow.post(f"{job}cancel/").status_code == 404
    Conversation.objects.update(agent=Agent.objects.get(name="narrow"))
    assert narrow.get(job).status_code == 200


def test_finish_of_a_long_conversation_rolls_first(owner, legacy, model, talk):
    conversation = talk(owner, legacy, 45)
    actions.conversation_finish(principal_for_person(owner.pk), conversation.pk)
    actions.maybe_summarize(conversation.pk)
    assert ranges(conversation) == [(0, 20), (20, 45)]


def test_finish_with_nothing_left_says_so(api, owner, model, talk):
    conversation = talk(owner)
    assert api(owner).post(f"/api/v1/conversations/{conversation.pk}/finish/").status_code == 200
    assert not JobRun.objects.exists()


def test_appending_reopens_a_finished_conversation(owner, model, talk):
    conversation = talk(owner, count=3)
    actions.conversation_finish(principal_for_person(owner.pk), conversation.pk)
    say(owner, conversation, "one more thing")
    conversation.refresh_from_db()
    assert conversation.finished_at is None
    assert actions.maybe_summarize(conversation.pk) == 0


@pytest.mark.parametrize("who", ["member", "stranger", "staff", "other_agent"])
def test_only_the_person_and_their_agents_finish_a_conversation(api, request, owner, legacy, talk, who):
    conversation = talk(owner, legacy, 3)
    answer = api(request.getfixturevalue(who)).post(f"/api/v1/conversations/{conversation.pk}/finish/")
    assert answer.status_code == 404
    conversation.refresh_from_db()
    assert conversation.finished_at is None


def test_an_idle_conversation_is_finished(owner, member, legacy, model, talk):
    idle, busy = talk(owner, legacy, 3), talk(member, legacy, 3)
    Conversation.objects.filter(pk=idle.pk).update(last_message_at=timezone.now() - timedelta(minutes=61))
    assert actions.finish_idle() == 1
    idle.refresh_from_db()
    busy.refresh_from_db()
    assert idle.finished_at is not None
    assert busy.finished_at is None
    assert actions.maybe_summarize(idle.pk) == 1


def test_the_sweep_finds_what_was_lost(owner, legacy, model, talk, monkeypatch, django_capture_on_commit_callbacks):
    sent = []
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda _, name, args=(), **__: sent.append((name, *args)))
    conversation = talk(owner, legacy, 31)
    talk(owner, legacy, 5)
    with django_capture_on_commit_callbacks(execute=True):
        found = actions.sweep()
    assert found == {
        "conversations": 1,
        "messages": 1,
        "facts": 0,
        "memories": 0,
        "unread": 0,
        "hidden": 0,
        "waiting": 0,
    }
    assert ("assistant.maybe_summarize", str(conversation.pk)) in sent
    assert ("conversations.index_messages",) in sent


def test_the_sweep_leaves_alone_what_is_held_or_waits(owner, legacy, model, talk):
    conversation = talk(owner, legacy, 31)
    model.answer = lambda _: Extraction(summary="", model="scripted")
    actions.maybe_summarize(conversation.pk)
    assert actions.sweep()["conversations"] == 0
    due_now(conversation)
    assert actions.sweep()["conversations"] == 1


def test_a_private_conversation_is_neither_summarised_nor_does_it_teach(owner, legacy, model, talk):
    conversation = talk(owner, legacy, 31, private=True)
    model.finds(("hobby", "Rosa loved gardening.", 4, "I remember her well"))
    assert actions.maybe_summarize(conversation.pk) == 0
    assert actions.conversation_finish(principal_for_person(owner.pk), conversation.pk) is None
    due_now(conversation)
    assert actions.sweep()["conversations"] == 0
    assert not LegacyFact.objects.exists()
    assert not ConversationChunk.objects.exists()


def test_what_was_said_with_memory_off_stays_out_after_switching_on_again(owner, model, talk, api):
    me = principal_for_person(owner.pk)
    conversation = talk(owner)
    say(owner, conversation, "My parrot is green.")
    preferences_set(me, has_memory=False)
    say(owner, conversation, "My parrot sings the anthem.", "It sings well.")
    preferences_set(principal_for_person(owner.pk), has_memory=True)
    say(owner, conversation, "My parrot eats nuts.")
    read = []
    model.answer = lambda request: (
        read.extend(each.content for each in request.messages) or Extraction(summary="A parrot.", model="scripted")
    )
    actions.conversation_finish(principal_for_person(owner.pk), conversation.pk)
    actions.maybe_summarize(conversation.pk)
    assert read == ["My parrot is green.", "My parrot eats nuts."]
    asked = {"query": "What does my parrot sing?", "sources": ["turns", "chunks"], "threshold": -1}
    answer = api(owner).post("/api/v1/memories/query/", asked, format="json").json()
    found = [each["text"] for each in answer["results"]]
    assert any("green" in text for text in found)
    assert not any("anthem" in text for text in found)
    made = api(owner).post(f"/api/v1/conversations/{talk(owner).pk}/turn/", {"content": "What sings?"}, format="json")
    assert "anthem" not in made.json()["text"]


def test_with_memory_off_nothing_is_learned(owner, legacy, model, talk):
    conversation = talk(owner, legacy, 31)
    preferences_set(principal_for_person(owner.pk), has_memory=False)
    model.finds(("hobby", "Rosa loved gardening.", 4, "I remember her well"))
    actions.maybe_summarize(conversation.pk)
    assert not LegacyFact.objects.exists()


def test_a_conversation_without_legacy_is_summarised(owner, model, talk):
    conversation = talk(owner, count=31)
    assert actions.maybe_summarize(conversation.pk) == 1
    assert model.requests[0].legacy_name is None


def test_an_unknown_conversation_is_nothing_to_do(db):
    assert actions.maybe_summarize("00000000-0000-4000-8000-000000000000") == 0


def test_messages_get_their_vectors(owner, talk):
    from conversations.actions import messages_index

    talk(owner, count=3)
    assert messages_index() == 3
    assert messages_index() == 0
    assert not Message.objects.filter(embedding=None).exists()


def test_messages_wait_for_an_embedder_that_is_away(owner, talk, monkeypatch):
    from conversations.actions import messages_index

    talk(owner, count=3)
    with monkeypatch.context() as patch:
        patch.setattr("conversations.actions.derived.get_embedder", AwayEmbedder)
        assert messages_index() == 0
    assert messages_index() == 0, "they wait for their time"
    Message.objects.update(index_not_before=timezone.now())
    assert messages_index() == 3


def many(count):
    return [("hobby", f"Rosa collected porcelain figure number {n}.", 0, "I remember her well") for n in range(count)]


def test_a_batch_teaches_at_most_three_facts_a_user_message(owner, legacy, model, talk, settings):
    settings.FACT_DUPLICATE_SIMILARITY = settings.FACT_RELATED_SIMILARITY = 1.01
    conversation = talk(owner, legacy, 31)
    model.finds(*many(40))
    actions.maybe_summarize(conversation.pk)
    assert LegacyFact.objects.count() == 30


def test_a_person_teaches_at_most_so_many_facts_a_day(owner, legacy, model, talk, settings, time_machine):
    settings.FACT_DUPLICATE_SIMILARITY = settings.FACT_RELATED_SIMILARITY = 1.01
    settings.EXTRACTED_PER_USER_AND_DAY = 5
    time_machine.move_to("2026-03-01T10:00:00Z")
    first, second, third = (talk(owner, legacy, 31) for _ in range(3))
    model.finds(*many(4))
    actions.maybe_summarize(first.pk)
    model.finds(*[(c, content.replace("figure", "cup"), n, q) for c, content, n, q in many(4)])
    actions.maybe_summarize(second.pk)
    assert LegacyFact.objects.count() == 5
    assert OperationEvent.objects.filter(op="waiting", status="skipped").count() == 3
    time_machine.move_to("2026-03-02T10:10:00Z")  # The clock ran on while the batches were worked on.
    model.finds(*[(c, content.replace("figure", "plate"), n, q) for c, content, n, q in many(4)])
    actions.maybe_summarize(third.pk)
    assert (LegacyFact.objects.count(), Candidate.objects.count()) == (10, 2)  # Three of them waited.


def test_what_the_person_decides_while_the_model_thinks_counts(owner, legacy, model, talk):
    conversation = talk(owner, legacy, 31)
    model.finds(("hobby", "Rosa loved gardening.", 4, "I remember her well"))
    found = model.answer

    def decided_meanwhile(request):
        preferences_set(principal_for_person(owner.pk), has_memory=False)
        return found(request)

    model.answer = decided_meanwhile
    assert actions.maybe_summarize(conversation.pk) == 1
    assert not LegacyFact.objects.exists()


def test_a_message_of_which_a_part_was_withheld_while_the_model_thinks_is_read_again(owner, model, talk):
    """Nothing was learned of the rest, which the person keeps."""
    conversation = talk(owner, None, 31)
    said = conversation.messages.filter(role="user").order_by("index").first()
    Message.objects.filter(pk=said.pk).update(content="My mother smuggled amber. I breed ferrets.")
    found = model.answer

    def withhold(request):
        passages_withhold(
            principal_for_person(owner.pk), [PassagePlace(conversation.pk, said.index, "My mother smuggled amber.")]
        )
        return found(request)

    model.answer = withhold
    assert actions.maybe_summarize(conversation.pk) == 1
    due = Message.objects.due_for_extraction(timezone.now())
    assert list(due.values_list("index", "content")) == [(said.index, "[withheld] I breed ferrets.")]


def test_nothing_is_learned_from_somebody_who_left_the_legacy(member, legacy, model, talk):
    conversation = talk(member, legacy, 31)
    legacy.memberships.filter(user=member).delete()
    model.finds(("hobby", "Rosa loved gardening.", 4, "I remember her well"))
    assert actions.maybe_summarize(conversation.pk) == 1
    assert not LegacyFact.objects.exists()


def test_what_staff_cancelled_stays_so_until_the_next_message(owner, legacy, model, talk):
    conversation = talk(owner, legacy, 31)
    model.answer = lambda _: Extraction(summary="", model="scripted")
    actions.maybe_summarize(conversation.pk)
    cancel_job(JobRun.objects.get())
    assert actions.sweep()["conversations"] == 0
    assert actions.maybe_summarize(conversation.pk) == 0
    assert JobRun.objects.count() == 1
    say(owner, conversation, "one more thing")
    assert actions.sweep()["conversations"] == 1


def test_a_job_that_came_too_late_is_ended(owner, model, talk):
    conversation = talk(owner, count=3)
    job = actions.conversation_finish(principal_for_person(owner.pk), conversation.pk)
    say(owner, conversation, "wait, not yet")
    assert actions.maybe_summarize(conversation.pk) == 0
    job.refresh_from_db()
    assert job.state == "done"


def test_conversations_of_people_kept_out_do_not_crowd_the_sweeps(owner, model, talk):
    conversation = talk(owner, count=31)
    long_ago = timezone.now() - timedelta(hours=2)
    Conversation.objects.filter(pk=conversation.pk).update(last_message_at=long_ago)
    owner.is_active = False
    owner.save(update_fields=["is_active"])
    assert actions.finish_idle() == 0
    assert actions.sweep()["conversations"] == 0


def test_a_batch_is_worked_on_as_the_person_whose_conversation_it_is(owner, legacy, model, talk):
    conversation = talk(owner, legacy, 31)
    seen = []
    real = model.extract
    model.extract = lambda request: seen.append(current_principal()) or real(request)
    actions.maybe_summarize(conversation.pk)
    assert [(principal.kind, principal.user_id) for principal in seen] == [("job", owner.pk)]
    with pytest.raises(LookupError):
        current_principal()
