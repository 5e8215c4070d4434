"""Invitations to legacies: owners send them, invited people answer. Only founders become members without one.

Sending looks up no user and writes nothing to the invited person, so neither the response nor its duration reveals
whether a name exists. Every change of an invitation holds the ledger lock of its legacy.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from journal.actions import ledger_write
from journal.exceptions import Conflict, NotFound

from .. import policy
from ..models import Invitation, InvitationBlock, Member
from ..principals import Principal
from .legacies import SentInvitation, invite, must_own, note_invitation, note_member

_DAY = timedelta(days=1)


def member_invite(
    principal: Principal, legacy_id: UUID, name: str = "", role: str = Member.Role.MEMBER
) -> SentInvitation:
    """Invite a person to a legacy: by ``name`` as in X-Keepsake-User, or without a name the first to use the link.

    It expires after ``INVITATION_DAYS``, and replaces an earlier one for the same name. Raises NotYoursToDecide (403;
    also for an agent that does not see everything), NotFound (404), NotAllowed (403) for a member who is not an owner,
    Refused (400) for an impossible name or unknown role, TooMany (429).
    """
    user_id = policy.must_decide_for_all(principal)
    policy.check_member_role(role)
    names = policy.names_to_invite(principal, [name]) if name else [""]
    must_own(principal, legacy_id)  # Also before locking, so that a stranger can't lock the ledger.
    with ledger_write(principal.actor, user_id, legacy_id) as write:
        must_own(principal, legacy_id)
        (sent,) = invite(write, principal, legacy_id, names, role)
        write.result("invitation", sent.invitation.pk, status_code=202)
    return sent


def invitation_revoke(principal: Principal, legacy_id: UUID, invitation_id: UUID) -> None:
    """Revoke an outstanding invitation. Any owner of the legacy may.

    Raises NotYoursToDecide (403), NotFound (404), NotAllowed (403) for a member who is not an owner.
    """
    user_id = policy.must_decide_for_all(principal)
    must_own(principal, legacy_id)
    with ledger_write(principal.actor, user_id, legacy_id) as write:
        must_own(principal, legacy_id)
        now = timezone.now()
        sent = Invitation.objects.visible_to(principal).outstanding(now).filter(legacy_id=legacy_id)
        invitation = sent.filter(pk=invitation_id).first()
        if invitation is None:
            raise _not_found()
        _end(invitation, Invitation.State.REVOKED)
        for ledger_id in (user_id, legacy_id):
            note_invitation(write, ledger_id, "DELETE", invitation)


def invitation_find(principal: Principal, code: str) -> Invitation:
    """Return an invitation that the person may answer, by the typed code, or by the id of one in their name.

    Raises NotFound (404) for every other case.
    """
    now, typed = timezone.now(), policy.clean_code(code, policy.INVITATION_CHARACTERS)
    if typed:
        known = policy.fingerprints(policy.INVITATION, typed)
        found = Invitation.objects.answerable_by(principal, now).filter(code_hmac__in=known)
    else:
        try:
            found = Invitation.objects.answerable_by(principal, now).filter(pk=UUID(code)).exclude(name="")
        except ValueError as error:
            raise _not_found() from error
    invitation = found.select_related("legacy", "inviter").first()
    if invitation is None:
        raise _not_found()
    return invitation


def invitation_accept(principal: Principal, code: str) -> Member:
    """Accept an invitation and return the membership. Accepting it again, while a member, changes nothing.

    Raises NotYoursToDecide (403), NotFound (404), Conflict (409 ``already_member``).
    """
    user_id = policy.must_decide_for_all(principal)
    legacy_id = invitation_find(principal, code).legacy_id
    with ledger_write(principal.actor, user_id, legacy_id) as write:
        invitation = invitation_find(principal, code)  # Again under the lock: somebody else may have used it.
        member = Member.objects.filter(legacy_id=legacy_id, user_id=user_id).first()
        if member is None:
            _end(invitation, Invitation.State.ACCEPTED, user_id)
            member = Member.objects.create(legacy_id=legacy_id, user_id=user_id, role=invitation.role)
            note_member(write, "JOIN", member)
        elif invitation.state != Invitation.State.ACCEPTED:
            raise _already_member()
        write.result("legacy", legacy_id)
    return member


def invitation_decline(principal: Principal, code: str) -> None:
    """Decline an invitation. The owners are not notified, and it can still be accepted until it expires.

    Raises NotYoursToDecide (403), NotFound (404), Conflict (409 ``already_member``) once it was accepted.
    """
    _decline(principal, code, block=False)


def invitation_block(principal: Principal, code: str) -> None:
    """Decline, and block further invitations to that legacy and by its inviter. They are not notified.

    Raises the same as ``invitation_decline``.
    """
    _decline(principal, code, block=True)


def invitation_unblock(principal: Principal, block_id: int) -> None:
    """Remove a block; outstanding invitations are visible again. Raises NotYoursToDecide (403), NotFound (404)."""
    user_id = policy.must_decide_for_all(principal)
    with ledger_write(principal.actor, user_id) as write:
        if not InvitationBlock.objects.visible_to(principal).filter(pk=block_id).delete()[0]:
            raise NotFound("There is no such block.")
        write.change(user_id, "DELETE", "invitation_block", block_id)


def invitations_tidy() -> int:
    """Delete invitations a day after they ended or expired, since they contain names. Returns how many."""
    long_ago = timezone.now() - _DAY
    deleted, _kinds = Invitation.objects.filter(expires_at__lt=long_ago).delete()
    ended, _kinds = Invitation.objects.exclude(state__in=Invitation.OUTSTANDING).filter(ended_at__lt=long_ago).delete()
    return deleted + ended


def _decline(principal: Principal, code: str, *, block: bool) -> None:
    user_id = policy.must_decide_for_all(principal)
    legacy_id = invitation_find(principal, code).legacy_id
    with ledger_write(principal.actor, user_id, legacy_id) as write:
        invitation = invitation_find(principal, code)
        if invitation.state == Invitation.State.ACCEPTED:
            raise _already_member()
        if invitation.state == Invitation.State.OPEN:
            _end(invitation, Invitation.State.DECLINED, user_id)
            if not block:
                note_invitation(write, user_id, "DECLINE", invitation)
        if block:
            InvitationBlock.objects.create(user_id=user_id, legacy_id=legacy_id, inviter_id=invitation.inviter_id)
            note_invitation(write, user_id, "BLOCK", invitation)


def _end(invitation: Invitation, state: str, answered_by: UUID | None = None) -> None:
    invitation.state, invitation.ended_at = state, timezone.now()
    invitation.answered_by_id = answered_by or invitation.answered_by_id
    invitation.save(update_fields=["state", "ended_at", "answered_by"])


def _not_found() -> NotFound:
    return NotFound("There is no such invitation, or not any more.")


def _already_member() -> Conflict:
    return Conflict(_("You keep this legacy already."), code="already_member")
