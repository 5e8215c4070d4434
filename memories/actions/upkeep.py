"""What happens to memories in the background: vectors that came later, expiry and the purge."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.principals import Principal
from accounts.queries import principal_for_job
from journal.actions import ledger_write, note_operation
from journal.exceptions import NotFound
from journal.records import Actor
from language.backends import get_embedder
from language.base import EmbedderUnavailable, Vectors

from ..models import Memory, MemoryVersion, Tombstone
from ..policy.bands import Band, Thresholds, nearest_band
from ..policy.writing import State, Why
from ..wording import Embedded
from .bulk import archive_many, narrow
from .moving import reject
from .purging import memories_erase
from .single import MemoryWrite, around, memory_changing
from .tombstones import tombstone_lay

log = structlog.get_logger(__name__)

INDEX_BATCH = 32
INDEX_LEASE_SECONDS = 120
EXPIRE_BATCH = 500
PURGE_BATCH = 500


def memories_index(memory_id: str | None = None) -> int:
    """Give memories that wait their vector, and do what it makes possible. Returns how many.

    What nobody reviewed and is similar to something that the person rejected is rejected; the others are linked to
    their neighbours, and marked for consolidation when they may say the same. Works on one memory, or on all that are
    due. A batch is taken by moving its time to try again forward, which is its lease, so what a killed worker held is
    taken up later. With the embedder away the memories wait longer each time, up to an hour.
    """
    indexed = 0
    while batch := _take(memory_id):
        embedder = get_embedder()
        try:
            vectors = embedder.embed_passages([memory.content for memory in batch])
        except EmbedderUnavailable as error:
            _put_back(batch, error)
            return indexed
        for memory, vector in zip(batch, vectors, strict=True):
            indexed += _index(memory, vector, embedder.name)
    return indexed


def memories_expire() -> int:
    """Archive the memories whose time to be remembered is over, with a TTL in the log for each. Returns how many.

    Each batch is a transaction of one person, in as many statements for many memories as for one.
    """
    expired = 0
    due = Memory.objects.expired(timezone.now())
    for user_id in list(due.order_by("user_id").values_list("user_id", flat=True).distinct()):
        while done := _expire_batch(user_id):
            expired += done
    return expired


def memories_purge() -> int:
    """Delete memories whose time in the archive is over, with a PURGE in the log for each. Returns how many.

    Their tombstones stay. Each batch is a transaction of one person.
    """
    purged = 0
    due = Memory.objects.due_for_purge(timezone.now())
    for user_id in list(due.order_by("user_id").values_list("user_id", flat=True).distinct()):
        while done := _purge_batch(user_id):
            purged += done
    return purged


def _expire_batch(user_id: UUID) -> int:
    try:
        with ledger_write(Actor("job", "memories.expire"), user_id) as write:
            due = Memory.objects.expired(timezone.now()).filter(user_id=user_id).order_by("expires_at", "pk")
            memories = list(narrow(due)[:EXPIRE_BATCH])
            archive_many(write, user_id, memories, Why.TTL, event="TTL")
    except NotFound:
        return 0  # The person was erased meanwhile, with all that is theirs.
    return len(memories)


def _purge_batch(user_id: UUID) -> int:
    try:
        with ledger_write(Actor("job", "memories.purge"), user_id) as write:
            due = Memory.objects.due_for_purge(timezone.now()).filter(user_id=user_id)
            memories = list(due.order_by("purge_at", "pk").values_list("pk", "version")[:PURGE_BATCH])
            memories_erase([memory_id for memory_id, _ in memories])
            for memory_id, version in memories:
                write.change(user_id, "PURGE", "memory", memory_id, old_version=version)
    except NotFound:
        return 0
    return len(memories)


def _take(memory_id: str | None) -> list[Memory]:
    """Take what is due for this worker; people who are kept out wait until they are let in again."""
    now = timezone.now()
    with transaction.atomic():
        due = Memory.objects.unindexed(now).filter(user__is_active=True)
        rows = due.filter(pk=memory_id) if memory_id else due
        ids = list(
            rows.select_for_update(skip_locked=True, of=("self",))
            .order_by("index_not_before")
            .values_list("pk", flat=True)[:INDEX_BATCH]
        )
        lease = now + timedelta(seconds=INDEX_LEASE_SECONDS)
        Memory.objects.filter(pk__in=ids).update(index_not_before=lease, index_attempts=F("index_attempts") + 1)
    return list(Memory.objects.filter(pk__in=ids).without_vectors())


def _put_back(batch: Sequence[Memory], error: EmbedderUnavailable) -> None:
    longest = min(3_600, 30 * 2 ** min(max(memory.index_attempts for memory in batch), 8))
    later = timezone.now() + timedelta(seconds=longest)
    for memory in batch:
        Memory.objects.filter(pk=memory.pk, index_not_before=memory.index_not_before).update(index_not_before=later)
    note_operation("worker", "index_memories", "error")
    log.warning("memories_not_indexed", count=len(batch), error=type(error).__name__)


def _index(seen: Memory, vector: Vectors, embedding_model: str) -> bool:
    """Write the vector of a memory, unless it was reworded or taken by somebody else since, and what follows."""
    try:
        principal = principal_for_job(seen.user_id)
        with ledger_write(principal.actor, seen.user_id) as write:
            memory = Memory.objects.filter(pk=seen.pk).defer("search", "search_text").first()
            if memory is None or memory.index_not_before != seen.index_not_before:
                return False
            with memory_changing(write, memory) as change:
                memory.embedding, memory.embedding_model = vector.tolist(), embedding_model
                memory.index_not_before, memory.index_attempts = None, 0
                versions = MemoryVersion.objects.filter(memory=memory, content=memory.content, embedding=None)
                versions.update(embedding=vector.tolist(), embedding_model=embedding_model)
                _apply_late_gates(change, principal, Embedded(memory.content, vector, embedding_model))
    except NotFound:
        return False  # The person was erased or kept out while the vector was made.
    return True


def _apply_late_gates(change: MemoryWrite, principal: Principal, text: Embedded) -> None:
    """Do with a vector that came late what is done at once otherwise."""
    memory = change.memory
    stones = Tombstone.objects.of(memory.user_id, None)
    if memory.deleted_at is not None:
        if stones.filter(object_id=memory.pk).exists():
            tombstone_lay(
                change.write,
                user_id=memory.user_id,
                legacy_id=None,
                object_id=memory.pk,
                text=memory.content,
                embedding=text.vector,
                embedding_model=text.embedding_model,
            )
        return
    unreviewed = memory.reviewed_at is None and memory.state in {State.ACTIVE, State.PROPOSED}
    if unreviewed and any(stones.matching(memory.user_id, None, [(text.content, text.vector)], text.embedding_model)):
        reject(change, Why.REJECTED, "Similar to something that was rejected before.")
        return
    near = around(memory, principal, text)
    band, _ = nearest_band(memory.content, near, Thresholds.of(memory.field))
    memory.needs_check = memory.needs_check or band > Band.NEW
    related = change.related()
    linked = change.link(neighbour for neighbour in near if neighbour.memory_id not in related)
    if linked:
        change.log("LINK", to=linked)
