"""Pure functions on facts: permissions, validation, and the relation of two statements. No database."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _

from accounts import policy
from accounts.principals import Principal
from journal.exceptions import NotAllowed, Refused
from language.base import Comparison
from language.reading.values import values_in

from .models import FactLink, LegacyFact

Category = LegacyFact.Category
State = LegacyFact.State
Visibility = LegacyFact.Visibility


def must_add(principal: Principal, visibility: str) -> UUID:
    """Return the person's id. Raises NotAllowed (403) if the principal may not write facts, or share them."""
    user_id = policy.must_remember(principal)
    if principal.kind == "agent" and "facts" not in principal.sources:
        raise NotAllowed(_("This agent has no access to facts."), code="source_not_allowed")
    if visibility == Visibility.SHARED:
        policy.must_decide(principal)
    return user_id


def is_waiting(fact: LegacyFact) -> bool:
    """Whether a fact waits for its author's decision: ``querysets.WAITING`` for one row."""
    if fact.state == State.ACTIVE:
        return fact.reviewed_at is None
    return fact.state in {State.PROPOSED, State.QUARANTINED}


def is_unused(fact: LegacyFact, review: str) -> bool:
    """Whether a fact is not used before its author approves it. ``review`` is the author's preference."""
    return fact.state == State.PROPOSED or (fact.state == State.ACTIVE and review == "before" and is_waiting(fact))


def review_state(fact: LegacyFact) -> str:
    """Return the fact's state, or for an active one "waiting", "private" or "shared"."""
    if fact.state != State.ACTIVE:
        return str(fact.state)
    return "waiting" if is_waiting(fact) else str(fact.visibility)


def check_category(category: str) -> None:
    """Raise Refused (400) for an unknown category."""
    if category not in Category.values:
        raise Refused(
            _("The category is one of %(values)s.") % {"values": ", ".join(Category.values)}, code="bad_category"
        )


def check_visibility(visibility: str) -> None:
    """Raise Refused (400) for anything but private and shared."""
    if visibility not in Visibility.values:
        raise Refused(_("The visibility is private or shared."), code="bad_visibility")


def relation(existing: str, new: str, similarity: float, verdict: Comparison) -> str | None:
    """Return the kind of link between two statements of different words, or None if they are unrelated.

    A contradiction takes precedence over similarity. With different values, similarity alone makes no duplicate:
    "married in 1965" and "married in 1968", "on Sundays" and "on Saturdays" are as similar as two wordings of one fact.
    """
    if verdict in {"contradicts", "replaces"}:  # Facts about the dead are never replaced automatically.
        return FactLink.Kind.CONTRADICTS
    similar = similarity >= settings.FACT_DUPLICATE_SIMILARITY and values_in(existing) == values_in(new)
    return FactLink.Kind.DUPLICATE if verdict == "same" or similar else None
