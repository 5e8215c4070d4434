"""One fact with what helps to decide about it: the talk around its words, what is near it, who would see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from accounts.models import Member
from accounts.principals import Principal
from facts.models import LegacyFact
from facts.queries import neighbours

from ..outcomes import Done, Refusal
from ..quotations import Passage, make_passages
from .cards import Card, make_cards


@dataclass(frozen=True, slots=True)
class Near:
    """A fact of like meaning that is neither a duplicate nor a contradiction. ``by`` is empty for the person's own."""

    fact_id: UUID
    content: str
    by: str


@dataclass(frozen=True, slots=True)
class FactDetail:
    """A card with what stands beside it. ``readers`` are the other members, who see the fact when it is shared."""

    card: Card
    passages: list[Passage]
    nearest: list[Near]
    readers: list[str]

    @property
    def fact(self) -> LegacyFact:
        """The fact itself."""
        return self.card.fact


def make_fact_detail(principal: Principal, fact_id: UUID, outcome: Done | Refusal | None = None) -> FactDetail | None:
    """Everything about a fact that the person may see, in a constant number of queries; None when they may not."""
    row = LegacyFact.objects.visible_to(principal).filter(pk=fact_id)
    legacies = LegacyFact.objects.filter(pk=fact_id).values("legacy_id")
    members = list(Member.objects.visible_to(principal).filter(legacy_id__in=legacies).select_related("user"))
    cards = make_cards(row, principal, members, {} if outcome is None else {fact_id: outcome})
    if not cards:
        return None
    card = cards[0]
    others = sorted(member.user.get_full_name() for member in members if member.user_id != principal.user_id)
    return FactDetail(
        card=card,
        passages=list(make_passages(principal, card.quotations)),
        nearest=_nearest(principal, card, members) if card.mine and not card.is_gone else [],
        readers=others,
    )


def _nearest(principal: Principal, card: Card, members: Iterable[Member]) -> list[Near]:
    fact = card.fact
    vector = LegacyFact.objects.filter(pk=fact.pk).values_list("embedding", "embedding_model").get()
    if vector[0] is None:
        return []
    found = neighbours(principal, fact.legacy_id, np.asarray(vector[0], np.float32), vector[1], but=fact.pk)
    linked = {related.fact_id for related in card.related}
    near = [each for each in found if each.fact_id not in linked]
    authors = _authors([each.fact_id for each in near if not each.mine], members)
    return [Near(each.fact_id, each.content, authors.get(each.fact_id, "")) for each in near]


def _authors(fact_ids: Sequence[UUID], members: Iterable[Member]) -> Mapping[UUID, str]:
    """The names of those whose facts these are."""
    if not fact_ids:
        return {}
    names = {member.user_id: member.user.get_full_name() for member in members}
    owners = LegacyFact.objects.filter(pk__in=fact_ids).values_list("pk", "user_id")
    return {fact_id: names.get(user_id, "another member") for fact_id, user_id in owners}
