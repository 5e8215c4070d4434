"""Who may read what is remembered."""

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

from journal.models import Ledger
from statements.querysets import StatementQuerySet

if TYPE_CHECKING:
    from accounts.principals import Principal

    from .models import (  # noqa: F401 - named in the generic bases
        Disclosure,
        Memory,
        MemoryPlan,
        MemoryPlanItem,
        MemoryPlanSource,
        MemoryVersion,
        Place,
        Proposal,
        Relation,
    )

Versioned = TypeVar("Versioned", bound=models.QuerySet[Any])

BY_AGENT = ("agent_id", "source_conversation__agent_id")
"""An agent that a memory came by: it added it, or it was told what the memory was learned from."""

PLACES_CATEGORY = "context"
"""Places have no category of their own: an agent sees them with this one."""


def _version_at(rev: int) -> models.FilteredRelation:
    """The version that was the current one at a revision."""
    begun = Q(versions__recorded_from_rev__lte=rev)
    not_ended = Q(versions__recorded_to_rev__isnull=True) | Q(versions__recorded_to_rev__gt=rev)
    return models.FilteredRelation("versions", condition=begun & not_ended)


def _changed_since(rows: Versioned, rev: int) -> Versioned:
    """Those that became active after a revision, or have a later wording than at it.

    ``wording_now`` and ``wording`` are their versions now and at the revision.
    """
    now = models.FilteredRelation("versions", condition=Q(versions__recorded_to_rev__isnull=True))
    rows = rows.alias(wording_now=now, wording=_version_at(rev))
    return rows.filter(Q(active_rev__gt=rev) | Q(wording_now__recorded_from_rev__gt=rev))


class MemoryQuerySet(StatementQuerySet["Memory"]):
    """Memories of the person."""

    def visible_to(self, principal: Principal) -> MemoryQuerySet:
        """All for staff, the person's own in every state; only those of the principal's categories.

        An agent sees active and archived ones, and what it proposed itself while that waits, or all states if it may
        take the person's decisions; none while the person has memory switched off. Of what a person who reviews before
        has not reviewed, it sees what it added itself.
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
        waiting = Q(state__in=["proposed", "quarantined"], agent_id=principal.agent_id)
        seen = own.filter(Q(state__in=["active", "archived"]) | waiting)
        if principal.review == "before":
            added = Q(agent_id=principal.agent_id, agent_id__isnull=False)
            seen = seen.exclude(pk__in=self._unreviewed(principal.user_id).exclude(added))
        return seen

    def mergeable(self, principal: Principal, *, pinned: bool = False) -> MemoryQuerySet:
        """Memories that may be said together with others: those in use that nothing sets apart.

        Left alone are fields, procedures and insights, what ends by itself or holds only later, what a client
        has under an id, with metadata of its own or word for word, and, unless ``pinned``, what is pinned. What an
        import of memories brought has all of these from elsewhere, and no client that relies on them.
        """
        no_client_s = Q(external_id="", metadata={}, verbatim=False)
        rows = self.in_use(principal).filter(no_client_s | Q(brought_by__isnull=False), field="")
        rows = rows.filter(expires_at__isnull=True, valid_to__isnull=True)
        rows = rows.exclude(kind__in=["procedural", "insight"]).exclude(valid_from__gt=timezone.now())
        return rows if pinned else rows.filter(pinned=False)

    def by_agent(self, agent_id: UUID) -> MemoryQuerySet:
        """Those that came by an agent, as ``BY_AGENT`` says."""
        return self.filter(Q(*((column, agent_id) for column in BY_AGENT), _connector=Q.OR))

    def brought_by(self, import_id: UUID) -> MemoryQuerySet:
        """Those that an import brought, or that rest on words which it brought."""
        evidence = apps.get_model("memories", "MemoryEvidence").objects
        said = evidence.filter(message__conversation__brought_by=import_id)
        return self.filter(Q(pk__in=said.values("version__memory")) | Q(brought_by=import_id))

    def resting_on(self, ids: Collection[str]) -> MemoryQuerySet:
        """Insights, in use or waiting, that were made of at least one of these memories."""
        made = self._made().filter(to_memory__in=ids)
        return self.filter(kind="insight", pk__in=made.values("from_memory")).present()

    def unfounded(self) -> MemoryQuerySet:
        """Insights of which something that they rest on has gone, or nothing is left; merged ones stand in another."""
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
        """What is remembered now: neither waiting nor gone."""
        return self.filter(state="active")

    def as_of(self, rev: int) -> MemoryQuerySet:
        """Active ones that have been so since a revision, or longer; ``wording`` is the version they had at it.

        ``worded_at`` is when that was said, or recorded where no message says it.
        """
        since = self.filter(state="active", active_rev__lte=rev)
        worded_at = Coalesce("wording__said_at", "wording__recorded_from")
        return since.alias(wording=_version_at(rev)).filter(wording__isnull=False).annotate(worded_at=worded_at)

    def as_worded_now(self, rev: int, user_id: UUID) -> MemoryQuerySet:
        """Those of the person that have been active since a revision, or longer, with when they were said.

        ``owner_rev`` is the person's revision at this very moment. Only of what was reworded is a version looked up.
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
        """Active ones that became so, or were reworded, after a revision.

        ``wording_now`` is their current version, ``wording`` the one at the revision (none where there was none).
        """
        return _changed_since(self.filter(state="active"), rev)

    def expired(self, now: datetime) -> MemoryQuerySet:
        """Active ones that were to be remembered until now."""
        return self.active().filter(expires_at__lte=now)

    def unexpired(self, now: datetime) -> MemoryQuerySet:
        """Those whose time to be remembered is not over, whether or not the others were archived by now."""
        return self.exclude(expires_at__lte=now)

    def in_state(self, state: str, now: datetime) -> MemoryQuerySet:
        """Those in a state. Expired ones are not active, even if they are not archived yet."""
        rows = self.filter(state=state)
        return rows.unexpired(now) if state == "active" else rows

    def next_expiry(self, now: datetime) -> datetime | None:
        """When the next active one will have expired, None when none will."""
        return self.active().filter(expires_at__gt=now).aggregate(soonest=Min("expires_at"))["soonest"]

    def topics(self) -> list[str]:
        """What they are about, each topic once, in alphabetical order."""
        each = Func("topics", function="unnest", output_field=models.CharField())
        return sorted(self.values_list(each, flat=True).distinct().order_by())


