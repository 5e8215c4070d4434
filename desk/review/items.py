"""Cards of queue items, with everything needed to decide.

Items are facts, proposed memories, unreviewed active memories, and proposals to change or archive a memory, or to add,
change or remove a place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from django.db.models import Q
from django.urls import reverse
from django.utils import formats, timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.principals import Principal
from facts.models import FactLink, LegacyFact
from memories import queries
from memories.models import Memory, MemoryEvidence, Place, Proposal, Relation
from memories.policy import writing
from memories.policy.alike import may_exclude
from memories.querysets import PLACES_CATEGORY
from statements.policy.naming import in_second_person
from statements.wording import Embedded

from ..cards import Card, FieldChange, Link, Other, Rival, Tag, diff_of_memories, named, not_quoted
from ..diff import DiffPiece, word_diff
from ..history import what_changed
from ..labels import category_label, writer_label
from ..legacies.cards import make_fact_card
from ..memories.audience import who_sees
from ..memories.cards import card_of
from ..outcomes import Done, Refusal
from ..page import agent_link
from ..quotations import QuotationContext, make_passages, messages_behind, quote
from .queue import QueueItem

State = Memory.State
Kind = Proposal.Kind

MOST_NEAR = 4
NOW, APPROVED, FOR_NOW = "now", "approved", "for_now"
"""When the list of readers applies."""
_LABELS = {
    "category": gettext_noop("Category"),
    "subject": gettext_noop("Subject"),
    "topics": gettext_noop("Topics"),
    "importance": gettext_noop("Importance"),
    "expires_at": gettext_noop("Remembered until"),
    "metadata": gettext_noop("Metadata"),
}
_HELD = gettext_noop("It is held back: no agent sees it. Put it in your own words to have it used.")
_OUTDATED = gettext_noop("The memory was changed after this was proposed. What you see is how it would change now.")
_LOST = gettext_noop("What this would change is not there any more. Reject it, or let it expire.")
_MAY_BE_OUTDATED = gettext_noop(
    "It may be out of date, as the following tells. Approve it if it still holds, or say how it is now."
)
_ALIKE = gettext_noop("They are alike. Say whether both are true, or which of the two.")


def make_item(principal: Principal, item: QueueItem, outcome: Done | Refusal | None = None) -> Card | None:
    """Return an item's card, in a constant number of queries, or None if it is gone."""
    if item.kind == "fact":
        return _fact(principal, item, outcome)
    if item.kind == "memory":
        memory = _read(principal, item.pk)
        return _memory(principal, item, memory, outcome) if memory else None
    rows = Proposal.objects.visible_to(principal).filter(pk=item.pk).select_related("agent")
    proposal = rows.prefetch_related("evidence").first()
    if proposal is None:
        return None
    if proposal.kind == Kind.PLACE:
        return _place(principal, item, proposal, outcome)
    memory = _read(principal, str(proposal.memory_id))
    return _change(principal, item, memory, proposal, outcome) if memory else None


def _fact(principal: Principal, item: QueueItem, outcome: Done | Refusal | None) -> Card | None:
    card = make_fact_card(principal, item.uuid, outcome)
    if card is None:
        return None
    held = card.fact is not None and card.fact.state == "quarantined"
    outdated = what_changed(principal, "fact", item.pk)
    offers = card.offers if not outdated or "approve" in card.offers else ["approve", *card.offers]
    notices = [_(_HELD)] if held else [_(_MAY_BE_OUTDATED)] if outdated else []
    rival = None if held or card.fact is None else _contradicted(principal, card.fact, card.related)
    related = [each for each in (*outdated, *card.related) if not rival or each.address != rival.other.address]
    return replace(
        card,
        edit_approves=True,
        offers=_between(offers) if rival else offers,
        notices=notices,
        related=related,
        rival=rival,
    )


def _contradicted(principal: Principal, fact: LegacyFact, related: Sequence[Other]) -> Rival | None:
    """Return the person's fact that one contradicts, if it still exists."""
    linked = [(link, link.to_fact) for link in fact.links_from.all()]
    linked += [(link, link.from_fact) for link in fact.links_to.all()]
    others = {other.address: other for other in related}
    for link, other in linked:
        address = reverse("fact-page", args=[other.pk])
        if link.kind == FactLink.Kind.CONTRADICTS and other.user_id == principal.user_id and address in others:
            return Rival(str(other.pk), other.version, others[address])
    return None


