"""Packs ranked items into a token budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Packed(Generic[T]):
    """The items that fit and those that don't, both in rank order, and the tokens of ``kept``."""

    kept: list[T]
    dropped: list[T]
    tokens: int


def pack(items: Iterable[T], budget: int, tokens_of: Callable[[T], int]) -> Packed[T]:
    """Greedily keep each item, best first, that still fits into ``budget`` tokens.

    An item that is too long is skipped, so a shorter one of lower rank may still fit. A budget of 0 or less keeps only
    items without tokens. Raises ValueError if an item has a negative cost.
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
