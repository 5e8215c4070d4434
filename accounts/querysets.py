"""Queries over agents, keys, identities, legacies, members and invitations, with their visibility rules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.db import models

from retrieval.prepared import Shaped, read

from .policy import LOCAL_ISSUER
from .principals import PLACEHOLDER_USER

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

Rows = TypeVar("Rows", bound=models.QuerySet[Any])


def own_rows(rows: Rows, principal: Principal, owner: str = "user_id", *, decides: bool = False) -> Rows:
    """Filter rows by the column ``owner``: all for staff, otherwise the person's own; none without a person.

    With ``decides`` also none for callers that may not decide for the person.
    """
    if principal.kind == "staff":
        return rows
    if principal.user_id is None or (decides and not principal.may_decide):
        return rows.none()
    return rows.filter(**{owner: principal.user_id})


class AgentQuerySet(models.QuerySet["Agent"]):
    """Queries over agents."""

    def visible_to(self, principal: Principal) -> AgentQuerySet:
        """Return all for staff; for a person their own and those with their grant; for an agent only itself."""
        if principal.kind == "staff":
            return self
        if principal.kind == "agent" and not principal.may_decide:
            return self.filter(pk=principal.agent_id)
        if principal.user_id is None:
            return self.none()
        granted = models.Q(pk__in=self.model.objects.filter(grants__user_id=principal.user_id).values("pk"))
        return self.filter(models.Q(owner_id=principal.user_id) | granted)


class AgentKeyQuerySet(models.QuerySet["AgentKey"]):
    """Queries over keys."""

    def visible_to(self, principal: Principal) -> AgentKeyQuerySet:
        """Return all for staff; with the scope admin, those of the person's own agents; otherwise none."""
        return own_rows(self, principal, "agent__owner_id", decides=True)


class ExternalIdentityQuerySet(models.QuerySet["ExternalIdentity"]):
    """Queries over external identities."""

    def visible_to(self, principal: Principal) -> ExternalIdentityQuerySet:
        """Return all for staff; with the scope admin, the person's; for a chat its own."""
        own = own_rows(self, principal)
        return own if principal.may_decide or principal.kind == "staff" else own.filter(pk=principal.identity_id)


class LegacyQuerySet(models.QuerySet["Legacy"]):
    """Queries over legacies."""

    def visible_to(self, principal: Principal) -> LegacyQuerySet:
        """Return all for staff; otherwise those that the person is a member of."""
        return own_rows(self, principal, "memberships__user_id")

    def with_role(self, principal: Principal) -> LegacyQuerySet:
        """Annotate ``role``: the person's role in the legacy, or None."""
        mine = models.FilteredRelation("memberships", condition=models.Q(memberships__user_id=principal.user_id))
        return self.alias(mine=mine).annotate(role=models.F("mine__role"))

    def with_picture(self) -> LegacyQuerySet:
        """Annotate ``pictured_at``: when its picture was added, or None."""
        return self.annotate(pictured_at=models.F("picture__added_at"))


class LegacyEndingQuerySet(models.QuerySet["LegacyEnding"]):
    """Queries over ended legacies."""

    def visible_to(self, principal: Principal) -> LegacyEndingQuerySet:
        """Return all for staff; with the scope admin, those that the person ended; otherwise none."""
        return own_rows(self, principal, "ended_by_id", decides=True)

    def undoable(self, now: datetime) -> LegacyEndingQuerySet:
        """Return those that can still be restored."""
        return self.filter(ended_at__gt=now - timedelta(days=settings.ARCHIVE_DAYS))

    def over(self, now: datetime) -> LegacyEndingQuerySet:
        """Return those that can't be restored any more."""
        return self.filter(ended_at__lte=now - timedelta(days=settings.ARCHIVE_DAYS))


class LegacyPictureQuerySet(models.QuerySet["LegacyPicture"]):
    """Queries over pictures."""

    def visible_to(self, principal: Principal) -> LegacyPictureQuerySet:
        """Return all for staff; otherwise those of legacies that the person is a member of."""
        return own_rows(self, principal, "legacy__memberships__user_id")


