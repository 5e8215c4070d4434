"""Querysets of memories, places and proposals, with ``visible_to``: who may read which rows."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models import F, Func, Min, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.querysets import own_rows
from conversations.querysets import QUOTES_WITHHELD
from journal.models import Ledger
from statements.models import ERASURE_WAITS
from statements.querysets import StatementQuerySet

if TYPE_CHECKING:
    from accounts.principals import Principal

    from .models import (  # noqa: F401 - named in the generic bases
        Disclosure,
        Memory,
        MemoryVersion,
        Place,
        Proposal,
        Relation,
    )

Versioned = TypeVar("Versioned", bound=models.QuerySet[Any])

BY_AGENT = ("agent_id", "source_conversation__agent_id")
"""Columns with the agent behind a memory: the one that added it, or that led the source conversation."""

_REFUSED = ("person", "withheld")
"""Reasons of archived memories that stand for a no by the person: for agents they are like rejected ones."""

PLACES_CATEGORY = "context"
"""The category whose readers see places, which have none themselves."""


def _version_at(rev: int) -> models.FilteredRelation:
    """Join the version that was current at a revision."""
    begun = Q(versions__recorded_from_rev__lte=rev)
    not_ended = Q(versions__recorded_to_rev__isnull=True) | Q(versions__recorded_to_rev__gt=rev)
    return models.FilteredRelation("versions", condition=begun & not_ended)


def _changed_since(rows: Versioned, rev: int) -> Versioned:
    """Filter rows that became active or were reworded after a revision.

    Aliases: ``wording_now`` is the current version, ``wording`` the one at the revision.
    """
    now = models.FilteredRelation("versions", condition=Q(versions__recorded_to_rev__isnull=True))
    rows = rows.alias(wording_now=now, wording=_version_at(rev))
    return rows.filter(Q(active_rev__gt=rev) | Q(wording_now__recorded_from_rev__gt=rev))


class MemoryQuerySet(StatementQuerySet["Memory"]):
    """Memories of the person."""

    def visible_to(self, principal: Principal, *, archived: bool = True) -> MemoryQuerySet:
        """All for staff; for a person their own, in any state and of the principal's categories.

        An agent sees active and archived ones, and its own proposed or quarantined ones, but none that the person
        deleted, that left with withheld words or rests on them, or that waits for its erasure. An agent that may decide
        for the person sees all states. It sees none while the person has memory switched off. If the person reviews
        before use, it sees unreviewed ones only if it added them. Without ``archived``, an agent's archived ones may be
        missing: the statement is shorter without what these need.
        """
        if principal.kind == "staff":
            return self
        if principal.user_id is None:
            return self.none()
        own = self.filter(user_id=principal.user_id)
        if principal.categories is not None:
            own = own.filter(category__in=sorted(principal.categories))
        if principal.kind != "agent":
            return own
        if not principal.has_memory:
            return self.none()
        if principal.may_decide:
            return own
        states = Q(state="active") | Q(state__in=["proposed", "quarantined"], agent_id=principal.agent_id)
        if archived:
            states |= self._archived_and_shown(principal.user_id, own)
        seen = own.filter(states)
        if principal.review == "before":
            added = Q(agent_id=principal.agent_id, agent_id__isnull=False)
            seen = seen.exclude(pk__in=self._unreviewed(principal.user_id).exclude(added))
        return seen

    def _archived_and_shown(self, user_id: UUID, own: MemoryQuerySet) -> Q:
        # In a subquery, since the index that searches use does not contain these columns.
        refused = self.model._default_manager.filter(
            Q(deleted_why__in=_REFUSED) | Q(state_reason=ERASURE_WAITS), user_id=user_id, state="archived"
        )
        return Q(state="archived") & ~Q(pk__in=refused.values("pk")) & ~Q(pk__in=self._on_withheld(own))

    def _on_withheld(self, own: MemoryQuerySet) -> models.QuerySet[Any, Any]:
        """The ids of archived memories whose current wording rests only on withheld words."""
        evidence = apps.get_model("memories", "MemoryEvidence").objects.filter(version__recorded_to__isnull=True)
        said = evidence.filter(version__memory__in=own.filter(state="archived").values("pk"))
        borne_out = said.exclude(QUOTES_WITHHELD).values("version__memory")
        return said.filter(QUOTES_WITHHELD).exclude(version__memory__in=borne_out).values("version__memory")

    def mergeable(self, principal: Principal, *, pinned: bool = False) -> MemoryQuerySet:
        """Memories in use that may be merged with others.

        Excluded: fields, procedures, insights; those that expire, end or are not valid yet; those with a client's id,
        metadata or verbatim text, unless an import brought them, as no client relies on those; pinned ones, unless
        ``pinned``.
        """
        no_client_s = Q(external_id="", metadata={}, verbatim=False)
        rows = self.in_use(principal).filter(no_client_s | Q(brought_by__isnull=False), field="")
        rows = rows.filter(expires_at__isnull=True, valid_to__isnull=True)
        rows = rows.exclude(kind__in=["procedural", "insight"]).exclude(valid_from__gt=timezone.now())
        return rows if pinned else rows.filter(pinned=False)

    def by_agent(self, agent_id: UUID) -> MemoryQuerySet:
        """Those with this agent in one of the columns ``BY_AGENT``."""
        return self.filter(Q(*((column, agent_id) for column in BY_AGENT), _connector=Q.OR))

    def brought_by(self, import_id: UUID) -> MemoryQuerySet:
        """Those that an import created, or whose evidence is a message of it."""
        evidence = apps.get_model("memories", "MemoryEvidence").objects
        said = evidence.filter(message__conversation__brought_by=import_id)
        return self.filter(Q(pk__in=said.values("version__memory")) | Q(brought_by=import_id))

    def resting_on(self, ids: Collection[str]) -> MemoryQuerySet:
        """Present insights that were derived from at least one of these memories."""
        made = self._made().filter(to_memory__in=ids)
        return self.filter(kind="insight", pk__in=made.values("from_memory")).present()

    def unfounded(self) -> MemoryQuerySet:
        """Present insights with a source memory that is not active any more (unless merged), or without any source."""
        of_each = self._made().filter(from_memory=models.OuterRef("pk"))
        gone = of_each.exclude(to_memory__state="active").exclude(to_memory__deleted_why="merged")
        evidence = apps.get_model("memories", "MemoryEvidence").objects.filter(version__memory=models.OuterRef("pk"))
        nothing = ~models.Exists(of_each.filter(to_memory__state="active")) & ~models.Exists(evidence)
        return self.filter(models.Exists(gone) | nothing, kind="insight").present()

    @staticmethod
    def _made() -> RelationQuerySet:
        relations: RelationQuerySet = apps.get_model("memories", "Relation").objects.filter(type="derived_from")
        return relations

    def active(self) -> MemoryQuerySet:
        """Those in the state active."""
        return self.filter(state="active")

    def as_of(self, rev: int) -> MemoryQuerySet:
        """Active ones that were already active at a revision; the alias ``wording`` is their version at it.

        Annotates ``worded_at``: when that version was said, or recorded if no message says it.
        """
        since = self.filter(state="active", active_rev__lte=rev)
        worded_at = Coalesce("wording__said_at", "wording__recorded_from")
        return since.alias(wording=_version_at(rev)).filter(wording__isnull=False).annotate(worded_at=worded_at)

    def as_worded_now(self, rev: int, user_id: UUID) -> MemoryQuerySet:
        """The person's memories that are active since a revision or longer, with their current wording.

        Annotates ``worded_at`` (when it was said, or recorded) and ``owner_rev`` (the person's current revision). Reads
        the version only of reworded memories.
        """
        versions = apps.get_model("memories", "MemoryVersion").objects.filter(memory=models.OuterRef("pk"))
        current = versions.filter(recorded_to__isnull=True)
        recorded = models.Case(
            models.When(version=1, then=F("created_at")), default=models.Subquery(current.values("recorded_from"))
        )
        worded_at = Coalesce("said_at", recorded)
        rev_now = models.Subquery(Ledger.objects.filter(pk=user_id).values("rev"))
        return self.filter(state="active", active_rev__lte=rev).annotate(worded_at=worded_at, owner_rev=rev_now)

    def changed_since(self, rev: int) -> MemoryQuerySet:
        """Active ones that became active or were reworded after a revision; for the aliases see ``_changed_since``."""
        return _changed_since(self.filter(state="active"), rev)

    def expired(self, now: datetime) -> MemoryQuerySet:
        """Active ones whose ``expires_at`` has passed."""
        return self.active().filter(expires_at__lte=now)

    def unexpired(self, now: datetime) -> MemoryQuerySet:
        """Those whose ``expires_at`` has not passed; expired ones may not be archived yet."""
        return self.exclude(expires_at__lte=now)

    def in_state(self, state: str, now: datetime) -> MemoryQuerySet:
        """Those in a state. Expired ones that are not archived yet do not count as active."""
        rows = self.filter(state=state)
        return rows.unexpired(now) if state == "active" else rows

    def next_expiry(self, now: datetime) -> datetime | None:
        """The next ``expires_at`` of an active one; None without any."""
        return self.active().filter(expires_at__gt=now).aggregate(soonest=Min("expires_at"))["soonest"]

    def topics(self) -> list[str]:
        """The distinct topics, in alphabetical order."""
        each = Func("topics", function="unnest", output_field=models.CharField())
        return sorted(self.values_list(each, flat=True).distinct().order_by())


class MemoryVersionQuerySet(models.QuerySet["MemoryVersion"]):
    """Versions of memories."""

    def visible_to(self, principal: Principal) -> MemoryVersionQuerySet:
        """Versions of the memories that are visible."""
        memories = apps.get_model("memories", "Memory").objects.visible_to(principal).values("pk")
        return self if principal.kind == "staff" else own_rows(self, principal).filter(memory__in=memories)

    def told_to(self, principal: Principal) -> MemoryVersionQuerySet:
        """Of visible memories, the current versions, and earlier ones in the principal's categories that are unrefused.

        An earlier version may have had a category that the principal does not see.
        """
        seen = self
        if principal.categories is not None:
            seen = self.filter(Q(recorded_to__isnull=True) | Q(category__in=sorted(principal.categories)))
        return seen.unrefused(principal)

    def unrefused(self, principal: Principal) -> MemoryVersionQuerySet:
        """Of one person's versions, those that the principal may read although the person refused words since.

        An agent that may not decide for the person reads no earlier version whose evidence is withheld, or that says
        what the person refused (``are_refused``). Takes one statement if they never refused anything.
        """
        from statements.refused_wordings import are_refused, reads_all  # noqa: PLC0415 - it imports the models

        if principal.user_id is None or reads_all(principal):
            return self
        withheld = apps.get_model("memories", "MemoryEvidence").objects.filter(version=models.OuterRef("pk"))
        withheld = withheld.filter(QUOTES_WITHHELD)
        earlier = self.filter(recorded_to__isnull=False).annotate(cited=models.Exists(withheld))
        told = list(earlier.values_list("pk", "content", "cited"))
        refused = are_refused(principal.user_id, [content for _, content, _ in told])
        return self.exclude(pk__in=[pk for (pk, _, cited), no in zip(told, refused, strict=True) if cited or no])


class PlaceQuerySet(models.QuerySet["Place"]):
    """Places of the person."""

    def visible_to(self, principal: Principal) -> PlaceQuerySet:
        """All for staff; the person's own, for an agent present ones; none without the category they go with."""
        own = own_rows(self, principal)
        if principal.kind == "staff":
            return own
        if principal.categories is not None and PLACES_CATEGORY not in principal.categories:
            return self.none()
        if principal.kind != "agent":
            return own
        return own.present() if principal.has_memory else self.none()

    def present(self) -> PlaceQuerySet:
        """Those that were not removed."""
        return self.filter(deleted_at__isnull=True)

    def as_of(self, rev: int) -> PlaceQuerySet:
        """Present ones that have been so since a revision, or longer; ``wording`` is the version they had at it."""
        return self.filter(active_rev__lte=rev).alias(wording=_version_at(rev)).filter(wording__isnull=False)

    def changed_since(self, rev: int) -> PlaceQuerySet:
        """Those that were added, or changed, after a revision; ``wording`` is the version at it, if there was one."""
        return _changed_since(self, rev)

    def due_for_purge(self, now: datetime) -> PlaceQuerySet:
        """Removed ones whose time is over."""
        return self.filter(purge_at__lte=now)


_OF_WHAT_IS_GONE = Q(state="waiting", memory__state__in=["archived", "rejected"])
"""They say what the memory said, or nearly. The person still sees them, without its words, and may reject them."""


class ProposalQuerySet(models.QuerySet["Proposal"]):
    """Proposed changes that wait for the person's decision."""

    def visible_to(self, principal: Principal) -> ProposalQuerySet:
        """All for staff; for a person their own; for an agent those it made, unless they wait and their memory is gone.

        An agent that may decide for the person also sees those about memories and places visible to it. It sees none
        while the person has memory switched off.
        """
        own = own_rows(self, principal)
        if principal.kind != "agent":
            return own
        if not principal.has_memory:
            return self.none()
        made = Q(agent_id=principal.agent_id)
        if not principal.may_decide:
            return own.filter(made).exclude(_OF_WHAT_IS_GONE)
        memories = apps.get_model("memories", "Memory").objects.visible_to(principal)
        theirs = Q(memory__in=memories.values("pk"))
        if principal.categories is None or PLACES_CATEGORY in principal.categories:
            theirs |= Q(kind="place")
        return own.filter(made | theirs)

    def waiting(self) -> ProposalQuerySet:
        """Undecided ones."""
        return self.filter(state="waiting")

    def open(self, now: datetime) -> ProposalQuerySet:
        """Undecided ones that have not expired."""
        return self.waiting().filter(expires_at__gt=now)

    def to_forget(self, now: datetime) -> ProposalQuerySet:
        """Decided and expired ones whose ``values`` are not erased yet."""
        return self.filter(state__in=["approved", "rejected"], expires_at__lte=now).exclude(values={})


class RelationQuerySet(models.QuerySet["Relation"]):
    """Relations between memories."""

    def visible_to(self, principal: Principal) -> RelationQuerySet:
        """All for staff; for others those between two memories that are visible."""
        if principal.kind == "staff":
            return self
        memories = apps.get_model("memories", "Memory").objects.visible_to(principal).values("pk")
        return own_rows(self, principal).filter(from_memory__in=memories, to_memory__in=memories)

    def of(self, memory_id: str) -> RelationQuerySet:
        """Those from or to a memory."""
        return self.filter(Q(from_memory_id=memory_id) | Q(to_memory_id=memory_id))

    def with_memories(self) -> RelationQuerySet:
        """Join the memories at both ends, with the columns that are displayed."""
        shown = ("content", "category", "subject", "kind", "field", "state", "version", "updated_at")
        ends = ("from_memory", "to_memory")
        columns = [f"{end}__{column}" for end in ends for column in shown]
        return self.select_related(*ends).only("type", "strength", "created_at", *columns)


class DisclosureQuerySet(models.QuerySet["Disclosure"]):
    """Disclosures: which memories agents were shown."""

    def visible_to(self, principal: Principal) -> DisclosureQuerySet:
        """All for staff; the person's own for the person; none for agents, who would learn of each other."""
        return self.none() if principal.kind == "agent" else own_rows(self, principal)

    def of(self, memory_id: str) -> DisclosureQuerySet:
        """Those of a memory, latest first, with the agent."""
        return self.filter(memories__contains=[memory_id]).select_related("agent").order_by("-at", "-pk")


@cache
def statement(name: str) -> str:
    """The text of ``sql/<name>.sql``."""
    return (Path(__file__).parent / "sql" / f"{name}.sql").read_text(encoding="utf-8")
