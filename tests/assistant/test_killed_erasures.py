"""An erasure whose worker is killed, before any of its statements or after the last, is finished by the next ones."""

import re
from contextlib import contextmanager

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Legacy, User
from accounts.queries import principal_for_person
from assistant.erasure import part_actions, whole_actions
from assistant.erasure.actions import erasure_request, erasures_sweep, run_erasure
from conversations.models import Conversation, Message
from journal.cache import valkey
from journal.models import JobRun
from memories.models import Memory, Place

from .rich import rich_person
from .test_erasure import holding, verified

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
PARTS = {"conversation": Conversation, "message": Message, "memory": Memory, "place": Place, "membership": Legacy}


class Killed(BaseException):
    """The end of a worker, whose transaction rolls back."""


@contextmanager
def killed_before_what_is_new(seen):
    """Kill the worker before a statement that did not follow the one before it yet; add it to those ``seen``."""
    before, dead = "", False

    def execute(run, sql, *args):
        nonlocal before, dead
        step = before, re.sub(r"\bs\d+_x\d+", "", sql)
        before = step[1]
        if sql.startswith("ROLLBACK"):
            return run(sql, *args)
        if dead or step not in seen:
            dead = True
            seen.add(step)
            raise Killed
        return run(sql, *args)

    with connection.execute_wrapper(execute):
        yield


def run_killed_everywhere(job):
    """Let one worker after another die, each before another statement. Returns how many died."""
    seen, died = set(), 0
    while True:
        try:
            with killed_before_what_is_new(seen):
                run_erasure(job.pk)
        except Killed:
            died += 1
            JobRun.objects.filter(pk=job.pk, state="running").update(lease_until=timezone.now())
            assert erasures_sweep() == 1
        else:
            return died


@pytest.mark.parametrize("scope", PARTS)
def test_of_a_part(scope):
    person = rich_person("zanzibar")
    rows = PARTS[scope].objects
    row = rows.first() if scope == "membership" else rows.filter(user=person).first()
    erasure, job = erasure_request(principal_for_person(person.pk), scope, str(row.pk))
    assert run_killed_everywhere(job) > 30
    erasure.refresh_from_db()
    assert (erasure.state, JobRun.objects.get(pk=job.pk).state) == ("done", "done")
    assert verified(erasure).startswith("Gone since ")


def test_of_everything(monkeypatch):
    monkeypatch.setattr(whole_actions, "BATCH", 1)
    person = rich_person("zanzibar")
    erasure, job = erasure_request(principal_for_person(person.pk), "everything")
    assert run_killed_everywhere(job) > 100
    erasure.refresh_from_db()
    assert (erasure.state, erasure.removed["message"]) == ("done", 3)
    assert not User.objects.filter(pk=person.pk).exists()
    assert holding("zanzibar") == set()
    assert verified(erasure).startswith("Gone since ")


def test_after_the_transaction_that_erased_a_part(monkeypatch):
    """What was cached of it stayed until its time was over: the next worker found nothing left to do."""
    person = rich_person("zanzibar")
    memory = Memory.objects.filter(user=person).first()
    erasure, job = erasure_request(principal_for_person(person.pk), "memory", memory.pk)
    valkey().set(f"memory:{person.pk}:1:list:x", "zanzibar", 60)

    def kill(*args):
        raise Killed

    with monkeypatch.context() as killing:
        killing.setattr(part_actions, "cache_erase", kill)
        with pytest.raises(Killed):
            run_erasure(job.pk)
    erasure.refresh_from_db()
    assert (erasure.state, JobRun.objects.get(pk=job.pk).state) == ("done", "running")
    JobRun.objects.filter(pk=job.pk).update(lease_until=timezone.now())
    run_erasure(job.pk)
    assert valkey().get(f"memory:{person.pk}:1:list:x") is None
    assert JobRun.objects.get(pk=job.pk).state == "done"
