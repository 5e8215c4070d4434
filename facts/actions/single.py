"""One fact under its locks: what every change of a fact has in common.

The ledger of a legacy counts its active facts, and its revision moves with every shared one. Both follow from how the
fact stood before and after, so they are worked out here, once, and no action can forget them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from accounts.principals import Principal
from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import NotFound
from journal.queue import enqueue
from statements.wording import Wording

from ..models import FactLink, FactVersion, LegacyFact
from ..queries import Neighbour
from ..querysets import FactQuerySet

HELD_BACK_BEFORE = "It was held back before it was removed."

_FIELDS = [
    column.attname for column in LegacyFact._meta.concrete_fields if not column.generated and not column.primary_key
]


_UPKEEP = {"index_not_before", "index_attempts", "embedding", "embedding_model"}
"""What changes without anybody having changed the fact."""

NOT_KEPT = _UPKEEP | {
    "content", "search_text", "search_config", "search_length", "active_since", "shared_since", "updated_at",
    "deleted_at", "purge_at",
}  # fmt: skip
"""What undo works out again; the wording stands in its version."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a fact stands in its legacy."""

    terms: int = 0
    active: bool = False
    shared: bool = False
    version: int = 0

    @classmethod
    def of(cls, fact: LegacyFact) -> Standing:
        """How a fact stands now."""
        shared = fact.visibility == LegacyFact.Visibility.SHARED
        return cls(fact.search_length, fact.state == LegacyFact.State.ACTIVE, shared, fact.version)


@dataclass
class FactWrite:
    """A fact whose owner's and legacy's ledgers are locked. Set its columns, log what happens; leaving settles it.

    ``meta`` is added to everything that is logged. One of ``many`` leaves it to its caller to start the comparing.
    """

    write: LedgerWrite
    fact: LegacyFact
    many: bool = False
    now: datetime = field(default_factory=timezone.now)
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def row(self) -> LegacyFact:
        """The fact, for what is done to facts and memories alike."""
        return self.fact

    def log(
        self, event: str, *, old_version: int | None = None, conversation_id: UUID | None = None, **meta: Any
    ) -> int:
        """Take the owner's next revision for what happens to the fact, and return it."""
        return self.write.change(
            self.fact.user_id,
            event,
            "fact",
            self.fact.pk,
            old_version=old_version,
            new_version=self.fact.version,
            conversation_id=conversation_id,
            **self.meta,
            **meta,
        )

    def activate(self, *, reviewed: bool) -> None:
        """Make the fact active, from whatever state it was in."""
        fact = self.fact
        if fact.state != LegacyFact.State.ACTIVE:
            fact.state = LegacyFact.State.ACTIVE
            fact.active_since = self.now
        if reviewed:
            fact.reviewed_at = self.now
        fact.state_reason, fact.hidden_at, fact.quarantined_at = "", None, None
        fact.deleted_at, fact.purge_at = None, None

    def leave(self, state: str, *, reason: str | None = None) -> None:
        """Take the fact out of the active state, and out of the other members' sight with it."""
        fact = self.fact
        fact.state = state
        fact.active_since = None
        self.unshare()
        if reason is not None:
            fact.state_reason = reason
        gone = state in {LegacyFact.State.ARCHIVED, LegacyFact.State.REJECTED}
        if state == LegacyFact.State.QUARANTINED:
            fact.quarantined_at = fact.quarantined_at or self.now
            fact.state_reason = fact.state_reason or HELD_BACK_BEFORE
        elif not gone:
            fact.quarantined_at = None
        fact.deleted_at = self.now if gone else None
        fact.purge_at = self.now + timedelta(days=settings.ARCHIVE_DAYS) if gone else None

    def hold_back(self, reason: str) -> None:
        """Keep the fact out of every prompt until its author has reworded it or staff have released it."""
        self.leave(LegacyFact.State.QUARANTINED, reason=reason)
        self.fact.reviewed_at = None
        self.log("QUARANTINE")

    def share(self) -> None:
        """Show the fact to the other members. Who shares it has reviewed it."""
        self.fact.visibility = LegacyFact.Visibility.SHARED
        self.fact.shared_since = self.now
        self.fact.reviewed_at = self.fact.reviewed_at or self.now

    def unshare(self) -> None:
        """Keep the fact to its author."""
        self.fact.visibility = LegacyFact.Visibility.PRIVATE
        self.fact.shared_since = None

    def add_version(self, rev: int) -> None:
        """Record the present wording, which came with a revision, as the version that the fact's number says."""
        before = FactVersion.objects.filter(fact=self.fact, number=self.fact.version - 1)
        before.update(recorded_to=self.now, recorded_to_rev=rev)
        FactVersion.objects.create(
            fact=self.fact,
            number=self.fact.version,
            content=self.fact.content,
            category=self.fact.category,
            written_by=self.fact.written_by,
            actor_kind=self.write.actor.kind,
            actor_id=self.write.actor.id,
            recorded_from=self.now,
            recorded_from_rev=rev,
        )

    def compare_later(self) -> None:
        """Have the fact embedded, if it lacks a vector, and compared with its neighbours in the background."""
        self.fact.index_not_before = self.now
        self.fact.index_attempts = 0
        if not self.many:
            enqueue("facts.index", self.fact.pk)

    def settle(self, before: Standing) -> None:
        """Bring the legacy's ledger in line with how the fact stands now."""
        tell_legacy(self.write, self.fact, before, Standing.of(self.fact))


