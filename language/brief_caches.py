"""Caches of results by a person's text, emptied every few minutes: no process keeps erased sentences for longer."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

KEPT_SECONDS = 600.0
"""The longest time that a text stays in one of these caches."""

_clears: list[Callable[[], None]] = []
_lock = threading.Lock()
_timer: threading.Timer | None = None


def cached_briefly(maxsize: int) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Decorate a function like ``lru_cache``, whose results are forgotten after at most ``KEPT_SECONDS``."""

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        cached = lru_cache(maxsize=maxsize)(function)
        emptied_briefly(cached.cache_clear)

        @wraps(function)
        def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            note_kept()
            return cached(*args, **kwargs)  # type: ignore[arg-type]

        return call

    return decorate


def emptied_briefly(clear: Callable[[], None]) -> Callable[[], None]:
    """Register a function that empties a cache. Call ``note_kept`` before something is put into it."""
    _clears.append(clear)
    return clear


def note_kept() -> None:
    """Start the time after which all caches are emptied, unless it runs."""
    global _timer  # noqa: PLW0603 - one timer a process.
    if _timer is not None:
        return
    with _lock:
        if _timer is None:
            _timer = threading.Timer(KEPT_SECONDS, empty_caches)
            _timer.daemon = True
            _timer.start()


def empty_caches() -> None:
    """Empty all of these caches in this process."""
    global _timer  # noqa: PLW0603
    with _lock:
        if _timer is not None:
            _timer.cancel()
        _timer = None
    for clear in _clears:
        clear()


def _after_fork() -> None:
    """Forget the parent's timer, whose thread a forked process does not have."""
    global _timer, _lock
    _timer, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
