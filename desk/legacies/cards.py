"""Cards of facts, for lists and detail pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np
from django.db.models import OuterRef, Subquery
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from accounts.models import Agent, Member
from accounts.principals import Principal
from facts.models import FactLink, LegacyFact
from facts.policy import is_unused, is_waiting
from facts.queries import neighbours
from facts.querysets import FactQuerySet
from statements.policy.naming import fact_in_words

from ..cards import Card, Other, Tag, author, not_quoted, origin, told_fact
from ..diff import word_diff
from ..labels import label, reason_in_words
from ..outcomes import Done, Refusal, as_sentence
from ..page import agent_link, page_address
from ..quotations import make_passages, messages_behind, quote

State = LegacyFact.State
Visibility = LegacyFact.Visibility

_STATES = {
    State.ARCHIVED: gettext_noop("Put away"),
    State.REJECTED: gettext_noop("Rejected"),
    State.HIDDEN: gettext_noop("Hidden by a moderator"),
    State.QUARANTINED: gettext_noop("Held back"),
}
GONE = {State.ARCHIVED, State.REJECTED}


def offers_for(fact: LegacyFact, *, kept: bool) -> list[str]:
    """Return the possible decisions of a fact's author, most likely first.

    Sharing needs membership of its legacy (``kept``).
    """
    if fact.state in GONE:
        return ["restore"]
    if fact.state == State.HIDDEN:
        return ["delete"]
    if fact.state == State.QUARANTINED:
        return ["edit", "reject", "dont_keep"]
    offers = ["approve"] if is_waiting(fact) else []
    if kept:
        offers.append("unshare" if fact.visibility == Visibility.SHARED else "share")
    return [*offers, "edit", "reject", "dont_keep"]


def load_facts(facts: FactQuerySet, principal: Principal, *, opened: bool = True) -> list[LegacyFact]:
    """Load facts for cards with author and legacy; for ``opened`` ones with evidence, links and the agent's id.

    The agent that wrote a fact is known by its name only, as ``writer_id`` by the person's agent of that name.
    """
    if not opened:
        return list(facts.without_vectors().select_related("user", "legacy"))
    named = Agent.objects.visible_to(principal).filter(name=OuterRef("written_by")).order_by("created_at")
    read = facts.shown_to(principal).annotate(writer_id=Subquery(named.values("pk")[:1]))
    return list(read.select_related("user", "legacy"))


def make_cards(
    facts: Sequence[LegacyFact],
    principal: Principal,
    members: Iterable[Member],
    outcomes: Mapping[UUID, Done | Refusal],
    *,
    opened: bool = True,
) -> list[Card]:
    """Return cards of loaded facts, in at most one query; ``members``: visible members of their legacies.

    ``outcomes``: by fact id, what was just done or refused. Evidence and duplicates are shown only on ``opened`` cards,
    whose facts were loaded so.
    """
    evidence = {fact.pk: list(fact.evidence.all()) if opened else [] for fact in facts}
    messages = messages_behind(principal, (each for rows in evidence.values() for each in rows))
    members = list(members)
    names = {member.user_id: member.user.get_full_name() for member in members}
    kept = {member.legacy_id for member in members}
    return [
        Card(
            noun="fact",
            route="fact-decide",
            key=str(fact.pk),
            version=fact.version,
            content=fact.content,
            fact=fact,
            address=page_address("fact-page", fact.pk),
            by=_by(fact, principal),
            group=Tag(fact.legacy.name, "strong"),
            tags=list(_tags(fact, principal, opened=opened)),
            origin=_origin(fact, principal) if opened else "",
            at=fact.extracted_at,
            mine=_is_mine(fact, principal),
            kept=fact.legacy_id in kept,
            is_gone=fact.state in GONE,
            reason=as_sentence(reason_in_words(fact.state_reason)),
            purge_at=fact.purge_at,
            offers=offers_for(fact, kept=fact.legacy_id in kept) if _is_mine(fact, principal) else [],
            edits=("content", "category"),
            stored={"content": fact_in_words(fact.content), "category": fact.category},
            quotations=list(quote(evidence[fact.pk], messages)),
            related=list(_related(fact, principal, names)) if opened else [],
            outcome=outcomes.get(fact.pk),
        )
        for fact in facts
    ]


def make_fact_card(principal: Principal, fact_id: UUID, outcome: Done | Refusal | None = None) -> Card | None:
    """Return the card of a fact with the context of its evidence, similar facts, and readers.

    In a constant number of queries; None for an invisible fact.
    """
    row = LegacyFact.objects.visible_to(principal).filter(pk=fact_id)
    legacies = LegacyFact.objects.filter(pk=fact_id).values("legacy_id")
    members = list(Member.objects.visible_to(principal).filter(legacy_id__in=legacies).select_related("user"))
    cards = make_cards(load_facts(row, principal), principal, members, {} if outcome is None else {fact_id: outcome})
    if not cards or (fact := cards[0].fact) is None:
        return None
    card = cards[0]
    readers = sorted(member.user.get_full_name() for member in members if member.user_id != principal.user_id)
    return replace(
        card,
        passages=list(make_passages(principal, card.quotations)),
        unquoted=not_quoted(fact.written_by) if card.mine else _("Only its author sees the words behind it."),
        nearest=_nearest(principal, fact, card.related, members) if card.mine and not card.is_gone else [],
        readers=_readers(principal, fact, readers, kept=card.kept) if card.mine else "",
    )


def _is_mine(fact: LegacyFact, principal: Principal) -> bool:
    return fact.user_id == principal.user_id


def _tags(fact: LegacyFact, principal: Principal, *, opened: bool) -> Iterator[Tag]:
    """Return the labels, all of an ``opened`` card or those of a row."""
    mine, gone = _is_mine(fact, principal), fact.state in GONE
    if opened:
        yield Tag(label(fact.get_category_display()))
        if not mine:
            yield Tag(_("From %(user)s") % {"user": fact.user.get_full_name()}, "shared")
        elif fact.visibility == Visibility.SHARED:
            yield Tag(_("Shared"), "shared")
        elif not gone:
            yield Tag(_("Private"))
    if state := _STATES.get(State(fact.state)):
        yield Tag(_(state), "gone")
    elif mine and is_waiting(fact):
        yield Tag(_("Not used until you approve") if is_unused(fact, principal.review) else _("To review"), "waits")


def _origin(fact: LegacyFact, principal: Principal) -> str:
    own = (
        _("In your own words")
        if _is_mine(fact, principal)
        else _("In %(user)s's own words") % {"user": fact.user.get_full_name()}
    )
    found, writer_id = fact.source_index is not None, getattr(fact, "writer_id", None)
    writer = agent_link(writer_id if _is_mine(fact, principal) and not found else None, fact.written_by)
    return format_html(
        _("%(origin)s on").replace("%(origin)s", "{}"), origin(fact.written_by, found=found, own=own, writer=writer)
    )


def _by(fact: LegacyFact, principal: Principal) -> str:
    if not _is_mine(fact, principal):
        return fact.user.get_full_name()
    return author(fact.written_by, found=fact.source_index is not None)


def _related(fact: LegacyFact, principal: Principal, names: Mapping[UUID, str]) -> Iterator[Other]:
    ends = [(link, link.to_fact) for link in fact.links_from.all()]
    ends += [(link, link.from_fact) for link in fact.links_to.all()]
    for link, other in ends:
        is_own = other.user_id == principal.user_id
        author = "" if is_own else names.get(other.user_id) or pgettext("who shares", "another member")
        contradicts = link.kind == FactLink.Kind.CONTRADICTS
        if is_own:
            what = (
                _("Contradicts another fact of yours") if contradicts else _("Says the same as another fact of yours")
            )
        else:
            said = _("Contradicts what %(name)s shares") if contradicts else _("Says the same as what %(name)s shares")
            what = said % {"name": author}
        told = fact_in_words(other.content, author)
        pieces = word_diff(told, told_fact(principal, fact))
        yield Other(reverse("fact-page", args=[other.pk]), told, what, pieces=pieces)


def _readers(principal: Principal, fact: LegacyFact, others: Sequence[str], *, kept: bool) -> str:
    """Return who sees a fact, or would if it is shared."""
    if fact.state in {State.HIDDEN, State.QUARANTINED} | GONE:
        told = _("Only you can see it.")
    elif fact.visibility == Visibility.SHARED:
        told = _("Seen by %(value)s.") % {"value": ", ".join([_("you"), *others])}
    elif others:
        told = _("Only you see it. Shared, it is seen by %(others)s too.") % {"others": ", ".join(others)}
    elif kept:
        told = _("Only you see it, and this legacy has no other members yet.")
    else:
        told = _("Only you see it. You have left this legacy, so you can’t share it.")
    return f"{told} {_('No agent uses it until you approve it.')}" if is_unused(fact, principal.review) else told


def _nearest(
    principal: Principal, fact: LegacyFact, related: Sequence[Other], members: Iterable[Member]
) -> list[Other]:
    """Return similar facts that are neither duplicates nor contradictions."""
    vector, model = LegacyFact.objects.filter(pk=fact.pk).values_list("embedding", "embedding_model").get()
    if vector is None:
        return []
    found = neighbours(principal, fact.legacy_id, np.asarray(vector, np.float32), model, but=fact.pk)
    linked = {other.address for other in related}
    near = {reverse("fact-page", args=[each.fact_id]): each for each in found}
    authors = _authors([each.fact_id for each in near.values() if not each.mine], members)
    return [
        Other(
            address,
            fact_in_words(each.content, authors.get(each.fact_id, "")),
            note=_("shared by %(value)s") % {"value": authors[each.fact_id]} if each.fact_id in authors else "",
        )
        for address, each in near.items()
        if address not in linked
    ]


def _authors(fact_ids: Sequence[UUID], members: Iterable[Member]) -> Mapping[UUID, str]:
    """Return the authors' names."""
    if not fact_ids:
        return {}
    names = {member.user_id: member.user.get_full_name() for member in members}
    owners = LegacyFact.objects.filter(pk__in=fact_ids).values_list("pk", "user_id")
    return {fact_id: names.get(user_id, _("another member")) for fact_id, user_id in owners}
