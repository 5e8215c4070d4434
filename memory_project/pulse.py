"""How the deployment did in the last 24 hours: requests, how long they took, which broke; when a worker last worked.

Each process counts for itself and adds its counts to those in Valkey every few seconds, so that no request waits for
that. Where Valkey is away, they are lost and nothing else happens.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from threading import Lock

from celery import current_app
from kombu.exceptions import OperationalError as BrokerError

from journal.cache import valkey

HOURS = 24
FLUSH_SECONDS = 10.0
BEAT_SECONDS = 5.0
LATE_AFTER_SECONDS = 180
"""A worker that has ended no task for so long is away: its clock gives it one every five seconds."""
_GROWTH = 1.25
_KEPT_SECONDS = (HOURS + 1) * 3_600
_BROKEN, _WORKED = "broken", "pulse:worked"


@dataclass(frozen=True, slots=True)
class Day:
    """Requests of the last 24 hours: how many, how many ended with a 5xx, and in how many milliseconds at most."""

    requests: int
    broken: int
    p50: int | None
    p95: int | None


class _Counts:
    """What this process has counted and not yet told."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._told = 0.0

    def add(self, key: str, *names: str) -> None:
        with self._lock:
            self._counts[key].update(names)

    def tell(self) -> None:
        """Add the counts to those of the other processes, unless that was just done."""
        with self._lock:
            if time.monotonic() - self._told < FLUSH_SECONDS:
                return
            self._told = time.monotonic()
            counts, self._counts = self._counts, defaultdict(Counter)
        for key, each in counts.items():
            valkey().add_counts(key, each, _KEPT_SECONDS)


_counts = _Counts()
_beaten = 0.0


def note_request(seconds: float, status: int) -> None:
    """Count a request that was answered."""
    names = [str(_step(seconds))]
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        names.append(_BROKEN)
    _counts.add(_key(int(time.time()) // 3_600), *names)
    _counts.tell()


def note_work() -> None:
    """Say that a worker has just ended a task; told once in a few seconds."""
    global _beaten  # noqa: PLW0603 - one process, one pulse
    if time.monotonic() - _beaten >= BEAT_SECONDS:
        _beaten = time.monotonic()
        valkey().set(_WORKED, int(time.time()), _KEPT_SECONDS)


def last_day() -> Day:
    """What all processes have counted. A duration is told as the upper end of its step, which is a quarter wide."""
    hour = int(time.time()) // 3_600
    found = valkey().sum_counts([_key(hour - back) for back in range(HOURS)])
    broken = found.pop(_BROKEN, 0)
    steps = sorted((int(step), count) for step, count in found.items())
    total = sum(count for _, count in steps)
    return Day(total, broken, _percentile(steps, total, 0.5), _percentile(steps, total, 0.95))


def last_worked() -> datetime | None:
    """When a worker last ended a task, within the last day."""
    at = valkey().get(_WORKED)
    return None if at is None else datetime.fromtimestamp(at, UTC)


def queue_depth() -> int | None:
    """How many tasks wait in the broker; None when it is away."""
    try:
        with current_app.connection_for_read() as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=1)
            queue = current_app.conf.task_default_queue
            return int(connection.default_channel.queue_declare(queue, passive=True).message_count)
    except connection.channel_errors:
        return 0  # Nothing was ever put into it.
    except (BrokerError, OSError):
        return None


def _key(hour: int) -> str:
    return f"pulse:{hour}"


def _step(seconds: float) -> int:
    """The number of the step of the scale, from 0 for a millisecond and less, in which a duration lies."""
    return max(0, math.ceil(math.log(max(1_000 * seconds, 1), _GROWTH)))


def _percentile(steps: list[tuple[int, int]], total: int, share: float) -> int | None:
    seen = 0
    for step, count in steps:
        seen += count
        if seen >= share * total:
            return round(_GROWTH**step)
    return None
