"""What the logs of a legacy and of its members tell of facts that one of them shares."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.utils import timezone

from accounts.models import Member
from accounts.queries import principal_for_job
from accounts.scope import acting_as
from journal.actions import LedgerWrite, ledger_write
from journal.models import ActorKind, Change, Ledger
from journal.queue import enqueue

from ..models import LegacyFact
from ..policy import Visibility
from ..querysets import FactQuerySet


def log_for_members(
    write: LedgerWrite, legacy_id: UUID, event: str, fact_id: object, versions: tuple[int | None, int | None]
) -> None:
    """Log in the legacy's ledger what members see of the change of a fact: SHARE, UPDATE or UNSHARE, not why.

    ``versions``: the number before and after it.

    ``members_tell`` logs it in theirs right after: locking them here would have everybody wait for everybody.
    """
    old, new = versions
    rev = write.change(legacy_id, event, "fact", fact_id, old_version=old, new_version=new)
    ledger = write.ledgers[legacy_id]
    if ledger.untold_from is None:
        ledger.untold_from = rev
        enqueue("facts.tell_members", legacy_id)


def unshare_all(write: LedgerWrite, facts: FactQuerySet, now: datetime | None = None) -> None:
    """Make those of the facts private that are shared. The ledgers of their authors and legacies are locked."""
    shared = facts.filter(visibility=Visibility.SHARED)
    rows = list(shared.order_by("extracted_at", "id").values_list("user_id", "legacy_id", "pk", "version"))
    shared.update(visibility=Visibility.PRIVATE, shared_since=None, updated_at=now or timezone.now())
    for user_id, legacy_id, fact_id, version in rows:
        write.change(user_id, "UNSHARE", "fact", fact_id, old_version=version, new_version=version)
        log_for_members(write, legacy_id, "UNSHARE", fact_id, (version, version))


def members_tell(legacy_id: UUID | None = None) -> None:
    """Log in the ledgers of a legacy's members what its own tells of other members' facts since it was told last.

    Without an id, starts a task for each legacy of which something was not told. The author is not named, and neither
    is their agent, if one did it. A member who left meanwhile fails it (NotFound): it runs again.
    """
    if legacy_id is None:
        for pk in Ledger.objects.untold().values_list("pk", flat=True):
            enqueue("facts.tell_members", pk)  # Each by itself: one that fails keeps no other from being told.
        return
    here = Member.objects.filter(legacy_id=legacy_id)
    members = list(here.values_list("user_id", flat=True))
    one_of_them = here.filter(user__is_active=True).values_list("user_id", flat=True).first()
    if one_of_them is None:
        Ledger.objects.filter(pk=legacy_id).update(untold_from=None)
        return
    with acting_as(principal_for_job(one_of_them)) as one, ledger_write(one.actor, legacy_id, *members) as write:
        since = write.ledgers[legacy_id].untold_from
        if since is None:
            return
        happened = list(Change.objects.of_owner(legacy_id).filter(rev__gte=since, object_type="fact"))
        facts = LegacyFact.objects.filter(pk__in={each.object_id for each in happened})
        authors = {str(pk): user_id for pk, user_id in facts.values_list("pk", "user_id")}
        for each in happened:
            for user_id in members:
                if user_id != authors.get(each.object_id):
                    write.change(
                        user_id,
                        each.event,
                        "fact",
                        each.object_id,
                        old_version=each.old_version,
                        new_version=each.new_version,
                        legacy=str(legacy_id),
                    )
        for told in write.changes:
            told.actor_kind, told.actor_id = ActorKind.PERSON, ""
        Ledger.objects.filter(pk=legacy_id).update(untold_from=None)