class MemoryVersionQuerySet(models.QuerySet["MemoryVersion"]):
    """How memories of the person read earlier."""

    def visible_to(self, principal: Principal) -> MemoryVersionQuerySet:
        """Versions of the memories that are visible."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None:
            return self.none()
        memories = apps.get_model("memories", "Memory").objects.visible_to(principal)
        return self.filter(user_id=principal.user_id, memory__in=memories.values("pk"))

    def told_to(self, principal: Principal) -> MemoryVersionQuerySet:
        """Of a memory that is visible, its current version and those that were filed under the principal's categories.

        A memory may have been filed where the principal sees nothing, said something else, and only then come here.
        """
        if principal.categories is None:
            return self
        return self.filter(Q(recorded_to__isnull=True) | Q(category__in=sorted(principal.categories)))


class PlaceQuerySet(models.QuerySet["Place"]):
    """Places of the person."""

    def visible_to(self, principal: Principal) -> PlaceQuerySet:
        """All for staff; the person's own, for an agent present ones; none without the category they go with."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None:
            return self.none()
        if principal.categories is not None and PLACES_CATEGORY not in principal.categories:
            return self.none()
        own = self.filter(user_id=principal.user_id)
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


class ProposalQuerySet(models.QuerySet["Proposal"]):
    """Changes that wait for the person's word."""

    def visible_to(self, principal: Principal) -> ProposalQuerySet:
        """All for staff; the person's own; for an agent those it made, and those that it may decide about.

        Those are about memories and places that it sees; none while the person has memory switched off.
        """
        if principal.kind == "staff":
            return self
        if principal.user_id is None:
            return self.none()
        own = self.filter(user_id=principal.user_id)
        if principal.kind != "agent":
            return own
        if not principal.has_memory:
            return self.none()
        made = Q(agent_id=principal.agent_id)
        if not principal.may_decide:
            return own.filter(made)
        memories = apps.get_model("memories", "Memory").objects.visible_to(principal)
        theirs = Q(memory__in=memories.values("pk"))
        if principal.categories is None or PLACES_CATEGORY in principal.categories:
            theirs |= Q(kind="place")
        return own.filter(made | theirs)

    def waiting(self) -> ProposalQuerySet:
        """Those that nobody has decided about."""
        return self.filter(state="waiting")

    def open(self, now: datetime) -> ProposalQuerySet:
        """Those that can be decided about: they wait, and their days are not over."""
        return self.waiting().filter(expires_at__gt=now)

    def to_forget(self, now: datetime) -> ProposalQuerySet:
        """Those that were decided about, whose days are over, and that still hold what they would have changed."""
        return self.filter(state__in=["approved", "rejected"], expires_at__lte=now).exclude(values={})


