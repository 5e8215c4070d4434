"""A fact as the desk shows it: what it says, who said so and where, what speaks against it, what can be done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from accounts.models import Member
from accounts.principals import Principal
from conversations.models import Message
from facts.models import FactLink, LegacyFact
from facts.querysets import FactQuerySet

from .excerpts import Excerpt, excerpt
from .shelves import is_waiting

State = LegacyFact.State
Visibility = LegacyFact.Visibility


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words that say a fact, in their message: the ``number``-th, from 1, of the conversation ``where``."""

    excerpt: Excerpt
    where: str
    number: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Related:
    """Another fact that says the same as this one or contradicts it. ``by`` is empty for the person's own."""

    contradicts: bool
    content: str
    by: str


@dataclass(frozen=True, slots=True)
class Done:
    """What was just done to a fact, in one word and in a sentence, and the address that takes it back."""

    word: str
    text: str
    undo: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a decision could not be carried out, in words, and what had been typed for it."""

    decision: str
    text: str
    status: int
    typed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Card:
    """One fact for the templates. ``offers`` are the decisions that can be taken about it, in their order."""

    fact: LegacyFact
    mine: bool
    quotations: list[Quotation]
    related: list[Related]
    offers: list[str]
    outcome: Done | Refusal | None = None

    @property
    def done(self) -> Done | None:
        """What was just done to it."""
        return self.outcome if isinstance(self.outcome, Done) else None

    @property
    def refusal(self) -> Refusal | None:
        """Why something could not be done to it."""
        return self.outcome if isinstance(self.outcome, Refusal) else None

    @property
    def waits(self) -> bool:
        """Whether the person has not decided about it yet."""
        return self.mine and is_waiting(self.fact)

    @property
    def is_gone(self) -> bool:
        """Whether it was archived or rejected."""
        return self.fact.state in {State.ARCHIVED, State.REJECTED}

    @property
    def origin(self) -> str:
        """Whose words the fact is in."""
        fact = self.fact
        if not fact.written_by:
            return "In your own words" if self.mine else f"In {fact.user.get_full_name()}'s own words"
        extracted = fact.source_index is not None
        return f"Found by {fact.written_by}" if extracted else f"Written by {fact.written_by}"

    @property
    def fields(self) -> dict[str, str]:
        """What the fields of the card's forms hold: what had been typed if that was refused, else what is stored."""
        stored = {"content": self.fact.content, "category": self.fact.category, "reason": ""}
        typed = self.refusal.typed if self.refusal else {}
        return {name: typed.get(name, value) for name, value in stored.items()}

    @property
    def open_form(self) -> str:
        """The form that stays open because what was typed into it was refused."""
        return self.refusal.decision if self.refusal else ""


def offers_for(fact: LegacyFact) -> list[str]:
    """The decisions that the author of a fact can take about it as it is now, the likeliest first."""
    if fact.state in {State.ARCHIVED, State.REJECTED}:
        return ["restore"]
    if fact.state == State.HIDDEN:
        return ["delete"]
    if fact.state == State.QUARANTINED:
        return ["reject", "delete"]
    offers = ["approve"] if is_waiting(fact) else []
    if fact.state == State.ACTIVE:
        offers.append("unshare" if fact.visibility == Visibility.SHARED else "share")
    return [*offers, "edit", "reject", "delete"]


def make_cards(
    facts: FactQuerySet,
    principal: Principal,
    members: Iterable[Member],
    outcomes: Mapping[UUID, Done | Refusal],
) -> list[Card]:
    """The cards of facts about one legacy with these members, in a constant number of queries.

    ``outcomes`` says by the fact's id what was just done, or could not be done.
    """
    shown = list(facts.shown_to(principal))
    messages = _messages(shown, principal)
    names = {member.user_id: member.user.get_full_name() for member in members}
    return [
        Card(
            fact=fact,
            mine=fact.user_id == principal.user_id,
            quotations=list(_quotations(fact, messages)),
            related=list(_related(fact, principal, names)),
            offers=offers_for(fact) if fact.user_id == principal.user_id else [],
            outcome=outcomes.get(fact.pk),
        )
        for fact in shown
    ]


def _messages(facts: Iterable[LegacyFact], principal: Principal) -> dict[UUID, Message]:
    """The messages behind the evidence, with their conversations."""
    wanted = [evidence.message_id for fact in facts for evidence in fact.evidence.all()]
    rows = Message.objects.visible_to(principal).filter(pk__in=wanted).select_related("conversation")
    return {row.pk: row for row in rows.only("index", "at", "content", "conversation__title")}


def _quotations(fact: LegacyFact, messages: Mapping[UUID, Message]) -> Iterator[Quotation]:
    for evidence in fact.evidence.all():
        message = messages.get(evidence.message_id)
        if message is not None:
            where = message.conversation.title or "a conversation"
            yield Quotation(excerpt(message.content, evidence.quote), where, message.index + 1, message.at)


def _related(fact: LegacyFact, principal: Principal, names: Mapping[UUID, str]) -> Iterator[Related]:
    ends = [(link, link.to_fact) for link in fact.links_from.all()]
    ends += [(link, link.from_fact) for link in fact.links_to.all()]
    for link, other in ends:
        by = "" if other.user_id == principal.user_id else names.get(other.user_id, "another member")
        yield Related(link.kind == FactLink.Kind.CONTRADICTS, other.content, by)
