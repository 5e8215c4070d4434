"""Caches by a person's text are emptied after some minutes, and by an erasure in the same process."""

import threading

import pytest

from language import brief_caches
from language.brief_caches import cached_briefly, empty_caches, note_kept
from language.reading import parse as parsing
from language.reading.parse import parse

SAID = "The user keeps a heron named Quentin."


@pytest.fixture(autouse=True)
def emptied():
    empty_caches()
    yield
    empty_caches()


def test_a_result_is_computed_again_once_the_caches_were_emptied(monkeypatch):
    calls = []
    monkeypatch.setattr(brief_caches, "_clears", [])

    @cached_briefly(maxsize=10)
    def shout(text, *, mark="!"):
        calls.append(text)
        return text.upper() + mark

    assert (shout("hen"), shout("hen"), shout("hen", mark="?")) == ("HEN!", "HEN!", "HEN?")
    assert len(calls) == 2
    empty_caches()
    assert shout("hen") == "HEN!"
    assert len(calls) == 3


def test_they_are_emptied_after_a_while_without_another_call(monkeypatch):
    monkeypatch.setattr(brief_caches, "KEPT_SECONDS", 0.01)
    emptied = threading.Event()
    monkeypatch.setattr(brief_caches, "_clears", [emptied.set])
    note_kept()
    assert emptied.wait(30)


def test_one_timer_runs_at_a_time(monkeypatch):
    started = []

    def start(timer):
        started.append(timer)

    monkeypatch.setattr(threading.Timer, "start", start)
    note_kept()
    note_kept()
    assert len(started) == 1
    assert started[0].daemon


def test_no_sentence_stays_in_them():
    parse(SAID)
    assert any(SAID in key for key in parsing._recent)
    empty_caches()
    assert not parsing._recent


def test_a_forked_process_starts_its_own_timer():
    note_kept()
    timer = brief_caches._timer
    try:
        brief_caches._after_fork()
        assert brief_caches._timer is None
    finally:
        timer.cancel()
