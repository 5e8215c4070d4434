"""Re-embedding of all stored rows with another embedder, during normal operation.

Rows with a vector of another model are the remaining work, so the job can be killed and restarted at any time; at most
one batch of embeddings is lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Count, F, Sum
from django.db.models.expressions import Combinable
from django.db.models.functions import Length
from django.utils import timezone

from accounts.models import User
from accounts.scope import working_for
from conversations.models import ConversationChunk, Message
from conversations.policy import passage
from facts.models import FACT, LegacyFact
from journal.exceptions import Conflict
from journal.leases import Lease, claim_job, finish_job, open_job, working
from journal.models import JobRun
from language.backends import get_embedder
from language.base import Embedder
from language.tokens import count_tokens
from memories.models import MEMORY, Memory, MemoryVersion
from retrieval.vectors import VectorSource, replace_vectors, stale
from statements.actions import compare_later, suppressions_follow
from statements.models import Suppression

log = structlog.get_logger(__name__)

JOB = "reembed"
SUBJECT = "vectors"
LEASE_SECONDS = 120
BATCH = 64
PEOPLE = 200
"""How many people's rows are looked for at once, so that no statement reads everybody's."""

# Facts and memories first: new statements are compared with re-embedded ones only.
SOURCES = (
    VectorSource("facts", LegacyFact, ("content",), lambda fact: fact.content),
    VectorSource("memories", Memory, ("content",), lambda memory: memory.content),
    VectorSource("versions", MemoryVersion, ("content",), lambda version: version.content),
    VectorSource("summaries", ConversationChunk, ("content",), lambda chunk: chunk.content),
    VectorSource(
        "messages",
        Message,
        ("content", "speaker", "at"),
        lambda message: passage(message.content, message.speaker, message.at),
    ),
)
SUPPRESSED: tuple[type[LegacyFact] | type[Memory], ...] = (LegacyFact, Memory)
"""Kinds whose suppressions get the vectors of the removed rows that they stand for."""

_TOKENS: dict[str, Combinable] = {
    "facts": F("tokens"),
    "memories": F("tokens"),  # Of the line in the memory block, which holds a little more.
    "versions": Length("content") / 4,  # Roughly, as for summaries: few beside the messages.
    "summaries": Length("content") / 4,
    "messages": F("tokens"),
}


@dataclass(slots=True)
class PendingVectors:
    """Numbers of rows with vectors of other models: by source and by model, and their approximate tokens.

    ``suppressions``: those that keep their old vector, since their text is gone.
    """

    rows: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    models: Counter[str] = field(default_factory=Counter)
    suppressions: int = 0


@dataclass(slots=True)
class Moved:
    """Result: re-embedded rows by source, their tokens, and the remaining rows."""

    rows: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    left: PendingVectors = field(default_factory=PendingVectors)


def waiting_for(embedding_model: str, user_ids: Sequence[UUID] | None = None) -> PendingVectors:
    """Count rows without a vector of ``embedding_model``, of everybody or of these people."""
    found = PendingVectors()
    for people in _people(user_ids):
        for source in SOURCES:
            rows = stale(source.rows.filter(user_id__in=people), embedding_model).order_by()
            counted = rows.values("embedding_model").annotate(count=Count("pk"), sum=Sum(_TOKENS[source.name]))
            for model, count, tokens in counted.values_list("embedding_model", "count", "sum"):
                found.rows[source.name] += count
                found.models[model] += count
                found.tokens += tokens
        old = stale(Suppression.objects.filter(user_id__in=people), embedding_model)
        with_text = {
            str(pk)
            for model in SUPPRESSED
            for pk in model._default_manager.filter(user_id__in=people, deleted_at__isnull=False).values_list(
                "pk", flat=True
            )
        }
        found.suppressions += sum(key not in with_text for key in old.values_list("object_id", flat=True))
    return found


def reembed(
    user_ids: Sequence[UUID] | None = None,
    *,
    batch: int = BATCH,
    started: Callable[[int], object] = lambda total: None,
    progress: Callable[[int], object] = lambda count: None,
) -> Moved:
    """Re-embed all rows, of everybody or of these people, with the current embedder.

    Texts are embedded outside transactions, and written in batches of ``batch`` rows. One such job runs at a time;
    staff see its progress and can cancel it. ``started`` is called with the number of rows, ``progress`` with that of
    each batch.

    Raises Conflict (``already_running``) while another job holds the lease, LeaseLost, EmbedderUnavailable. Finished
    rows stay; a restart continues with the rest.
    """
    embedder = get_embedder()
    job = claim_job(open_job(JOB, SUBJECT).pk, lease_seconds=LEASE_SECONDS)
    if job is None:
        raise _conflict()
    with working(job, lease_seconds=LEASE_SECONDS, by_hand=True) as lease, working_for(None, JOB):
        total = sum(waiting_for(embedder.name, user_ids).rows.values())
        started(total)
        mover = _Mover(lease, embedder, total=job.done + total, progress=progress)
        while mover.move_all(user_ids, batch):
            pass  # Again, for rows written meanwhile by a process with other settings, or locked before.
        moved = Moved(mover.rows, mover.tokens, waiting_for(embedder.name, user_ids))
        finish_job(job, **moved.rows, tokens=moved.tokens, left=sum(moved.left.rows.values()), embedder=embedder.name)
    log.info("reembedded", embedder=embedder.name, **moved.rows, tokens=moved.tokens)
    return moved


def _conflict() -> Conflict:
    running = JobRun.objects.filter(kind=JOB, subject_id=SUBJECT, state=JobRun.State.RUNNING).first()
    if running is None or running.lease_until is None:
        return Conflict("Another one has just ended. Start again.", code="already_running")
    seconds = max(0, round((running.lease_until - timezone.now()).total_seconds()))
    return Conflict(
        f"Another one is running ({running.done:,} of {running.total or 0:,} moved). If it was killed, start again in "
        f"{seconds} s, when its lease is over.",
        code="already_running",
    )


class _Mover:
    """Re-embeds batches under the lease of one job."""

    def __init__(self, lease: Lease, embedder: Embedder, *, total: int, progress: Callable[[int], object]) -> None:
        self.lease = lease
        self.embedder = embedder
        self.total = total
        self.done = lease.job.done
        self.progress = progress
        self.rows: Counter[str] = Counter()
        self.tokens = 0
        self._keep(0)

    def move_all(self, user_ids: Sequence[UUID] | None, batch: int) -> int:
        """Process everybody's rows once. Returns how many were re-embedded."""
        moved = 0
        for people in _people(user_ids):
            compare_later(FACT, people, self.embedder.name)
            compare_later(MEMORY, people, self.embedder.name)
            for source in SOURCES:
                for ids in self._batches(source, people, batch):
                    moved += self._move(source, ids)
                if source.model in SUPPRESSED:
                    suppressions_follow(source.rows, people, self.embedder.name)
        return moved

    def _batches(self, source: VectorSource, people: Sequence[UUID], size: int) -> Iterator[list[Any]]:
        """Yield batches of rows in the order of their random ids.

        So the re-embedded part of a person's rows is a random sample with the same distribution of cosines, which makes
        hits of both models comparable.
        """
        rows = stale(source.rows.filter(user_id__in=people), self.embedder.name)
        ids = list(rows.order_by("pk").values_list("pk", flat=True))
        for start in range(0, len(ids), size):
            yield ids[start : start + size]

    def _move(self, source: VectorSource, ids: list[Any]) -> int:
        passages = source.passages(ids)
        vectors = self.embedder.embed_passages(list(passages.values()))
        with transaction.atomic():
            self.lease.lock()
            count = replace_vectors(source, passages, vectors, self.embedder.name)
            self._keep(count)
        self.rows[source.name] += count
        self.tokens += sum(map(count_tokens, passages.values()))
        self.progress(count)
        return count

    def _keep(self, count: int) -> None:
        """Renew the lease and store the progress. New rows increase the total."""
        self.done += count
        self.total = max(self.total, self.done)
        self.lease.renew(self.done, self.total)


def _people(user_ids: Sequence[UUID] | None) -> Iterator[list[UUID]]:
    """Yield batches of everybody's ids, or of these."""
    if user_ids is not None:
        yield list(user_ids)
        return
    everybody = User.objects.order_by("pk").values_list("pk", flat=True)
    page = list(everybody[:PEOPLE])
    while page:
        yield page
        page = list(everybody.filter(pk__gt=page[-1])[:PEOPLE])
