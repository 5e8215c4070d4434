"""Processes of their own for the concurrency tests: forked from one that has loaded Django and opened nothing."""

import multiprocessing
import os
import time
from multiprocessing import forkserver
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from django.db import connection

PATIENCE_SECONDS = 120
"""The bound of every wait: what takes a second alone may take a minute beside everything else that is tested."""
ROOT = Path(__file__).resolve().parents[2]
CONTEXT = multiprocessing.get_context("forkserver")


def database_url_of_tests():
    """The address of the test database, from that of the real one: the same in all but the name."""
    parts = urlsplit(os.environ["DATABASE_URL"])
    return urlunsplit(parts._replace(path=f"/{connection.settings_dict['NAME']}"))


def start_fork_server(**environment):
    """Start the process that the others are forked from, with this environment, which is theirs too."""
    before = dict(os.environ)
    path = os.pathsep.join(filter(None, [str(ROOT), before.get("PYTHONPATH", "")]))
    os.environ.update(environment, PYTHONPATH=path)
    try:
        CONTEXT.set_forkserver_preload(["tests.assistant.children"])
        forkserver.ensure_running()
    finally:
        os.environ.clear()
        os.environ.update(before)


class Children:
    """Starts functions in processes of their own; none outlives the ``with`` block."""

    def __init__(self):
        self._all = []

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for process in self._all:
            if process.is_alive():
                process.kill()
        for process in self._all:
            process.join(10)

    def start(self, function, *args):
        """Call a function of ``children`` in a new process."""
        process = CONTEXT.Process(target=function, args=args)
        process.start()
        self._all.append(process)
        return process


def wait_for(condition, what):
    """Wait until a condition holds and return what it answered; fail with ``what()`` when that takes too long."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"not within {PATIENCE_SECONDS} s: {what()}"
        time.sleep(0.02)
    return answer
