"""Erasure of everything about a person, with the account, in batches of one transaction each.

The remaining rows are the remaining work, so a killed worker is resumed by the next one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from uuid import UUID

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import models, transaction
from django.db.models import Q

from accounts.models import Agent, AgentKey, ExternalIdentity, Grant, Legacy, Member, User
from accounts.policy import LOCAL_ISSUER, erased_names
from accounts.principals import Principal
from conversations.models import Conversation
from facts.actions import unshare_all
from facts.models import LegacyFact
from journal.actions import ledger_write
from journal.holdings import holdings
from journal.leases import Lease
from journal.models import Change, Erased, Erasure, JobRun, Ledger, OperationEvent
from language.brief_caches import empty_caches
from memories.cache import cache_erase
from statements.actions import purging

from ..reply.told import delete_events, latest_with_events
from ..takeout.recount import recount_facts
from .part_actions import erasure_end

BATCH = 1_000
_EVERY_REV = 2**63 - 1
_LAST = (User, ExternalIdentity, Ledger, Legacy, Member, Agent, AgentKey)
"""What goes in one transaction at the end, names with the account: these say whose the rest was.

A trigger takes the ledger.
"""


def erase_everything(lease: Lease, principal: Principal, erasure: Erasure) -> None:
    """Erase a person with their account. ``erasure.removed`` counts the deleted rows. Raises LeaseLost."""
    user_id, done = erasure.user_id, 0
    _keep_out(lease, principal, erasure)
    _end_sessions(user_id)
    cache_erase(user_id, _EVERY_REV)
    empty_caches()
    delete_events(latest_with_events(user_id))
    lease.renew(0, sum(each.of_person(user_id).count() for each in holdings()))
    for holding in reversed(holdings()):
        if holding.model in _LAST:
            continue
        while ids := _some(lease, holding.of_person(user_id)):
            _delete(lease, erasure, holding.model, ids)
            done += len(ids)
            lease.report(done)
    _close(lease, principal, erasure)


def _some(lease: Lease, rows: models.QuerySet[models.Model]) -> list[object]:
    """Return the ids of a batch, without the erasure's own job."""
    if rows.model is JobRun:
        rows = rows.exclude(pk=lease.job.pk)
    return list(rows.values_list("pk", flat=True)[:BATCH])


def _delete(lease: Lease, erasure: Erasure, model: type[models.Model], ids: list[object]) -> None:
    with transaction.atomic(), purging():
        lease.lock()
        _, deleted = model._base_manager.filter(pk__in=ids).delete()
        Erasure.objects.filter(pk=erasure.pk).update(removed=_added(erasure, deleted))


def _added(erasure: Erasure, deleted: Mapping[str, int]) -> dict[str, int]:
    """Add the rows deleted in this transaction to the receipt's counts."""
    removed = Counter({label.rpartition(".")[2].lower(): count for label, count in deleted.items() if count})
    return dict(Counter(Erasure.objects.values_list("removed", flat=True).get(pk=erasure.pk)) + removed)


def _keep_out(lease: Lease, principal: Principal, erasure: Erasure) -> None:
    """Block all access, and store digests of the names used by agents, which then get 410 ``erased``."""
    user_id = erasure.user_id
    shared = LegacyFact.objects.filter(user_id=user_id, visibility=LegacyFact.Visibility.SHARED)
    with ledger_write(principal.actor, user_id, *shared.values_list("legacy_id", flat=True)) as write:
        lease.lock()
        unshare_all(write, shared)
        User.objects.filter(pk=user_id).update(is_active=False)
        known = list(ExternalIdentity.objects.filter(user_id=user_id).values_list("issuer", "external_id"))
        username = User.objects.values_list("username", flat=True).get(pk=user_id)
        known.append((LOCAL_ISSUER, username))
        grants = Grant.objects.filter(user_id=user_id).values_list("agent_id", "agent__issuer")
        names = {erased_names(agent, name)[0] for agent, issuer in grants for of, name in known if of == issuer}
        keys = AgentKey.objects.filter(agent__owner_id=user_id).values_list("public", flat=True)
        rows = [("person", name) for name in names] + [("key", public) for public in keys]
        Erased.objects.bulk_create(
            [Erased(erasure=erasure, kind=kind, object_id=value) for kind, value in rows], ignore_conflicts=True
        )


def _end_sessions(user_id: UUID) -> None:
    """Delete the person's sessions; each must be decoded to know its owner."""
    for session in Session.objects.iterator(chunk_size=BATCH):
        if session.get_decoded().get(SESSION_KEY) == str(user_id):
            session.delete()


def _close(lease: Lease, principal: Principal, erasure: Erasure) -> None:
    """End memberships, hand over legacies, and delete the account with its log: the last step."""
    user_id = erasure.user_id
    legacies = list(Legacy.objects.filter(memberships__user_id=user_id).values_list("pk", flat=True))
    with ledger_write(principal.actor, user_id, *legacies) as write, purging():
        lease.lock()
        mine = Member.objects.filter(user_id=user_id)
        others = set(
            Member.objects.filter(legacy__in=legacies).exclude(user_id=user_id).values_list("legacy", flat=True)
        )
        for member in mine.filter(legacy__in=others):
            write.change(member.legacy_id, "LEAVE", "member", member.pk)
            _hand_over(member.legacy_id, user_id)
        Change.objects.filter(Q(actor_id=str(user_id)) | Q(object_id=str(user_id))).exclude(ledger_id=user_id).update(
            actor_id="", meta={}
        )
        Change.objects.of_member(user_id).update(meta={})
        removed = Counter(OperationEvent.objects.filter(user_id=user_id).delete()[1])  # Noted since they were deleted.
        removed += Counter(mine.delete()[1])
        said = (LegacyFact, Conversation)
        empty = [
            pk
            for pk in legacies
            if pk not in others and not any(model._base_manager.filter(legacy=pk).exists() for model in said)
        ]
        for rows in (Legacy.objects.filter(pk__in=empty), Agent.objects.filter(owner_id=user_id)):
            removed += Counter(rows.delete()[1])
        for pk in (*empty, user_id):
            write.drop_ledger(pk)
        recount_facts(write, [pk for pk in legacies if pk not in empty])
        removed += Counter(User.objects.filter(pk=user_id).delete()[1])
        erasure_end(erasure, Counter({label.rpartition(".")[2].lower(): count for label, count in removed.items()}))


def _hand_over(legacy_id: UUID, user_id: UUID) -> None:
    """Make the oldest member the owner of legacies without one."""
    left = Member.objects.filter(legacy_id=legacy_id).exclude(user_id=user_id)
    if not left.filter(role=Member.Role.OWNER).exists():
        first = left.order_by("joined_at", "pk").values("pk")[:1]
        Member.objects.filter(pk__in=first).update(role=Member.Role.OWNER)
