"""Who may see which agents, identities, legacies, members and invitations."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.db import models

from .policy import LOCAL_ISSUER

if TYPE_CHECKING:
    from .models import (  # noqa: F401 - named in the generic bases
        Agent,
        AgentKey,
        ExternalIdentity,
        Invitation,
        InvitationBlock,
        Legacy,
        LegacyEnding,
        LegacyPicture,
        Member,
    )
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

    def with_picture(self) -> LegacyQuerySet:
        """Each with ``pictured_at``: when it got its picture, or None."""
        return self.annotate(pictured_at=models.F("picture__added_at"))


class LegacyEndingQuerySet(models.QuerySet["LegacyEnding"]):
    """Legacies that were ended."""

    def visible_to(self, principal: Principal) -> LegacyEndingQuerySet:
        """All for staff; otherwise those that the person ended, to whoever decides for the person."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None or not principal.may_decide:
            return self.none()
        return self.filter(ended_by_id=principal.user_id)

    def undoable(self, now: datetime) -> LegacyEndingQuerySet:
        """Those that can be brought back still."""
        return self.filter(ended_at__gt=now - timedelta(days=settings.ARCHIVE_DAYS))

    def over(self, now: datetime) -> LegacyEndingQuerySet:
        """Those that can't."""
        return self.filter(ended_at__lte=now - timedelta(days=settings.ARCHIVE_DAYS))


class LegacyPictureQuerySet(models.QuerySet["LegacyPicture"]):
    """Pictures of the principal's legacies."""

    def visible_to(self, principal: Principal) -> LegacyPictureQuerySet:
        """All for staff; otherwise those of legacies that the person is a member of."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None:
            return self.none()
        return self.filter(legacy__memberships__user_id=principal.user_id)


class MemberQuerySet(models.QuerySet["Member"]):
    """Members of the principal's legacies."""

    def visible_to(self, principal: Principal) -> MemberQuerySet:
        """All for staff; otherwise the members of legacies that the person is a member of."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None:
            return self.none()
        return self.filter(legacy__memberships__user_id=principal.user_id)


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Invitations to keep a legacy: those that an owner has sent, and those that a person may answer."""

    def visible_to(self, principal: Principal) -> InvitationQuerySet:
        """All for staff; otherwise those to legacies that the person owns, to whoever decides for the person."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None or not principal.may_decide:
            return self.none()
        owned = apps.get_model("accounts", "Member").objects.filter(
            user_id=principal.user_id, role="owner", legacy_id=models.OuterRef("legacy_id")
        )
        return self.filter(models.Exists(owned))

    def outstanding(self, now: datetime) -> InvitationQuerySet:
        """Those that nobody has accepted or revoked and whose time is not over, as owners see them."""
        return self.filter(state__in=self.model.OUTSTANDING, expires_at__gt=now)

    def answerable_by(self, principal: Principal, now: datetime) -> InvitationQuerySet:
        """Those that the person may answer or has answered: in their name, or in nobody's for whoever has the code.

        None to a legacy or by an inviter that they blocked, none by somebody who is kept out. To whoever decides for
        the person.
        """
        if principal.user_id is None or not principal.may_decide:
            return self.none()
        state = self.model.State
        answered = models.Q(state__in=[state.ACCEPTED, state.DECLINED], answered_by_id=principal.user_id)
        addressed = _in_name_of(principal.user_id) | models.Q(name="")
        return self._for(principal.user_id, now, addressed).filter(models.Q(state=state.OPEN) | answered)

    def waiting_for(self, principal: Principal, now: datetime) -> InvitationQuerySet:
        """Those in the person's name that they have not answered, to legacies that they don't keep yet."""
        if principal.user_id is None or not principal.may_decide:
            return self.none()
        waiting = self._for(principal.user_id, now, _in_name_of(principal.user_id)).filter(state=self.model.State.OPEN)
        return waiting.exclude(legacy__memberships__user_id=principal.user_id)

    def _for(self, user_id: UUID, now: datetime, addressed: models.Q) -> InvitationQuerySet:
        blocks = apps.get_model("accounts", "InvitationBlock").objects.filter(
            models.Q(legacy_id=models.OuterRef("legacy_id")) | models.Q(inviter_id=models.OuterRef("inviter_id")),
            user_id=user_id,
        )
        return self.filter(addressed, ~models.Exists(blocks), inviter__is_active=True, expires_at__gt=now)


def _in_name_of(user_id: UUID) -> models.Q:
    """The condition for an invitation to name the person, by any name that they have; one query."""
    users, identities = (apps.get_model("accounts", name).objects for name in ("User", "ExternalIdentity"))
    local = users.filter(pk=user_id).values_list(models.Value(LOCAL_ISSUER), "username")
    names = local.union(identities.filter(user_id=user_id).values_list("issuer", "external_id"))
    return reduce(or_, (models.Q(issuer=issuer, name=name) for issuer, name in names), models.Q(pk__in=[]))


class InvitationBlockQuerySet(models.QuerySet["InvitationBlock"]):
    """By whom and about what a person is not asked."""

    def visible_to(self, principal: Principal) -> InvitationBlockQuerySet:
        """All for staff; otherwise the person's own, to whoever decides for the person."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None or not principal.may_decide:
            return self.none()
        return self.filter(user_id=principal.user_id)
