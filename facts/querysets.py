"""Queries over facts, with their visibility rules."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models import Exists, F, Q
from django.db.models.functions import Coalesce

from accounts.models import Member
from accounts.policy import may_see_sources
from statements.querysets import StatementQuerySet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from accounts.principals import Principal

    from .models import LegacyFact  # noqa: F401 - named in the generic base


GONE = Q(state__in=["archived", "rejected"])
WAITING = Q(state__in=["proposed", "quarantined"]) | Q(state="active", reviewed_at__isnull=True)


def _version_at(as_of: datetime, column: str) -> models.Subquery:
    """Return a subquery of a column of the fact's version at a time."""
    versions = apps.get_model("facts", "FactVersion").objects.filter(
        fact=models.OuterRef("pk"), recorded_from__lte=as_of
    )
    return models.Subquery(versions.order_by("-number").values(column)[:1])


def _in_force(principal: Principal, moment: datetime) -> Q:
    """Filter facts that the person could use at a time: their own if active, others' if also shared."""
    return Q(active_since__lte=moment) & (Q(user_id=principal.user_id) | Q(shared_since__lte=moment))


class FactQuerySet(StatementQuerySet["LegacyFact"]):
    """Queries over facts."""

    def visible_to(self, principal: Principal) -> FactQuerySet:
        """Return all for staff; for a person their own in every state, and others' shared ones of their legacies.

        An agent needs ``facts`` in its sources. Without the scope admin, it does not see the person's facts that are
        proposed, quarantined, rejected or archived (only the person archives facts), or, if the person reviews
        ``before``, that are unreviewed. A former member keeps their own facts, and no longer sees others'.
        """
        if principal.kind == "staff":
            return self
        if principal.user_id is None or (principal.kind == "agent" and "facts" not in principal.sources):
            return self.none()
        legacies = Member.objects.filter(user_id=principal.user_id).values("legacy_id")
        shared = Q(visibility="shared", state="active", legacy_id__in=legacies)
        own = Q(user_id=principal.user_id)
        if principal.kind == "agent" and not principal.may_decide:
            own &= Q(state__in=["active", "hidden"])
            if principal.review == "before":
                own &= ~Q(pk__in=self._unreviewed(principal.user_id))
        return self.filter(own | shared)

    def mine(self, principal: Principal) -> FactQuerySet:
        """Return the person's own facts, which they may change."""
        return self.visible_to(principal).filter(user_id=principal.user_id) if principal.user_id else self.none()

    def to_undo(self, principal: Principal, written: Iterable[UUID]) -> FactQuerySet:
        """Return ``mine``, and of the ``written`` ones, which the principal added, also those that wait for review.

        An agent may take back what it added, although it does not see it while it waits.
        """
        own = self.mine(principal)
        if principal.user_id is None or (principal.kind == "agent" and "facts" not in principal.sources):
            return own
        waiting = self.filter(user_id=principal.user_id, state__in=["proposed", "active"], pk__in=list(written))
        return own | waiting

    def shown_to(self, principal: Principal) -> FactQuerySet:
        """Prefetch author, evidence and links, in a fixed number of queries.

        Evidence quotes a person's conversations, so it is loaded only for their own facts, and for an agent only if it
        may read turns. Links are loaded if the other fact is present and visible too.
        """
        evidence = apps.get_model("facts", "FactEvidence").objects.select_related("message").order_by("id")
        evidence = evidence.only("fact_id", "quote", "message__index", "message__conversation_id", "message__at")
        own = evidence.none()
        if principal.user_id and may_see_sources(principal):
            own = evidence.filter(fact__user_id=principal.user_id)
        others = self.model.objects.visible_to(principal).present()
        links = apps.get_model("facts", "FactLink").objects.order_by("-strength", "id")
        shown = [
            models.Prefetch("evidence", own),
            *(
                models.Prefetch(
                    links_of,
                    links.filter(**{f"{other}__in": others})
                    .select_related(other)
                    .only(
                        "from_fact_id",
                        "to_fact_id",
                        "kind",
                        "strength",
                        *(f"{other}__{name}" for name in ("content", "user_id", "version")),
                    ),
                )
                for links_of, other in (("links_from", "to_fact"), ("links_to", "from_fact"))
            ),
        ]
        columns = self.select_related("user").without_vectors()
        return columns.prefetch_related(*shown)

    def brought_by(self, import_id: UUID) -> FactQuerySet:
        """Return the facts with evidence in conversations of an import."""
        evidence = apps.get_model("facts", "FactEvidence").objects
        said = evidence.filter(message__conversation__brought_by=import_id)
        return self.filter(pk__in=said.values("fact"))

    def of_others(self, principal: Principal) -> FactQuerySet:
        """Return the facts that other members share with the person."""
        return self.visible_to(principal).exclude(user_id=principal.user_id) if principal.user_id else self.none()

    def for_prompt(
        self, principal: Principal, legacy_id: UUID | None, *, as_of: datetime | None = None
    ) -> FactQuerySet:
        """Return the facts for a prompt about a legacy: those in use, own ones first, then shared ones, oldest first.

        Without a legacy, those about any legacy. With ``as_of``, those that the person could use then and still can.
        Annotates ``block_content`` and ``block_category``: the wording and category at ``as_of``, or now.
        """
        if principal.user_id is None:
            return self.none()
        rows = self.visible_to(principal).in_use(principal)
        rows = rows if legacy_id is None else rows.filter(legacy_id=legacy_id)
        wording: models.expressions.Combinable = F("content")
        category: models.expressions.Combinable = F("category")
        if as_of is not None:
            rows = rows.filter(_in_force(principal, as_of))
            wording = Coalesce(_version_at(as_of, "content"), wording)
            category = Coalesce(_version_at(as_of, "category"), category)
        own_first = models.Case(models.When(user_id=principal.user_id, then=0), default=1)
        rows = rows.without_vectors().annotate(block_content=wording, block_category=category)
        return rows.order_by(own_first, "extracted_at", "id")

    def changed_since(self, principal: Principal, legacy_id: UUID, moment: datetime) -> FactQuerySet:
        """Return the facts for a prompt that are missing in a facts block of an earlier time, or reworded since.

        Annotates ``block_content`` and ``block_category`` of that time, and ``in_block``: whether the block has it.
        """
        reworded = Exists(
            apps.get_model("facts", "FactVersion").objects.filter(
                fact=models.OuterRef("pk"), recorded_to__isnull=True, recorded_from__gt=moment
            )
        )
        in_force = models.Case(models.When(_in_force(principal, moment), then=True), default=False)
        rows = self.for_prompt(principal, legacy_id).annotate(
            in_block=in_force,
            block_content=Coalesce(_version_at(moment, "content"), F("content")),
            block_category=Coalesce(_version_at(moment, "category"), F("category")),
        )
        return rows.filter(Q(in_block=False) | reworded)

    def comparable(self) -> FactQuerySet:
        """Return the present facts that a model may read: not quarantined."""
        return self.present().exclude(state="quarantined")

    def kept_from(self, principal: Principal) -> FactQuerySet:
        """Return the waiting facts that this agent has added, and that ``visible_to`` hides from it."""
        written = {"number": 1, "actor_kind": "agent", "actor_id": principal.actor_id}
        by_it = apps.get_model("facts", "FactVersion").objects.filter(fact=models.OuterRef("pk"), **written)
        waiting = self.filter(WAITING & Q(user_id=principal.user_id), version=1)
        return waiting.filter(models.Exists(by_it))
