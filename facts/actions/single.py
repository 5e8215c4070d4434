"""The change of one fact under its locks, used by every action.

The legacy's ledger counts active facts and logs changes of shared ones. Both are derived here from the fact before and
after a change, so that no action can forget them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Q

from accounts.principals import Principal, shape_for
from journal.actions import LedgerWrite
from journal.queue import enqueue
from language.tokens import count_tokens
from retrieval.prepared import Shaped
from statements.actions import (
    GONE,
    StatementWrite,
    archived_columns,
    present_columns,
    set_columns,
    statement_under_lock,
    statement_write,
)
from statements.wording import Wording

from ..models import FACT, FactLink, LegacyFact
from ..policy import State, Visibility
from ..queries import FactNeighbour
from .telling import log_for_members

HELD_BACK_BEFORE = "It was held back before it was removed."


@dataclass(frozen=True, slots=True)
class FactCounts:
    """The part of a fact that the legacy's ledger depends on."""

    terms: int = 0
    active: bool = False
    shared: bool = False
    version: int = 0

    @classmethod
    def of(cls, fact: LegacyFact) -> FactCounts:
        """Return what a fact currently adds."""
        shared = fact.visibility == Visibility.SHARED
        return cls(fact.search_length, fact.state == State.ACTIVE, shared, fact.version)


class FactWrite(StatementWrite[LegacyFact]):
    """A fact whose owner's and legacy's ledgers are locked."""

    kind = FACT

    @classmethod
    def changeable(cls, principal: Principal) -> Shaped:
        """Return the principal's own facts; for staff all."""
        facts = LegacyFact.objects
        return shape_for(principal, "facts to change", facts.visible_to if principal.kind == "staff" else facts.mine)

    @property
    def fact(self) -> LegacyFact:
        """The fact."""
        return self.row

    def activate(self, *, reviewed: bool) -> None:
        """Make the fact active, from any state."""
        if self.fact.state != State.ACTIVE:
            self.fact.active_since = self.now
        set_columns(self.fact, active(self.now if reviewed else self.fact.reviewed_at))

    def leave(self, state: str, *, reason: str | None = None) -> None:
        """Move the fact to a state other than active, and make it private."""
        fact = self.fact
        said = fact.state_reason if reason is None else reason
        set_columns(fact, archived_columns(state, self.now, said) if state in GONE else present_columns(state, said))
        fact.active_since = None
        self.unshare()
        if state == State.QUARANTINED:
            fact.quarantined_at = fact.quarantined_at or self.now
            fact.state_reason = fact.state_reason or HELD_BACK_BEFORE
        elif state not in GONE:
            fact.quarantined_at = None

    def hold_back(self, reason: str) -> None:
        """Quarantine the fact until its author rewords it or staff release it."""
        self.leave(State.QUARANTINED, reason=reason)
        self.fact.reviewed_at = None
        self.log("QUARANTINE")

    def share(self) -> None:
        """Share the fact with the other members. Sharing counts as a review."""
        self.fact.visibility = Visibility.SHARED
        self.fact.shared_since = self.now
        self.fact.reviewed_at = self.fact.reviewed_at or self.now

    def unshare(self) -> None:
        """Make the fact private."""
        self.fact.visibility = Visibility.PRIVATE
        self.fact.shared_since = None

    def compare_later(self) -> None:
        """Schedule the fact to be embedded, if it has no vector, and compared with its neighbours."""
        self.fact.index_not_before = self.now
        self.fact.index_attempts = 0
        enqueue("facts.index", self.fact.pk)

    def counts(self) -> FactCounts:
        """Return what the fact currently adds."""
        return FactCounts.of(self.fact)

    def update_counts(self, before: FactCounts) -> None:
        """Update the legacy's ledger to what the fact adds now."""
        update_legacy_ledger(self.write, self.fact, before, self.counts())


fact_write = partial(statement_write, FactWrite)
fact_under_lock = partial(statement_under_lock, FactWrite)


def active(reviewed_at: datetime | None) -> dict[str, Any]:
    """Return the columns of an active fact."""
    return present_columns(State.ACTIVE, reviewed_at=reviewed_at, hidden_at=None, quarantined_at=None)


def update_legacy_ledger(write: LedgerWrite, fact: LegacyFact, before: FactCounts, after: FactCounts) -> None:
    """Update the counts of the legacy's ledger, and log there what members see of the change."""
    write.count(
        fact.legacy_id,
        facts=after.active - before.active,
        fact_terms=after.terms * after.active - before.terms * before.active,
    )
    if before.shared and after.shared and before.version != after.version:
        event = "UPDATE"
    elif before.shared != after.shared:
        # The legacy's log shows other members that the fact is no longer shared, but not why.
        event = "SHARE" if after.shared else "UNSHARE"
    else:
        return
    log_for_members(write, fact.legacy_id, event, fact.pk, (before.version or None, after.version))


def insert(
    write: LedgerWrite,
    fact: LegacyFact,
    wording: Wording,
    *,
    reviewed: bool,
    proposed: bool = False,
    shared: bool = False,
    compare: bool = True,
    held_back: str = "",
    resembles: str = "",
) -> FactWrite:
    """Insert a fact with its first version: active, proposed, or quarantined for the reason ``held_back``.

    With the reason ``resembles`` it is proposed, even if it was to be shared.
    """
    change = FactWrite(write, fact)
    wording.put_on(fact)
    fact.tokens = count_tokens(fact.content)
    fact.extracted_at = fact.updated_at = change.now
    fact.index_not_before = None
    if held_back:
        fact.state, fact.state_reason, fact.quarantined_at = State.QUARANTINED, held_back, change.now
    elif proposed or resembles:
        fact.state, fact.state_reason = State.PROPOSED, resembles
    else:
        fact.active_since = change.now
        fact.reviewed_at = change.now if reviewed else None
    if shared and fact.state == State.ACTIVE:
        change.share()
    if compare:
        change.compare_later()
    fact.save(force_insert=True)
    change.add_version(change.log("ADD", conversation_id=fact.source_conversation_id))
    if held_back:
        change.log("QUARANTINE", conversation_id=fact.source_conversation_id)
    write.keep_undo_step(fact.user_id, "fact", fact.pk, {"created": True})
    change.update_counts(FactCounts())
    return change


def link(change: FactWrite, related: Iterable[tuple[FactNeighbour, str]]) -> int:
    """Link a fact to neighbours by kind, except for existing links in either direction. Returns how many are new."""
    fact_id = change.fact.pk
    wanted = {(neighbour.fact_id, kind): neighbour.similarity for neighbour, kind in related}
    if not wanted:
        return 0
    others = [other for other, _ in wanted]
    known = FactLink.objects.filter(Q(from_fact=fact_id, to_fact__in=others) | Q(to_fact=fact_id, from_fact__in=others))
    for from_fact, to_fact, kind in known.values_list("from_fact", "to_fact", "kind"):
        wanted.pop((to_fact if from_fact == fact_id else from_fact, kind), None)
    FactLink.objects.bulk_create(
        FactLink(from_fact_id=fact_id, to_fact_id=other, kind=kind, strength=similarity, created_at=change.now)
        for (other, kind), similarity in wanted.items()
    )
    for other, kind in wanted:
        change.log("LINK", kind=kind, to=str(other))
    return len(wanted)
