"""Fits ranked items into a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Packed(Generic[T]):
    """What fits and what does not, both in the order of the ranking, and the tokens that ``kept`` takes."""

    kept: list[T]
    dropped: list[T]
    tokens: int


def pack(items: Iterable[T], budget: int, tokens_of: Callable[[T], int]) -> Packed[T]:
    """Go through the items, best first, and keep each one that still fits into ``budget`` tokens.

    An item that is too long is passed over, so that a shorter one further down may still get in. A budget of 0 or
    less keeps only what costs nothing. Raises ValueError if an item has a negative cost.
    """
    kept: list[T] = []
    dropped: list[T] = []
    tokens = 0
    for item in items:
        cost = tokens_of(item)
        if cost < 0:
            raise ValueError("an item can't cost a negative number of tokens")
        if tokens + cost <= max(budget, 0):
            kept.append(item)
            tokens += cost
        else:
            dropped.append(item)
    return Packed(kept, dropped, tokens)
