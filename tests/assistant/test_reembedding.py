"""Moving to another embedder: what is moved, what goes on meanwhile, and what is left when it ends too early."""

import io
import os
import signal
import subprocess
import sys
from threading import Event, Thread

import pytest
from django.core.management import CommandError, call_command
from django.db import connections, transaction
from django.utils import timezone

from accounts.queries import principal_for_person
from assistant import reembedding
from assistant.learn.summarizing import conversation_finish, maybe_summarize
from assistant.recall.search import QueryVector, find_chunks, find_facts, find_turns
from assistant.reembedding import reembed, waiting_for
from conversations.actions import messages_index
from conversations.models import ConversationChunk, Message
from conversations.searching import Recallable
from facts.actions import fact_edit, fact_reject, facts_index
from facts.models import LegacyFact
from facts.searching import FactSelection
from journal.exceptions import Conflict
from journal.leases import LeaseLost, cancel_job
from journal.models import Change, JobRun
from memories.actions import memory_add, memory_reject, memory_update
from memories.models import MEMORY, Memory, MemoryVersion
from memories.records import NewMemory
from statements.actions import statements_purge
from statements.models import Suppression
from tests import factories
from tests.factories import rev_of
from tests.language import scripted
from tests.language.embeddings_api import KEY, embedded, error, serving

from .conftest import say
from .processes import PATIENCE_SECONDS, ROOT, database_url_of_tests, wait_for

OLD, NEW = "hashing:384", "openai:text-embedding-3-small:256"
SEARCHED = (Message, ConversationChunk, LegacyFact)


@pytest.fixture(scope="module")
def running():
    with serving() as api:
        yield api


@pytest.fixture
def server(running):
    running.reset()
    return running


@pytest.fixture
def switch(settings, server):
    """``switch()`` makes the server the deployment's embedder, with what was there before still searched."""
    settings.KEEPSAKE_EMBEDDER = "hashing"

    def to_server(before="hashing"):
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = server.base_url, KEY
        settings.KEEPSAKE_EMBEDDER_RETRIES = 0
        settings.KEEPSAKE_EMBEDDER, settings.KEEPSAKE_EMBEDDER_BEFORE = NEW, before

    return to_server


@pytest.fixture
def filled(owner, legacy, talk, model, switch):
    """A conversation of six messages, indexed, with a chunk and two facts, all with vectors of the old embedder."""
    said = ["I learned to skate.", "Good.", "The clockwork stood still.", "Oh.", "We had soup.", "Nice."]
    conversation = talk(owner, legacy)
    say(owner, conversation, *said)
    messages_index()
    conversation_finish(principal_for_person(owner.pk), conversation.pk)
    maybe_summarize(conversation.pk)
    for content in ("Rosa ran a clockwork shop.", "Rosa swam every morning."):
        factories.LegacyFactFactory(legacy=legacy, content=content)
    facts_index()
    assert models_of(*SEARCHED) == {OLD: 9}
    return conversation


def models_of(*tables):
    """How many rows have a vector of which embedder."""
    names = [name for table in tables for name in table.objects.values_list("embedding_model", flat=True)]
    return {name: names.count(name) for name in sorted(set(names))}


