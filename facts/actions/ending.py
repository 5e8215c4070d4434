"""Ending, restoring and purging legacies, with their members and shared facts."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.actions import legacy_close, legacy_reopen, members_before
from accounts.models import Legacy, LegacyEnding, Member
from accounts.policy import must_decide_for_all
from accounts.principals import Principal
from conversations.models import Conversation
from journal.actions import ledger_write
from journal.exceptions import NotFound

from ..models import LegacyFact
from ..policy import State, Visibility
from .telling import log_for_members, unshare_all


def legacy_end(principal: Principal, legacy_id: UUID) -> LegacyEnding:
    """End a legacy and all its memberships. Members keep their facts, and shared facts become private.

    ``legacy_restore`` reverts it within ``ARCHIVE_DAYS``. Raises NotYoursToDecide (403), NotFound (404), NotAllowed
    (403) for a member who is not an owner, Conflict (409 ``members_changed``).
    """
    user_id = must_decide_for_all(principal)
    roles = dict(Member.objects.filter(legacy_id=legacy_id).values_list("user_id", "role"))
    # A caller who may not end it locks only their own ledger, as needed to find a repeated request.
    held = [*roles, legacy_id] if roles.get(user_id) == Member.Role.OWNER else [user_id]
    now = timezone.now()
    with ledger_write(principal.actor, *held) as write:
        members = legacy_close(write, principal, legacy_id, now)
        theirs = LegacyFact.objects.filter(legacy_id=legacy_id, user__in=[member.user_id for member in members])
        unshare_all(write, theirs, now)
        write.result("legacy", legacy_id)
    return LegacyEnding.objects.get(pk=legacy_id)


def legacy_restore(principal: Principal, legacy_id: UUID) -> Legacy:
    """Restore a legacy that the person ended, with its members, their roles, and the shared facts.

    Members who have since blocked it or the person are left out, and facts changed since stay private. Raises
    NotYoursToDecide (403), NotFound (404; also after ``ARCHIVE_DAYS``).
    """
    user_id = must_decide_for_all(principal)
    endings = LegacyEnding.objects.visible_to(principal).undoable(timezone.now())
    known = endings.filter(pk=legacy_id).first()
    held = [*(member.user_id for member in members_before(known)), legacy_id] if known else [user_id]
    with ledger_write(principal.actor, *held) as write:
        ending = endings.filter(pk=legacy_id).first()
        if known is None or ending is None:
            raise NotFound("There is no such legacy.")
        members = members_before(ending)
        hidden = LegacyFact.objects.filter(legacy_id=legacy_id, user__in=[member.user_id for member in members])
        # The facts whose last change was the ending.
        hidden = hidden.filter(visibility=Visibility.PRIVATE, state=State.ACTIVE, updated_at=ending.ended_at)
        facts = list(hidden.order_by("extracted_at", "id").values_list("user_id", "pk", "version"))
        legacy_reopen(write, ending, members)
        now = timezone.now()
        hidden.update(visibility=Visibility.SHARED, shared_since=now, updated_at=now)
        for user_id, fact_id, version in facts:
            write.change(user_id, "SHARE", "fact", fact_id, old_version=version, new_version=version)
            log_for_members(write, legacy_id, "SHARE", fact_id, (version, version))
        write.result("legacy", legacy_id)
    return Legacy.objects.get(pk=legacy_id)


def legacies_purge() -> int:
    """Delete legacies without members, facts or conversations that can't be restored any more. Returns how many."""
    now = timezone.now()
    LegacyEnding.objects.over(now).delete()
    rows = Legacy.objects.filter(memberships__isnull=True, ending__isnull=True)
    for model in (LegacyFact, Conversation):
        rows = rows.exclude(Exists(model.objects.filter(legacy=OuterRef("pk"))))
    _, deleted = rows.delete()
    return deleted.get("accounts.Legacy", 0)
