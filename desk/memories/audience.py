"""Who sees a memory: its use in prompts, the agents with its category, disclosures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.db.models import FilteredRelation, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.models import Agent
from accounts.policy import must_act_for, what_agent_sees
from accounts.principals import PLACEHOLDER_USER, Principal
from memories.models import Disclosure, Memory
from memories.querysets import DisclosureQuerySet
from retrieval.prepared import Shaped, read

MOST_AGENTS = 50
NAMED = 6


LATEST = 5
LOOKED_AT = 50
"""The number of latest rows that are read for them; repeated queries of an agent become one line."""
HOW = {
    Disclosure.By.QUERY: gettext_noop("found it in a search"),
    Disclosure.By.CONTEXT: gettext_noop("read it in the memory block"),
    Disclosure.By.TURN: gettext_noop("had it in a prompt"),
}


@dataclass(frozen=True, slots=True)
class Audience:
    """Names of agents that see a category, and the number of others; ``off``: memory is off."""

    names: list[str]
    more: int
    off: bool


def who_sees(principal: Principal, category: str) -> Audience:
    """Return the agents that see a category, in one query."""
    someone, columns = principal.with_placeholders(), ("categories", "sources", "revoked_at")
    agents = Shaped(("agents of", someone), lambda: _agents(someone), {PLACEHOLDER_USER: must_act_for(principal)})
    names = [
        name
        for name, role, categories, sources, revoked_at in read(agents, ("name", "role", *map(_of_grant, columns)))
        if revoked_at is None and category in what_agent_sees(role, categories, sources)[0]
    ]
    return Audience(names[:NAMED], max(0, len(names) - NAMED), not principal.has_memory)


def _agents(principal: Principal) -> QuerySet[Agent]:
    own = FilteredRelation("grants", condition=Q(grants__user_id=principal.user_id))
    return Agent.objects.visible_to(principal).annotate(given=own).order_by("name", "pk")[:MOST_AGENTS]


def _of_grant(column: str) -> str:
    return f"given__{column}"


@dataclass(frozen=True, slots=True)
class DisclosureLine:
    """Consecutive disclosures to an agent on one day, the last one ``at``."""

    agent: Agent
    how: str
    at: datetime
    times: int = 1


def disclosures_of(principal: Principal, memory: Memory) -> DisclosureQuerySet:
    """Return the visible disclosures of a memory, latest first."""
    return Disclosure.objects.visible_to(principal).of(memory.pk)


def tell(rows: Iterable[Disclosure]) -> list[DisclosureLine]:
    """Describe disclosures, loaded with their agents."""
    return [DisclosureLine(row.agent, _(HOW[Disclosure.By(row.by)]), row.at) for row in rows]


def tell_by_day(rows: Iterable[Disclosure]) -> list[DisclosureLine]:
    """Describe disclosures, with consecutive equal ones of a day in one line."""
    told = []
    for (agent, by, _day), alike in groupby(rows, lambda row: (row.agent, row.by, timezone.localdate(row.at))):
        latest, *others = alike
        told.append(DisclosureLine(agent, _(HOW[Disclosure.By(by)]), latest.at, 1 + len(others)))
    return told
