"""The four tabs of a person's facts, with counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext_noop

from accounts.principals import Principal, shape_for
from facts.models import LegacyFact
from facts.querysets import GONE, WAITING, FactQuerySet
from retrieval.prepared import read

ANY_LEGACY = UUID(int=3)
"""The placeholder of a legacy's id in compiled statements."""

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


def tab_counts(principal: Principal, legacy_id: UUID | None = None) -> dict[TabName, dict[str, int]]:
    """Return the number of visible facts, or of those about a legacy, by tab and category, in one query."""

    def build(who: Principal) -> QuerySet[LegacyFact, Any]:
        told = {name: Count("pk", filter=in_tab(name, who)) for name in TABS}
        return facts_about(who, legacy_id and ANY_LEGACY).order_by().values("category").annotate(**told)

    shape = shape_for(principal, ("tabs", legacy_id is None), build, {ANY_LEGACY: legacy_id})
    rows = read(shape, ("category", *TABS))
    return {
        name: {category: numbers[place] for category, *numbers in rows if numbers[place]}
        for place, name in enumerate(TABS)
    }


def facts_about(principal: Principal, legacy_id: UUID | None) -> FactQuerySet:
    """Return the visible facts, or those of them about a legacy."""
    facts = LegacyFact.objects.visible_to(principal)
    return facts if legacy_id is None else facts.filter(legacy_id=legacy_id)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers of facts about a legacy: waiting, private, shared by the person, shared with them."""

    waiting: int = 0
    private: int = 0
    shared: int = 0
    from_others: int = 0


def numbers_by_legacy(principal: Principal) -> dict[UUID, Numbers]:
    """Return the numbers of each legacy with visible facts, in one query."""

    def build(who: Principal) -> QuerySet[LegacyFact, Any]:
        own, shared = in_tab("mine", who), Q(visibility=LegacyFact.Visibility.SHARED)
        return (
            LegacyFact.objects.visible_to(who)
            .values("legacy_id")
            .annotate(
                waiting=Count("pk", filter=in_tab("waiting", who)),
                private=Count("pk", filter=own & ~shared),
                shared=Count("pk", filter=own & shared),
                from_others=Count("pk", filter=in_tab("shared", who)),
            )
        )

    columns = ("legacy_id", "waiting", "private", "shared", "from_others")
    return {pk: Numbers(*numbers) for pk, *numbers in read(shape_for(principal, "numbers by legacy", build), columns)}
