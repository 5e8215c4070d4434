"""What happens to facts in the background: vectors and links that came later, and the purge."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import numpy as np
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
from language.base import Comparison, LanguageError, Vectors
from memories.actions import tombstone_lay
from memories.models import Tombstone

from ..models import LegacyFact
from ..policy import State
from ..queries import neighbours
from .deciding import reject
from .extraction import verdicts_on
from .single import FactWrite, fact_under_lock, link

log = structlog.get_logger(__name__)

INDEX_BATCH = 32
INDEX_LEASE_SECONDS = 120
PURGE_BATCH = 500


def facts_index(fact_id: UUID | None = None) -> int:
    """Give facts that wait their vector, and link them to their duplicates and contradictions. Returns how many.

    Works on one fact, or on all that are due. A batch is taken by moving its time to try again forward, which is its
    lease, so what a killed worker held is taken up later. With the embedder or the model away the facts wait longer
    each time, up to an hour.
    """
    indexed = 0
    while batch := _take(fact_id):
        try:
            _embed(batch)
            people = {fact.user_id: principal_for_job(fact.user_id) for fact in batch}
            verdicts = _verdicts(batch, people)
        except LanguageError as error:
            _put_back(batch, error)
            return indexed
        for fact, found in zip(batch, verdicts, strict=True):
            indexed += _index(people[fact.user_id], fact, found)
    return indexed


def facts_purge() -> int:
    """Delete facts whose time in the archive is over, with a PURGE in the log for each. Returns how many.

    Their tombstones stay. Each batch is a transaction of one person and legacy.
    """
    purged = 0
    due = LegacyFact.objects.due_for_purge(timezone.now())
    for user_id, legacy_id in list(due.order_by("user_id", "legacy_id").values_list("user_id", "legacy_id").distinct()):
        while done := _purge_batch(user_id, legacy_id):
            purged += done
    return purged


def _purge_batch(user_id: UUID, legacy_id: UUID) -> int:
    try:
        with ledger_write(Actor("job", "facts.purge"), user_id, legacy_id) as write:
            due = LegacyFact.objects.due_for_purge(timezone.now()).filter(user_id=user_id, legacy_id=legacy_id)
            facts = list(due.order_by("purge_at", "id").values_list("pk", "version")[:PURGE_BATCH])
            LegacyFact.objects.filter(pk__in=[pk for pk, _ in facts]).delete()
            for fact_id, version in facts:
                write.change(user_id, "PURGE", "fact", fact_id, old_version=version)
    except NotFound:
        return 0  # The person or the legacy was erased meanwhile, with all their facts.
    return len(facts)


def _take(fact_id: UUID | None) -> list[LegacyFact]:
    """Take what is due for this worker; people who are kept out wait until they are let in again."""
    with transaction.atomic():
        due = LegacyFact.objects.unindexed().filter(user__is_active=True)
        rows = due.filter(pk=fact_id) if fact_id else due
        ids = list(
            rows.select_for_update(skip_locked=True, of=("self",))
            .order_by("index_not_before")
            .values_list("pk", flat=True)[:INDEX_BATCH]
        )
        lease = timezone.now() + timedelta(seconds=INDEX_LEASE_SECONDS)
        LegacyFact.objects.filter(pk__in=ids).update(index_not_before=lease, index_attempts=F("index_attempts") + 1)
    return list(LegacyFact.objects.filter(pk__in=ids).defer("search", "search_text"))


def _embed(batch: Sequence[LegacyFact]) -> None:
    waiting = [fact for fact in batch if fact.embedding is None]
    if not waiting:
        return
    embedder = get_embedder()
    vectors = embedder.embed_passages([fact.content for fact in waiting])
    for fact, vector in zip(waiting, vectors, strict=True):
        fact.embedding, fact.embedding_model = vector.tolist(), embedder.name


def _vector(fact: LegacyFact) -> Vectors:
    return np.asarray(fact.embedding, dtype=np.float32)


def _verdicts(batch: Sequence[LegacyFact], people: dict[UUID, Principal]) -> list[dict[str, Comparison]]:
    around: list[list[str]] = []
    for fact in batch:
        if fact.state == State.QUARANTINED:
            around.append([])  # Comparing is done by a model, which must not read it.
            continue
        found = neighbours(people[fact.user_id], fact.legacy_id, _vector(fact), fact.embedding_model, but=fact.pk)
        around.append(list(dict.fromkeys(neighbour.content for neighbour in found)))
    return verdicts_on([fact.content for fact in batch], around)


def _put_back(batch: Sequence[LegacyFact], error: LanguageError) -> None:
    longest = min(3_600, 30 * 2 ** min(max(fact.index_attempts for fact in batch), 8))
    later = timezone.now() + timedelta(seconds=longest)
    for fact in batch:
        LegacyFact.objects.filter(pk=fact.pk, index_not_before=fact.index_not_before).update(index_not_before=later)
    note_operation("worker", "index_facts", "error")
    log.warning("facts_not_indexed", count=len(batch), error=type(error).__name__)


def _index(principal: Principal, seen: LegacyFact, verdicts: dict[str, Comparison]) -> bool:
    """Write what was found out about a fact, unless it has changed or was asked about again since it was taken."""
    try:
        with (
            ledger_write(principal.actor, seen.user_id, seen.legacy_id) as write,
            fact_under_lock(write, LegacyFact.objects.all(), seen.pk) as change,
        ):
            fact = change.fact
            if fact.index_not_before != seen.index_not_before:
                return False
            late = fact.embedding is None
            if late:
                fact.embedding, fact.embedding_model = seen.embedding, seen.embedding_model
            fact.index_not_before, fact.index_attempts = None, 0
            if late:
                _apply_late_gates(change)
            if fact.deleted_at is None and fact.state != State.QUARANTINED:
                found = neighbours(principal, fact.legacy_id, _vector(fact), fact.embedding_model, but=fact.pk)
                link(change, [(other, kind) for other in found if (kind := other.relation(fact.content, verdicts))])
    except NotFound:
        return False  # Purged or erased while the model was asked.
    return True


def _apply_late_gates(change: FactWrite) -> None:
    """Do with a vector that came late what is done at once otherwise.

    A fact buried without one gets it on its tombstone. A fact nobody reviewed that is similar to something the person
    rejected is rejected.
    """
    fact = change.fact
    stones = Tombstone.objects.of(fact.user_id, fact.legacy_id)
    if fact.deleted_at is not None:
        if stones.filter(object_id=str(fact.pk)).exists():
            tombstone_lay(
                change.write,
                user_id=fact.user_id,
                legacy_id=fact.legacy_id,
                object_id=fact.pk,
                text=fact.content,
                embedding=fact.embedding,
                embedding_model=fact.embedding_model,
            )
    elif fact.reviewed_at is None and fact.state in {State.ACTIVE, State.PROPOSED, State.QUARANTINED}:
        statement = (fact.content, fact.embedding)
        if any(stones.matching(fact.user_id, fact.legacy_id, [statement], fact.embedding_model)):
            reject(change, "Similar to a fact that was rejected before.")
