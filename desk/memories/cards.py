"""A memory as the desk shows it: what it says, who said so and where, whether prompts hold it, what can be done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.utils import timezone

from accounts.principals import Principal
from memories.models import Memory, MemoryEvidence, MemoryVersion
from memories.policy import writing
from memories.querysets import MemoryQuerySet

from ..outcomes import Decidable, Done, Refusal, as_sentence
from ..quotations import Quotation, messages_behind, quote

State = Memory.State
Why = Memory.DeletedWhy

_GONE_BECAUSE = {
    Why.PERSON: "Archived by you",
    Why.AGENT: "Archived by an agent",
    Why.REJECTED: "Rejected",
    Why.TTL: "Its time was over",
    Why.EVICTED: "Made room for newer ones",
    Why.REPLACED: "Replaced by another",
    Why.MERGED: "Merged into another",
    Why.STAFF: "Refused by a moderator",
}


def category_label(name: str) -> str:
    """A category as a heading."""
    return name.replace("_", " ").capitalize()


def last_day(expires_at: datetime | None) -> date | None:
    """The last day on which something is kept, in the person's time zone."""
    return None if expires_at is None else (timezone.localtime(expires_at) - timedelta(microseconds=1)).date()


EVERY_PROMPT = "In every prompt"


@dataclass(frozen=True, slots=True)
class MemoryCard(Decidable):
    """One memory for the templates. ``offers`` are the decisions that can be taken about it, in their order.

    ``quotations`` are the words that bear it out, those of its latest wording first. ``unused`` says that no prompt
    holds it before the person approves it, ``off`` that none holds any while memory is switched off.
    """

    noun = "memory"
    route = "memory-decide"

    memory: Memory
    quotations: list[Quotation]
    offers: list[str]
    unused: bool
    off: bool = False

    @property
    def key(self) -> str:
        """The id of the memory."""
        return self.memory.pk

    @property
    def version(self) -> int:
        """The number of the present wording."""
        return self.memory.version

    @property
    def content(self) -> str:
        """The present wording."""
        return self.memory.content

    @property
    def longest(self) -> int:
        """How many characters a wording may have."""
        return writing.longest(self.memory.kind)

    @property
    def stored(self) -> Mapping[str, str]:
        """What the fields of the card's forms hold when nothing was typed."""
        return {"content": self.memory.content, "correction": "", "reason": ""}

    @property
    def waits(self) -> bool:
        """Whether the person has not decided about it yet."""
        return writing.standing(self.memory) in {"proposed", "waiting"}

    @property
    def waits_for_approval(self) -> bool:
        """Whether it was only proposed, so that who rewords it approves it."""
        return self.memory.state == State.PROPOSED

    @property
    def is_gone(self) -> bool:
        """Whether it was archived or rejected."""
        return self.memory.state in {State.ARCHIVED, State.REJECTED}

    @property
    def gone_because(self) -> str:
        """Why it was archived or rejected, in a few words."""
        why = self.memory.deleted_why
        return _GONE_BECAUSE[Why(why)] if why else ""

    @property
    def in_prompts(self) -> str:
        """How prompts come to hold it; empty for what is in none."""
        if self.memory.state != State.ACTIVE or self.unused or self.off:
            return ""
        if self.memory.valid_to is not None and self.memory.valid_to <= timezone.now():
            return "No longer true"
        if self.memory.valid_from is not None and self.memory.valid_from > timezone.now():
            return "Not true yet"
        return EVERY_PROMPT if self.memory.in_block else "Recalled when it fits"

    @property
    def in_every_prompt(self) -> bool:
        """Whether every prompt holds it."""
        return self.in_prompts == EVERY_PROMPT

    @property
    def category(self) -> str:
        """Its category as a heading."""
        return category_label(self.memory.category)

    @property
    def field(self) -> str:
        """What it says of the person, when it holds one of the fields."""
        return Memory.Field(self.memory.field).label if self.memory.field else ""

    @property
    def until(self) -> date | None:
        """The last day on which it is kept, in the person's time zone; None when it is kept for good."""
        return last_day(self.memory.expires_at)

    @property
    def origin(self) -> str:
        """Whose words it is in."""
        memory = self.memory
        if not memory.written_by:
            return "In your own words"
        return f"Written by {memory.written_by}" if memory.agent_id else f"Found by {memory.written_by}"

    @property
    def reason(self) -> str:
        """Why it stands as it does, ended as a sentence is; empty when nobody said."""
        return as_sentence(self.memory.state_reason)


def offers_for(memory: Memory) -> list[str]:
    """The decisions that the person can take about a memory as it is now, the likeliest first."""
    if memory.state in {State.ARCHIVED, State.REJECTED}:
        return ["restore"]
    if memory.state == State.QUARANTINED:
        return ["reject", "archive"]
    if memory.state == State.PROPOSED:
        return ["approve", "edit", "reject", "archive"]
    offers = ["approve"] if memory.reviewed_at is None else []
    return [*offers, "unpin" if memory.pinned else "pin", "edit", "reject", "archive"]


def make_memory_cards(
    memories: MemoryQuerySet, principal: Principal, outcomes: Mapping[str, Done | Refusal]
) -> list[MemoryCard]:
    """The cards of memories that are visible to the person, in their order and a constant number of queries.

    ``outcomes`` says by the memory's id what was just done, or could not be done.
    """
    shown = list(memories.without_vectors())
    evidence = _evidence(principal, [memory.pk for memory in shown])
    messages = messages_behind(principal, (each for rows in evidence.values() for each in rows))
    return [
        MemoryCard(
            memory=memory,
            quotations=list(quote(evidence.get(memory.pk, ()), messages)),
            offers=offers_for(memory),
            unused=writing.is_unused(memory, principal.review),
            off=not principal.has_memory,
            outcome=outcomes.get(memory.pk),
        )
        for memory in shown
    ]


def _evidence(principal: Principal, memory_ids: Iterable[str]) -> dict[str, list[MemoryEvidence]]:
    """What bears memories out, by their ids, that of the latest wording first; each message once."""
    versions = MemoryVersion.objects.visible_to(principal).filter(memory__in=list(memory_ids))
    rows = MemoryEvidence.objects.filter(version__in=versions).select_related("version")
    rows = rows.only("quote", "message_id", "version__memory_id").order_by("-version__number", "id")
    found: dict[str, dict[object, MemoryEvidence]] = {}
    for row in rows:
        found.setdefault(row.version.memory_id, {}).setdefault(row.message_id, row)
    return {memory_id: list(by_message.values()) for memory_id, by_message in found.items()}