def run(*arguments):
    out = io.StringIO()
    call_command("reembed", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def last_job():
    return JobRun.objects.filter(kind="reembed").latest("created_at")


# --- What is moved ----------------------------------------------------------------------------------------------


def test_everything_is_moved_and_nothing_else_changes(filled, owner, legacy, switch, server):
    before = rev_of(owner), rev_of(legacy), Change.objects.count()
    facts = list(LegacyFact.objects.order_by("pk").values("content", "updated_at", "version", "state"))
    switch()
    told = run("--batch", "4")
    assert models_of(*SEARCHED) == {NEW: 9}
    assert {len(message.embedding) for message in Message.objects.all()} == {256}
    assert (rev_of(owner), rev_of(legacy), Change.objects.count()) == before
    assert list(LegacyFact.objects.order_by("pk").values("content", "updated_at", "version", "state")) == facts
    assert f"Moved to {NEW}: 2 facts, 1 summaries, 6 messages;" in told
    job = last_job()
    assert (job.state, job.done, job.total, job.error_code) == ("done", 9, 9, "")
    assert job.result == {
        "facts": 2,
        "summaries": 1,
        "messages": 6,
        "tokens": job.result["tokens"],
        "left": 0,
        "embedder": NEW,
    }
    assert job.result["tokens"] > 20
    assert sorted(map(len, server.inputs)) == [1, 2, 2, 4]


def test_what_is_embedded_is_what_a_new_row_would_get(filled, owner, switch, server):
    switch()
    run()
    moved = {message.content: message.embedding for message in Message.objects.all()}
    say(owner, filled, "We had soup.")
    messages_index()
    fresh = Message.objects.get(index=6)
    assert fresh.embedding == moved["We had soup."]


def test_a_second_run_has_nothing_to_do(filled, switch, server):
    switch()
    run()
    server.requests.clear()
    assert f"Moved to {NEW}: nothing; 0 tokens." in run()
    assert not server.requests
    assert last_job().state == "done"


def test_rows_that_wait_for_their_first_vector_are_left_to_the_index(filled, owner, switch):
    say(owner, filled, "Not indexed yet.")
    switch()
    run()
    assert models_of(Message) == {"": 1, NEW: 6}


def test_one_persons_rows_only(filled, stranger, talk, switch):
    talk(stranger, count=2)
    messages_index()
    switch()
    assert "2 messages" in run("--owner", "stranger", "--owner", "stranger")
    assert models_of(*SEARCHED) == {OLD: 9, NEW: 2}


def test_people_are_gone_through_some_at_a_time(filled, stranger, talk, switch, monkeypatch):
    monkeypatch.setattr(reembedding, "PEOPLE", 1)
    talk(stranger, count=2)
    messages_index()
    switch()
    assert "2 facts, 1 summaries, 8 messages" in run()


def test_a_dry_run_tells_and_changes_nothing(filled, switch, server):
    switch()
    told = run("--dry-run")
    assert f"To be moved to {NEW}: 2 facts, 1 summaries, 6 messages; about " in told
    assert f"9 have vectors of {OLD}; until they are moved they are found by meaning too." in told
    switch(before="")
    assert "by their words only: KEEPSAKE_EMBEDDER_BEFORE is another" in run("--dry-run")
    assert models_of(*SEARCHED) == {OLD: 9}
    assert not server.requests
    assert not JobRun.objects.filter(kind="reembed").exists()


def test_without_anything_stored(db, switch):
    switch()
    assert "nothing; about 0 tokens" in run("--dry-run")
    assert "nothing; 0 tokens" in run()


@pytest.mark.parametrize("arguments", [["--batch", "0"], ["--batch", "1001"], ["--batch", "x"], ["--owner", "nobody"]])
def test_bad_arguments(db, arguments):
    with pytest.raises(CommandError, match=r"from 1 to 1,000|no user nobody"):
        run(*arguments)


# --- Suppressions, and facts that came meanwhile ------------------------------------------------------------------


def test_the_mark_of_a_rejected_fact_gets_the_vector_of_that_fact(filled, owner, switch):
    fact = LegacyFact.objects.get(content="Rosa swam every morning.")
    fact_reject(principal_for_person(owner.pk), fact.pk)
    switch()
    told = run()
    suppression = Suppression.objects.get()
    fact.refresh_from_db()
    assert (suppression.embedding_model, suppression.embedding) == (NEW, fact.embedding)
    assert "marks" not in told


def test_the_mark_of_a_fact_that_is_gone_keeps_its_vector_and_is_told(filled, owner, switch):
    fact = LegacyFact.objects.get(content="Rosa swam every morning.")
    fact_reject(principal_for_person(owner.pk), fact.pk)
    factories.erase(LegacyFact.objects.filter(pk=fact.pk))
    switch()
    assert "1 suppressions of rejected or deleted texts keep their vectors" in run("--dry-run")
    assert "1 suppressions of rejected or deleted texts keep their vectors" in run()
    assert Suppression.objects.get().embedding_model == OLD


@pytest.fixture
def remembered(owner, switch):
    """Two memories, one of them reworded, with vectors of the old embedder."""
    person = principal_for_person(owner.pk)
    kept = [
        memory_add(person, NewMemory(content, "context")).memory for content in ("The user swims.", "The user skis.")
    ]
    memory_update(person, kept[0].pk, "The user swims every morning.")
    assert models_of(Memory, MemoryVersion) == {OLD: 5}
    return kept


def test_memories_and_their_earlier_wordings_are_moved_too(remembered, owner, switch):
    before = rev_of(owner), Change.objects.count()
    rows = list(Memory.objects.order_by("pk").values("content", "updated_at", "version", "state", "needs_check"))
    switch()
    assert f"To be moved to {NEW}: 2 memories, 3 versions; about " in run("--dry-run")
    assert f"Moved to {NEW}: 2 memories, 3 versions; " in run()
    assert models_of(Memory, MemoryVersion) == {NEW: 5}
    assert (rev_of(owner), Change.objects.count()) == before
    assert list(Memory.objects.order_by("pk").values(*rows[0])) == rows
    embed = reembedding.get_embedder().embed_passages
    for row in [*Memory.objects.all(), *MemoryVersion.objects.all()]:
        assert row.embedding == pytest.approx(embed([row.content])[0].tolist(), abs=1e-3)


def test_the_mark_of_a_rejected_memory_gets_the_vector_of_that_memory(remembered, owner, switch):
    memory_reject(principal_for_person(owner.pk), remembered[0].pk)
    switch()
    told = run()
    suppression, memory = (
        Suppression.objects.exclude(embedding=None).get(version=None),
        Memory.objects.get(pk=remembered[0].pk),
    )
    assert (suppression.embedding_model, suppression.embedding) == (NEW, memory.embedding)
    assert "marks" not in told


def test_the_mark_of_a_memory_that_is_gone_keeps_its_vector_and_is_told(remembered, owner, switch):
    memory_reject(principal_for_person(owner.pk), remembered[0].pk)
    Memory.objects.filter(pk=remembered[0].pk).update(purge_at=timezone.now())
    statements_purge(MEMORY)
    switch()
    assert "1 suppressions of rejected or deleted texts keep their vectors" in run("--dry-run")
    assert "1 suppressions of rejected or deleted texts keep their vectors" in run()
    assert Suppression.objects.exclude(embedding=None).get().embedding_model == OLD


def test_a_memory_that_came_before_the_move_is_compared_again_after_it(remembered, owner, switch):
    switch()
    person = principal_for_person(owner.pk)
    fresh = memory_add(person, NewMemory("The user swims each morning.", "context")).memory
    assert Memory.objects.get(pk=fresh.pk).index_not_before is None
    run()
    waiting = Memory.objects.filter(index_not_before__isnull=False)
    assert [memory.pk for memory in waiting] == [fresh.pk]
    assert waiting[0].index_not_before > timezone.now()


def test_a_memory_reworded_meanwhile_keeps_the_vector_of_its_new_words(remembered, owner, switch, meanwhile):
    switch()
    memory = remembered[1]
    meanwhile(lambda: memory_update(principal_for_person(owner.pk), memory.pk, "The user never skied at all."))
    run()
    memory.refresh_from_db()
    assert memory.embedding_model == NEW
    assert memory.embedding == pytest.approx(
        reembedding.get_embedder().embed_passages(["The user never skied at all."])[0].tolist(), abs=1e-3
    )
    assert models_of(Memory, MemoryVersion) == {NEW: 6}


def test_a_fact_that_came_before_the_move_is_compared_again_after_it(filled, owner, legacy, switch):
    switch()
    fresh = factories.LegacyFactFactory(legacy=legacy, content="Rosa had a clockwork shop once.")
    facts_index()
    assert LegacyFact.objects.get(pk=fresh.pk).index_not_before is None
    run()
    waiting = LegacyFact.objects.filter(index_not_before__isnull=False)
    assert [fact.pk for fact in waiting] == [fresh.pk]
    assert waiting[0].index_not_before > timezone.now()


# --- Searching meanwhile ----------------------------------------------------------------------------------------


def found(owner, legacy, words):
    """What each search finds first, by meaning alone."""
    person, query = principal_for_person(owner.pk), QueryVector(words)
    turns = find_turns(person, query, wanted=Recallable(legacy.pk), top_k=1)
    facts = find_facts(person, query, wanted=FactSelection(legacy.pk), top_k=1)
    chunks = find_chunks(person, query, wanted=Recallable(legacy.pk), top_k=1)
    return [turns[0].row.content, facts[0].row.content, len(chunks)]


@pytest.mark.parametrize("moved", [[], ["clockwork"], ["other"], ["clockwork", "other"]])
def test_in_the_middle_of_a_move_moved_and_unmoved_rows_are_found_by_meaning(
    filled, owner, legacy, switch, moved, settings
):
    settings.SEARCH_WEIGHTS = {"centre": 0.0}  # Six rows, some of them of one model, have no centre to speak of.
    switch()
    for source in reembedding.SOURCES:
        ids = [row.pk for row in source.rows.all() if ("clockwork" if "clockwork" in row.content else "other") in moved]
        passages = source.passages(ids)
        vectors = reembedding.get_embedder().embed_passages(list(passages.values()))
        assert reembedding.replace_vectors(source, passages, vectors, NEW) == len(ids)
    # No word in common: pieces of words is all that the hashing embedder goes by.
    assert found(owner, legacy, "clockworks?") == ["The clockwork stood still.", "Rosa ran a clockwork shop.", 1]
    assert found(owner, legacy, "ice skater")[0] == "I learned to skate."


def test_without_the_embedder_before_unmoved_rows_are_found_by_their_words(filled, owner, legacy, switch):
    switch(before="")
    assert found(owner, legacy, "clockwork")[:2] == ["The clockwork stood still.", "Rosa ran a clockwork shop."]
    person = principal_for_person(owner.pk)
    assert find_turns(person, QueryVector("clocks"), wanted=Recallable(legacy.pk), top_k=1) == []


def test_with_the_new_embedder_away_unmoved_rows_are_found_by_meaning(filled, owner, legacy, switch, server):
    switch()
    server.answers(error(503))
    assert found(owner, legacy, "clocks")[0] == "The clockwork stood still."


def test_a_question_is_embedded_once_by_each_and_by_the_old_one_only_while_rows_need_it(
    filled, owner, legacy, switch, server, monkeypatch
):
    asked = []
    real = reembedding.get_embedder().__class__.embed_query
    monkeypatch.setattr(
        "language.embedders.hashing.HashingEmbedder.embed_query",
        lambda self, text: asked.append((self.name, text)) or real(self, text),
    )
    switch()
    found(owner, legacy, "clocks")
    by_old = [text for name, text in asked if name == OLD]
    assert by_old == ["clocks"]
    assert server.inputs == [["clocks"]]
    run()
    asked.clear()
    found(owner, legacy, "clocks")
    assert not [name for name, _ in asked if name == OLD]


# --- What happens to rows meanwhile -----------------------------------------------------------------------------


@pytest.fixture
def meanwhile(monkeypatch):
    """``meanwhile(act)`` calls ``act`` once, after the first texts were read and before their vectors are stored."""

    def install(act):
        real = reembedding.get_embedder()
        acts = [act]

        class Interrupted:
            name, dimensions = real.name, real.dimensions

            def embed_passages(self, texts):
                vectors = real.embed_passages(texts)
                while acts:
                    acts.pop()()
                return vectors

        monkeypatch.setattr(reembedding, "get_embedder", Interrupted)

    return install


def test_rows_deleted_meanwhile_stay_deleted(filled, switch, meanwhile):
    switch()
    meanwhile(lambda: factories.erase(LegacyFact.objects.all()))
    run()
    assert models_of(*SEARCHED) == {NEW: 7}


def test_a_fact_edited_meanwhile_keeps_the_vector_of_its_new_words(filled, owner, switch, meanwhile):
    switch()
    fact = LegacyFact.objects.get(content="Rosa swam every morning.")
    meanwhile(lambda: fact_edit(principal_for_person(owner.pk), fact.pk, content="Rosa never swam at all."))
    run()
    fact.refresh_from_db()
    assert fact.embedding_model == NEW
    assert fact.embedding == pytest.approx(
        reembedding.get_embedder().embed_passages(["Rosa never swam at all."])[0].tolist(), abs=1e-3
    )


def test_a_text_changed_meanwhile_by_a_process_with_the_old_settings_is_moved_in_the_next_round(
    filled, switch, meanwhile
):
    switch()
    meanwhile(lambda: LegacyFact.objects.filter(content__contains="swam").update(content="Rosa ran a race."))
    run()
    assert models_of(LegacyFact) == {NEW: 2}


def test_messages_that_come_meanwhile_are_indexed_as_ever(filled, owner, switch, meanwhile):
    switch()

    def write():
        say(owner, filled, "This came meanwhile.")
        messages_index()

    meanwhile(write)
    told = run()
    assert models_of(Message) == {NEW: 7}
    assert "6 messages" in told


@pytest.mark.django_db(transaction=True)
def test_a_row_that_somebody_writes_all_the_time_is_left_and_told(filled, switch):
    switch()
    locked, over = Event(), Event()

    def hold():
        with transaction.atomic():
            list(LegacyFact.objects.select_for_update().filter(content__contains="swam"))
            locked.set()
            over.wait(PATIENCE_SECONDS)
        connections.close_all()

    thread = Thread(target=hold)
    thread.start()
    assert locked.wait(PATIENCE_SECONDS)
    try:
        with pytest.raises(CommandError, match="1 rows were being written"):
            run()
    finally:
        over.set()
        thread.join()
    assert models_of(*SEARCHED) == {OLD: 1, NEW: 8}
    run()
    assert models_of(*SEARCHED) == {NEW: 9}


# --- Ending too early, and going on -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (error(401), "EmbedderKeyRefused"),
        (error(429, retry_after="3600"), "EmbedderRateLimited"),
        (error(529), "EmbedderOverloaded"),
        (scripted.cut, "EmbedderUnreachable"),
        (scripted.whole(b"{"), "EmbedderAnswerInvalid"),
    ],
)
def test_a_failing_embedder_stops_it_and_it_can_go_on(filled, switch, server, failure, code):
    switch()
    server.answers(embedded, embedded, failure)
    with pytest.raises(CommandError, match=rf"{code}.*start again to move the rest"):
        run("--batch", "2")
    assert models_of(*SEARCHED) == {NEW: 3, OLD: 6}
    job = last_job()
    assert (job.state, job.error_code, job.done, job.total) == ("failed", code, 3, 9)
    first = [text for batch in server.inputs[:2] for text in batch]

    server.answers(embedded)
    assert "6 messages" in run("--batch", "2")
    assert models_of(*SEARCHED) == {NEW: 9}
    again = [text for batch in server.inputs for text in batch]
    assert not set(first) & set(again), "nothing is embedded twice"


