"""Which agents saw a memory, in words: who, how and when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from accounts.principals import Principal
from memories.models import Disclosure, Memory
from memories.querysets import DisclosureQuerySet

LATEST = 5
_HOW = {
    Disclosure.By.QUERY: "found it in a search",
    Disclosure.By.CONTEXT: "read it in the memory block",
    Disclosure.By.TURN: "had it in a prompt",
}


@dataclass(frozen=True, slots=True)
class Sighting:
    """One time that an agent saw it."""

    agent: str
    how: str
    at: datetime


def sightings_of(principal: Principal, memory: Memory) -> DisclosureQuerySet:
    """The rows behind them, the latest first; those that the person may see."""
    return Disclosure.objects.visible_to(principal).of(memory.pk)


def tell(rows: Iterable[Disclosure]) -> list[Sighting]:
    """The rows in words. They hold their agents."""
    return [Sighting(row.agent.name, _HOW[Disclosure.By(row.by)], row.at) for row in rows]
