"""Who may see which agents, legacies and members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from .models import Agent, Legacy, Member  # noqa: F401 - named in the generic bases
    from .principals import Principal


class AgentQuerySet(models.QuerySet["Agent"]):
    """Agents a person owns, and services that act for them."""

    def visible_to(self, principal: Principal) -> AgentQuerySet:
        """All for staff; for a person their own and those that hold a grant of theirs; for an agent itself."""
        if principal.kind == "staff":
            return self
        if principal.kind == "agent" and not principal.may_decide:
            return self.filter(pk=principal.agent_id)
        if principal.user_id is None:
            return self.none()
        granted = models.Q(pk__in=self.model.objects.filter(grants__user_id=principal.user_id).values("pk"))
        return self.filter(models.Q(owner_id=principal.user_id) | granted)


class LegacyQuerySet(models.QuerySet["Legacy"]):
    """Legacies whose member the principal acts for."""

    def visible_to(self, principal: Principal) -> LegacyQuerySet:
        """All for staff; otherwise those that the person is a member of."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None:
            return self.none()
        return self.filter(memberships__user_id=principal.user_id)


class MemberQuerySet(models.QuerySet["Member"]):
    """Members of the principal's legacies."""

    def visible_to(self, principal: Principal) -> MemberQuerySet:
        """All for staff; otherwise the members of legacies that the person is a member of."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None:
            return self.none()
        return self.filter(legacy__memberships__user_id=principal.user_id)
