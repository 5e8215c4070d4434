"""Many memories at once: one lock, and as many statements for a thousand as for one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils import timezone

from accounts import policy as accounts_policy
from accounts.principals import Principal
from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import Refused

from ..models import Memory, Proposal
from ..policy import writing
from ..policy.writing import State, Why
from ..querysets import MemoryQuerySet, statement
from ..records import BulkItem, BulkOutcome
from .proposing import propose_archives
from .single import author

BULK_LIMIT = 1_000


def memories_delete(principal: Principal, ids: Sequence[str]) -> list[BulkItem]:
    """Put up to ``BULK_LIMIT`` memories away in one transaction, and say of each id, in order, what became of it.

    Each goes as ``memory_archive`` would have it. Raises NotAllowed, Refused (400 ``too_many``).
    """
    user_id = accounts_policy.must_remember(principal)
    if len(ids) > BULK_LIMIT:
        raise Refused(f"Name at most {BULK_LIMIT} memories at once.", code="too_many")
    own_word = writing.speaks_as_person(principal)
    goes = {State.ACTIVE, State.PROPOSED} | ({State.QUARANTINED} if own_word else set())
    outcomes: dict[str, BulkOutcome] = {}
    with ledger_write(principal.actor, user_id) as write:
        going, asked = [], []
        for memory in narrow(Memory.objects.visible_to(principal).filter(pk__in=set(ids))):
            if memory.state not in goes:
                outcomes[memory.pk] = "skipped"
            elif memory.state == State.ACTIVE and writing.waits(principal, memory.field):
                outcomes[memory.pk] = "proposed"
                asked.append(memory)
            else:
                outcomes[memory.pk] = "archived"
                going.append(memory)
        archive_many(write, user_id, _as_named(going, ids), Why.PERSON if own_word else Why.AGENT)
        if asked:
            propose_archives(write, principal, _as_named(asked, ids), written_by=author(principal))
        write.result("memory", *(memory_id for memory_id in outcomes if outcomes[memory_id] != "skipped"))
    return [BulkItem(memory_id, outcomes.get(memory_id, "not_found")) for memory_id in ids]


def archive_many(
    write: LedgerWrite, user_id: UUID, memories: Sequence[Memory], why: str, *, event: str = "DELETE"
) -> None:
    """Archive memories of one person whose ledger is locked, each with a revision, in the order given."""
    if not memories:
        return
    now, ids = timezone.now(), [memory.pk for memory in memories]
    if why == Why.PERSON:
        with connection.cursor() as cursor:
            cursor.execute(statement("bury"), {"user": str(user_id), "ids": ids, "now": now})
    Memory.objects.filter(pk__in=ids).update(
        state=State.ARCHIVED,
        active_rev=None,
        deleted_at=now,
        deleted_why=why,
        purge_at=now + timedelta(days=settings.ARCHIVE_DAYS),
        updated_at=now,
    )
    ended = Proposal.State.REJECTED if why == Why.PERSON else Proposal.State.LAPSED
    if any(memory.state == State.PROPOSED for memory in memories):
        creates = Proposal.objects.waiting().filter(memory__in=ids, kind=Proposal.Kind.CREATE)
        creates.update(state=ended, decided_at=now)
    for memory in memories:
        was: dict[str, Any] = {} if memory.state == State.ACTIVE else {"was": memory.state}
        write.change(user_id, event, "memory", memory.pk, new_version=memory.version, why=why, **was)
    active = [memory for memory in memories if memory.state == State.ACTIVE]
    write.count(
        user_id,
        memories=-len(active),
        memory_terms=-sum(memory.search_length for memory in active),
        block_tokens=-sum(memory.tokens for memory in active if memory.in_block),
    )


def narrow(rows: MemoryQuerySet) -> MemoryQuerySet:
    """The columns that archiving needs."""
    return rows.only("id", "user_id", "state", "version", "field", "tokens", "in_block", "search_length")


def _as_named(memories: Sequence[Memory], ids: Sequence[str]) -> list[Memory]:
    """In the order in which the caller named them."""
    by_id = {memory.pk: memory for memory in memories}
    return [by_id[memory_id] for memory_id in dict.fromkeys(ids) if memory_id in by_id]
