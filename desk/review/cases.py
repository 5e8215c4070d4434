"""What waits of a person's memory, with all that helps to decide: what would change, the words behind it, who sees it.

A case is about a new memory that is proposed, a proposed change of one or of a place, or about a memory that is in use
already and that the person has not reviewed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import Q
from django.utils import formats, timezone
from django.utils.dateparse import parse_datetime

from accounts.principals import Principal
from memories import queries
from memories.models import Memory, MemoryEvidence, Place, Proposal, Relation
from memories.policy import writing
from memories.querysets import PLACES_CATEGORY
from statements.wording import Embedded

from ..diff import Piece, word_diff
from ..memories.audience import Audience, who_sees
from ..memories.cards import category_label
from ..outcomes import Decidable, Done, Refusal
from ..quotations import Passage, make_passages, messages_behind, quote
from .queue import Item

State = Memory.State
Kind = Proposal.Kind

MOST_NEAR = 4
_LABELS = {
    "category": "Category",
    "subject": "Subject",
    "topics": "Topics",
    "importance": "Importance",
    "expires_at": "Remembered until",
}


@dataclass(frozen=True, slots=True)
class Filing:
    """One thing about how a memory is filed that would change."""

    label: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Other:
    """Another memory beside the one that is decided about; ``pieces`` show how its wording becomes this one."""

    memory_id: str
    content: str
    waits: bool
    pieces: list[Piece]

    @property
    def is_alike(self) -> bool:
        """Whether the two wordings have enough in common for their differences to tell something."""
        same = sum(len(piece.text) for piece in self.pieces if piece.kind == "same")
        return 2 * same >= len(self.content)


@dataclass(frozen=True, slots=True)
class Case(Decidable):
    """One item of the queue. ``what`` says which: new, update, archive, place, place-removed or unreviewed.

    ``pieces`` show what would become of the present wording. ``gives_way`` are memories whose place it takes;
    ``rival`` is the one that it perhaps says the same as, or contradicts. ``outdated`` says that the memory was changed
    after the proposal was made, ``lost`` that what it would change is gone.
    """

    noun = "memory"
    route = "review-decide"

    item: Item
    what: str
    memory: Memory | None
    proposal: Proposal | None
    place: Place | None
    by: str
    offers: list[str]
    unused: bool = False
    outdated: bool = False
    lost: bool = False
    pieces: list[Piece] = field(default_factory=list)
    filing: list[Filing] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    gives_way: list[Other] = field(default_factory=list)
    rival: Other | None = None
    nearest: list[Other] = field(default_factory=list)
    audience: Audience | None = None

    @property
    def key(self) -> str:
        """The item in addresses."""
        return self.item.key

    @property
    def version(self) -> int:
        """The version that is decided about; 0 for a place that there is not yet."""
        subject = self.memory or self.place
        return subject.version if subject else 0

    @property
    def values(self) -> Mapping[str, Any]:
        """What the proposal would change."""
        return self.proposal.values if self.proposal else {}

    @property
    def content(self) -> str:
        """What it says, or would say."""
        if self.what.startswith("place"):
            return str(self.values.get("name") or (self.place.name if self.place else self.values["place_id"]))
        memory = self.memory
        return str(self.values.get("content") or (memory.content if memory else ""))

    @property
    def category(self) -> str:
        """The category that it has, or would have."""
        return str(self.values.get("category") or (self.memory.category if self.memory else ""))

    @property
    def category_name(self) -> str:
        """That category as it is shown."""
        return category_label(self.category) if self.category else ""

    @property
    def subject(self) -> str:
        """The subject that it has, or would have."""
        return str(self.values.get("subject", self.memory.subject if self.memory else ""))

    @property
    def notes(self) -> str:
        """The notes of a place, as they are or would be."""
        return str(self.values.get("notes") or (self.place.notes if self.place else ""))

    @property
    def takes_reason(self) -> bool:
        """Whether a rejection leaves something that a reason is kept with."""
        return self.what in {"new", "unreviewed"}

    @property
    def may_have_subject(self) -> bool:
        """Whether it is about anything but the person."""
        return self.memory is not None and not self.memory.field

    @property
    def longest(self) -> int:
        """How many characters a wording may have."""
        return writing.longest(self.memory.kind if self.memory else "")

    @property
    def stored(self) -> Mapping[str, str]:
        """What the fields of the forms hold when nothing was typed."""
        if self.what == "place":
            return {"name": self.content, "notes": self.notes, "reason": ""}
        return {"content": self.content, "category": self.category, "subject": self.subject, "reason": ""}

    @property
    def days_left(self) -> int | None:
        """In how many days it lapses, 0 for today; None for what does not lapse."""
        if self.proposal is None:
            return None
        ends, today = timezone.localtime(self.proposal.expires_at).date(), timezone.localtime().date()
        return max(0, (ends - today).days)

    @property
    def in_block(self) -> bool:
        """Whether every prompt would carry it."""
        if self.what.startswith("place"):
            return True
        return self.memory is not None and writing.is_in_block(self.memory.kind, self.category)

    @property
    def origin(self) -> str:
        """Who would have it so, or whose words it is in."""
        by = self.by or "Keepsake"
        if self.proposal:
            return f"Proposed by {by}"
        if not self.by:
            return "In your own words"
        return f"Written by {by}" if self.memory and self.memory.agent_id else f"Found by {by}"

    @property
    def since(self) -> datetime:
        """When it was proposed or written."""
        if self.proposal:
            return self.proposal.created_at
        assert self.memory is not None
        return self.memory.updated_at


def make_case(principal: Principal, item: Item, outcome: Done | Refusal | None = None) -> Case | None:
    """Everything about an item that the person may see, in a constant number of queries; None for one that is gone."""
    if item.kind == "memory":
        return _of_memory(principal, item, outcome)
    rows = Proposal.objects.visible_to(principal).filter(pk=item.pk).select_related("agent")
    proposal = rows.prefetch_related("evidence").first()
    if proposal is None:
        return None
    if proposal.kind == Kind.PLACE:
        return _of_place(principal, item, proposal, outcome)
    return _of_change(principal, item, proposal, outcome)


def _of_memory(principal: Principal, item: Item, outcome: Done | Refusal | None) -> Case | None:
    memory = _read(principal, item.pk)
    if memory is None:
        return None
    create = memory.proposals.filter(kind=Kind.CREATE, state=Proposal.State.WAITING).first()
    evidence = MemoryEvidence.objects.filter(version__memory=memory, version__number=memory.version).order_by("id")
    messages = messages_behind(principal, list(evidence))
    near = _near(principal, memory)
    rival = near.pop(0) if near and memory.needs_check else None
    return Case(
        outcome=outcome,
        item=item,
        what="new" if memory.state == State.PROPOSED else "unreviewed",
        memory=memory,
        proposal=create,
        place=None,
        by=memory.agent.name if memory.agent else memory.written_by,
        offers=["approve", "edit", "reject"],
        unused=writing.is_unused(memory, principal.review),
        passages=list(make_passages(principal, list(quote(evidence, messages)))),
        gives_way=list(_gives_way(principal, memory)),
        rival=rival,
        nearest=near[:MOST_NEAR],
        audience=who_sees(principal, memory.category),
    )


def _of_change(principal: Principal, item: Item, proposal: Proposal, outcome: Done | Refusal | None) -> Case | None:
    memory = _read(principal, str(proposal.memory_id))
    if memory is None:
        return None
    lost = memory.state != State.ACTIVE
    update = proposal.kind == Kind.UPDATE
    values = proposal.values
    evidence = list(proposal.evidence.all())
    quotations = list(quote(evidence, messages_behind(principal, evidence)))
    decisions = ["approve", "edit", "reject"] if update else ["approve", "reject"]
    return Case(
        outcome=outcome,
        item=item,
        what="update" if update else "archive",
        memory=memory,
        proposal=proposal,
        place=None,
        by=_proposer(proposal),
        offers=["reject"] if lost else decisions,
        outdated=not lost and memory.version != proposal.memory_version,
        lost=lost,
        pieces=word_diff(memory.content, values["content"]) if "content" in values else [],
        filing=list(_filing(memory, values)),
        passages=list(make_passages(principal, quotations)),
        nearest=_near(principal, memory)[:MOST_NEAR] if update else [],
        audience=who_sees(principal, str(values.get("category") or memory.category)),
    )


def _of_place(principal: Principal, item: Item, proposal: Proposal, outcome: Done | Refusal | None) -> Case:
    values = proposal.values
    place = Place.objects.visible_to(principal).filter(place_id=values.get("place_id")).first()
    present = place is not None and place.deleted_at is None
    removed = bool(values.get("removed"))
    evidence = list(proposal.evidence.all())
    quotations = list(quote(evidence, messages_behind(principal, evidence)))
    lost = removed and not present
    decisions = ["approve", "reject"] if removed else ["approve", "edit", "reject"]
    return Case(
        outcome=outcome,
        item=item,
        what="place-removed" if removed else "place",
        memory=None,
        proposal=proposal,
        place=place,
        by=_proposer(proposal),
        offers=["reject"] if lost else decisions,
        lost=lost,
        pieces=word_diff(_line(place), _line_of(values)) if place is not None and present and not removed else [],
        passages=list(make_passages(principal, quotations)),
        audience=who_sees(principal, PLACES_CATEGORY),
    )


def _read(principal: Principal, memory_id: str) -> Memory | None:
    rows = Memory.objects.visible_to(principal).filter(pk=memory_id).select_related("agent")
    return rows.defer("search", "search_text").first()


def _proposer(proposal: Proposal) -> str:
    return proposal.agent.name if proposal.agent else proposal.written_by


def _line(place: Place) -> str:
    return f"{place.name}: {place.notes}" if place.notes else place.name


def _line_of(values: Mapping[str, Any]) -> str:
    return f"{values['name']}: {values['notes']}" if values.get("notes") else str(values["name"])


def _filing(memory: Memory, values: Mapping[str, Any]) -> Iterator[Filing]:
    for name, label in _LABELS.items():
        if name in values:
            old, new = _shown(name, getattr(memory, name)), _shown(name, values[name])
            if old != new:
                yield Filing(label, old, new)


def _shown(name: str, value: Any) -> str:
    if name == "topics":
        return ", ".join(value)
    if name == "category":
        return category_label(value)
    if name == "expires_at":
        moment = parse_datetime(value) if isinstance(value, str) else value
        return str(formats.date_format(timezone.localtime(moment), "j F Y")) if moment else ""
    return str(value)


def _gives_way(principal: Principal, memory: Memory) -> Iterator[Other]:
    """What a memory takes the place of, or took it: what it supersedes, and the present value of its field."""
    superseded = Q(relations_to__from_memory=memory, relations_to__type=Relation.Type.SUPERSEDES)
    if memory.state == State.PROPOSED and writing.single_valued(memory.field):
        superseded |= Q(field=memory.field, state=State.ACTIVE)
    states = [State.ACTIVE] if memory.state == State.PROPOSED else [State.ACTIVE, State.ARCHIVED]
    rows = Memory.objects.visible_to(principal).filter(superseded, state__in=states).exclude(pk=memory.pk)
    for pk, content in rows.distinct().order_by("pk").values_list("pk", "content"):
        yield Other(pk, content, False, word_diff(content, memory.content))


def _near(principal: Principal, memory: Memory) -> list[Other]:
    """The memories that are nearest to one by meaning, none without a vector."""
    if memory.embedding is None:
        return []
    text = Embedded(memory.content, np.asarray(memory.embedding, np.float32), memory.embedding_model)
    found = queries.neighbours(principal, memory.user_id, text, kind=memory.kind, subject=memory.subject, but=memory.pk)
    waiting = Memory.objects.visible_to(principal).filter(pk__in=[each.memory_id for each in found])
    states = dict(waiting.values_list("pk", "state")) if found else {}
    return [
        Other(pk, near.content, states[pk] != State.ACTIVE, word_diff(near.content, memory.content))
        for near in found
        if (pk := near.memory_id) in states
    ]
