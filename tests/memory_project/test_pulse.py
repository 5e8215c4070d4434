"""How the deployment did in a day, as each process counts it."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from memory_project import pulse


@pytest.fixture(autouse=True)
def _own_counts(settings, monkeypatch):
    """Counts of this test alone, told at once."""
    settings.CACHES = {"default": {**settings.CACHES["default"], "KEY_PREFIX": f"pulse-{uuid4()}"}}
    monkeypatch.setattr(pulse, "_counts", pulse._Counts())
    monkeypatch.setattr(pulse, "FLUSH_SECONDS", 0.0)
    monkeypatch.setattr(pulse, "_last_beat", -1e9)


def test_a_day_without_requests():
    assert pulse.last_day() == pulse.Day(0, 0, None, None)
    assert pulse.last_worked() is None


def test_half_and_most_of_the_requests():
    for milliseconds in [10] * 90 + [400] * 10:
        pulse.note_request(milliseconds / 1_000, 200)
    day = pulse.last_day()
    assert (day.requests, day.broken) == (100, 0)
    assert 10 <= day.p50 <= 12.5
    assert 400 <= day.p95 <= 500


def test_only_what_the_server_broke_counts_as_broken():
    for status in (200, 302, 404, 422, 500, 503):
        pulse.note_request(0.0, status)
    assert pulse.last_day() == pulse.Day(6, 2, 1, 1)


def test_a_day_has_24_hours(monkeypatch):
    at = pulse.time.time()
    for hours in (0, 23, 24):
        monkeypatch.setattr(pulse.time, "time", lambda hours=hours: at - 3_600 * hours)
        pulse.note_request(0.001, 200)
    monkeypatch.setattr(pulse.time, "time", lambda: at)
    assert pulse.last_day().requests == 2


def test_counts_are_told_once_in_a_while(monkeypatch):
    monkeypatch.setattr(pulse, "FLUSH_SECONDS", 60.0)
    for _ in range(5):
        pulse.note_request(0.001, 200)
    assert pulse.last_day().requests == 1
    monkeypatch.setattr(pulse, "FLUSH_SECONDS", 0.0)
    pulse.note_request(0.001, 200)
    assert pulse.last_day().requests == 6


def test_a_worker_shows_that_it_is_there():
    before = timezone.now()
    pulse.note_work()
    assert abs(pulse.last_worked() - before) < timedelta(seconds=2)


def test_valkey_away_loses_counts_and_nothing_else(settings, monkeypatch):
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": "unix:///nonexistent"}}
    pulse.note_request(0.001, 500)
    pulse.note_work()
    assert (pulse.last_day(), pulse.last_worked()) == (pulse.Day(0, 0, None, None), None)


def test_the_queue_is_counted_and_away_when_the_broker_is(monkeypatch):
    assert isinstance(pulse.queue_depth(), int)
    away = pulse.current_app.connection_for_read("redis+socket:///nonexistent")
    monkeypatch.setattr(pulse.current_app, "connection_for_read", lambda: away, raising=False)
    assert pulse.queue_depth() is None
