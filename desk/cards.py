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
from facts.policy import is_unused, is_waiting
from facts.querysets import FactQuerySet

from .differences import Piece, word_diff
from .excerpts import Excerpt, excerpt

State = LegacyFact.State
Visibility = LegacyFact.Visibility


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words that say a fact, in their message: the ``number``-th, from 1, of the conversation ``where``."""

    excerpt: Excerpt
    where: str
    number: int
    at: datetime
    conversation_id: UUID


@dataclass(frozen=True, slots=True)
class Related:
    """Another fact that says the same as this one or contradicts it. ``by`` is empty for the person's own.

    ``pieces`` show how that other wording becomes this one.
    """

    fact_id: UUID
    contradicts: bool
    content: str
    by: str
    pieces: list[Piece]


@dataclass(frozen=True, slots=True)
class Done:
    """What was just done to a fact, in one word and in a sentence, and the address that takes it back."""

    word: str
    text: str
    undo: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a decision could not be carried out, in words, and what had been typed for it.

    ``seen`` is the wording that it was about, when the fact has another one by now.
    """

    decision: str
    text: str
    status: int
    typed: Mapping[str, str] = field(default_factory=dict)
    seen: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """One fact for the templates. ``offers`` are the decisions that can be taken about it, in their order.

    ``kept`` says whether the person is a member of its legacy; who has left one keeps their own facts about it.
    ``unused`` says that no prompt holds it before they approve it.
    """

    fact: LegacyFact
    mine: bool
    kept: bool
    quotations: list[Quotation]
    related: list[Related]
    offers: list[str]
    unused: bool = False
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
    def changed_meanwhile(self) -> list[Piece]:
        """How the wording that a refused decision was about became the present one."""
        return word_diff(self.refusal.seen, self.fact.content) if self.refusal and self.refusal.seen else []

    @property
    def typed_instead(self) -> list[Piece]:
        """How the present wording would become the one that was typed for another."""
        typed = self.refusal.typed.get("content", "") if self.refusal and self.refusal.seen else ""
        return word_diff(self.fact.content, typed) if typed else []

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
    def reason(self) -> str:
        """Why it stands as it does, ended as a sentence is; empty when nobody said."""
        reason = self.fact.state_reason
        return reason if not reason or reason[-1] in ".!?…" else f"{reason}."

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


def offers_for(fact: LegacyFact, *, kept: bool) -> list[str]:
    """The decisions that the author of a fact can take about it as it is now, the likeliest first.

    Only who is a member of its legacy (``kept``) can share it.
    """
    if fact.state in {State.ARCHIVED, State.REJECTED}:
        return ["restore"]
    if fact.state == State.HIDDEN:
        return ["delete"]
    if fact.state == State.QUARANTINED:
        return ["edit", "reject", "delete"]
    offers = ["approve"] if is_waiting(fact) else []
    if kept:
        offers.append("unshare" if fact.visibility == Visibility.SHARED else "share")
    return [*offers, "edit", "reject", "delete"]


def make_cards(
    facts: FactQuerySet,
    principal: Principal,
    members: Iterable[Member],
    outcomes: Mapping[UUID, Done | Refusal],
) -> list[Card]:
    """The cards of facts, in a constant number of queries; ``members`` are those of their legacies that one may see.

    ``outcomes`` says by the fact's id what was just done, or could not be done.
    """
    shown = list(facts.shown_to(principal).select_related("user", "legacy"))
    messages = _messages(shown, principal)
    members = list(members)
    names = {member.user_id: member.user.get_full_name() for member in members}
    kept = {member.legacy_id for member in members}
    return [
        Card(
            fact=fact,
            mine=fact.user_id == principal.user_id,
            kept=fact.legacy_id in kept,
            quotations=list(_quotations(fact, messages)),
            related=list(_related(fact, principal, names)),
            offers=offers_for(fact, kept=fact.legacy_id in kept) if fact.user_id == principal.user_id else [],
            unused=fact.user_id == principal.user_id and is_unused(fact, principal.review),
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
            title = message.conversation.title
            where = f"“{title}”" if title else "a conversation"
            words = excerpt(message.content, evidence.quote)
            yield Quotation(words, where, message.index + 1, message.at, message.conversation_id)


def _related(fact: LegacyFact, principal: Principal, names: Mapping[UUID, str]) -> Iterator[Related]:
    ends = [(link, link.to_fact) for link in fact.links_from.all()]
    ends += [(link, link.from_fact) for link in fact.links_to.all()]
    for link, other in ends:
        by = "" if other.user_id == principal.user_id else names.get(other.user_id, "another member")
        contradicts = link.kind == FactLink.Kind.CONTRADICTS
        yield Related(other.pk, contradicts, other.content, by, word_diff(other.content, fact.content))
