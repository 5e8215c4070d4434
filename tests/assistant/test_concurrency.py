"""Many processes at once, and processes killed in the middle: nothing is lost, and nothing happens twice."""

import io
import json
import signal
from datetime import timedelta
from io import StringIO

import pytest
from celery import current_app
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from accounts.queries import principal_for_person
from assistant.erasure.actions import erasure_request, erasures_sweep
from assistant.erasure.verifying import left_of
from assistant.imports.actions import import_create, sweep_imports
from assistant.learn import actions as extraction
from assistant.learn import learning
from assistant.learn import summarizing as actions
from assistant.learn.insights import insights_due, insights_find
from assistant.learn.waiting import candidates_write
from conversations.actions import NewMessage, conversation_create, messages_append
from conversations.models import ConversationChunk, ConversationImport, ImportPart, Message
from facts.models import LegacyFact
from journal.models import Change, Erasure, JobRun
from memories.actions import consolidations_due, memories_consolidate, memories_forget_unused, memories_index
from memories.models import MEMORY, Memory, MemoryPlanItem
from statements.actions import statements_purge
from statements.models import Candidate
from tests import factories
from tests.conversations.exports import chatgpt_talk
from tests.memories.rows import remember

from . import children
from .consistency import faults, unfinished
from .processes import CONTEXT, PATIENCE_SECONDS, Children, database_url_of_tests, start_fork_server, wait_for
from .rich import rich_person

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

HOBBIES = [
    *(
        "opera",
        "chess",
        "sailing",
        "pottery",
        "fencing",
        "astronomy",
        "beekeeping",
        "calligraphy",
        "archery",
        "weaving",
    ),
    *("skiing", "juggling", "origami", "falconry", "baking", "cycling", "embroidery", "gardening", "yoga", "carpentry"),
    *("surfing", "knitting", "birdwatching", "poetry"),
]


