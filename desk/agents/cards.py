"""Cards of agents: last call, recent disclosures, permissions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Count, Max, Prefetch
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts import categories
from accounts.models import Agent, AgentKey, Grant
from accounts.policy import must_act_for, what_agent_sees
from accounts.principals import SOURCES, Principal
from accounts.querysets import AgentQuerySet
from conversations.models import Checkpoint
from memories.models import Disclosure, Memory
from statements.policy.naming import in_second_person

from ..labels import category_label, role_label

LATELY = timedelta(days=7)
MOST_THREADS = 50
NAMED = 5
SOURCE_LABELS = {
    "turns": gettext_noop("What was said in your conversations"),
    "chunks": gettext_noop("Summaries of your conversations"),
    "facts": gettext_noop("Facts about those whom you remember"),
}
SCOPE_LABELS = {"read": gettext_noop("reads"), "write": gettext_noop("adds"), "admin": gettext_noop("decides for you")}


HOW_SEVERAL = {
    Disclosure.By.QUERY: gettext_noop("It looked them up"),
    Disclosure.By.CONTEXT: gettext_noop("It read them in the memory block"),
    Disclosure.By.TURN: gettext_noop("It had them in a prompt"),
}


class GrantChoice(NamedTuple):
    """A category or source that can be granted."""

    name: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class KeyLine:
    """A key of a personal agent, with its permissions in words."""

    key: AgentKey
    allows: str
    is_over: bool


@dataclass(frozen=True, slots=True)
class AgentCard:
    """An agent on the person's pages. ``shown``: number of disclosures within ``LATELY``.

    ``last_call``: of any key for personal agents; for others' services the last disclosure.
    """

    agent: Agent
    mine: bool
    revoked: bool
    last_call: datetime | None
    shown: int
    categories: Sequence[GrantChoice]
    sources: Sequence[GrantChoice]
    keys: Sequence[KeyLine] = ()

    @property
    def role(self) -> str:
        """The label of its role, or ''."""
        return role_label(self.agent.role)

    @property
    def sees_all(self) -> bool:
        """Whether everything of its role is granted."""
        return all(each.chosen for each in self.categories)

    @property
    def seen(self) -> list[str]:
        """Its permissions in words."""
        return [each.label for each in (*self.categories, *self.sources) if each.chosen]

    def as_query(self, **more: object) -> str:
        """Return its permissions as the query of an address, with further parameters."""
        chosen = {
            "category": [each.name for each in self.categories if each.chosen],
            "source": [each.name for each in self.sources if each.chosen],
        }
        return urlencode({**chosen, **more}, doseq=True)


def with_use(principal: Principal, agents: AgentQuerySet) -> AgentQuerySet:
    """Annotate agents with the last use of a key and the person's grant."""
    own = Grant.objects.filter(user_id=must_act_for(principal))
    used = agents.annotate(used_at=Max("keys__last_used_at"))
    return used.prefetch_related(Prefetch("grants", own, to_attr="given"))


def make_agent_cards(principal: Principal, agents: Iterable[Agent], *, with_keys: bool = False) -> list[AgentCard]:
    """Return the cards of agents from ``with_use``, in a constant number of statements."""
    user_id, now = must_act_for(principal), timezone.now()
    rows = list(agents)
    ids = [agent.pk for agent in rows]
    lately = Disclosure.objects.visible_to(principal).filter(agent__in=ids, at__gte=now - LATELY)
    told = lately.order_by().values_list("agent").annotate(Count("pk"), Max("at"))
    counts = {pk: (times, last) for pk, times, last in told}
    keys: dict[UUID, list[KeyLine]] = {}
    if with_keys:
        for key in AgentKey.objects.visible_to(principal).filter(agent__in=ids).order_by("-created_at"):
            over = key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= now)
            allows = ", ".join(_(label) for scope, label in SCOPE_LABELS.items() if scope in key.scopes)
            keys.setdefault(key.agent_id, []).append(KeyLine(key, allows, over))
    return [_card(user_id, agent, counts, keys.get(agent.pk, ())) for agent in rows]


def _card(
    user_id: UUID, agent: Agent, counts: Mapping[UUID, tuple[int, datetime]], keys: Sequence[KeyLine]
) -> AgentCard:
    grants: list[Grant] = agent.given  # type: ignore[attr-defined]  # prefetched above
    grant = grants[0] if grants else None
    granted = (None, None) if grant is None else (grant.categories, grant.sources)
    offered, _sources = what_agent_sees(agent.role, None, None)
    seen, sources = what_agent_sees(agent.role, *granted)
    mine = agent.owner_id == user_id
    shown, last = counts.get(agent.pk, (0, None))
    return AgentCard(
        agent=agent,
        mine=mine,
        revoked=grant is not None and grant.revoked,
        last_call=agent.used_at if mine else last,  # type: ignore[attr-defined]  # annotated above
        shown=shown,
        categories=[
            GrantChoice(name, category_label(name), name in seen)
            for name in categories.load().by_name
            if name in offered
        ],
        sources=[GrantChoice(name, _(label), name in sources) for name, label in SOURCE_LABELS.items()],
        keys=keys,
    )


def as_granted(
    agent: Agent, chosen: Iterable[str], sources: Iterable[str]
) -> tuple[list[str] | None, list[str] | None]:
    """Return the ticked categories and sources; None if all of the role are ticked, so that later ones are included."""
    offered, usual = what_agent_sees(agent.role, None, None)
    wanted, told = sorted(offered & set(chosen)), sorted(set(SOURCES) & set(sources))
    return None if set(wanted) == offered else wanted, None if set(told) == usual else told


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A disclosure: kind, time, and the first of its memories."""

    how: str
    at: datetime
    conversation_id: UUID | None
    memories: Sequence[tuple[str, str]]
    more: int


def tell_shown(principal: Principal, rows: Sequence[Disclosure]) -> list[ShownLine]:
    """Describe disclosures, in one statement. Deleted memories are counted."""
    named = {pk for row in rows for pk in row.memories[:NAMED]}
    found = Memory.objects.visible_to(principal).filter(pk__in=named).values_list("pk", "content")
    contents = {pk: in_second_person(content) for pk, content in found}
    lines = []
    for row in rows:
        there = [(pk, contents[pk]) for pk in row.memories[:NAMED] if pk in contents]
        how = _(HOW_SEVERAL[Disclosure.By(row.by)])
        lines.append(ShownLine(how, row.at, row.conversation_id, there, len(row.memories) - len(there)))
    return lines


class Thread(NamedTuple):
    """A thread of an agent, and when a state of it was saved last."""

    name: str
    last: datetime


def threads_of(principal: Principal, agent_id: UUID) -> list[Thread]:
    """Return the threads that the agent saved last, the latest first; at most ``MOST_THREADS``."""
    states = Checkpoint.objects.visible_to(principal).filter(agent=agent_id)
    found = states.values("thread").annotate(last=Max("at")).order_by("-last", "thread").values_list("thread", "last")
    return [Thread(*each) for each in found[:MOST_THREADS]]