class MemberQuerySet(models.QuerySet["Member"]):
    """Queries over members."""

    def visible_to(self, principal: Principal) -> MemberQuerySet:
        """Return all for staff; otherwise the members of legacies that the person is a member of."""
        return own_rows(self, principal, "legacy__memberships__user_id")


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Queries over invitations, for owners of legacies and for invited people."""

    def visible_to(self, principal: Principal) -> InvitationQuerySet:
        """Return all for staff; with the scope admin, those to legacies that the person owns; otherwise none."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None or not principal.may_decide:
            return self.none()
        owned = apps.get_model("accounts", "Member").objects.filter(
            user_id=principal.user_id, role="owner", legacy_id=models.OuterRef("legacy_id")
        )
        return self.filter(models.Exists(owned))

    def outstanding(self, now: datetime) -> InvitationQuerySet:
        """Return those that owners see as outstanding: not accepted, revoked or expired."""
        return self.filter(state__in=self.model.OUTSTANDING, expires_at__gt=now)

    def answerable_by(self, principal: Principal, now: datetime) -> InvitationQuerySet:
        """Return those that the person may answer or has answered: in their name, or without a name (by code).

        Leaves out blocked legacies and inviters, inactive inviters, and what they accepted before they left: an
        invitation works only once. None without the scope admin.
        """
        if principal.user_id is None or not principal.may_decide:
            return self.none()
        state = self.model.State
        members = apps.get_model("accounts", "Member").objects.filter(legacy_id=models.OuterRef("legacy_id"))
        keeps = models.Q(models.Exists(members.filter(user_id=principal.user_id)), state=state.ACCEPTED)
        answered = (keeps | models.Q(state=state.DECLINED)) & models.Q(answered_by_id=principal.user_id)
        addressed = _addressed_to(names_of(principal.user_id)) | models.Q(name="")
        return self._for(principal.user_id, now, addressed).filter(models.Q(state=state.OPEN) | answered)

    def waiting_for(self, principal: Principal, now: datetime, names: Names | None = None) -> InvitationQuerySet:
        """Return unanswered ones in the person's name, to legacies that they are not a member of.

        ``names`` are all of the person's, where they are known.
        """
        if principal.user_id is None or not principal.may_decide:
            return self.none()
        addressed = _addressed_to(names_of(principal.user_id) if names is None else names)
        waiting = self._for(principal.user_id, now, addressed).filter(state=self.model.State.OPEN)
        return waiting.exclude(legacy__memberships__user_id=principal.user_id)

    def _for(self, user_id: UUID, now: datetime, addressed: models.Q) -> InvitationQuerySet:
        blocks = apps.get_model("accounts", "InvitationBlock").objects.filter(
            models.Q(legacy_id=models.OuterRef("legacy_id")) | models.Q(inviter_id=models.OuterRef("inviter_id")),
            user_id=user_id,
        )
        return self.filter(addressed, ~models.Exists(blocks), inviter__is_active=True, expires_at__gt=now)


Names = Sequence[tuple[str, str]]
"""What a person is called: by whom (an issuer), and how."""


def names_of(user_id: UUID) -> Names:
    """Return all names of a person. Runs one query."""
    users, identities = (apps.get_model("accounts", name).objects for name in ("User", "ExternalIdentity"))

    def build() -> models.QuerySet[Any, Any]:
        named = users.annotate(issuer=models.Value(LOCAL_ISSUER), external_id=models.F("username"))
        linked = identities.filter(user_id=PLACEHOLDER_USER).values_list("issuer", "external_id")
        return named.filter(pk=PLACEHOLDER_USER).values_list("issuer", "external_id").union(linked)

    found = read(Shaped("names of a person", build, {PLACEHOLDER_USER: user_id}), ("issuer", "external_id"))
    return [(issuer, name) for issuer, name in found]


def _addressed_to(names: Names) -> models.Q:
    """Return the filter of invitations addressed to any of the names."""
    return reduce(or_, (models.Q(issuer=issuer, name=name) for issuer, name in names), models.Q(pk__in=[]))


class InvitationBlockQuerySet(models.QuerySet["InvitationBlock"]):
    """Queries over blocks of invitations."""

    def visible_to(self, principal: Principal) -> InvitationBlockQuerySet:
        """Return all for staff; with the scope admin, the person's own; otherwise none."""
        return own_rows(self, principal, decides=True)
