"""Background upkeep of memories: late vectors, expiry, purge, and follow-ups of withheld words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

import structlog
from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, Subquery
from django.utils import timezone

from accounts.principals import Principal
from accounts.queries import principal_for_job
from accounts.scope import acting_as
from accounts.upkeep import work_in_batches
from conversations.actions import Cause
from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import NotFound
from journal.verdicts import compares_unlocked
from language.base import EmbedderUnavailable
from statements.actions import ChangedStatement, embed_waiting, lease_unindexed, postpone_indexing, read_beside
from statements.models import Suppression
from statements.wording import Embedded

from ..lifecycle import unused_memories
from ..models import MEMORY, Kind, Memory, MemoryEvidence, MemoryVersion, Relation
from ..policy.bands import AGREED
from ..policy.beside import texts_beside
from ..policy.fields import MAY_SET_A_FIELD
from ..policy.writing import State, Why, said_field
from ..querysets import MemoryQuerySet
from .bulk import archive_many
from .many import for_bulk, memories_relate
from .single import MemoryWrite, memory_changing, plans_drop
from .transitions import archive, await_decision

log = structlog.get_logger(__name__)

EXPIRE_BATCH = 500


def memories_index(memory_id: str | None = None) -> int:
    """Embed memories without a vector, and apply the checks that need it. Returns how many.

    Unreviewed ones that resemble a rejected memory, hold a sentence that does, or tell the person's name, pronouns,
    city or language become proposed. All are related to similar ones, and marked for consolidation if they may be
    duplicates. Works on one memory, or on all that are due. While the embedder is unavailable the retry delay grows.
    """
    indexed = 0
    while batch := lease_unindexed(MEMORY, memory_id):
        try:
            embed_waiting(batch)
        except EmbedderUnavailable as error:
            postpone_indexing(MEMORY, batch, error)
            return indexed
        for user_id in dict.fromkeys(memory.user_id for memory in batch):
            indexed += _index(user_id, [memory for memory in batch if memory.user_id == user_id])
    return indexed


def memories_expire() -> int:
    """Archive expired memories, each with a TTL in the log. Returns how many."""

    def expire(write: LedgerWrite, user_id: UUID) -> int:
        due = Memory.objects.expired(timezone.now()).filter(user_id=user_id)
        return _archive_batch(write, user_id, due.order_by("expires_at", "pk"))

    return work_in_batches("memories.expire", Memory.objects.expired(timezone.now()), expire)


def memories_forget_unused() -> int:
    """Archive unused memories (``lifecycle.unused_memories``), as expired. Returns how many."""

    def forget(write: LedgerWrite, user_id: UUID) -> int:
        due = unused_memories(user_id, timezone.now())
        return _archive_batch(write, user_id, due.order_by("updated_at", "pk"), unused=True)

    lately = timezone.now() - timedelta(days=1)
    rows = Memory.objects.active().filter(created_at__lt=lately)
    return work_in_batches("memories.forget_unused", rows, forget)


def _archive_batch(write: LedgerWrite, user_id: UUID, due: MemoryQuerySet, **meta: Any) -> int:
    """Archive the first of these memories as expired, in as many statements for many as for one."""
    memories = list(for_bulk(due)[:EXPIRE_BATCH])
    archive_many(write, user_id, memories, Why.TTL, event="TTL", meta_of=lambda memory: meta)
    return len(memories)


@compares_unlocked
def _index(user_id: UUID, seen: Sequence[Memory]) -> int:
    """Store vectors of a person's memories, and apply the late checks.

    The number of statements is constant, but for what stands beside them and says something.

    Memories that were reworded or indexed by another worker meanwhile are skipped. Returns the number stored.
    """
    taken = {memory.pk: memory for memory in seen}
    try:
        with acting_as(principal_for_job(user_id)) as principal:
            read = {memory.pk: _read(principal, memory, len(seen) - 1) for memory in seen if _is_judged(memory)}
            with ledger_write(principal.actor, user_id) as write:
                rows = Memory.objects.filter(pk__in=taken).defer("search", "search_text").order_by("created_at", "pk")
                memories = [memory for memory in rows if memory.index_not_before == taken[memory.pk].index_not_before]
                _store(memories, taken)
                _apply_late_gates(write, user_id, memories, read)
    except NotFound:
        return 0  # The person was erased or blocked while the vectors were computed.
    return len(memories)


def _is_judged(memory: Memory) -> bool:
    """Whether a memory with a late vector may have to wait for the person: nobody reviewed it."""
    return memory.reviewed_at is None and memory.state in {State.ACTIVE, State.PROPOSED}


class _Read(NamedTuple):
    """What a late vector tells of a memory: its text, and whether it gives a personal field unasked."""

    text: Embedded
    gives_field: bool


def _read(principal: Principal, memory: Memory, others: int) -> _Read:
    """Read a memory and what stands beside it as when it is added: passages of a document and steps one by one.

    ``others`` are indexed with it. Call it before the lock.
    """
    text = Embedded.of_row(memory)
    text = text.as_document(others) if memory.verbatim else text
    text = text.as_steps(others) if memory.kind == Kind.PROCEDURAL else text
    document = memory.content if memory.verbatim else ""
    said = texts_beside(memory.subject, memory.topics, memory.metadata, document)
    text = replace(text, beside=tuple(read_beside(memory.user_id, said, text.beside)))
    if memory.field or not memory.written_by:
        return _Read(text, False)
    kind = Kind.SEMANTIC if memory.agent_id else memory.kind  # An agent's episodes give fields, too.
    field = said_field(principal, memory.content, kind, memory.subject, text.statement)
    # A tone or a goal may need a second signal, which is looked for when it is said.
    return _Read(text, field not in {"", *AGREED})


def _store(memories: Sequence[Memory], embedded: Mapping[str, Memory]) -> None:
    """Store the vectors of memories, and of their versions with the same wording."""
    for memory in memories:
        made = embedded[memory.pk]
        memory.embedding, memory.embedding_model = made.embedding, made.embedding_model
        memory.index_not_before, memory.index_attempts = None, 0
    Memory.objects.bulk_update(memories, ["embedding", "embedding_model", "index_not_before", "index_attempts"])
    versions = MemoryVersion.objects.filter(memory__in=memories, content=F("memory__content"), embedding=None)
    versions.update(**_vector_of(Memory.objects.filter(pk=OuterRef("memory"))))


def _vector_of(rows: MemoryQuerySet) -> dict[str, Subquery]:
    return {name: Subquery(rows.values(name)) for name in ("embedding", "embedding_model")}


def _apply_late_gates(write: LedgerWrite, user_id: UUID, memories: Sequence[Memory], read: Mapping[str, _Read]) -> None:
    """Apply the checks that are otherwise made when a memory is added. ``read``: memories as read before the lock."""
    gone = [memory.pk for memory in memories if memory.deleted_at is not None]
    theirs = Memory.objects.filter(pk__in=gone, id=OuterRef("object_id"), fingerprint=OuterRef("fingerprint"))
    Suppression.objects.of(user_id).filter(Exists(theirs)).update(**_vector_of(theirs))
    unreviewed = [memory for memory in memories if memory.pk in read and _is_judged(memory)]
    texts = [read[memory.pk].text for memory in unreviewed]
    against = Suppression.objects.matches(user_id, texts)
    beside = iter(Suppression.objects.matches(user_id, [each for text in texts for each in text.beside]))
    for memory, text, stands in zip(unreviewed, texts, against, strict=True):
        stands.near |= any([*islice(beside, len(text.beside))])
        reason = stands.review_reason(text) or (MAY_SET_A_FIELD if read[memory.pk].gives_field else "")
        if reason:
            with memory_changing(write, memory) as change:
                await_decision(change, reason)
    near = memories_relate(write, user_id, [memory.pk for memory in memories if memory.deleted_at is None])
    # From this similarity on, two statements may be duplicates.
    doubtful = [
        memory_id for memory_id, found in near.items() if found.similarity >= settings.MEMORY_FALLBACK_LOW_SIMILARITY
    ]
    Memory.objects.filter(pk__in=doubtful).update(needs_check=True)
    for memory in memories:
        if memory.pk in near and near[memory.pk].to:
            MemoryWrite(write, memory).log("LINK", to=near[memory.pk].to)


# --- Derived memories --------------------------------------------------------------------------------------------

_IN_USE = [State.PROPOSED, State.ACTIVE]


def memories_follow_withholding(write: LedgerWrite, user_id: UUID, message_ids: Collection[UUID], cause: Cause) -> None:
    """Archive memories derived from withheld words: merged, episodic, insights, transitively.

    If an agent relayed the refusal, those that the person approved, worded or pinned only may be out of date.
    """
    own = Memory.objects.filter(user_id=user_id, state__in=_IN_USE).without_vectors()
    derived = Relation.objects.filter(from_memory=OuterRef("pk"), type=Relation.Type.DERIVED_FROM)
    if cause.relayed:
        own = own.filter(reviewed_at__isnull=True, pinned=False).exclude(written_by="")
    made = own.filter(Q(kind__in=[Kind.EPISODIC, Kind.INSIGHT]) | Exists(derived))
    behind = MemoryEvidence.objects.filter(message__in=message_ids).values("version__memory")
    gone = {cause.id} if cause.type == "memory" else set()
    rests = Q(pk__in=behind) if message_ids else Q(pk__in=[])
    while True:
        of_those = Relation.objects.filter(type=Relation.Type.DERIVED_FROM, to_memory__in=gone).values("from_memory")
        found = list(made.filter(rests | Q(pk__in=of_those)).exclude(pk__in=gone))
        if not found:
            plans_drop(gone)
            return
        for memory in found:
            with memory_changing(write, memory) as change:
                archive(change, Why.WITHHELD)
        gone |= {memory.pk for memory in found}


def memories_resting_on(user_id: UUID, changed: ChangedStatement) -> Iterable[str]:
    """Return memories derived from others, replacing them, or with the same evidence."""
    behind = MemoryEvidence.objects.filter(message__in=changed.message_ids).values("version__memory")
    rests = Q(pk__in=behind) if changed.message_ids else Q(pk__in=[])
    if changed.object_type == "memory":
        made = Relation.objects.filter(to_memory=changed.object_id).exclude(type=Relation.Type.RELATED_TO)
        rests |= Q(pk__in=made.values("from_memory"))
    return Memory.objects.filter(rests, user_id=user_id, state__in=_IN_USE).values_list("pk", flat=True)
