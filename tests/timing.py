"""Times that tests hold against a limit, on machines that do other things as well."""

import time

LOOP_SECONDS = 0.0017
"""What ``_loop_seconds`` measures on the idle machine that the limits were set on."""


def allowed(seconds):
    """``seconds`` as a limit for this machine: longer while it is slower."""
    slowness = sorted(_loop_seconds() for _ in range(5))[2] / LOOP_SECONDS
    return seconds * max(1.0, slowness)


def _loop_seconds():
    began, total = time.thread_time(), 0
    for number in range(50_000):
        total += number
    return time.thread_time() - began


def processor_seconds(work):
    """How long this process works for ``work()``, however long it waits."""
    began = time.process_time()
    work()
    return time.process_time() - began


def fastest(measure, below, tries=20):
    """The least of the seconds that ``measure()`` returns, until one is below the limit."""
    least = measure()
    for _ in range(tries - 1):
        if least < below:
            break
        least = min(least, measure())
    return least