def test_any_other_fault_ends_the_job_as_failed(filled, switch, monkeypatch):
    switch()

    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(reembedding, "replace_vectors", broken)
    with pytest.raises(ZeroDivisionError):
        reembed()
    assert (last_job().state, last_job().error_code) == ("failed", "ZeroDivisionError")


def test_a_person_at_the_keyboard_can_stop_it(filled, switch, meanwhile):
    switch()

    def interrupt():
        raise KeyboardInterrupt

    meanwhile(interrupt)
    with pytest.raises(CommandError, match="Stopped") as raised:
        run()
    assert raised.value.returncode == 130
    assert last_job().state == "cancelled"


def test_staff_can_cancel_it(filled, switch, meanwhile):
    switch()
    meanwhile(lambda: cancel_job(last_job()))
    with pytest.raises(CommandError, match="cancelled"):
        run()
    assert last_job().state == "cancelled"
    assert models_of(*SEARCHED) == {OLD: 9}


def test_a_lease_that_was_lost_before_the_first_batch(filled, switch, monkeypatch):
    switch()
    monkeypatch.setattr("journal.leases.renew_lease", lambda *_, **__: False)
    with pytest.raises(LeaseLost):
        reembed()


def test_a_database_that_is_away(switch, monkeypatch):
    from django.db import OperationalError

    def away(*_):
        raise OperationalError

    monkeypatch.setattr("assistant.management.commands.reembed.waiting_for", away)
    switch()
    with pytest.raises(CommandError, match="database is away"):
        run("--dry-run")


