"""Background indexing of facts: vectors, links, and gates that need the vector."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np
import structlog

from accounts.principals import Principal
from accounts.queries import principal_for_job
from accounts.scope import acting_as
from journal.actions import ledger_write
from journal.exceptions import NotFound
from journal.verdicts import compares_unlocked
from language.base import Comparison, LanguageError, Vectors
from statements.actions import embed_waiting, lease_unindexed, postpone_indexing, suppress
from statements.models import Suppression
from statements.wording import Embedded

from ..models import FACT, LegacyFact
from ..policy import State
from ..queries import neighbours
from .extraction import verdicts_on
from .single import FactWrite, fact_under_lock, link

log = structlog.get_logger(__name__)


def facts_index(fact_id: UUID | None = None) -> int:
    """Embed waiting facts, and link them to duplicates and contradictions. Returns how many.

    Works on one fact, or on all that are due. If the embedder or model is unavailable, they are postponed with backoff.
    """
    indexed = 0
    while batch := lease_unindexed(FACT, fact_id):
        try:
            embed_waiting(batch)
            people = {fact.user_id: principal_for_job(fact.user_id) for fact in batch}
            verdicts = _verdicts(batch, people)
        except LanguageError as error:
            postpone_indexing(FACT, batch, error)
            return indexed
        for fact, found in zip(batch, verdicts, strict=True):
            indexed += _index(people[fact.user_id], fact, found)
    return indexed


def _vector(fact: LegacyFact) -> Vectors:
    return np.asarray(fact.embedding, dtype=np.float32)


def _verdicts(batch: Sequence[LegacyFact], people: dict[UUID, Principal]) -> list[dict[str, Comparison]]:
    around: list[list[str]] = []
    for fact in batch:
        if fact.state == State.QUARANTINED:
            around.append([])  # The comparing model must not read it.
            continue
        with acting_as(people[fact.user_id]) as principal:
            found = neighbours(principal, fact.legacy_id, _vector(fact), fact.embedding_model, but=fact.pk)
        around.append(list(dict.fromkeys(neighbour.content for neighbour in found)))
    return verdicts_on([fact.content for fact in batch], around)


@compares_unlocked
def _index(principal: Principal, seen: LegacyFact, verdicts: dict[str, Comparison]) -> bool:
    """Store the vector and links of a fact, unless it has changed or was scheduled again since it was leased."""
    try:
        with (
            acting_as(principal),
            ledger_write(principal.actor, seen.user_id, seen.legacy_id) as write,
            fact_under_lock(write, seen.pk) as change,
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
        return False  # Purged or erased during the model call.
    return True


def _apply_late_gates(change: FactWrite) -> None:
    """Apply the checks that need a vector to a fact that was stored without one.

    A deleted fact's suppression gets the vector. An unreviewed fact is proposed if it may mean something that the
    person rejected, or may not be a statement.
    """
    fact = change.fact
    suppressions = Suppression.objects.of(fact.user_id, fact.legacy_id)
    if fact.deleted_at is not None:
        if suppressions.filter(object_id=str(fact.pk), fingerprint=fact.fingerprint).exists():
            suppress(change)
        return
    if fact.reviewed_at is not None or fact.state not in {State.ACTIVE, State.PROPOSED}:
        return
    text = Embedded.of_row(fact)
    (against,) = suppressions.matches(fact.user_id, [text], legacy_id=fact.legacy_id)
    if reason := against.review_reason(text):
        was_active = fact.state == State.ACTIVE
        change.leave(State.PROPOSED, reason=reason)
        if was_active:
            change.log("PROPOSE")
