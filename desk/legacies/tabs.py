"""The four tabs of a person's facts, with counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from django.db.models import Count, Q
from django.utils.translation import gettext_noop

from accounts.principals import Principal
from facts.models import LegacyFact
from facts.querysets import GONE, WAITING, FactQuerySet

TabName = Literal["waiting", "mine", "shared", "gone"]

TABS: dict[TabName, str] = {
    "waiting": gettext_noop("To review"),
    "mine": gettext_noop("Mine"),
    "shared": gettext_noop("Shared with me"),
    "gone": gettext_noop("Removed"),
}


def in_tab(name: TabName, principal: Principal) -> Q:
    """Return the condition of a tab. A fact may be on two: mine and waiting."""
    own = Q(user_id=principal.user_id)
    return {"mine": own & ~GONE, "waiting": own & WAITING, "shared": ~own, "gone": own & GONE}[name]


def tab_counts(facts: FactQuerySet, principal: Principal) -> dict[TabName, dict[str, int]]:
    """Return the number of facts by tab and category, in one query."""
    told = {name: Count("pk", filter=in_tab(name, principal)) for name in TABS}
    rows: list[Any] = list(facts.order_by().values("category").annotate(**told))
    return {name: {row["category"]: row[name] for row in rows if row[name]} for name in TABS}


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers of facts about a legacy: waiting, private, shared by the person, shared with them."""

    waiting: int = 0
    private: int = 0
    shared: int = 0
    from_others: int = 0


def numbers_by_legacy(principal: Principal) -> dict[UUID, Numbers]:
    """Return the numbers of each legacy with visible facts, in one query."""
    own, shared = in_tab("mine", principal), Q(visibility=LegacyFact.Visibility.SHARED)
    rows = (
        LegacyFact.objects.visible_to(principal)
        .values("legacy_id")
        .annotate(
            waiting=Count("pk", filter=in_tab("waiting", principal)),
            private=Count("pk", filter=own & ~shared),
            shared=Count("pk", filter=own & shared),
            from_others=Count("pk", filter=in_tab("shared", principal)),
        )
    )
    return {
        row["legacy_id"]: Numbers(row["waiting"], row["private"], row["shared"], row["from_others"]) for row in rows
    }
