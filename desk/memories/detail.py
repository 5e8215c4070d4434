"""One memory with what stands beside it on its page: the talk around its words, its relations, how it is used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from accounts.principals import Principal
from memories.models import Memory, MemoryUse, Relation

from ..diff import Piece, word_diff
from ..outcomes import Done, Refusal
from ..quotations import Passage, make_passages
from .audience import (
    LATEST,
    LOOKED_AT,
    DisclosureLine,
    disclosures_of,
    tell_by_day,
)
from .cards import MemoryCard, make_memory_cards

MOST_RELATED = 30
_SAID = {
    (Relation.Type.SUPERSEDES, True): "Took the place of",
    (Relation.Type.SUPERSEDES, False): "Replaced by",
    (Relation.Type.DERIVED_FROM, True): "Made out of",
    (Relation.Type.DERIVED_FROM, False): "Went into",
    (Relation.Type.RELATED_TO, True): "Related to",
    (Relation.Type.RELATED_TO, False): "Related to",
}


@dataclass(frozen=True, slots=True)
class RelatedMemory:
    """Another memory and what it is to this one, in words. ``pieces`` show how an earlier one became the later."""

    memory_id: str
    content: str
    state: str
    what: str
    pieces: list[Piece]


@dataclass(frozen=True, slots=True)
class MemoryDetail:
    """A card with what stands beside it. ``seen`` are the latest times that agents saw it; ``seen_more``: not all."""

    card: MemoryCard
    passages: list[Passage]
    related: list[RelatedMemory]
    uses: int
    last_used_at: datetime | None
    seen: list[DisclosureLine]
    seen_more: bool

    @property
    def filing(self) -> dict[str, str]:
        """What the form that files the memory holds: what had been typed if that was refused, else what is stored."""
        memory, refusal = self.card.memory, self.card.refusal
        stored = {
            "category": memory.category,
            "subject": memory.subject,
            "topics": ", ".join(memory.topics),
            "importance": str(memory.importance),
            "until": self.card.until.isoformat() if self.card.until else "",
        }
        typed = refusal.typed if refusal and refusal.decision == "file" else {}
        return {name: typed.get(name, value) for name, value in stored.items()}

    @property
    def can_be_filed(self) -> bool:
        """Whether it stands so that it can be filed otherwise."""
        return "edit" in self.card.offers


def make_memory_detail(
    principal: Principal, memory_id: str, outcome: Done | Refusal | None = None
) -> MemoryDetail | None:
    """Everything about a memory that the person may see, in a constant number of queries; None when they may not."""
    row = Memory.objects.visible_to(principal).filter(pk=memory_id)
    cards = make_memory_cards(row, principal, {} if outcome is None else {memory_id: outcome})
    if not cards:
        return None
    card = cards[0]
    use = MemoryUse.objects.filter(memory=card.memory).values_list("uses", "last_used_at").first()
    uses, last_used_at = use or (0, None)
    rows = list(disclosures_of(principal, card.memory)[:LOOKED_AT])
    seen = tell_by_day(rows)[:LATEST]
    return MemoryDetail(
        card=card,
        passages=list(make_passages(principal, card.quotations)),
        related=list(_related(principal, card.memory)),
        uses=uses,
        last_used_at=last_used_at,
        seen=seen,
        seen_more=len(rows) > len(seen),
    )


def _related(principal: Principal, memory: Memory) -> Iterator[RelatedMemory]:
    seen = Memory.objects.visible_to(principal)
    either = Q(from_memory=memory, to_memory__in=seen) | Q(to_memory=memory, from_memory__in=seen)
    rows = Relation.objects.filter(either)
    shown = ("content", "state")
    rows = rows.select_related("from_memory", "to_memory").only(
        "type", "strength", *(f"{end}__{column}" for end in ("from_memory", "to_memory") for column in shown)
    )
    for row in rows.order_by("-type", "-strength", "id")[:MOST_RELATED]:
        is_from = row.from_memory_id == memory.pk
        other = row.to_memory if is_from else row.from_memory
        pieces: list[Piece] = []
        if row.type == Relation.Type.SUPERSEDES:
            old, new = (other.content, memory.content) if is_from else (memory.content, other.content)
            pieces = word_diff(old, new)
        what = _SAID[Relation.Type(row.type), is_from]
        yield RelatedMemory(other.pk, other.content, other.state, what, pieces)
