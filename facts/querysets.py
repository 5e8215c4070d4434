"""Who may read which facts."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce

if TYPE_CHECKING:
    from accounts.principals import Principal

    from .models import LegacyFact  # noqa: F401 - named in the generic base


def _wording_at(as_of: datetime) -> models.Subquery:
    """The wording that the fact of the outer query had at a moment."""
    versions = apps.get_model("facts", "FactVersion").objects.filter(fact=models.OuterRef("pk"), created_at__lte=as_of)
    return models.Subquery(versions.order_by("-number").values("content")[:1])


class FactQuerySet(models.QuerySet["LegacyFact"]):
    """Facts of the person, and what other members of the legacy share."""

    def visible_to(self, principal: Principal) -> FactQuerySet:
        """All for staff. For a person: their own in every state, and what others share of legacies they are in.

        An agent sees facts only when its sources include them, and of other members' facts only active ones, like
        everybody. Leaving a legacy takes its shared facts out of sight at once.
        """
        if principal.kind == "staff":
            return self
        if principal.user_id is None or (principal.kind == "agent" and "facts" not in principal.sources):
            return self.none()
        member_of = Q(legacy__memberships__user_id=principal.user_id)
        shared = Q(visibility="shared", state="active")
        return self.filter(member_of & (Q(user_id=principal.user_id) | shared))

    def mine(self, principal: Principal) -> FactQuerySet:
        """The facts that the person may change: their own."""
        return self.visible_to(principal).filter(user_id=principal.user_id)

    def for_prompt(self, principal: Principal, legacy_id: UUID, *, as_of: datetime | None = None) -> FactQuerySet:
        """What a prompt about this legacy may hold: active facts, own ones first, then shared ones, oldest first.

        With ``as_of`` those that were in force for this person then and still are, each as ``block_content`` in the
        wording it had then; without it as they are now.
        """
        if principal.user_id is None:
            return self.none()
        rows = self.visible_to(principal).filter(legacy_id=legacy_id, state="active")
        wording: models.expressions.Combinable = F("content")
        if as_of is not None:
            in_force = Q(user_id=principal.user_id, active_since__lte=as_of) | Q(
                active_since__lte=as_of, shared_since__lte=as_of
            )
            rows = rows.filter(in_force)
            wording = Coalesce(_wording_at(as_of), wording)
        own_first = models.Case(models.When(user_id=principal.user_id, then=0), default=1)
        return rows.annotate(block_content=wording).order_by(own_first, "extracted_at", "id")

    def unindexed(self) -> FactQuerySet:
        """Facts that wait for their vector."""
        return self.filter(embedding__isnull=True)

    def due_for_purge(self, at: datetime) -> FactQuerySet:
        """Facts whose time in the archive is over."""
        return self.filter(purge_at__lte=at)
