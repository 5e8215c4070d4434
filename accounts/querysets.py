"""Who may see which agents, identities, legacies and members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from .models import Agent, AgentKey, ExternalIdentity, Legacy, Member  # noqa: F401 - named in the generic bases
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


class AgentKeyQuerySet(models.QuerySet["AgentKey"]):
    """Keys of agents that the person owns."""

    def visible_to(self, principal: Principal) -> AgentKeyQuerySet:
        """All for staff; otherwise, to whoever may decide for the person, those of the person's own agents."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None or not principal.may_decide:
            return self.none()
        return self.filter(agent__owner_id=principal.user_id)


class ExternalIdentityQuerySet(models.QuerySet["ExternalIdentity"]):
    """The names that other systems have for the person."""

    def visible_to(self, principal: Principal) -> ExternalIdentityQuerySet:
        """All for staff; to whoever may decide for the person, the person's; to a chat, the one it came in by."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None:
            return self.none()
        own = self.filter(user_id=principal.user_id)
        return own if principal.may_decide else own.filter(pk=principal.identity_id)


class LegacyQuerySet(models.QuerySet["Legacy"]):
    """Legacies whose member the principal acts for."""

    def visible_to(self, principal: Principal) -> LegacyQuerySet:
        """All for staff; otherwise those that the person is a member of."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None:
            return self.none()
        return self.filter(memberships__user_id=principal.user_id)

    def with_role(self, principal: Principal) -> LegacyQuerySet:
        """Each with ``role``: the person's own in it, or None."""
        mine = models.FilteredRelation("memberships", condition=models.Q(memberships__user_id=principal.user_id))
        return self.alias(mine=mine).annotate(role=models.F("mine__role"))


class MemberQuerySet(models.QuerySet["Member"]):
    """Members of the principal's legacies."""

    def visible_to(self, principal: Principal) -> MemberQuerySet:
        """All for staff; otherwise the members of legacies that the person is a member of."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None:
            return self.none()
        return self.filter(legacy__memberships__user_id=principal.user_id)
