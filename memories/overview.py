"""Counts of memories by state and category, and the available filter values of lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, Q
from django.utils import timezone

from accounts.policy import must_act_for
from accounts.principals import Principal
from retrieval.prepared import read

from .cache import CachedValue, Family, read_through
from .models import Memory, Proposal
from .queries import ledger_of
from .querysets import MemoryQuerySet

MOST_SUBJECTS = 200


@dataclass(frozen=True, slots=True)
class Overview:
    """Counts and filter values of everything that a principal sees, without expired memories.

    ``counts`` by state and category; ``topics`` and ``subjects`` in alphabetical order; ``agents``: ids of agents that
    added a memory; ``changes``: the number of open proposals to change a memory or to put one away.
    """

    counts: Mapping[str, Mapping[str, int]]
    topics: list[str]
    subjects: list[str]
    agents: list[str]
    changes: int = 0

    @property
    def states(self) -> dict[str, int]:
        """Number of memories by state."""
        return {state: sum(found.values()) for state, found in self.counts.items()}


def counts_by_state(memories: MemoryQuerySet) -> dict[str, int]:
    """Return the number of memories by state, without expired ones."""
    return dict.fromkeys(Memory.State.values, 0) | dict(
        _remembered(memories).values_list("state").annotate(Count("pk"))
    )


def read_overview(principal: Principal) -> Overview:
    """Return the overview at the person's current revision, including what the caller has just written.

    Raises NotFound for a principal that acts for nobody.
    """
    ((rev,),) = read(ledger_of(must_act_for(principal)), ("rev",))
    now = replace(principal, rev=rev)
    return Overview(**read_through(now, Family.OVERVIEW, lambda: _read(now)))


def _remembered(memories: MemoryQuerySet) -> MemoryQuerySet:
    return memories.exclude(state="active", expires_at__lte=timezone.now()).order_by()


def _read(principal: Principal) -> CachedValue[dict[str, Any]]:
    memories = Memory.objects.visible_to(principal).order_by()
    counted = _remembered(memories).values_list("state", "category")
    ends = Min("expires_at", filter=Q(state="active"))
    counts: dict[str, dict[str, int]] = {}
    soonest: list[datetime] = []
    for state, category, number, end in counted.annotate(number=Count("pk"), end=ends):
        counts.setdefault(state, {})[category] = number
        soonest += [end] if end else []
    named = memories.exclude(subject="").order_by("subject").values_list("subject", flat=True).distinct()
    wrote = memories.exclude(agent=None).values_list("agent", flat=True).distinct()
    proposals = Proposal.objects.visible_to(principal).open(timezone.now())
    changes = proposals.filter(kind__in=[Proposal.Kind.UPDATE, Proposal.Kind.ARCHIVE])
    lapses = list(changes.values_list("expires_at", flat=True))
    found = {
        "counts": counts,
        "topics": memories.topics(),
        "subjects": list(named[:MOST_SUBJECTS]),
        "agents": [str(pk) for pk in wrote],
        "changes": len(lapses),
    }
    return CachedValue(found, min([*soonest, *lapses], default=None))