class RelationQuerySet(models.QuerySet["Relation"]):
    """How memories of the person are related."""

    def visible_to(self, principal: Principal) -> RelationQuerySet:
        """All for staff; for others those between two memories that are visible."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None:
            return self.none()
        memories = apps.get_model("memories", "Memory").objects.visible_to(principal).values("pk")
        return self.filter(user_id=principal.user_id, from_memory__in=memories, to_memory__in=memories)

    def of(self, memory_id: str) -> RelationQuerySet:
        """Those of one memory, whichever way round."""
        return self.filter(Q(from_memory_id=memory_id) | Q(to_memory_id=memory_id))

    def with_memories(self) -> RelationQuerySet:
        """With what the memories at both ends say and how they are filed, in the same query."""
        shown = ("content", "category", "subject", "kind", "field", "state", "version", "updated_at")
        ends = ("from_memory", "to_memory")
        columns = [f"{end}__{column}" for end in ends for column in shown]
        return self.select_related(*ends).only("type", "strength", "created_at", *columns)


class DisclosureQuerySet(models.QuerySet["Disclosure"]):
    """Which memories agents were shown."""

    def visible_to(self, principal: Principal) -> DisclosureQuerySet:
        """All for staff; the person's own for the person; none for agents, who would learn of each other."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None or principal.kind == "agent":
            return self.none()
        return self.filter(user_id=principal.user_id)

    def of(self, memory_id: str) -> DisclosureQuerySet:
        """Those that held a memory, the latest first, with the agent that saw it."""
        return self.filter(memories__contains=[memory_id]).select_related("agent").order_by("-at", "-pk")


class PlanQuerySet(models.QuerySet["MemoryPlan"]):
    """Plans to say a person's memories in fewer."""

    def visible_to(self, principal: Principal) -> PlanQuerySet:
        """All for staff; the person's own; for an agent those that it made, as long as it sees all their categories."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None:
            return self.none()
        own = self.filter(user_id=principal.user_id)
        if principal.kind != "agent":
            return own
        if not (principal.has_memory and principal.may_decide):
            return self.none()
        made = own.filter(agent_id=principal.agent_id)
        if principal.categories is None:
            return made
        return made.filter(categories__contained_by=sorted(principal.categories))

    def open(self) -> PlanQuerySet:
        """Those that are being made or looked at."""
        return self.filter(state__in=["making", "preview"])

    def due(self, now: datetime) -> PlanQuerySet:
        """Open ones whose day is over."""
        return self.open().filter(expires_at__lte=now)


class PlanItemQuerySet(models.QuerySet["MemoryPlanItem"]):
    """What plans would make of memories."""

    def visible_to(self, principal: Principal) -> PlanItemQuerySet:
        """Those of the plans that are visible."""
        if principal.kind == "staff":
            return self
        plans = apps.get_model("memories", "MemoryPlan").objects.visible_to(principal)
        return self.filter(plan__in=plans.values("pk"))


class PlanSourceQuerySet(models.QuerySet["MemoryPlanSource"]):
    """Which memories plans are about."""

    def visible_to(self, principal: Principal) -> PlanSourceQuerySet:
        """Those of the plans that are visible."""
        if principal.kind == "staff":
            return self
        items = apps.get_model("memories", "MemoryPlanItem").objects.visible_to(principal)
        return self.filter(item__in=items.values("pk"))


@cache
def statement(name: str) -> str:
    """The text of ``sql/<name>.sql``."""
    return (Path(__file__).parent / "sql" / f"{name}.sql").read_text(encoding="utf-8")
