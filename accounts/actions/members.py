"""Who keeps a legacy: roles, and the end of a membership. Each moves the member's revision and the legacy's.

How a membership begins stands in ``invitations``.
"""

from __future__ import annotations

from uuid import UUID

from django.utils import timezone

from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import Conflict, NotAllowed, NotFound

from .. import policy
from ..models import Invitation, Member
from ..principals import Principal


def member_set_role(principal: Principal, legacy_id: UUID, member_id: UUID, role: str) -> Member:
    """Make a member an owner, or an owner a member.

    Raises NotFound, NotAllowed (403) for a member who is no owner, Conflict (409, ``last_owner``), Refused (400) for
    an unknown role, NotYoursToDecide.
    """
    policy.must_decide(principal)
    policy.check_member_role(role)
    known = Member.objects.visible_to(principal).filter(pk=member_id, legacy_id=legacy_id).first()
    if known is None:
        raise NotFound("There is no such member.")
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
    """End a membership, inside a transaction that holds the ledgers of the member and of the legacy.

    This is the part that accounts knows of: what becomes of the member's facts is for the caller, in the same
    transaction. A member ends their own membership; an owner anybody's. Raises NotFound, NotAllowed (403), Conflict
    (409, ``last_owner``), NotYoursToDecide.
    """
    user_id = policy.must_decide(principal)
    if member.user_id != user_id:
        must_own(principal, member.legacy_id)
    current = _current(member)
    if current.role == Member.Role.OWNER:
        _must_not_be_last_owner(current)
    Member.objects.filter(pk=current.pk).delete()
    _end_invitations_of(current)
    note_member(write, "LEAVE", current)


def _current(member: Member) -> Member:
    """The member as they are now that the ledgers are locked. Raises NotFound when they have left meanwhile."""
    current = Member.objects.select_related("user").filter(pk=member.pk).first()
    if current is None:
        raise NotFound("There is no such member.")
    return current


def must_own(principal: Principal, legacy_id: UUID) -> None:
    """Raise NotFound for a legacy that the person does not keep, NotAllowed (403 ``not_owner``) unless they own it."""
    mine = Member.objects.filter(legacy_id=legacy_id, user_id=policy.must_act_for(principal)).first()
    if mine is None:
        raise NotFound("There is no such legacy.")
    if mine.role != Member.Role.OWNER:
        raise NotAllowed("Only an owner of the legacy may do this.", code="not_owner")


def _must_not_be_last_owner(member: Member) -> None:
    others = Member.objects.filter(legacy_id=member.legacy_id, role=Member.Role.OWNER).exclude(pk=member.pk)
    if not others.exists():
        raise Conflict("The last owner makes somebody else an owner first.", code="last_owner")


def _end_invitations_of(member: Member) -> None:
    """Who is an owner no more lets nobody in, themselves least of all."""
    theirs = Invitation.objects.filter(legacy_id=member.legacy_id, inviter_id=member.user_id)
    theirs.filter(state__in=Invitation.OUTSTANDING).update(state=Invitation.State.REVOKED, ended_at=timezone.now())


def note_member(write: LedgerWrite, event: str, member: Member) -> None:
    """Log what happened to a membership, for the member and for the legacy."""
    for ledger_id in (member.user_id, member.legacy_id):
        write.change(
            ledger_id,
            event,
            "member",
            member.pk,
            user=str(member.user_id),
            legacy=str(member.legacy_id),
            role=member.role,
        )
