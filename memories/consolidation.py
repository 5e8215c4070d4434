"""Reads of consolidation: the pool of memories, and candidate pairs of duplicates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import groupby
from uuid import UUID

import numpy as np
import numpy.typing as npt
from django.conf import settings
from django.utils import timezone

from accounts.principals import Principal
from language.reading.sameness import EmbeddedStatement
from statements.policy.naming import as_of_user

from .models import ComparedPair, Memory, MemoryPlanItem, MemoryPlanSource
from .plan_querysets import STRATEGY
from .policy import writing
from .policy.alike import how_likely_one, may_be_at_odds
from .querysets import MemoryQuerySet

JOB = "consolidate"

_ROWS_AT_ONCE = 256
_BEST_PAIRS = 2_000
"""So many pairs are looked at more closely, the nearest: more than can be compared in ``CONSOLIDATE_COMPARED_DAYS``."""


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """Two possible duplicates, and their cosine similarity. ``kept`` is the one to keep.

    ``statements`` are what is compared: their contents, with the person's own name replaced by "the user", each read
    once for all its pairs.
    """

    kept: Memory
    dropped: Memory
    similarity: float
    statements: tuple[EmbeddedStatement, EmbeddedStatement]

    @property
    def texts(self) -> tuple[str, str]:
        """The texts of ``statements``."""
        return self.statements[0].text, self.statements[1].text

    @property
    def score(self) -> int:
        """The similarity in hundredths."""
        return round(self.similarity * 100)


def pairs_left_today(user_id: UUID) -> int:
    """Return how many pairs of a person may still be compared within 24 hours."""
    since = timezone.now() - timedelta(days=1)
    done = ComparedPair.objects.filter(user_id=user_id, at__gt=since).count()
    return max(0, settings.CONSOLIDATE_PAIRS_PER_DAY - done)


def candidate_pairs(principal: Principal, user_id: UUID, most: int) -> list[DuplicatePair]:
    """Return at most ``most`` pairs not compared recently, in three statements, without a model.

    Likely duplicates come first, then by similarity. One of the two was changed recently, is important or used most.
    Both have the same kind and category, no different subjects, similar vectors and close dates, and may have the same
    meaning or share words.
    """
    if not most:
        return []
    memories = list(_mergeable(principal))
    pool = {memory.pk for memory in _pool(memories, timezone.now())}
    done = _compared(user_id)
    read = cache(EmbeddedStatement)
    found: list[tuple[float, DuplicatePair]] = []
    nearest = sorted(_near_pairs(memories, pool), key=lambda pair: (-pair[0], pair[1].pk, pair[2].pk))
    for similarity, one, other in nearest[:_BEST_PAIRS]:
        kept, dropped = _in_order(one, other)
        if frozenset({(one.pk, one.version), (other.pk, other.version)}) in done or not _may_concern(one, other):
            continue
        statements = (
            read(as_of_user(kept.content, principal.name)),
            read(as_of_user(dropped.content, principal.name)),
        )
        pair, likely = DuplicatePair(kept, dropped, similarity, statements), how_likely_one(*statements)
        if likely or may_be_at_odds(*pair.texts):
            found.append((likely, pair))
    # The sort is stable.
    return [pair for _, pair in sorted(found, key=lambda each: -each[0])][:most]


def mergeable_by_id(principal: Principal, ids: Sequence[str]) -> dict[str, Memory]:
    """Return those memories that may still be merged, with vectors."""
    return {memory.pk: memory for memory in _mergeable(principal).filter(pk__in=ids)}


def _mergeable(principal: Principal) -> MemoryQuerySet:
    rows = Memory.objects.visible_to(principal).mergeable(principal)
    return rows.select_related("use").defer("search", "search_text").order_by("kind", "category", "pk")


def _pool(memories: Sequence[Memory], now: datetime) -> Iterator[Memory]:
    """Return the pool: recently changed, marked, important, or most used memories."""
    changed = now - timedelta(hours=settings.CONSOLIDATE_CHANGED_HOURS)
    uses = sorted((_uses(memory) for memory in memories), reverse=True)
    most_used = max(1, uses[int(len(uses) * settings.CONSOLIDATE_TOP_USED)]) if uses else 1
    for memory in memories:
        if (
            memory.updated_at >= changed
            or memory.needs_check
            or memory.importance >= settings.CONSOLIDATE_IMPORTANCE
            or _uses(memory) >= most_used
        ):
            yield memory


def _uses(memory: Memory) -> int:
    return memory.use.uses if hasattr(memory, "use") else 0


def _compared(user_id: UUID) -> set[frozenset[tuple[str, int]]]:
    """Return pairs not to compare, with versions: recently compared ones, and reverted merges."""
    since = timezone.now() - timedelta(days=settings.CONSOLIDATE_COMPARED_DAYS)
    rows = ComparedPair.objects.filter(user_id=user_id, at__gt=since)
    done = {
        frozenset({(one, version), (other, its)})
        for one, version, other, its in rows.values_list("kept", "kept_version", "dropped", "dropped_version")
    }
    apart = MemoryPlanSource.objects.filter(
        user_id=user_id, item__plan__strategy=STRATEGY, item__state=MemoryPlanItem.State.REVERTED, memory__isnull=False
    )
    sources = apart.order_by("item_id").values_list("item_id", "memory_id", "version")
    for _, group in groupby(sources, key=lambda row: row[0]):
        members = [(str(memory), version) for _, memory, version in group]
        done |= {frozenset({one, other}) for at, one in enumerate(members) for other in members[at + 1 :]}
    return done


def _near_pairs(memories: Sequence[Memory], pool: set[str]) -> Iterator[tuple[float, Memory, Memory]]:
    """Return the most similar pairs of one kind, category and embedder, with one memory in the pool."""
    shelved = sorted(
        (memory for memory in memories if memory.embedding is not None),
        key=lambda memory: (memory.kind, memory.category, memory.embedding_model, memory.pk),
    )
    for _, group in groupby(shelved, key=lambda memory: (memory.kind, memory.category, memory.embedding_model)):
        shelf = list(group)
        vectors = np.asarray([memory.embedding for memory in shelf], np.float32)
        begun = np.asarray([at for at, memory in enumerate(shelf) if memory.pk in pool], np.intp)
        for at in range(0, len(begun), _ROWS_AT_ONCE):
            yield from _near(shelf, vectors, begun[at : at + _ROWS_AT_ONCE], pool)


def _near(
    shelf: Sequence[Memory], vectors: npt.NDArray[np.float32], rows: npt.NDArray[np.intp], pool: set[str]
) -> Iterator[tuple[float, Memory, Memory]]:
    near = vectors[rows] @ vectors.T
    firsts, seconds = np.nonzero(near >= settings.MEMORY_FALLBACK_LOW_SIMILARITY)
    values = near[firsts, seconds]
    for at in np.argsort(-values, kind="stable")[: _BEST_PAIRS * 2]:
        one, other = int(rows[firsts[at]]), int(seconds[at])
        # Two memories of the pool find each other.
        if one != other and (one < other or shelf[other].pk not in pool):
            yield min(1.0, float(values[at])), shelf[one], shelf[other]


def _may_concern(one: Memory, other: Memory) -> bool:
    apart = abs(_said(one) - _said(other))
    return not writing.are_apart(one.subject, other.subject) and apart <= timedelta(
        days=settings.CONSOLIDATE_APART_DAYS
    )


def _said(memory: Memory) -> datetime:
    return memory.said_at or memory.created_at


def _in_order(one: Memory, other: Memory) -> tuple[Memory, Memory]:
    """Order a pair: the more specific one first, then the reviewed one, then the older one."""
    first, second = sorted(
        (one, other), key=lambda each: (-len(each.content), each.reviewed_at is None, each.created_at, each.pk)
    )
    return first, second
