"""What the concurrency tests run in processes of their own: the product's own functions, at most paused.

Loaded once by the server that these processes are forked from.
"""

import signal
import threading
from unittest import mock

# What every worker loads anyway is loaded before it is forked.
import celery.apps.worker
import celery.bin.worker
import celery.concurrency.solo  # noqa: F401
import django
import kombu.transport.redis  # noqa: F401
from django.apps import apps
from django.conf import settings

if not apps.ready:
    django.setup()

from accounts.queries import principal_for_person
from assistant.erasure import whole_actions
from assistant.erasure.actions import run_erasure
from assistant.imports import run as import_steps
from assistant.learn import actions as extraction
from assistant.learn import insights, learning, waiting
from assistant.learn import summarizing as actions
from conversations import actions as conversations
from conversations.actions import derived
from memories.actions import bulk, consolidating, memories_consolidate, memories_forget_unused, upkeep
from memories.models import MEMORY
from memory_project.celery import app
from statements.actions import statements_purge
from statements.actions import upkeep as purging


def append(conversation_id, user_id, batches, together):
    """Append batches of contents, one transaction each; all processes begin at once."""
    together.wait(120)
    for contents in batches:
        messages = [conversations.NewMessage("user", content) for content in contents]
        stored = conversations.messages_append(principal_for_person(user_id), conversation_id, messages)
        first = stored[0].index
        assert [message.index for message in stored] == list(range(first, first + len(contents)))


def summarize_until(conversation_id, together, over):
    """Summarise what is due, over and over, until told that it is over."""
    together.wait(120)
    while not over.wait(0.05):
        actions.maybe_summarize(conversation_id)


def work_the_queue():
    """A Celery worker that takes tasks from the broker until SIGTERM."""
    app.worker_main(
        ["worker", "--pool=solo", "--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=WARNING"]
    )


def summarize_and_stop_at(step, conversation_id, reached):
    """Summarise, and stand still for ever at one step of the first batch."""
    with STEPS[step](reached):
        actions.maybe_summarize(conversation_id)


def read_and_stop_at(step, conversation_id, reached):
    """Read messages for what to remember, and stand still for ever at one step."""
    with READING_STEPS[step](reached):
        extraction.extract_messages(conversation_id)


def index_and_stop(conversation_id, reached):
    """Index messages, and stand still for ever when the first batch is embedded and nothing is written yet."""
    with _at_embedding(reached, derived):
        conversations.messages_index(conversation_id)


def import_and_stop_at(step, job_id, reached):
    """Work on an import, and stand still for ever at one step of it."""
    with mock.patch.object(import_steps, *IMPORT_STEPS[step](reached)):
        import_steps.run_import(job_id)


def erase_and_stop_at(step, job_id, reached):
    """Erase everything of a person, and stand still for ever at one step of it."""
    with _after_some(whole_actions, *ERASURE_STEPS[step], reached):
        run_erasure(job_id)


def upkeep_and_stop_at(step, job_id, reached):
    """Look after memories, and stand still for ever at one step of it."""
    settings.MEMORY_FALLBACK_LOW_SIMILARITY = 0.5
    work, target, name, times = UPKEEP_STEPS[step]
    with _after_some(target, name, times, reached):
        work(job_id)


def write_waiting_and_stop_at(step, user_id, reached):
    """Write what waits of a person, and stand still for ever at one step of it."""
    with _after_some(waiting, *WAITING_STEPS[step], reached):
        waiting.candidates_write(user_id)


def guess_and_stop_at(step, job_id, reached):
    """Guess what lies behind what was said, and stand still for ever at one step of it."""
    with _after_some(insights, INSIGHT_STEPS[step], 0, reached):
        insights.insights_find(job_id)


