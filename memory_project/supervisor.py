"""Supervises child processes: restarts them until this process is asked to stop."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType

from .embedded.account import ServerError
from .embedded.processes import Child, tail

_POLL_SECONDS = 0.25
_FIRST_DELAY_SECONDS = 0.5
_STEADY_SECONDS = 60.0
_MOST_RESTARTS = 5
_HURRY_SECONDS = 2.0


class Stop(BaseException):
    """This process was asked to stop."""


def say(text: str, *, end: str = "\n") -> None:
    """Write to the console, if there still is one."""
    with suppress(OSError):
        sys.stdout.write(text + end)
        sys.stdout.flush()


def raise_stop_on_signals() -> None:
    """Raise Stop at the first SIGINT, SIGTERM or SIGHUP; a second one exits at once.

    After that exit the kernel signals the children. A second signal within two seconds is ignored: one Ctrl-C or kill
    can arrive twice, from the terminal and from make. An ignored SIGHUP (nohup) stays ignored.
    """
    signals = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signals.append(signal.SIGHUP)

    def stop(signum: int, frame: FrameType | None) -> None:
        asked = time.monotonic()

        def hurry(signum: int, frame: FrameType | None) -> None:
            if time.monotonic() - asked > _HURRY_SECONDS:
                os._exit(1)

        for each in signals:
            signal.signal(each, hurry)
        raise Stop

    for each in signals:
        signal.signal(each, stop)


@dataclass
class _Watched:
    child: Child
    deaths: int = 0
    start_at: float | None = None


class Supervisor:
    """Starts children and watches them and the given running servers; restarts dead ones with growing delays.

    ``watch`` raises ServerError when a child dies six times without running for a minute in between.
    """

    def __init__(self, servers: Sequence[Child]) -> None:
        self._watched = [_Watched(server) for server in servers]
        self._started: list[Child] = []

    def start(self, child: Child) -> None:
        """Start a child and watch it."""
        self._started.append(child)
        child.start()
        self._watched.append(_Watched(child))

    def stop(self) -> None:
        """Stop the children that this supervisor started, in parallel."""
        for child in self._started:
            child.ask_to_stop()
        for child in self._started:
            child.stop()

    def watch(self, until: Callable[[], bool] = lambda: False, seconds: float = float("inf")) -> bool:
        """Keep the children running. Returns True when ``until`` holds, False when the time is over."""
        deadline = time.monotonic() + seconds
        while not until():
            if time.monotonic() > deadline:
                return False
            for watched in self._watched:
                self._look_after(watched)
            time.sleep(_POLL_SECONDS)
        return True

    def _look_after(self, watched: _Watched) -> None:
        now, child = time.monotonic(), watched.child
        child.shorten_log()
        if watched.start_at is not None:
            if now >= watched.start_at:
                watched.start_at = None
                child.start()
        elif not child.running():
            watched.deaths = 1 if now - child.started_at > _STEADY_SECONDS else watched.deaths + 1
            if watched.deaths > _MOST_RESTARTS:
                msg = f"{child.name} keeps ending ({child.ending}). The end of {child.log}:\n{tail(child.log)}"
                raise ServerError(msg)
            delay = _FIRST_DELAY_SECONDS * 2 ** (watched.deaths - 1)
            say(f"{child.name} ended ({child.ending}); starting it again in {delay:g} s. See {child.log}")
            watched.start_at = now + delay