def tell_legacy(write: LedgerWrite, fact: LegacyFact, before: Standing, after: Standing) -> None:
    """Bring the legacy's ledger in line with how a fact stood and stands; its members learn what they see of it."""
    write.count(
        fact.legacy_id,
        facts=after.active - before.active,
        fact_terms=after.terms * after.active - before.terms * before.active,
    )
    if before.shared and after.shared and before.version != after.version:
        event = "UPDATE"
    elif before.shared != after.shared:
        # Other members learn that the fact is out of sight, not why.
        event = "SHARE" if after.shared else "UNSHARE"
    else:
        return
    write.change(fact.legacy_id, event, "fact", fact.pk, old_version=before.version or None, new_version=after.version)


@contextmanager
def fact_write(principal: Principal, rows: FactQuerySet, fact_id: UUID) -> Iterator[FactWrite]:
    """Open the transaction of a change to one of ``rows``: lock, read, yield, then save what was changed.

    Raises NotFound when the fact is not among them.
    """
    owners = rows.filter(pk=fact_id).values_list("user_id", "legacy_id").first()
    if owners is None:
        raise NotFound("There is no such fact.")
    with ledger_write(principal.actor, *owners) as write, fact_under_lock(write, rows, fact_id) as change:
        yield change
        write.result("fact", fact_id)


@contextmanager
def fact_under_lock(write: LedgerWrite, rows: FactQuerySet, fact_id: UUID) -> Iterator[FactWrite]:
    """The same inside a transaction that holds the fact's ledgers already."""
    fact = rows.filter(pk=fact_id).defer("search").first()
    if fact is None:
        raise NotFound("There is no such fact.")
    with fact_changing(write, fact) as change:
        yield change


@contextmanager
def fact_changing(write: LedgerWrite, fact: LegacyFact, *, many: bool = False) -> Iterator[FactWrite]:
    """The same for a fact that was read inside such a transaction, on its own or as one of ``many``."""
    was, before = {name: getattr(fact, name) for name in _FIELDS}, Standing.of(fact)
    change = FactWrite(write, fact, many)
    yield change
    changed = [name for name in _FIELDS if getattr(fact, name) != was[name]]
    if set(changed) - _UPKEEP:
        kept = {name: was[name] for name in changed if name not in NOT_KEPT}
        write.undoable(fact.user_id, "fact", fact.pk, kept)
        fact.updated_at = change.now
        changed.append("updated_at")
    if changed:
        fact.save(update_fields=changed)
        change.settle(before)


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
) -> FactWrite:
    """Store a new fact with its first version: active, proposed, or quarantined with what it is held back for."""
    change = FactWrite(write, fact)
    wording.put_on(fact)
    fact.extracted_at = fact.updated_at = change.now
    fact.index_not_before = None
    if held_back:
        fact.state, fact.state_reason, fact.quarantined_at = LegacyFact.State.QUARANTINED, held_back, change.now
    elif proposed:
        fact.state = LegacyFact.State.PROPOSED
    else:
        fact.active_since = change.now
        fact.reviewed_at = change.now if reviewed else None
    if shared and not held_back:
        change.share()
    if compare:
        change.compare_later()
    fact.save(force_insert=True)
    change.add_version(change.log("ADD", conversation_id=fact.source_conversation_id))
    if held_back:
        change.log("QUARANTINE", conversation_id=fact.source_conversation_id)
    write.undoable(fact.user_id, "fact", fact.pk, {"created": True})
    change.settle(Standing())
    return change


def link(change: FactWrite, related: Iterable[tuple[Neighbour, str]]) -> int:
    """Link a fact to neighbours, each with its kind; what is linked so already, either way round, is left as it is."""
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
