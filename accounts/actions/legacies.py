"""Legacies: making and renaming them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from journal.actions import ledger_write

from .. import policy
from ..models import Legacy, Member
from ..principals import Principal
from .invitations import Sent, invite
from .members import must_own


def legacy_create(principal: Principal, name: str, members: Sequence[str] = ()) -> tuple[Legacy, list[Sent]]:
    """Make a legacy that the person owns, and invite those who are named, each once, to keep it too.

    Inviting is a decision of the person; making a legacy alone needs the scope write. Raises Refused (400) for a bad
    name, too many members or what can't be anybody's name, NotAllowed, NotYoursToDecide, TooMany (429).
    """
    user_id = policy.must_write(principal)
    name = policy.clean_name(name, 200)
    policy.check_member_count(members)
    if members:
        policy.must_decide_for_all(principal)
    names = policy.names_to_invite(principal, members)
    with ledger_write(principal.actor, user_id) as write:
        legacy = Legacy.objects.create(name=name)
        write.adopt(legacy.pk)
        Member.objects.create(legacy=legacy, user_id=user_id, role=Member.Role.OWNER)
        for ledger_id in (user_id, legacy.pk):
            write.change(ledger_id, "ADD", "legacy", legacy.pk)
        sent = invite(write, principal, legacy.pk, names) if names else []
        write.result("legacy", legacy.pk, *(each.invitation.pk for each in sent), status_code=201)
    return legacy, sent


def legacy_rename(principal: Principal, legacy_id: UUID, name: str) -> Legacy:
    """Give a legacy another name. Raises NotFound, NotAllowed (403) for a member who is no owner, Refused (400)."""
    policy.must_write(principal)
    name = policy.clean_name(name, 200)
    must_own(principal, legacy_id)  # Before the lock, so that a stranger takes nobody's; again under it.
    with ledger_write(principal.actor, legacy_id) as write:
        must_own(principal, legacy_id)
        legacy = Legacy.objects.get(pk=legacy_id)
        if legacy.name != name:
            legacy.name = name
            legacy.save(update_fields=["name"])
            write.change(legacy_id, "UPDATE", "legacy", legacy_id)
    return legacy
