"""Limits how many texts are computed at once, and keeps forks away meanwhile."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

_forking = threading.Lock()
_loading = threading.Lock()
_turns = threading.BoundedSemaphore(_CORES)
"""Limits concurrent texts, as the runtime allocates memory for each."""


@contextmanager
def turn() -> Iterator[None]:
    """Compute one text."""
    with _forking:  # A process that is about to be forked goes first.
        _turns.acquire()
    try:
        yield
    finally:
        _turns.release()


@contextmanager
def loading() -> Iterator[None]:
    """Load a network; one at a time, and no fork meanwhile."""
    with _loading:
        yield


def _wait_for_turns() -> None:
    """Wait before a fork until nothing is being computed: the child would deadlock on the runtime's locks.

    The servers fork once, before the first text; multiprocessing may fork at any time.
    """
    _loading.acquire()
    _forking.acquire()
    for _ in range(_CORES):
        _turns.acquire()


def _give_turns_back() -> None:
    for _ in range(_CORES):
        _turns.release()
    _forking.release()
    _loading.release()


def _begin_anew() -> None:
    # Other threads may have held these locks at the fork.
    global _forking, _loading, _turns  # noqa: PLW0603
    _forking = threading.Lock()
    _loading = threading.Lock()
    _turns = threading.BoundedSemaphore(_CORES)


os.register_at_fork(before=_wait_for_turns, after_in_parent=_give_turns_back, after_in_child=_begin_anew)
