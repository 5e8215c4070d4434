"""Actions on legacies and members. A change of members adds a revision to the member's and the legacy's ledger.

Memberships are created in ``invitations``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import regex as re
from django.conf import settings
from django.db.models import Count, Exists, Min, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import Conflict, Gated, NotAllowed, NotYoursToDecide, TooMany, must_find
from journal.models import Change

from .. import policy
from ..models import Invitation, InvitationBlock, Legacy, LegacyEnding, Member, User
from ..principals import Principal

_DAY = timedelta(days=1)


_MORE_THAN_A_NAME = re.compile(r"[,;:!?()\[\]—–|]|\.\s+\p{Ll}|(?:^|\s)\p{Ll}{4,}(?=\s|$).*\s\p{Ll}{4,}(?=\s|$)")


@dataclass(frozen=True, slots=True)
class SentInvitation:
    """A new invitation, and its code, which is not stored."""

    invitation: Invitation
    code: str


def legacy_create(principal: Principal, name: str, members: Sequence[str] = ()) -> tuple[Legacy, list[SentInvitation]]:
    """Create a legacy owned by the person, and invite the named people, each once.

    Inviting needs the scope admin; creating a legacy alone needs write. Raises Refused (400) for a bad name, too many
    members or an impossible person's name, Gated (422, also ``rejected_before``), NotAllowed (403), NotYoursToDecide
    (403), TooMany (429).
    """
    user_id = policy.must_write(principal)
    name = policy.clean_shown_name(name)
    _check_not_rejected(principal, name)
    policy.check_member_count(members)
    if members:
        policy.must_decide_for_all(principal)
    names = policy.names_to_invite(principal, members)
    with ledger_write(principal.actor, user_id) as write:
        legacy = Legacy.objects.create(name=name)
        write.add_ledger(legacy.pk)
        Member.objects.create(legacy=legacy, user_id=user_id, role=Member.Role.OWNER)
        for ledger_id in (user_id, legacy.pk):
            write.change(ledger_id, "ADD", "legacy", legacy.pk)
        sent = invite(write, principal, legacy.pk, names) if names else []
        write.result("legacy", legacy.pk, *(each.invitation.pk for each in sent), status_code=201)
    return legacy, sent


def legacy_rename(principal: Principal, legacy_id: UUID, name: str) -> Legacy:
    """Rename a legacy.

    Raises NotFound (404), NotAllowed (403) for a member who is not an owner, NotYoursToDecide (403) for an agent that
    does not see everything, Refused (400), Gated (422).
    """
    must_change(principal)
    name = policy.clean_shown_name(name)
    _check_not_rejected(principal, name)
    must_own(principal, legacy_id)  # Also before locking, so that a stranger can't lock the ledger.
    with ledger_write(principal.actor, legacy_id) as write:
        must_own(principal, legacy_id)
        legacy = Legacy.objects.get(pk=legacy_id)
        if legacy.name != name:
            legacy.name = name
            legacy.save(update_fields=["name"])
            write.change(legacy_id, "UPDATE", "legacy", legacy_id)
    return legacy


def _check_not_rejected(principal: Principal, name: str) -> None:
    """Raise Gated (422 ``rejected_before``) if the name repeats what the person rejected, unless they chose it.

    To an agent that does not see everything this would tell what it must not know: its names are just names, without a
    description, and refused (``gate``) otherwise.
    """
    if principal.speaks_as_person or policy.sees_everything(principal):
        policy.check_name_not_rejected(principal, name)
    elif _MORE_THAN_A_NAME.search(name):
        raise Gated(_("An agent that does not see everything gives a legacy a name only, without a description."))


def legacy_close(write: LedgerWrite, principal: Principal, legacy_id: UUID, now: datetime) -> list[Member]:
    """End all memberships and invitations of a legacy, in a transaction that holds the ledgers of all members.

    The caller handles the facts in the same transaction. Raises NotFound (404), NotAllowed (403), Conflict (409
    ``members_changed``) if somebody joined before the ledgers were locked.
    """
    user_id = policy.must_decide_for_all(principal)
    must_own(principal, legacy_id)
    members = list(Member.objects.filter(legacy_id=legacy_id).order_by("joined_at", "pk"))
    if {member.user_id for member in members} - write.ledgers.keys():
        raise Conflict(_("Somebody has joined meanwhile. Look again."), code="members_changed")
    LegacyEnding.objects.filter(legacy_id=legacy_id).delete()
    LegacyEnding.objects.create(legacy_id=legacy_id, ended_by_id=user_id, ended_at=now)
    write.change(legacy_id, "DELETE", "legacy", legacy_id)
    for member in members:
        note_member(write, "LEAVE", member, joined=member.joined_at.isoformat())
        write.change(member.user_id, "DELETE", "legacy", legacy_id)
    Member.objects.filter(legacy_id=legacy_id).delete()
    sent = Invitation.objects.filter(legacy_id=legacy_id, state__in=Invitation.OUTSTANDING)
    sent.update(state=Invitation.State.REVOKED, ended_at=now)
    return members


def legacy_reopen(write: LedgerWrite, ending: LegacyEnding, members: Sequence[Member]) -> None:
    """Restore a legacy with the members of ``members_before``, in a transaction like that of ``legacy_close``."""
    for member in members:
        note_member(write, "JOIN", member)
        write.change(member.user_id, "RESTORE", "legacy", ending.legacy_id)
    write.change(ending.legacy_id, "RESTORE", "legacy", ending.legacy_id)
    Member.objects.bulk_create(members)
    ending.delete()


def members_before(ending: LegacyEnding) -> list[Member]:
    """Return the members that a legacy had when it was ended and who are still active, as unsaved rows.

    People who have since blocked the legacy, or the person who ended it, are left out.
    """
    log = Change.objects.of_owner(ending.legacy_id)
    ended = log.filter(event="DELETE", object_type="legacy").last()
    rows = log.filter(event="LEAVE", object_type="member", rev__gt=ended.rev) if ended else log.none()
    left = {UUID(each.meta["user"]): each for each in rows if "joined" in each.meta}
    blocks = InvitationBlock.objects.filter(Q(legacy_id=ending.legacy_id) | Q(inviter_id=ending.ended_by_id))
    blocked = blocks.filter(user=OuterRef("pk"), created_at__gte=ending.ended_at)
    here = User.objects.filter(~Exists(blocked), pk__in=left, is_active=True).values_list("pk", flat=True)
    return [
        Member(
            pk=UUID(left[user_id].object_id),
            legacy_id=ending.legacy_id,
            user_id=user_id,
            role=left[user_id].meta["role"],
            joined_at=datetime.fromisoformat(left[user_id].meta["joined"]),
        )
        for user_id in here
    ]


def invite(
    write: LedgerWrite, principal: Principal, legacy_id: UUID, names: Sequence[str], role: str = Member.Role.MEMBER
) -> list[SentInvitation]:
    """Create invitations, in a transaction that holds the ledgers of the owner and of the legacy.

    ``names`` are normalised, or "" for an invitation by link. Raises TooMany (429) above ``INVITATIONS_PER_DAY``.
    """
    user_id, now = policy.must_act_for(principal), timezone.now()
    day = Invitation.objects.filter(inviter_id=user_id, created_at__gt=now - _DAY)
    lately = day.aggregate(count=Count("pk"), first_at=Min("created_at"))
    if lately["count"] + len(names) > settings.INVITATIONS_PER_DAY:
        detail = _("A person invites %(count)s people in a day at most.") % {"count": settings.INVITATIONS_PER_DAY}
        raise TooMany(detail, first_at=lately["first_at"], code="too_many_invitations")
    issuer = policy.issuer_of_names(principal)
    before = Invitation.objects.filter(legacy_id=legacy_id, issuer=issuer, name__in=[name for name in names if name])
    before.filter(state__in=Invitation.OUTSTANDING).update(state=Invitation.State.REVOKED, ended_at=now)
    ends = now + timedelta(days=settings.INVITATION_DAYS)
    common = {"legacy_id": legacy_id, "inviter_id": user_id, "role": role, "created_at": now, "expires_at": ends}
    sent = []
    for name in names:
        code = policy.new_code(policy.INVITATION_CHARACTERS)
        kept = policy.fingerprint(policy.INVITATION, policy.clean_code(code, policy.INVITATION_CHARACTERS))
        invitation = Invitation(**common, issuer=issuer if name else "", name=name, code_hmac=kept)
        sent.append(SentInvitation(invitation, code))
    Invitation.objects.bulk_create(each.invitation for each in sent)
    for each in sent:
        for ledger_id in (user_id, legacy_id):
            note_invitation(write, ledger_id, "INVITE", each.invitation)
    return sent


def member_set_role(principal: Principal, legacy_id: UUID, member_id: UUID, role: str) -> Member:
    """Make a member an owner, or an owner a member.

    Raises NotFound (404), NotAllowed (403) for a member who is not an owner, Conflict (409 ``last_owner``), Refused
    (400) for an unknown role, NotYoursToDecide (403).
    """
    policy.must_decide_for_all(principal)
    policy.check_member_role(role)
    known = must_find(Member.objects.visible_to(principal).filter(pk=member_id, legacy_id=legacy_id).first(), "member")
    with ledger_write(principal.actor, known.user_id, legacy_id) as write:
        must_own(principal, legacy_id)
        member = _current(known)
        if member.role != role:
            if member.role == Member.Role.OWNER:
                _must_not_be_last_owner(member)
            member.role = role
            member.save(update_fields=["role"])
            note_member(write, "ROLE", member)
            if role != Member.Role.OWNER:
                _end_invitations_of(member)
    return member


def member_detach(write: LedgerWrite, principal: Principal, member: Member) -> None:
    """End a membership, in a transaction that holds the ledgers of the member and of the legacy.

    The caller handles the member's facts in the same transaction. A member can end their own membership, an owner
    anybody's. Raises NotFound (404), NotAllowed (403), Conflict (409 ``last_owner``), NotYoursToDecide (403).
    """
    user_id = policy.must_decide_for_all(principal)
    if member.user_id != user_id:
        must_own(principal, member.legacy_id)
    current = _current(member)
    if current.role == Member.Role.OWNER:
        _must_not_be_last_owner(current)
    Member.objects.filter(pk=current.pk).delete()
    _end_invitations_of(current)
    note_member(write, "LEAVE", current)


def _current(member: Member) -> Member:
    """Read the member again under the locks. Raises NotFound (404) if they have left meanwhile."""
    return must_find(Member.objects.select_related("user").filter(pk=member.pk).first(), "member")


def must_change(principal: Principal) -> UUID:
    """Return the person's id. Raises NotAllowed (403) without the scope write, NotYoursToDecide (403) for an agent that
    sees a part only: a legacy is there for others, too.
    """
    user_id = policy.must_write(principal)
    if not policy.sees_everything(principal):
        raise NotYoursToDecide
    return user_id


def must_own(principal: Principal, legacy_id: UUID) -> None:
    """Raise NotFound (404) unless the person is a member, NotAllowed (403 ``not_owner``) unless they are an owner."""
    mine = must_find(
        Member.objects.filter(legacy_id=legacy_id, user_id=policy.must_act_for(principal)).first(), "legacy"
    )
    if mine.role != Member.Role.OWNER:
        raise NotAllowed(_("Only an owner of the legacy may do this."), code="not_owner")


def _must_not_be_last_owner(member: Member) -> None:
    others = Member.objects.filter(legacy_id=member.legacy_id, role=Member.Role.OWNER).exclude(pk=member.pk)
    if not others.exists():
        raise Conflict(_("The last owner makes somebody else an owner first."), code="last_owner")


def _end_invitations_of(member: Member) -> None:
    """Revoke the outstanding invitations of a member who is no longer an owner."""
    theirs = Invitation.objects.filter(legacy_id=member.legacy_id, inviter_id=member.user_id)
    theirs.filter(state__in=Invitation.OUTSTANDING).update(state=Invitation.State.REVOKED, ended_at=timezone.now())


def note_member(write: LedgerWrite, event: str, member: Member, **more: Any) -> None:
    """Log a change of a membership in the ledgers of the member and of the legacy."""
    for ledger_id in (member.user_id, member.legacy_id):
        write.change(
            ledger_id,
            event,
            "member",
            member.pk,
            user=str(member.user_id),
            legacy=str(member.legacy_id),
            role=member.role,
            **more,
        )


def note_invitation(write: LedgerWrite, ledger_id: UUID, event: str, invitation: Invitation) -> None:
    """Log a change of an invitation."""
    write.change(ledger_id, event, "invitation", invitation.pk, legacy=str(invitation.legacy_id), role=invitation.role)