def _between(offers: Sequence[str]) -> list[str]:
    """Return the decisions about an item with a rival: to choose between the two comes first, and replaces sharing."""
    shares = {"share", "unshare"}
    return list(dict.fromkeys(["approve", "this_one", "reject", *(each for each in offers if each not in shares)]))


def _memory(principal: Principal, item: QueueItem, memory: Memory, outcome: Done | Refusal | None) -> Card:
    """Return the card of a proposed or unreviewed memory."""
    proposed = memory.state == State.PROPOSED
    creates = memory.proposals.filter(kind=Kind.CREATE, state=Proposal.State.WAITING)
    proposal = None if memory.state == State.ACTIVE else creates.first()
    evidence = MemoryEvidence.objects.filter(version__memory=memory, version__number=memory.version).order_by("id")
    near = _near(principal, memory)
    replaced = list(_replaced(principal, memory, _("Would replace") if proposed else _("Replaces")))
    alike = _excluded(principal, memory, near) if memory.needs_check else None
    rival = None
    if alike and alike.other.address not in {other.address for other in replaced}:
        near.remove(alike)
        rival = _rival(alike, memory)
    card = _item(principal, item, memory, outcome)
    outdated = [] if proposed else what_changed(principal, "memory", memory.pk)
    by = memory.agent.name if memory.agent else memory.written_by
    writer = agent_link(memory.agent_id, by) or writer_label(by)
    unused = writing.is_unused(memory, principal.review)
    waits = Tag(_("Not used until you approve") if unused else _("To review"), "waits")
    if proposal:
        origin = named(_("Proposed by %(name)s on"), writer or "Keepsake")
    elif by:
        origin = named(_("Written by %(name)s on") if memory.agent_id else _("Found by %(name)s on"), writer)
    else:
        origin = _("In your own words on")
    return replace(
        card,
        offers=_between(card.offers) if rival else card.offers,
        rival=rival,
        tags=[
            Tag(_("New memory") if proposed else _("Memory"), "strong"),
            *_filed_under(memory.category, memory.subject),
            _lapses(proposal) if proposal else waits,
        ],
        origin=origin,
        at=proposal.created_at if proposal else memory.updated_at,
        notices=[_(_MAY_BE_OUTDATED)] if outdated else [],
        related=[*outdated, *replaced],
        passages=_passages(principal, list(evidence)),
        unquoted=not_quoted(by),
        nearest=[each.other for each in near[:MOST_NEAR]],
        readers=_readers(
            principal,
            NOW if not proposed and not unused else APPROVED,
            memory.category,
            in_block=writing.is_in_block(memory.kind, memory.category),
        ),
        link=None if proposed else _page_of(memory),
    )


def _change(
    principal: Principal, item: QueueItem, memory: Memory, proposal: Proposal, outcome: Done | Refusal | None
) -> Card:
    """Return the card of a proposal to change or archive a memory."""
    values, update, lost = proposal.values, proposal.kind == Kind.UPDATE, memory.state != State.ACTIVE
    card = _item(principal, item, memory, outcome)
    content = str(values.get("content") or memory.content)
    category = str(values.get("category") or memory.category)
    subject = str(values.get("subject", memory.subject))
    outdated = memory.version != proposal.memory_version
    notices = [_(_LOST)] if lost else [_(_OUTDATED)] if outdated else []
    decisions = ["approve", "edit", "reject", "dont_keep"] if update else ["approve", "reject"]
    return replace(
        card,
        content=content,
        tags=[
            Tag(_("Change to a memory") if update else _("Memory to put away"), "strong"),
            *_filed_under(category, subject),
            _lapses(proposal),
        ],
        **_proposed(proposal, removes=not update),
        offers=["reject"] if lost else decisions,
        stored={**card.stored, "content": in_second_person(content), "category": category, "subject": subject},
        pieces=diff_of_memories(memory.content, values["content"]) if "content" in values and not lost else [],
        changes=list(_changes(memory, values)),
        notices=notices,
        passages=_passages(principal, list(proposal.evidence.all())),
        unquoted=not_quoted(_proposer(proposal)),
        nearest=[each.other for each in _near(principal, memory)[:MOST_NEAR]] if update else [],
        readers=_readers(
            principal,
            APPROVED if update else FOR_NOW,
            category,
            in_block=writing.is_in_block(memory.kind, category),
        ),
        link=_page_of(memory),
    )


