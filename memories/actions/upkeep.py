"""Background upkeep of memories: late vectors, expiry, purge, and follow-ups of withheld words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, Subquery
from django.utils import timezone

from accounts.queries import principal_for_job
from accounts.scope import acting_as, acting_name
from accounts.upkeep import work_in_batches
from conversations.actions import Cause, HeardRefusal
from conversations.models import Withheld
from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import NotFound
from journal.verdicts import compares_unlocked
from language.base import EmbedderUnavailable
from language.reading.refusals import find_named, lemmas, restates
from statements.actions import PRESENT, ChangedStatement, embed_waiting, lease_unindexed, postpone_indexing
from statements.models import Suppression
from statements.policy.naming import as_of_user
from statements.wording import Embedded

from ..lifecycle import unused_memories
from ..models import MEMORY, Kind, Memory, MemoryEvidence, MemoryVersion, Proposal, Relation
from ..policy import writing
from ..policy.writing import State, Why
from ..querysets import MemoryQuerySet
from ..records import RELAYED
from .bulk import archive_many
from .many import for_bulk, memories_relate, withhold
from .proposing import propose_change
from .single import MemoryWrite, author, memory_changing, plans_drop
from .transitions import archive, await_decision

log = structlog.get_logger(__name__)

EXPIRE_BATCH = 500


def memories_index(memory_id: str | None = None) -> int:
    """Embed memories without a vector, and apply the checks that need it. Returns how many.

    Unreviewed ones that resemble a rejected memory become proposed. All are related to similar ones, and marked for
    consolidation if they may be duplicates. Works on one memory, or on all that are due. While the embedder is
    unavailable the retry delay grows.
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
    """Store vectors of a person's memories, and apply the late checks, in a constant number of statements.

    Memories that were reworded or indexed by another worker meanwhile are skipped. Returns the number stored.
    """
    taken = {memory.pk: memory for memory in seen}
    try:
        with acting_as(principal_for_job(user_id)) as principal, ledger_write(principal.actor, user_id) as write:
            rows = Memory.objects.filter(pk__in=taken).defer("search", "search_text").order_by("created_at", "pk")
            memories = [memory for memory in rows if memory.index_not_before == taken[memory.pk].index_not_before]
            _store(memories, taken)
            _apply_late_gates(write, user_id, memories)
    except NotFound:
        return 0  # The person was erased or blocked while the vectors were computed.
    return len(memories)


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


def _apply_late_gates(write: LedgerWrite, user_id: UUID, memories: Sequence[Memory]) -> None:
    """Apply the checks that are otherwise made when a memory is added."""
    gone = [memory.pk for memory in memories if memory.deleted_at is not None]
    theirs = Memory.objects.filter(pk__in=gone, id=OuterRef("object_id"), fingerprint=OuterRef("fingerprint"))
    Suppression.objects.of(user_id).filter(Exists(theirs)).update(**_vector_of(theirs))
    unreviewed = [
        memory for memory in memories if memory.reviewed_at is None and memory.state in {State.ACTIVE, State.PROPOSED}
    ]
    texts = [Embedded.of_row(memory, verbatim=memory.verbatim) for memory in unreviewed]
    against = Suppression.objects.matches(user_id, texts)
    for memory, text, stands in zip(unreviewed, texts, against, strict=True):
        if reason := stands.review_reason(text):
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


def memories_follow_refusal(write: LedgerWrite, user_id: UUID, heard: HeardRefusal) -> None:
    """Archive and suppress the memories that a refusal in a conversation is about.

    These are memories with evidence only in the withheld words, equal ones added since, and those that the person
    names: one memory, or all about a topic if they ask for that. What they confirmed, learned from the same words,
    stays if it has no word of what they name. If an agent relays the refusal, those that the person decided about wait
    for them, and so do other agents'.
    """
    present = Memory.objects.filter(user_id=user_id, state__in=PRESENT).without_vectors()
    withheld = Withheld.objects.because_of(heard.cause.type, [heard.cause.id])
    quotes = withheld.filter(object_type=MemoryEvidence._meta.label_lower).values_list("object_id", flat=True)
    behind = MemoryEvidence.objects.filter(version__user_id=user_id, version__recorded_to__isnull=True)
    others = behind.exclude(pk__in=list(quotes)).values("version__memory")
    learned = present.filter(pk__in=behind.filter(pk__in=list(quotes)).values("version__memory")).exclude(pk__in=others)
    since = present.filter(created_at__gte=heard.since, reviewed_at__isnull=True, pinned=False)
    gone = {memory.pk: memory for memory in learned if not _is_beside(memory, heard)}
    name = acting_name()
    gone |= {memory.pk: memory for memory in since if restates(as_of_user(memory.content, name), heard.said)}
    gone |= {memory.pk: memory for memory in _named(present, heard)}
    agent = heard.relayed_by
    for memory in gone.values():
        if agent is None or writing.is_undecided(memory, agent.agent_id):
            with memory_changing(write, memory) as change:
                archive(change, Why.PERSON, withholds=agent is None, conversation_id=heard.conversation_id)
            if agent is not None:
                withhold(write, user_id, [memory.pk], relayed=True)
        elif memory.state == State.ACTIVE:
            propose_change(
                write,
                agent,
                Proposal.Kind.ARCHIVE,
                memory,
                {},
                written_by=author(agent),
                conversation_id=heard.conversation_id,
                reason=RELAYED,
            )


def _is_beside(memory: Memory, heard: HeardRefusal) -> bool:
    """Whether the person confirmed a memory, and names something else that its source says."""
    confirmed = memory.reviewed_at is not None and bool(heard.named)
    return confirmed and heard.named.isdisjoint(lemmas(as_of_user(memory.content, acting_name())))


def _named(present: MemoryQuerySet, heard: HeardRefusal) -> list[Memory]:
    """Return the memories that a refusal names; none if it is ambiguous, unless it means all."""
    known = list(present.naming(heard.named))
    told = [(as_of_user(each.content, acting_name()), each.subject) for each in known]
    return [known[place] for place in find_named(heard.named, told, whole=heard.whole, denied=heard.denied)]


def memories_resting_on(user_id: UUID, changed: ChangedStatement) -> Iterable[str]:
    """Return memories derived from others, replacing them, or with the same evidence."""
    behind = MemoryEvidence.objects.filter(message__in=changed.message_ids).values("version__memory")
    rests = Q(pk__in=behind) if changed.message_ids else Q(pk__in=[])
    if changed.object_type == "memory":
        made = Relation.objects.filter(to_memory=changed.object_id).exclude(type=Relation.Type.RELATED_TO)
        rests |= Q(pk__in=made.values("from_memory"))
    return Memory.objects.filter(rests, user_id=user_id, state__in=_IN_USE).values_list("pk", flat=True)
