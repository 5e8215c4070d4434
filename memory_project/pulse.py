"""Statistics of the last 24 hours: requests, durations, errors; and the last sign of life of a worker.

Each process counts in memory and adds its counts to Valkey every few seconds. Without Valkey the counts are lost, and
requests are not affected.
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
"""The worker counts as down after this time without a finished task: beat schedules one every five seconds."""
_GROWTH = 1.25
_KEPT_SECONDS = (HOURS + 1) * 3_600
_BROKEN, _WORKED = "broken", "pulse:worked"


@dataclass(frozen=True, slots=True)
class Day:
    """Requests of the last 24 hours: their number, those with a 5xx, and percentiles of the duration in ms."""

    requests: int
    broken: int
    p50: int | None
    p95: int | None


class _Counts:
    """The counts of this process that are not yet in Valkey."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._flushed_at = 0.0

    def add(self, key: str, *names: str) -> None:
        with self._lock:
            self._counts[key].update(names)

    def flush(self) -> None:
        """Add the counts to Valkey, at most every ``FLUSH_SECONDS``."""
        with self._lock:
            if time.monotonic() - self._flushed_at < FLUSH_SECONDS:
                return
            self._flushed_at = time.monotonic()
            counts, self._counts = self._counts, defaultdict(Counter)
        for key, each in counts.items():
            valkey().add_counts(key, each, _KEPT_SECONDS)


_counts = _Counts()
_last_beat = 0.0


def note_request(seconds: float, status: int) -> None:
    """Count a finished request."""
    names = [str(_step(seconds))]
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        names.append(_BROKEN)
    _counts.add(_key(int(time.time()) // 3_600), *names)
    _counts.flush()


def note_work() -> None:
    """Record that a worker has just finished a task, at most every ``BEAT_SECONDS``."""
    global _last_beat  # noqa: PLW0603 - one process, one pulse
    if time.monotonic() - _last_beat >= BEAT_SECONDS:
        _last_beat = time.monotonic()
        valkey().set(_WORKED, int(time.time()), _KEPT_SECONDS)


def last_day() -> Day:
    """Return the counts of all processes. Durations are rounded up to a histogram bucket (25 % wide)."""
    hour = int(time.time()) // 3_600
    found = valkey().sum_counts([_key(hour - back) for back in range(HOURS)])
    broken = found.pop(_BROKEN, 0)
    steps = sorted((int(step), count) for step, count in found.items())
    total = sum(count for _, count in steps)
    return Day(total, broken, _percentile(steps, total, 0.5), _percentile(steps, total, 0.95))


def last_worked() -> datetime | None:
    """Return when a worker last finished a task; None if not within the last day."""
    at = valkey().get(_WORKED)
    return None if at is None else datetime.fromtimestamp(at, UTC)


def queue_depth() -> int | None:
    """Return the number of tasks waiting in the broker; None when it is unavailable."""
    try:
        with current_app.connection_for_read() as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=1)
            queue = current_app.conf.task_default_queue
            return int(connection.default_channel.queue_declare(queue, passive=True).message_count)
    except connection.channel_errors:
        return 0  # The queue does not exist yet.
    except (BrokerError, OSError):
        return None


def _key(hour: int) -> str:
    return f"pulse:{hour}"


def _step(seconds: float) -> int:
    """Return the histogram bucket of a duration: 0 up to a millisecond, then growing by a factor of 1.25."""
    return max(0, math.ceil(math.log(max(1_000 * seconds, 1), _GROWTH)))


def _percentile(steps: list[tuple[int, int]], total: int, share: float) -> int | None:
    seen = 0
    for step, count in steps:
        seen += count
        if seen >= share * total:
            return round(_GROWTH**step)
    return None