def _place(principal: Principal, item: QueueItem, proposal: Proposal, outcome: Done | Refusal | None) -> Card:
    """Return the card of a proposal about a place."""
    values, removed = proposal.values, bool(proposal.values.get("removed"))
    place = Place.objects.visible_to(principal).filter(place_id=values.get("place_id")).first()
    present = place is not None and place.deleted_at is None
    lost = removed and not present
    name = str(values.get("name") or (place.name if place else values["place_id"]))
    notes = str(values.get("notes") or (place.notes if place else ""))
    pieces: list[DiffPiece] = []
    if place is not None and present and not removed:
        pieces = word_diff(_line(place.name, place.notes), _line(str(values["name"]), values.get("notes")))
    decisions = ["approve", "reject"] if removed else ["approve", "edit", "reject"]
    what = _("Place to remove") if removed else _("Change to a place") if pieces else _("New place")
    return Card(
        noun="memory",
        route="review-decide",
        key=item.key,
        version=place.version if place else 0,
        content=name,
        tags=[Tag(what, "strong"), _lapses(proposal)],
        **_proposed(proposal, removes=removed),
        offers=["reject"] if lost else decisions,
        edits=("name", "notes"),
        edit_approves=True,
        stored={"name": name, "notes": notes},
        notes="" if pieces else notes,
        notices=[_(_LOST)] if lost else [],
        pieces=pieces,
        passages=_passages(principal, list(proposal.evidence.all())),
        unquoted=not_quoted(_proposer(proposal)),
        readers=_readers(principal, FOR_NOW if removed else APPROVED, PLACES_CATEGORY, in_block=True),
        outcome=outcome,
        link=Link(reverse("place-page", args=[place.pk]), _("This place, with its mentions")) if place else None,
    )


def _item(principal: Principal, item: QueueItem, memory: Memory, outcome: Done | Refusal | None) -> Card:
    """Return the common fields of cards about memories."""
    return replace(
        card_of(principal, memory, [], outcome),
        route="review-decide",
        key=item.key,
        group=None,
        memory=None,
        reason="",
        purge_at=None,
        offers=["approve", "edit", "reject", "dont_keep"],
        edits=("content", "category") if memory.field else ("content", "category", "subject"),
        edit_approves=True,
    )


def _read(principal: Principal, memory_id: str) -> Memory | None:
    rows = Memory.objects.visible_to(principal).filter(pk=memory_id).select_related("agent")
    return rows.defer("search", "search_text").first()


def _page_of(memory: Memory) -> Link:
    return Link(reverse("memory-page", args=[memory.pk]), _("This memory, with its history"))


def _proposer(proposal: Proposal) -> str:
    return proposal.agent.name if proposal.agent else proposal.written_by


def _proposed(proposal: Proposal, *, removes: bool) -> dict[str, Any]:
    """Describe who proposed it when, and whether it would remove the object."""
    by = agent_link(proposal.agent_id, _proposer(proposal)) or writer_label(proposal.written_by)
    return {
        "origin": named(_("Proposed by %(name)s on"), by or "Keepsake"),
        "at": proposal.created_at,
        "removes": removes,
    }


def _filed_under(category: str, subject: str) -> Iterator[Tag]:
    yield Tag(category_label(category))
    if subject:
        yield Tag(subject)


def _lapses(proposal: Proposal) -> Tag:
    """Describe in how many days it expires, in the person's time zone."""
    ends, today = timezone.localtime(proposal.expires_at).date(), timezone.localtime().date()
    days = max(0, (ends - today).days)
    if days <= 1:
        return Tag(_("Expires tomorrow") if days else _("Expires today"), "gone")
    return Tag(_("Expires in %(days)s days") % {"days": days}, "waits")


def _passages(principal: Principal, evidence: list[Any]) -> list[QuotationContext]:
    return list(make_passages(principal, list(quote(evidence, messages_behind(principal, evidence)))))