@pytest.fixture(scope="session")
def fork_server(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock():
        start_fork_server(
            DATABASE_URL=database_url_of_tests(),
            KEEPSAKE_EMBEDDER="hashing",
            LOG_LEVEL="ERROR",
            CELERY_SKIP_CHECKS="true",
        )


@pytest.fixture
def processes(transactional_db, fork_server):
    """Children, and an empty queue before and after."""
    current_app.control.purge()
    with Children() as made:
        yield made
    current_app.control.purge()


@pytest.fixture
def person(transactional_db):
    return factories.UserFactory(username="olga", display_name="Olga Owner")


@pytest.fixture
def rosa(person):
    return factories.LegacyFactory(name="Grandmother Rosa", owner=person)


def rows(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def ranges(conversation):
    chunks = ConversationChunk.objects.filter(conversation=conversation).order_by("message_range_start")
    return list(chunks.values_list("message_range_start", "message_range_end"))


def facts_about(legacy):
    return sorted(LegacyFact.objects.filter(legacy=legacy).values_list("content", flat=True))


def stop(process):
    process.terminate()
    process.join(PATIENCE_SECONDS)
    assert process.exitcode == 0


def test_eight_processes_append_while_four_summarise(processes, person, rosa):
    conversation = conversation_create(principal_for_person(person.pk), legacy_id=rosa.pk)
    said = {
        number: [
            ["She loved gardening.", f"She loved {HOBBIES[number]}."],
            *[[f"Writer {number} goes on, {n}."] * (n % 3 + 1) for n in range(8)],
            [f"She loved {HOBBIES[number + 8]}.", "She loved gardening."],
        ]
        for number in range(8)
    }
    total = sum(len(contents) for batches in said.values() for contents in batches)
    together, over = CONTEXT.Barrier(12), CONTEXT.Event()
    writers = [
        processes.start(children.append, conversation.pk, person.pk, batches, together) for batches in said.values()
    ]
    readers = [processes.start(children.summarize_until, conversation.pk, together, over) for _ in range(4)]
    worker = processes.start(children.work_the_queue)
    for writer in writers:
        writer.join(PATIENCE_SECONDS)
        assert writer.exitcode == 0
    wait_for(lambda: not unfinished(rows), lambda: unfinished(rows))
    over.set()
    for reader in readers:
        reader.join(PATIENCE_SECONDS)
        assert reader.exitcode == 0
    assert faults(rows) == {}
    actions.conversation_finish(principal_for_person(person.pk), conversation.pk)
    wait_for(lambda: not unfinished(rows), lambda: unfinished(rows))
    stop(worker)

    assert faults(rows) == {}
    stored = list(Message.objects.order_by("index").values_list("index", "content"))
    assert [index for index, _ in stored] == list(range(total))
    for number, batches in said.items():
        own = [content for _, content in stored if content in {text for batch in batches for text in batch}]
        mine = [text for batch in batches for text in batch if f"{number}" in text or HOBBIES[number] in text]
        assert [content for content in own if content in mine] == mine
    covered = ranges(conversation)
    assert [start for start, _ in covered[1:]] == [end for _, end in covered[:-1]]
    assert covered[0][0] == 0
    assert covered[-1][1] == total
    assert facts_about(rosa) == sorted({f"Rosa loved {hobby}." for hobby in [*HOBBIES[:16], "gardening"]})
    gardening = LegacyFact.objects.get(content="Rosa loved gardening.")
    assert gardening.evidence.count() == 16


@pytest.fixture
def talk_of(person):
    """``talk_of(legacy)`` is a conversation in which two batches are due, with facts in both."""

    def make(legacy):
        principal = principal_for_person(person.pk)
        conversation = conversation_create(principal, legacy_id=legacy.pk)
        said = [f"She loved {HOBBIES[n // 3]}." if n % 3 == 0 else f"Yes, number {n}." for n in range(51)]
        messages_append(principal, conversation.pk, [NewMessage("user", content) for content in said])
        return conversation

    return make


@pytest.mark.parametrize("step", children.STEPS)
def test_a_worker_killed_at_any_step_is_replaced(processes, person, rosa, talk_of, step):
    undisturbed = factories.LegacyFactory(name="Grandmother Rosa", owner=person)
    assert actions.maybe_summarize(talk_of(undisturbed).pk) == 2
    conversation = talk_of(rosa)
    current_app.control.purge()  # The tasks are lost too.

    reached = CONTEXT.Event()
    killed = processes.start(children.summarize_and_stop_at, step, conversation.pk, reached)
    assert reached.wait(PATIENCE_SECONDS)
    killed.kill()
    killed.join(10)
    assert killed.exitcode == -signal.SIGKILL
    assert faults(rows) == {}
    assert ranges(conversation) == ([(0, 20)] if step == "after the commit" else [])

    assert actions.sweep()["conversations"] == 0  # Its lease still holds.
    assert JobRun.objects.filter(subject_id=conversation.pk, state="running").update(lease_until=timezone.now()) == 1
    assert actions.sweep()["conversations"] == 1
    worker = processes.start(children.work_the_queue)
    wait_for(lambda: not unfinished(rows), lambda: unfinished(rows))
    stop(worker)

    assert faults(rows) == {}
    assert ranges(conversation) == [(0, 20), (20, 40)]
    assert facts_about(rosa) == facts_about(undisturbed) != []
    none = {"facts": 0, "memories": 0, "unread": 0, "hidden": 0, "waiting": 0}
    assert actions.sweep() == {"conversations": 0, "messages": 0, **none}


@pytest.mark.parametrize("step", children.ERASURE_STEPS)
def test_an_erasure_that_is_killed_ends(processes, step):
    somebody = rich_person("zanzibar")
    erasure, job = erasure_request(principal_for_person(somebody.pk), "everything")
    current_app.control.purge()
    reached = CONTEXT.Event()
    killed = processes.start(children.erase_and_stop_at, step, job.pk, reached)
    assert reached.wait(PATIENCE_SECONDS)
    killed.kill()
    killed.join(10)
    assert killed.exitcode == -signal.SIGKILL
    assert [*left_of(Erasure.objects.get(pk=erasure.pk))] == ["it is erasing"]
    assert erasures_sweep() == 0  # Its lease still holds.
    assert JobRun.objects.filter(pk=job.pk, state="running").update(lease_until=timezone.now()) == 1
    assert erasures_sweep() == 1
    worker = processes.start(children.work_the_queue)
    wait_for(lambda: Erasure.objects.get(pk=erasure.pk).state == "done", lambda: erasure.pk)
    stop(worker)
    assert [*left_of(Erasure.objects.get(pk=erasure.pk))] == []


@pytest.mark.parametrize("step", children.READING_STEPS)
def test_a_worker_killed_while_it_reads_is_replaced(processes, person, step):
    principal = principal_for_person(person.pk)
    conversation = conversation_create(principal, channel="assistant")
    said = ["I'm a vegetarian.", "My sister Sarah is a nurse.", "Please remember that I live in Lisbon."]
    for content in said:  # One by one: of what comes in together nothing is consent.
        messages_append(principal, conversation.pk, [NewMessage("user", content)])
    current_app.control.purge()

    reached = CONTEXT.Event()
    killed = processes.start(children.read_and_stop_at, step, conversation.pk, reached)
    assert reached.wait(PATIENCE_SECONDS)
    killed.kill()
    killed.join(10)
    assert faults(rows) == {}
    written = step == "after the commit"
    assert Memory.objects.exists() == written

    assert actions.sweep()["unread"] == 0  # Its lease still holds.
    assert JobRun.objects.filter(kind=extraction.JOB, state="running").update(lease_until=timezone.now()) == 1
    assert actions.sweep()["unread"] == (0 if written else 1)
    assert extraction.extract_messages(conversation.pk) == (0 if written else 3)
    assert faults(rows) == {}
    found = " ".join(Memory.objects.filter(state="active").values_list("content", flat=True))
    assert all(word in found for word in ("vegetarian", "nurse", "Lisbon"))
    assert Memory.objects.count() == 3


@pytest.mark.parametrize("step", children.WAITING_STEPS)
def test_what_waits_beyond_the_cap_is_written_once_although_the_worker_is_killed(processes, person, step):
    """Two statements of a message are over the cap; health is written at once."""
    principal = principal_for_person(person.pk)
    conversation = conversation_create(principal, channel="assistant")
    said = "I work as a carpenter. I have a dog called Bello. I play the harp. My sister Lea is a nurse. "
    messages_append(principal, conversation.pk, [NewMessage("user", said + "I am allergic to bee stings.")])
    extraction.extract_messages(conversation.pk)
    current_app.control.purge()
    assert Memory.objects.filter(content__contains="allergic").exists()
    assert (Candidate.objects.count(), Memory.objects.count()) == (2, 3)

    reached = CONTEXT.Event()
    killed = processes.start(children.write_waiting_and_stop_at, step, person.pk, reached)
    assert reached.wait(PATIENCE_SECONDS)
    killed.kill()
    killed.join(10)
    assert killed.exitcode == -signal.SIGKILL
    assert (Candidate.objects.count(), Memory.objects.count()) == (2, 3)

    assert candidates_write(person.pk) == 2
    assert candidates_write(person.pk) == 0
    assert faults(rows) == {}
    assert not Candidate.objects.exists()
    told = Memory.objects.filter(state="active").values_list("content", flat=True)
    assert len(told) == len(set(told)) == 5


@pytest.mark.parametrize("step", children.READING_STEPS)
def test_a_worker_killed_while_it_reads_a_correction_is_replaced(processes, person, step):
    """The talk is finished meanwhile, and its batch leaves the correction to the reading."""
    remember(person, "The user plays the cello.")
    principal = principal_for_person(person.pk)
    conversation = conversation_create(principal)
    messages_append(principal, conversation.pk, [NewMessage("user", "Actually it's the viola, not the cello.")])
    actions.conversation_finish(principal, conversation.pk)
    current_app.control.purge()

    reached = CONTEXT.Event()
    killed = processes.start(children.read_and_stop_at, step, conversation.pk, reached)
    assert reached.wait(PATIENCE_SECONDS)
    killed.kill()
    killed.join(10)
    assert actions.maybe_summarize(conversation.pk) == 1
    assert JobRun.objects.filter(kind=extraction.JOB, state="running").update(lease_until=timezone.now()) == 1
    assert extraction.extract_messages(conversation.pk) == (0 if step == "after the commit" else 1)
    assert Memory.objects.get().content == "The user plays the viola."
    assert Memory.objects.get().version == 2
    call_command("audit", stdout=StringIO())


def test_a_worker_that_comes_too_late_lets_go_of_the_conversation(monkeypatch, rosa, talk_of):
    conversation = talk_of(rosa)
    real = learning.open_job

    def overtaken(*args, **kwargs):
        """Another worker does everything that was due after this one saw that it was."""
        monkeypatch.setattr(learning, "open_job", real)
        assert actions.maybe_summarize(conversation.pk) == 2
        return real(*args, **kwargs)

    monkeypatch.setattr(learning, "open_job", overtaken)
    assert actions.maybe_summarize(conversation.pk) == 0
    assert set(JobRun.objects.values_list("state", flat=True)) == {"done"}
    assert faults(rows) == {}


def test_a_worker_killed_while_it_indexes_is_replaced(processes, rosa, talk_of):
    conversation = talk_of(rosa)
    current_app.control.purge()
    reached = CONTEXT.Event()
    killed = processes.start(children.index_and_stop, conversation.pk, reached)
    assert reached.wait(PATIENCE_SECONDS)
    killed.kill()
    killed.join(10)
    held = Message.objects.filter(embedding__isnull=True, index_not_before__gt=timezone.now())
    assert held.count() == 32

    held.update(index_not_before=timezone.now())
    none = {"facts": 0, "memories": 0, "unread": 0, "hidden": 0, "waiting": 0}
    assert actions.sweep() == {"conversations": 1, "messages": 1, **none}
    worker = processes.start(children.work_the_queue)
    wait_for(lambda: not unfinished(rows), lambda: unfinished(rows))
    stop(worker)
    assert faults(rows) == {}
    assert set(Message.objects.values_list("index_attempts", flat=True)) == {1, 2}


@pytest.mark.parametrize("step", children.IMPORT_STEPS)
def test_a_worker_killed_in_the_middle_of_an_import_is_replaced(processes, person, rosa, step):
    talks = [chatgpt_talk(*[f"Number {n} of {name}." for n in range(120)], name=name) for name in "abcd"]
    content = io.BytesIO(json.dumps(talks).encode())
    upload, job = import_create(principal_for_person(person.pk), content, legacy_id=rosa.pk)
    current_app.control.purge()  # The task is lost too.
    reached = CONTEXT.Event()
    killed = processes.start(children.import_and_stop_at, step, job.pk, reached)
    assert reached.wait(PATIENCE_SECONDS)
    killed.kill()
    killed.join(10)
    assert sweep_imports() == 0  # Its lease still holds.
    assert JobRun.objects.filter(pk=job.pk, state="running").update(lease_until=timezone.now()) == 1
    JobRun.objects.filter(kind="summarize", state="running").update(lease_until=timezone.now())
    assert sweep_imports() == 1

    worker = processes.start(children.work_the_queue)
    wait_for(lambda: not ConversationImport.objects.open().exists(), ConversationImport.objects.values)
    stop(worker)
    for talk in talks:
        wanted = [node["message"]["content"]["parts"][0] for key, node in talk["mapping"].items() if key != "root"]
        rows = Message.objects.filter(conversation__external_id=talk["id"]).order_by("index")
        assert list(rows.values_list("content", flat=True)) == wanted
        assert list(rows.values_list("index", flat=True)) == list(range(120))
    upload.refresh_from_db()
    assert (upload.state, upload.outcome["new"], upload.outcome["new_messages"]) == ("done", 4, 480)
    assert not Message.objects.filter(embedding__isnull=True).exists()
    assert not ImportPart.objects.exists()


@pytest.mark.parametrize("step", children.UPKEEP_STEPS)
def test_upkeep_that_is_killed_is_finished_by_the_next_run(processes, person, step, settings):
    """Nothing is lost, nothing is done twice, and the audit holds."""
    settings.KEEPSAKE_EMBEDDER, settings.MEMORY_FALLBACK_LOW_SIMILARITY = "hashing", 0.5
    long_ago = timezone.now() - timedelta(days=100)
    pairs = [f"The user {said} {hobby}." for hobby in HOBBIES[:3] for said in ("likes", "really likes")]
    remember(person, *pairs, *(f"The user owns a boat called {name.title()}." for name in HOBBIES))
    unused = remember(
        person,
        *({"content": f"Went to fair {number}.", "category": "event"} for number in range(4)),
        created_at=long_ago,
        updated_at=long_ago,
    )
    gone = remember(
        person,
        *(f"Sold boat {number}." for number in range(4)),
        state="archived",
        deleted_why="person",
        deleted_at=long_ago,
        purge_at=long_ago,
    )
    memories_index()
    Memory.objects.filter(pk__in=[memory.pk for memory in unused]).update(updated_at=long_ago)
    consolidations_due()
    current_app.control.purge()
    job = JobRun.objects.get(kind="consolidate")

    reached = CONTEXT.Event()
    killed = processes.start(children.upkeep_and_stop_at, step, job.pk, reached)
    assert reached.wait(PATIENCE_SECONDS)
    killed.kill()
    killed.join(10)
    assert killed.exitcode == -signal.SIGKILL
    call_command("audit", stdout=StringIO())
    JobRun.objects.filter(pk=job.pk, state="running").update(lease_until=timezone.now())

    for _ in range(2):  # What is done already is not done again.
        memories_consolidate(job.pk)
        memories_forget_unused()
        statements_purge(MEMORY)
        call_command("audit", stdout=StringIO())
    active = Memory.objects.filter(user=person, state="active")
    assert sorted(active.filter(content__contains="likes").values_list("content", flat=True)) == sorted(pairs[1::2])
    assert MemoryPlanItem.objects.filter(state="applied").count() == 3
    assert Memory.objects.filter(pk__in=[memory.pk for memory in unused], deleted_why="ttl").count() == 4
    assert not Memory.objects.filter(pk__in=[memory.pk for memory in gone]).exists()
    assert Change.objects.filter(event="PURGE").count() == 4
    assert Change.objects.filter(event="TTL").count() == 4


@pytest.mark.parametrize("step", children.INSIGHT_STEPS)
def test_insights_that_are_killed_are_found_by_the_next_run_once(processes, person, step, settings):
    """Neither lost nor guessed twice, each with what it rests on, and the audit holds."""
    settings.KEEPSAKE_EMBEDDER = "hashing"
    grounds = remember(person, "The user is worried about the move.", "The user is anxious about the doctor.")
    insights_due()
    current_app.control.purge()
    job = JobRun.objects.get(kind="insights")

    reached = CONTEXT.Event()
    killed = processes.start(children.guess_and_stop_at, step, job.pk, reached)
    assert reached.wait(PATIENCE_SECONDS)
    killed.kill()
    killed.join(10)
    assert killed.exitcode == -signal.SIGKILL
    call_command("audit", stdout=StringIO())
    JobRun.objects.filter(pk=job.pk, state="running").update(lease_until=timezone.now())

    for _ in range(2):  # What is done already is not done again.
        insights_due()
        insights_find(job.pk)
        call_command("audit", stdout=StringIO())
    (insight,) = Memory.objects.filter(user=person, kind="insight", state="active")
    assert insight.content == "The user seems worried lately."
    assert set(insight.relations_from.values_list("to_memory", flat=True)) == {memory.pk for memory in grounds}
    assert JobRun.objects.get(kind="insights").state == "done"
