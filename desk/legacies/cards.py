"""A fact as the desk shows it: what it says, who said so and where, what speaks against it, what can be done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from accounts.models import Member
from accounts.principals import Principal
from facts.models import FactLink, LegacyFact
from facts.policy import is_unused, is_waiting
from facts.querysets import FactQuerySet

from ..diff import Piece, word_diff
from ..outcomes import Decidable, Done, Refusal, as_sentence
from ..quotations import Quotation, messages_behind, quote

State = LegacyFact.State
Visibility = LegacyFact.Visibility


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
class Card(Decidable):
    """One fact for the templates. ``offers`` are the decisions that can be taken about it, in their order.

    ``kept`` says whether the person is a member of its legacy; who has left one keeps their own facts about it.
    ``unused`` says that no prompt holds it before they approve it.
    """

    noun = "fact"
    route = "fact-decide"

    fact: LegacyFact
    mine: bool
    kept: bool
    quotations: list[Quotation]
    related: list[Related]
    offers: list[str]
    unused: bool = False

    @property
    def key(self) -> str:
        """The id of the fact."""
        return str(self.fact.pk)

    @property
    def version(self) -> int:
        """The number of the present wording."""
        return self.fact.version

    @property
    def content(self) -> str:
        """The present wording."""
        return self.fact.content

    @property
    def stored(self) -> Mapping[str, str]:
        """What the fields of the card's forms hold when nothing was typed."""
        return {"content": self.fact.content, "category": self.fact.category, "reason": ""}

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
        return as_sentence(self.fact.state_reason)


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
    messages = messages_behind(principal, (evidence for fact in shown for evidence in fact.evidence.all()))
    members = list(members)
    names = {member.user_id: member.user.get_full_name() for member in members}
    kept = {member.legacy_id for member in members}
    return [
        Card(
            fact=fact,
            mine=fact.user_id == principal.user_id,
            kept=fact.legacy_id in kept,
            quotations=list(quote(fact.evidence.all(), messages)),
            related=list(_related(fact, principal, names)),
            offers=offers_for(fact, kept=fact.legacy_id in kept) if fact.user_id == principal.user_id else [],
            unused=fact.user_id == principal.user_id and is_unused(fact, principal.review),
            outcome=outcomes.get(fact.pk),
        )
        for fact in shown
    ]


def _related(fact: LegacyFact, principal: Principal, names: Mapping[UUID, str]) -> Iterator[Related]:
    ends = [(link, link.to_fact) for link in fact.links_from.all()]
    ends += [(link, link.from_fact) for link in fact.links_to.all()]
    for link, other in ends:
        by = "" if other.user_id == principal.user_id else names.get(other.user_id, "another member")
        contradicts = link.kind == FactLink.Kind.CONTRADICTS
        yield Related(other.pk, contradicts, other.content, by, word_diff(other.content, fact.content))
