"""Invitations: owners ask, whoever is asked answers. No membership begins in another way, but for who makes a legacy.

Asking looks nobody up and leaves nothing with whoever is meant, so no answer, and no time that one takes, tells which
names are somebody's. All that changes an invitation holds the ledger of its legacy.
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
from .legacies import Sent, invite, must_own, note_invitation, note_member

_DAY = timedelta(days=1)


def member_invite(principal: Principal, legacy_id: UUID, name: str = "", role: str = Member.Role.MEMBER) -> Sent:
    """Ask somebody to keep a legacy too: whom ``name`` means, as in X-Keepsake-User, or whoever uses the link first.

    It ends after ``INVITATION_DAYS``, and the one before in the same name now. Raises NotYoursToDecide (also for an
    agent that sees a part only), NotFound, NotAllowed (403) for a member who is no owner, Refused (400) for what can't
    be a name and an unknown role, TooMany (429).
    """
    user_id = policy.must_decide_for_all(principal)
    policy.check_member_role(role)
    names = policy.names_to_invite(principal, [name]) if name else [""]
    must_own(principal, legacy_id)  # Before the lock, so that a stranger takes nobody's; again under it.
    with ledger_write(principal.actor, user_id, legacy_id) as write:
        must_own(principal, legacy_id)
        (sent,) = invite(write, principal, legacy_id, names, role)
        write.result("invitation", sent.invitation.pk, status_code=202)
    return sent


def invitation_revoke(principal: Principal, legacy_id: UUID, invitation_id: UUID) -> None:
    """End an invitation that is outstanding. Owners may, whichever of them sent it.

    Raises NotYoursToDecide, NotFound, NotAllowed (403) for a member who is no owner.
    """
    user_id = policy.must_decide(principal)
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
    """The invitation that the person may answer: by its code as it was typed, or by the id of one in their name.

    Raises NotFound, whatever the reason.
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
    """Keep the legacy too, from now on. Accepting again while one keeps it changes nothing.

    Raises NotYoursToDecide, NotFound, Conflict (409 ``already_member``).
    """
    user_id = policy.must_decide_for_all(principal)
    legacy_id = invitation_find(principal, code).legacy_id
    with ledger_write(principal.actor, user_id, legacy_id) as write:
        invitation = invitation_find(principal, code)  # Again under the lock: somebody may have been faster.
        member = Member.objects.filter(legacy_id=legacy_id, user_id=user_id).first()
        if invitation.state == Invitation.State.ACCEPTED and member is None:
            raise _not_found()  # They have left since: it worked once.
        if member is None:
            _end(invitation, Invitation.State.ACCEPTED, user_id)
            member = Member.objects.create(legacy_id=legacy_id, user_id=user_id, role=invitation.role)
            note_member(write, "JOIN", member)
        elif invitation.state != Invitation.State.ACCEPTED:
            raise _already_member()
        write.result("legacy", legacy_id)
    return member


def invitation_decline(principal: Principal, code: str) -> None:
    """Don't keep it. The owners are not told, and whoever declined can accept later, while it lasts.

    Raises NotYoursToDecide, NotFound, Conflict (409 ``already_member``) once it was accepted.
    """
    _decline(principal, code, block=False)


def invitation_block(principal: Principal, code: str) -> None:
    """Decline, and see no invitation to that legacy again, nor one by whoever sent it. They are not told.

    Raises as ``invitation_decline`` does.
    """
    _decline(principal, code, block=True)


def invitation_unblock(principal: Principal, block_id: int) -> None:
    """Let invitations through again, those that are outstanding too. Raises NotYoursToDecide, NotFound."""
    user_id = policy.must_decide_for_all(principal)
    with ledger_write(principal.actor, user_id) as write:
        if not InvitationBlock.objects.visible_to(principal).filter(pk=block_id).delete()[0]:
            raise NotFound("There is no such block.")
        write.change(user_id, "DELETE", "invitation_block", block_id)


def invitations_tidy() -> int:
    """Delete invitations, with the names in them, a day after they ended. Returns how many."""
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
