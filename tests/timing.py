"""Times that tests hold against a limit, on machines that do other things as well."""

import time


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
