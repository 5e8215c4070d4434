"""Comparisons with rejected and withheld texts, which run a parser and networks: made while no ledger is locked.

An action that is decorated with ``compares_unlocked`` looks under its lock for the rejected texts that are near, as
ever. What was compared before the lock needs no comparison. If one is missing, since somebody rejected something
meanwhile or nothing was compared before, the transaction is rolled back, the comparison made, and the action run again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from journal.actions import holds_ledgers

_TRIES = 5

_P = ParamSpec("_P")
_R = TypeVar("_R")


class UncomparedError(Exception):
    """A comparison is missing that must not be made under a lock. ``compares_unlocked`` makes it."""


@dataclass(slots=True)
class _Verdicts:
    """The verdicts of one action by what was compared, and the comparisons that are ``missing`` under its lock.

    ``is_last``: it has been run again too often, and compares under the lock.
    """

    known: dict[Hashable, Any] = field(default_factory=dict)
    missing: dict[Hashable, Callable[[], Any]] = field(default_factory=dict)
    is_last: bool = False

    def compare(self) -> None:
        """Make the missing comparisons."""
        self.known |= {compared: compare() for compared, compare in self.missing.items()}
        self.missing.clear()


_verdicts: ContextVar[_Verdicts | None] = ContextVar("verdicts", default=None)


def compares_unlocked(action: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorate an action that opens ``ledger_write``, so that it runs again instead of comparing under the lock.

    Its arguments must not be changed by a run that is rolled back.
    """

    @wraps(action)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if holds_ledgers():
            return action(*args, **kwargs)  # The action around it runs again.
        with _keeping_verdicts() as kept:
            for _ in range(_TRIES):
                try:
                    return action(*args, **kwargs)
                except UncomparedError:
                    kept.compare()
            kept.is_last = True
            return action(*args, **kwargs)

    return run


@contextmanager
def _keeping_verdicts() -> Iterator[_Verdicts]:
    kept = _Verdicts()
    token = _verdicts.set(kept)
    try:
        yield kept
    finally:
        _verdicts.reset(token)


def verdict(compared: Hashable, compare: Callable[[], _R], otherwise: _R) -> _R:
    """Return the verdict on what is ``compared``, or ``otherwise`` if it is missing; then ``check_compared`` raises."""
    kept = _verdicts.get()
    if kept is None:
        return compare()
    if compared not in kept.known:
        if holds_ledgers() and not kept.is_last:
            kept.missing[compared] = compare
            return otherwise
        kept.known[compared] = compare()
    found: _R = kept.known[compared]
    return found


def check_compared() -> None:
    """Raise UncomparedError if comparisons are missing. Called after all of a call were asked for."""
    kept = _verdicts.get()
    if kept is not None and kept.missing:
        raise UncomparedError
