"""Which agents saw a memory, in words: who, how and when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.utils import timezone

from accounts.principals import Principal
from memories.models import Disclosure, Memory
from memories.querysets import DisclosureQuerySet

LATEST = 5
LOOKED_AT = 50
"""So many of the latest rows are looked at for those; an agent that asks again and again is told of in one line."""

_HOW = {
    Disclosure.By.QUERY: "found it in a search",
    Disclosure.By.CONTEXT: "read it in the memory block",
    Disclosure.By.TURN: "had it in a prompt",
}


@dataclass(frozen=True, slots=True)
class Sighting:
    """That an agent saw it: so many times in a row on one day, the last of them ``at``."""

    agent: str
    how: str
    at: datetime
    times: int = 1


def sightings_of(principal: Principal, memory: Memory) -> DisclosureQuerySet:
    """The rows behind them, the latest first; those that the person may see."""
    return Disclosure.objects.visible_to(principal).of(memory.pk)


def tell(rows: Iterable[Disclosure]) -> list[Sighting]:
    """The rows in words. They hold their agents."""
    return [Sighting(row.agent.name, _HOW[Disclosure.By(row.by)], row.at) for row in rows]


def tell_by_day(rows: Iterable[Disclosure]) -> list[Sighting]:
    """The same for rows in their order, in one line what an agent saw in the same way again and again on one day."""
    told = []
    for (agent, by, _), alike in groupby(rows, lambda row: (row.agent.name, row.by, timezone.localdate(row.at))):
        latest, *others = alike
        told.append(Sighting(agent, _HOW[Disclosure.By(by)], latest.at, 1 + len(others)))
    return told
