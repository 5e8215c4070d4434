"""Leaving a legacy, with what it means for the facts of who leaves."""

from __future__ import annotations

from uuid import UUID

from django.utils import timezone

from accounts.actions import member_detach
from accounts.models import Member
from accounts.policy import must_decide
from accounts.principals import Principal
from journal.actions import ledger_write
from journal.exceptions import NotFound

from ..models import LegacyFact


def member_leave(principal: Principal, legacy_id: UUID, member_id: UUID) -> None:
    """End a membership: a member leaves, or an owner removes somebody.

    The facts of who leaves stay theirs, to read, edit and delete; what they shared is private again at once, and they
    can't share it while they are no member. Raises NotYoursToDecide, NotFound, NotAllowed (403) for a member who is no
    owner and means somebody else, Conflict (409 ``last_owner``).
    """
    must_decide(principal)
    member = Member.objects.visible_to(principal).filter(pk=member_id, legacy_id=legacy_id).first()
    if member is None:
        raise NotFound("There is no such member.")
    with ledger_write(principal.actor, member.user_id, legacy_id) as write:
        member_detach(write, principal, member)
        shared = LegacyFact.objects.filter(
            user_id=member.user_id, legacy_id=legacy_id, visibility=LegacyFact.Visibility.SHARED
        )
        facts = list(shared.order_by("extracted_at", "id").values_list("pk", "version"))
        shared.update(visibility=LegacyFact.Visibility.PRIVATE, shared_since=None, updated_at=timezone.now())
        for fact_id, version in facts:
            for ledger_id in (member.user_id, legacy_id):
                write.change(ledger_id, "UNSHARE", "fact", fact_id, old_version=version, new_version=version)