def _readers(principal: Principal, beginning: str, category: str, *, in_block: bool) -> str:
    """Describe which agents would see it, and how it would get into prompts."""
    audience = who_sees(principal, category)
    if audience.off:
        return _("Memory is switched off: no agent sees anything of it.")
    told = {
        (NOW, True): _("It is in every prompt of %(whom)s."),
        (NOW, False): _("It is not in every prompt, but recalled when it fits, by %(whom)s."),
        (APPROVED, True): _("Once approved, it is in every prompt of %(whom)s."),
        (APPROVED, False): _("Once approved, it is not in every prompt, but recalled when it fits, by %(whom)s."),
        (FOR_NOW, True): _("For now it is in every prompt of %(whom)s."),
        (FOR_NOW, False): _("For now it is not in every prompt, but recalled when it fits, by %(whom)s."),
    }[beginning, in_block]
    whom = ", ".join(audience.names)
    if not whom:
        whom = _("agents that may see this category; none of yours may so far")
    elif audience.more:
        whom = _("%(names)s and %(count)s more") % {"names": whom, "count": audience.more}
    return told % {"whom": whom}


def _line(name: str, notes: str | None) -> str:
    return f"{name}: {notes}" if notes else name


def _changes(memory: Memory, values: Mapping[str, Any]) -> Iterator[FieldChange]:
    for name, label in _LABELS.items():
        if name in values:
            old, new = _shown(name, getattr(memory, name)), _shown(name, values[name])
            if old != new:
                yield FieldChange(_(label), old, new)


def _shown(name: str, value: Any) -> str:
    if name == "topics":
        return ", ".join(value)
    if name == "category":
        return category_label(value)
    if name == "expires_at":
        moment = parse_datetime(value) if isinstance(value, str) else value
        return str(formats.date_format(timezone.localtime(moment), _("j F Y"))) if moment else ""
    if name == "metadata":
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _replaced(principal: Principal, memory: Memory, what: str) -> Iterator[Other]:
    """Return the memories that it replaces: superseded ones, and the current value of its field."""
    superseded = Q(relations_to__from_memory=memory, relations_to__type=Relation.Type.SUPERSEDES)
    if memory.state == State.PROPOSED and writing.single_valued(memory.field):
        superseded |= Q(field=memory.field, state=State.ACTIVE)
    states = [State.ACTIVE] if memory.state == State.PROPOSED else [State.ACTIVE, State.ARCHIVED]
    rows = Memory.objects.visible_to(principal).filter(superseded, state__in=states).exclude(pk=memory.pk)
    rows = rows.exclude(deleted_why__in=[writing.Why.PERSON, writing.Why.WITHHELD])  # Words that were forgotten.
    for pk, content in rows.distinct().order_by("pk").values_list("pk", "content"):
        pieces = diff_of_memories(content, memory.content)
        yield Other(reverse("memory-page", args=[pk]), in_second_person(content), what, pieces=pieces)


def _excluded(principal: Principal, memory: Memory, near: Sequence[Rival]) -> Rival | None:
    """Return the nearest memory that can hardly stay beside this one, by a model's verdict or by their words."""
    at_odds, name = queries.at_odds(memory), principal.name
    return next((each for each in near if each.key in at_odds or may_exclude(each.stored, memory.content, name)), None)


def _rival(near: Rival, memory: Memory) -> Rival:
    """Return the memory that one may repeat or contradict, with a diff if they are similar enough."""
    pieces = word_diff(near.other.content, in_second_person(memory.content))
    alike = 2 * sum(len(piece.text) for piece in pieces if piece.kind == "same") >= len(near.other.content)
    return near._replace(other=replace(near.other, note=_(_ALIKE), pieces=pieces if alike else ()))


def _near(principal: Principal, memory: Memory) -> list[Rival]:
    """Return the most similar memories; none without a vector."""
    if memory.embedding is None:
        return []
    text = Embedded(memory.content, np.asarray(memory.embedding, np.float32), memory.embedding_model)
    found = queries.neighbours(principal, memory.user_id, text, kind=memory.kind, subject=memory.subject, but=memory.pk)
    waiting = Memory.objects.visible_to(principal).filter(pk__in=[each.memory_id for each in found])
    known = {pk: (state, version) for pk, state, version in waiting.values_list("pk", "state", "version")}
    return [
        Rival(
            near.memory_id,
            known[near.memory_id][1],
            Other(
                reverse("memory-page", args=[near.memory_id]),
                in_second_person(near.content),
                note="" if known[near.memory_id][0] == State.ACTIVE else _("waits too"),
            ),
            near.content,
        )
        for near in found
        if near.memory_id in known
    ]