def test_a_job_that_ends_while_another_one_asks(db, switch, monkeypatch):
    switch()
    monkeypatch.setattr(reembedding, "claim_job", lambda *_, **__: None)
    with pytest.raises(CommandError, match="just ended"):
        run()


@pytest.mark.django_db(transaction=True)
def test_of_two_started_at_once_one_moves_everything_once(filled, switch, server, at_once):
    switch()
    both = at_once(lambda _: reembed(batch=1), 2)
    conflicts = [each for each in both if isinstance(each, Conflict)]
    moved = [each for each in both if not isinstance(each, Conflict)]
    assert sum(sum(each.rows.values()) for each in moved) == 9
    assert len(conflicts) + len(moved) == 2
    texts = [text for batch in server.inputs for text in batch]
    assert len(texts) == len(set(texts)) == 9


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_killed_in_the_middle_it_goes_on_where_it_was(filled, switch, server):
    switch()
    server.answers(embedded, embedded, scripted.silent)
    environment = {
        **os.environ,
        "DATABASE_URL": database_url_of_tests(),
        "KEEPSAKE_EMBEDDER": NEW,
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_API_KEY": KEY,
    }
    command = [sys.executable, "manage.py", "reembed", "--batch", "2"]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: len(server.requests) == 3 or process.poll() is not None, lambda: server.inputs)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert models_of(*SEARCHED) == {NEW: 3, OLD: 6}
    job = last_job()
    assert (job.state, job.done, job.total) == ("running", 3, 9)
    with pytest.raises(CommandError, match=r"Another one is running \(3 of 9 moved\).*start again in 1?\d\d? s"):
        run()

    JobRun.objects.filter(pk=job.pk).update(lease_until=timezone.now())
    server.script = [embedded]
    assert "6 messages" in run("--batch", "2")
    job.refresh_from_db()
    assert (job.state, job.done, job.total) == ("done", 9, 9)
    assert models_of(*SEARCHED) == {NEW: 9}
    assert sum(map(len, server.inputs)) == 9 + 2, "only the batch that was on its way is embedded again"


# --- What people and staff see ----------------------------------------------------------------------------------


def test_the_key_is_in_no_output(filled, switch, server, caplog):
    switch()
    server.answers(error(401))
    with pytest.raises(CommandError) as raised:
        run()
    assert KEY not in str(raised.value) + caplog.text + str(last_job().__dict__)


def test_what_waits_is_counted_for_some_people(filled, owner, member):
    assert sum(waiting_for(NEW, [owner.pk]).rows.values()) == 9
    assert waiting_for(NEW, [member.pk]).rows == {}
    assert waiting_for(NEW, [owner.pk]).tokens > 20
