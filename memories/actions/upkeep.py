"""What happens to memories in the background: vectors that came later, expiry and the purge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Subquery
from django.utils import timezone

from accounts.queries import principal_for_job
from journal.actions import LedgerWrite, ledger_write, note_operation
from journal.exceptions import NotFound
from journal.records import Actor
from language.backends import get_embedder
from language.base import EmbedderUnavailable, Vectors

from ..models import Memory, MemoryVersion, Tombstone
from ..policy.writing import State, Why
from .bulk import archive_many, narrow
from .moving import reject
from .purging import memories_erase
from .relating import memories_relate
from .single import MemoryWrite, memory_changing

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
        by_id = {memory.pk: vector for memory, vector in zip(batch, vectors, strict=True)}
        for user_id in dict.fromkeys(memory.user_id for memory in batch):
            theirs = [memory for memory in batch if memory.user_id == user_id]
            indexed += _index(user_id, theirs, by_id, embedder.name)
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


def _index(user_id: UUID, seen: Sequence[Memory], vectors: Mapping[str, Vectors], embedding_model: str) -> int:
    """Write the vectors of memories of a person, and what follows; in as many statements for many as for one.

    One that was reworded or taken by somebody else since is left. Returns how many were not.
    """
    taken = {memory.pk: memory.index_not_before for memory in seen}
    try:
        principal = principal_for_job(user_id)
        with ledger_write(principal.actor, user_id) as write:
            rows = Memory.objects.filter(pk__in=taken).defer("search", "search_text").order_by("created_at", "pk")
            memories = [memory for memory in rows if memory.index_not_before == taken[memory.pk]]
            _store(memories, vectors, embedding_model)
            _apply_late_gates(write, user_id, memories, embedding_model)
    except NotFound:
        return 0  # The person was erased or kept out while the vectors were made.
    return len(memories)


def _store(memories: Sequence[Memory], vectors: Mapping[str, Vectors], embedding_model: str) -> None:
    """Give memories their vectors, and those of their versions that read so and have none."""
    for memory in memories:
        memory.embedding, memory.embedding_model = vectors[memory.pk].tolist(), embedding_model
        memory.index_not_before, memory.index_attempts = None, 0
    Memory.objects.bulk_update(memories, ["embedding", "embedding_model", "index_not_before", "index_attempts"])
    versions = MemoryVersion.objects.filter(memory__in=memories, content=F("memory__content"), embedding=None)
    theirs = Memory.objects.filter(pk=OuterRef("memory"))
    versions.update(embedding=Subquery(theirs.values("embedding")), embedding_model=embedding_model)


def _apply_late_gates(write: LedgerWrite, user_id: UUID, memories: Sequence[Memory], embedding_model: str) -> None:
    """Do with vectors that came late what is done at once otherwise."""
    gone = [memory.pk for memory in memories if memory.deleted_at is not None]
    buried = Memory.objects.filter(pk__in=gone, id=OuterRef("object_id"), fingerprint=OuterRef("fingerprint"))
    stones = Tombstone.objects.of(user_id, None).filter(Exists(buried))
    stones.update(embedding=Subquery(buried.values("embedding")), embedding_model=embedding_model)
    unreviewed = [
        memory for memory in memories if memory.reviewed_at is None and memory.state in {State.ACTIVE, State.PROPOSED}
    ]
    statements = [(memory.content, memory.embedding) for memory in unreviewed]
    against = Tombstone.objects.matching(user_id, None, statements, embedding_model)
    for memory, is_rejected in zip(unreviewed, against, strict=True):
        if is_rejected:
            with memory_changing(write, memory) as change:
                reject(change, Why.REJECTED, "Similar to something that was rejected before.")
    near = memories_relate(write, user_id, [memory.pk for memory in memories if memory.deleted_at is None])
    # From there on two statements may say the same, whatever they say.
    doubtful = [
        memory_id for memory_id, found in near.items() if found.similarity >= settings.MEMORY_FALLBACK_LOW_SIMILARITY
    ]
    Memory.objects.filter(pk__in=doubtful).update(needs_check=True)
    for memory in memories:
        if memory.pk in near and near[memory.pk].to:
            MemoryWrite(write, memory).log("LINK", to=near[memory.pk].to)
