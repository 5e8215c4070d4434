"""Who would see a memory: how prompts come to hold it, and which agents may see its category."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Prefetch

from accounts.models import Agent, Grant
from accounts.policy import must_act_for, what_agent_sees
from accounts.principals import Principal

MOST_AGENTS = 50
NAMED = 6


@dataclass(frozen=True, slots=True)
class Sight:
    """The names of agents that may see a category and how many more there are; ``off``: none sees anything."""

    names: list[str]
    more: int
    off: bool


def who_sees(principal: Principal, category: str) -> Sight:
    """Which of the person's agents may see memories of a category, in two queries."""
    own = Grant.objects.filter(user_id=must_act_for(principal))
    agents = Agent.objects.visible_to(principal).prefetch_related(Prefetch("grants", own, to_attr="given"))
    names = [agent.name for agent in agents.order_by("name", "pk")[:MOST_AGENTS] if _sees(agent, category)]
    return Sight(names[:NAMED], max(0, len(names) - NAMED), not principal.has_memory)


def _sees(agent: Agent, category: str) -> bool:
    grants: list[Grant] = agent.given  # type: ignore[attr-defined]  # prefetched above
    grant = grants[0] if grants else None
    if grant is not None and grant.revoked:
        return False
    granted = (None, None) if grant is None else (grant.categories, grant.sources)
    return category in what_agent_sees(agent.role, *granted)[0]
