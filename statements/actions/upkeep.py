"""Background work on statements: leasing rows to index, embedding, comparing again, and the purge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from django.db import connection, transaction
from django.db.models import CharField, Exists, F, OuterRef, Subquery
from django.db.models.functions import Cast
from django.utils import timezone

from accounts.models import User
from accounts.upkeep import work_in_batches
from journal.actions import LedgerWrite, delete_undo_steps
from journal.operation_actions import note_operation
from language.backends import get_embedder
from language.base import LanguageError
from language.reading.content import Content
from language.reading.gist import gists
from retrieval.vectors import stale

from ..models import Doubt, RejectionReason, Statement, StatementKind, Suppression
from ..policy import LONGEST, gist_fingerprints
from ..policy.resembling import traces_of
from ..querysets import Row, StatementQuerySet
from .earlier import drop_replaced

log = structlog.get_logger(__name__)

INDEX_BATCH = 32
INDEX_LEASE_SECONDS = 120
COMPARED_AFTER = timedelta(minutes=5)
PURGE_BATCH = 500


def lease_unindexed(kind: StatementKind[Row], pk: Any = None) -> list[Row]:
    """Lease statements that wait to be indexed: one, or a batch of those that are due.

    The lease is ``index_not_before``, moved into the future, so what a killed worker held is due again later.
    Statements of deactivated people are skipped until these are activated again.
    """
    now = timezone.now()
    with transaction.atomic():
        due = kind.rows.unindexed(now).filter(user__is_active=True)
        rows = due.filter(pk=pk) if pk else due
        ids = list(
            rows.select_for_update(skip_locked=True, of=("self",))
            .order_by("index_not_before")
            .values_list("pk", flat=True)[:INDEX_BATCH]
        )
        lease = now + timedelta(seconds=INDEX_LEASE_SECONDS)
        kind.rows.filter(pk__in=ids).update(index_not_before=lease, index_attempts=F("index_attempts") + 1)
    return list(kind.rows.filter(pk__in=ids).defer("search", "search_text"))


def embed_waiting(batch: Sequence[Statement]) -> None:
    """Embed the rows of a batch that have no vector, without saving them. Raises EmbedderUnavailable."""
    waiting = [row for row in batch if row.embedding is None]
    if waiting:
        embedder = get_embedder()
        vectors = embedder.embed_passages([row.content for row in waiting])
        for row, vector in zip(waiting, vectors, strict=True):
            row.embedding, row.embedding_model = vector.tolist(), embedder.name


def postpone_indexing(kind: StatementKind[Row], batch: Sequence[Row], error: LanguageError) -> None:
    """Postpone a batch with exponential backoff, up to an hour, because the embedder or the model is unavailable."""
    longest = min(3_600, 30 * 2 ** min(max(row.index_attempts for row in batch), 8))
    later = timezone.now() + timedelta(seconds=longest)
    for row in batch:
        kind.rows.filter(pk=row.pk, index_not_before=row.index_not_before).update(index_not_before=later)
    note_operation("worker", f"index_{kind.plural}", "error")
    log.warning("statements_not_indexed", kind=kind.name, count=len(batch), error=type(error).__name__)


def compare_later(kind: StatementKind[Row], user_ids: Sequence[UUID], embedding_model: str) -> int:
    """Schedule statements with vectors of ``embedding_model`` to be compared again with older ones that lack these.

    When they were added, they could not be compared by vector. Returns how many. Call it before re-embedding the
    older ones: the comparison starts ``COMPARED_AFTER`` later.
    """
    older = stale(kind.rows.filter(**{kind.owners[-1]: OuterRef(kind.owners[-1])}).present(), embedding_model)
    came = kind.rows.present().filter(user_id__in=user_ids, embedding_model=embedding_model)
    waiting = came.filter(Exists(older), index_not_before__isnull=True)
    return waiting.update(index_not_before=timezone.now() + COMPARED_AFTER, index_attempts=0)


def statements_purge(kind: StatementKind[Row]) -> int:
    """Delete archived and rejected statements whose retention is over, log a PURGE for each, and return how many.

    Their suppressions stay, with the traces of the text, and with fingerprints of its content words unless it was only
    not true: no agent may post it again. Each batch is a transaction of one person and, for facts, one
    legacy.
    """

    def purge(write: LedgerWrite, *owners: UUID) -> int:
        due = kind.rows.due_for_purge(timezone.now()).filter(**dict(zip(kind.owners, owners, strict=True)))
        rows = list(due.order_by("purge_at", "pk").values_list("pk", "version")[:PURGE_BATCH])
        drop_replaced(kind.rows, [pk for pk, _ in rows])
        erase(kind, [pk for pk, _ in rows])
        for pk, version in rows:
            write.change(owners[0], "PURGE", kind.name, pk, old_version=version)
        return len(rows)

    due = kind.rows.due_for_purge(timezone.now())
    _keep_traces(due)
    return work_in_batches(f"{kind.plural}.purge", due, purge, kind.owners)


def _keep_traces(due: StatementQuerySet[Row]) -> None:
    """Store the traces of suppressed statements, before the lock that their purge takes: each takes a parse."""
    same = Suppression.objects.filter(
        user_id=OuterRef("user_id"), fingerprint=OuterRef("fingerprint"), object_id=Cast(OuterRef("pk"), CharField())
    )
    untraced = same.filter(embedding__isnull=False, traces="").values("pk")[:1]
    rows = due.annotate(suppression=Subquery(untraced)).filter(suppression__isnull=False)
    told = rows.values_list("suppression", "user_id", "content", "pk", "state_reason")
    names: dict[UUID, str] = {}
    for suppression, user_id, content, pk, reason in told.iterator():
        if len(content) <= LONGEST:
            if reason != RejectionReason.NOT_TRUE.label:
                if user_id not in names:
                    names[user_id] = User.objects.get(pk=user_id).get_full_name()
                _keep_gists(user_id, pk, gists(content, names[user_id]))
            # Unless it was erased meanwhile.
            known = Suppression.objects.filter(pk=suppression, embedding__isnull=False)
            known.update(traces=traces_of(user_id, Content(content)))


def _keep_gists(user_id: UUID, pk: Any, stated: Iterable[str]) -> None:
    kept = (
        Suppression(user_id=user_id, fingerprint=gist_fingerprints(user_id, each)[0], object_id=str(pk))
        for each in stated
    )
    Suppression.objects.bulk_create(kept, ignore_conflicts=True)


def erase(kind: StatementKind[Row], ids: Sequence[Any]) -> None:
    """Delete statements with everything that references them, doubts and undo steps, in the caller's transaction."""
    with purging():
        kind.rows.filter(pk__in=ids).delete()
    Doubt.objects.filter(object_type=kind.name, object_id__in=[str(each) for each in ids]).delete()
    delete_undo_steps(kind.name, ids)


@contextmanager
def purging() -> Iterator[None]:
    """Allow the caller's transaction to delete versions within the block; a trigger refuses it otherwise."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('keepsake.purge', 'on', true)")
        yield
        cursor.execute("SELECT set_config('keepsake.purge', '', true)")