WAITING_STEPS = {
    "nothing is written": ("ledger_write", 0),
    "before the commit": ("candidates_drop", 0),
}
INSIGHT_STEPS = {
    "nothing is written": "insights_record",
    "before the commit": "finish_job",
    "after the commit": "note_operation",
}
UPKEEP_STEPS = {
    "consolidation: nothing is compared": (memories_consolidate, consolidating, "_store", 0),
    "consolidation: nothing is merged": (memories_consolidate, consolidating, "_plan", 0),
    "consolidation: inside the second merge": (memories_consolidate, consolidating, "memories_relate", 1),
    "consolidation: before the end": (memories_consolidate, consolidating, "finish_job", 0),
    "archive: inside the transaction": (lambda _: memories_forget_unused(), bulk, "change_many", 0),
    "archive: after a batch": (lambda _: memories_forget_unused(), upkeep, "archive_many", 1),
    "purge: inside the transaction": (lambda _: statements_purge(MEMORY), purging, "delete_undo_steps", 0),
    "purge: after a batch": (lambda _: statements_purge(MEMORY), purging, "erase", 1),
}


def _after_some(target, name, times, reached):
    """Stand still before a function that was called so often is called again."""
    real, calls = getattr(target, name), []

    def call(*args, **kwargs):
        calls.append(args)
        if len(calls) > times:
            _stand_still(reached)
        return real(*args, **kwargs)

    return mock.patch.object(target, name, call)


ERASURE_STEPS = {
    "between two tables": ("_delete", 5),
    "inside a transaction": ("_added", 3),
    "before the account goes": ("_close", 0),
}


def _stand_still(reached):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    reached.set()
    threading.Event().wait()


def _after(target, name, reached):
    """Let a function do its work, then stand still before its caller learns of it."""
    real = getattr(target, name)

    def call(*args, **kwargs):
        result = real(*args, **kwargs)
        _stand_still(reached)
        return result

    return mock.patch.object(target, name, call)


class _Watched:
    """A model or an embedder that stands still after, or within, one of its calls."""

    def __init__(self, real, **watched):
        self._real = real
        self._watched = watched

    def __getattr__(self, name):
        return self._watched.get(name) or getattr(self._real, name)


def _at_model(reached):
    real = actions.get_model()
    watched = _Watched(real, extract=lambda request: _stand_still(reached))
    return mock.patch.object(actions, "get_model", return_value=watched)


def _at_choosing(reached):
    watched = _Watched(extraction.get_model(), choose_tools=lambda request: _stand_still(reached))
    return mock.patch.object(extraction, "get_model", return_value=watched)


def _at_embedding(reached, room=actions):
    real = room.get_embedder()

    def embed(texts):
        real.embed_passages(texts)
        _stand_still(reached)

    return mock.patch.object(room, "get_embedder", return_value=_Watched(real, embed_passages=embed))


STEPS = {
    "after claiming": lambda reached: _after(learning, "claim_job", reached),
    "during the model call": _at_model,
    "after embedding": _at_embedding,
    "before the commit": lambda reached: _after(actions, "write_facts", reached),
    # The first thing that happens once the transaction is over.
    "after the commit": lambda reached: _after(actions, "note_operation", reached),
}


READING_STEPS = {
    "after claiming": lambda reached: _after(learning, "claim_job", reached),
    "during the model call": _at_choosing,
    "before the commit": lambda reached: _after(extraction, "mention_places", reached),
    "after the commit": lambda reached: _after(extraction, "_write", reached),
}


def _within_append(reached):
    """Two conversations are written, the third is begun."""
    real, calls = import_steps.append_step, []

    def append(*args, **kwargs):
        calls.append(1)
        for count in real(*args, **kwargs):
            if len(calls) == 3:
                _stand_still(reached)
            yield count

    return "append_step", append


def _second(name, reached):
    """A function did its work for the second time, and its caller does not know."""
    real, calls = getattr(import_steps, name), []

    def call(*args, **kwargs):
        result = real(*args, **kwargs)
        calls.append(1)
        if len(calls) == 2:
            _stand_still(reached)
        return result

    return name, call


IMPORT_STEPS = {
    "the file is checked": lambda reached: (
        "survey_file",
        lambda *args, real=import_steps.survey_file: real(*args) and _stand_still(reached),
    ),
    "a conversation is half written": _within_append,
    "a conversation is read": lambda reached: _second("maybe_summarize", reached),
}
