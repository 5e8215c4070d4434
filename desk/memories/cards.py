"""Cards of memories, for lists and detail pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.policy import must_act_for
from accounts.principals import Principal
from memories.models import Kind, Memory, MemoryEvidence, MemoryVersion, Relation
from memories.policy import writing
from memories.policy.leaving import gone_because
from memories.queries import said_by_others
from memories.records import BEFORE_USE, why_it_waits
from statements.policy.naming import in_second_person

from ..cards import Card, Link, Other, Tag, author, diff_of_memories, last_day, not_quoted, origin
from ..labels import category_label, label, reason_in_words
from ..outcomes import Done, Refusal, as_sentence
from ..page import agent_link, page_address
from ..quotations import Quotation, make_passages, messages_behind, quote

State = Memory.State
Why = Memory.DeletedWhy

MOST_RELATED = 30
GONE = {State.ARCHIVED, State.REJECTED}
STATE_WORDS = {
    State.PROPOSED: gettext_noop("proposed"),
    State.QUARANTINED: gettext_noop("held back"),
    State.ARCHIVED: gettext_noop("put away"),
    State.REJECTED: gettext_noop("rejected"),
}
_RELATIONS = {
    (Relation.Type.SUPERSEDES, True): gettext_noop("Replaces"),
    (Relation.Type.SUPERSEDES, False): gettext_noop("Replaced by"),
    (Relation.Type.DERIVED_FROM, True): gettext_noop("Made from"),
    (Relation.Type.DERIVED_FROM, False): gettext_noop("Merged into"),
    (Relation.Type.RELATED_TO, True): gettext_noop("Related to"),
    (Relation.Type.RELATED_TO, False): gettext_noop("Related to"),
}


def offers_for(memory: Memory) -> list[str]:
    """Return the possible decisions about a memory, most likely first."""
    if memory.state in GONE:
        refused = memory.state == State.REJECTED or memory.deleted_why == Why.PERSON
        return ["restore"] if refused else ["restore", "reject", "dont_keep"]
    if memory.state == State.QUARANTINED:
        return ["reject", "dont_keep"]
    if memory.state == State.PROPOSED:
        return ["approve", "edit", "reject", "dont_keep"]
    offers = ["approve"] if memory.reviewed_at is None else []
    return [*offers, "unpin" if memory.pinned else "pin", "edit", "reject", "dont_keep"]


def make_memory_cards(
    memories: Iterable[Memory], principal: Principal, outcomes: Mapping[str, Done | Refusal], *, opened: bool = True
) -> list[Card]:
    """Return cards of visible memories, in order and in a constant number of queries.

    ``outcomes``: by memory id, what was just done or refused. Evidence is loaded for ``opened`` cards and those with an
    outcome.
    """
    shown = list(memories)
    evidence = _evidence(principal, [memory.pk for memory in shown if opened or memory.pk in outcomes])
    messages = messages_behind(principal, (each for rows in evidence.values() for each in rows))
    # What took the place of others, and was taken back, is said again by these.
    replaced = [memory for memory in shown if memory.deleted_why in {Why.REPLACED, Why.MERGED}]
    said = said_by_others(must_act_for(principal), replaced) if replaced else set()
    return [
        card_of(
            principal,
            memory,
            list(quote(evidence.get(memory.pk, ()), messages)),
            outcomes.get(memory.pk),
            reworded=all(each.version.number < memory.version for each in evidence.get(memory.pk, ())),
            opened=opened or memory.pk in outcomes,
            said_again=memory.pk in said,
        )
        for memory in shown
    ]


def card_of(
    principal: Principal,
    memory: Memory,
    quotations: Sequence[Quotation],
    outcome: Done | Refusal | None,
    *,
    reworded: bool = False,
    opened: bool = True,
    said_again: bool = False,
) -> Card:
    """Return the card of a loaded memory, with its evidence. Others leave out what only ``opened`` ones show.

    ``reworded``: nothing of the evidence is of the present wording. ``said_again``: another one in use has its
    words, so it can't be restored.
    """
    proposed = memory.state == State.PROPOSED
    came = memory.state in {State.PROPOSED, State.QUARANTINED}
    whence = format_html(_("{} on") if came else _("{}, remembered since"), _origin(memory)) if opened else ""
    return Card(
        noun="memory",
        route="memory-decide",
        key=memory.pk,
        version=memory.version,
        content=memory.content,
        memory=memory,
        address=page_address("memory-page", memory.pk),
        by=author(memory.written_by, found=not memory.agent_id),
        group=Tag(category_label(memory.category)),
        tags=list(_tags(principal, memory, is_news=isinstance(outcome, Done), opened=opened)),
        origin=whence,
        at=memory.created_at,
        is_gone=memory.state in GONE,
        reason=as_sentence(reason_in_words(_reason(memory))),
        purge_at=memory.purge_at,
        longest=writing.longest(memory.kind, memory.verbatim),
        offers=[each for each in offers_for(memory) if not (said_again and each == "restore")],
        edits=("content",) if proposed else ("content", "correction"),
        edit_approves=proposed,
        stored=_stored(memory) if opened else {},
        quotations=quotations,
        said_before=_("An earlier wording came from this; it was reworded since.") if reworded and quotations else "",
        outcome=outcome,
    )


def make_memory_card(principal: Principal, memory_id: str, outcome: Done | Refusal | None = None) -> Card | None:
    """Return the card of a memory with the context of its evidence, and related memories.

    In a constant number of queries; None for an invisible memory.
    """
    row = Memory.objects.visible_to(principal).filter(pk=memory_id).without_vectors()
    cards = make_memory_cards(row, principal, {} if outcome is None else {memory_id: outcome})
    if not cards or (memory := cards[0].memory) is None:
        return None
    return replace(
        cards[0],
        passages=list(make_passages(principal, cards[0].quotations)),
        unquoted=not_quoted(memory.written_by),
        nearest=list(_related(principal, memory)),
        link=_review_of(memory),
    )


def _review_of(memory: Memory) -> Link | None:
    """Return where a memory that resembles another one is decided about, with both side by side."""
    if not memory.needs_check or memory.state not in {State.ACTIVE, State.PROPOSED}:
        return None
    address = f"{reverse('review')}?item=memory-{memory.pk}"
    return Link(address, _("It is like another memory: say whether both are true"))


def _origin(memory: Memory) -> str:
    return origin(memory.written_by, found=not memory.agent_id, writer=agent_link(memory.agent_id, memory.written_by))


def _stored(memory: Memory) -> dict[str, str]:
    until = last_day(memory.expires_at)
    return {
        "content": in_second_person(memory.content),
        "correction": "",
        "steps": "",
        "category": memory.category,
        "subject": memory.subject,
        "topics": ", ".join(memory.topics),
        "importance": str(memory.importance),
        "until": until.isoformat() if until else "",
    }


def _reason(memory: Memory) -> str:
    """Return why it waits, unless all do: who reviews before use knows that."""
    reason = why_it_waits(memory.state, memory.field, memory.state_reason)
    return "" if reason == BEFORE_USE else reason


def _tags(principal: Principal, memory: Memory, *, is_news: bool, opened: bool) -> Iterator[Tag]:
    """Return the labels, all of an ``opened`` card or those of a row.

    ``is_news``: with an outcome beside them, further labels would shift the layout.
    """
    if memory.subject and opened:
        yield Tag(memory.subject, "strong")
    if memory.field and opened:
        yield Tag(label(Memory.Field(memory.field).label), "strong")
    if memory.kind == Kind.INSIGHT:
        yield Tag(_("A guess"), "waits")
    elif memory.kind == Kind.EPISODIC and opened:  # Of steps the category says it.
        yield Tag(label(memory.get_kind_display()))
    unused = writing.is_unused(memory, principal.review)
    if opened:
        yield from map(Tag, memory.topics)
        if not is_news and memory.state == State.ACTIVE and not unused and principal.has_memory:
            yield _in_prompts(memory)
        if memory.pinned and not is_news:
            yield Tag(_("Pinned"), "shared")
    if memory.deleted_why:
        yield Tag(_(gone_because(memory)), "gone")
    elif memory.state == State.QUARANTINED:
        yield Tag(_("Held back"), "gone")
    elif writing.review_state(memory) in {"proposed", "waiting"}:
        yield Tag(_("Not used until you approve") if unused else _("To review"), "waits")


def _in_prompts(memory: Memory) -> Tag:
    """Describe how an active memory gets into prompts."""
    if memory.valid_to is not None and memory.valid_to <= timezone.now():
        return Tag(_("No longer true"))
    if memory.valid_from is not None and memory.valid_from > timezone.now():
        return Tag(_("Not true yet"))
    return Tag(_("In every prompt"), "shared") if memory.in_block else Tag(_("Recalled when it fits"))


def _evidence(principal: Principal, memory_ids: Iterable[str]) -> dict[str, list[MemoryEvidence]]:
    """Return the evidence by memory id, that of the latest wording first, each message once."""
    if not (ids := list(memory_ids)):
        return {}
    versions = MemoryVersion.objects.visible_to(principal).filter(memory__in=ids)
    rows = MemoryEvidence.objects.filter(version__in=versions).select_related("version")
    rows = rows.only("quote", "message_id", "version__memory_id", "version__number").order_by("-version__number", "id")
    found: dict[str, dict[object, MemoryEvidence]] = {}
    for row in rows:
        found.setdefault(row.version.memory_id, {}).setdefault(row.message_id, row)
    return {memory_id: list(by_message.values()) for memory_id, by_message in found.items()}


def _relation(kind: Relation.Type, is_from: bool, of: str) -> str:
    """Describe the relation to another memory; ``of``: the kind of its first memory."""
    if kind == Relation.Type.DERIVED_FROM and of == Kind.INSIGHT:
        return _("Rests on") if is_from else _("A guess that rests on it")
    return _(_RELATIONS[kind, is_from])


def _related(principal: Principal, memory: Memory) -> Iterator[Other]:
    """Yield related memories; of those that are put away or rejected only what it was made of, or replaced."""
    seen = Memory.objects.visible_to(principal)
    rows = Relation.objects.filter(
        Q(from_memory=memory, to_memory__in=seen) | Q(to_memory=memory, from_memory__in=seen)
    )
    away = seen.filter(state__in=[State.ARCHIVED, State.REJECTED]).exclude(pk=memory.pk)
    rows = rows.exclude(Q(to_memory__in=away) | Q(from_memory__in=away), type=Relation.Type.RELATED_TO)
    shown = ("content", "state", "kind")
    rows = rows.select_related("from_memory", "to_memory").only(
        "type", "strength", *(f"{end}__{column}" for end in ("from_memory", "to_memory") for column in shown)
    )
    for row in rows.order_by("-type", "-strength", "id")[:MOST_RELATED]:
        is_from = row.from_memory_id == memory.pk
        other = row.to_memory if is_from else row.from_memory
        old, new = (other, memory) if is_from else (memory, other)
        yield Other(
            reverse("memory-page", args=[other.pk]),
            in_second_person(other.content),
            what=_relation(Relation.Type(row.type), is_from, row.from_memory.kind),
            state="" if other.state == State.ACTIVE else _(STATE_WORDS[State(other.state)]),
            pieces=diff_of_memories(old.content, new.content) if row.type == Relation.Type.SUPERSEDES else (),
        )
