"""What else happens when memories, and what marks the removed ones, get the vectors of another model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import CharField, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Cast
from django.utils import timezone

from retrieval.vectors import stale

from ..models import Memory, Tombstone

COMPARED_AFTER = timedelta(minutes=5)


def tombstones_follow(rows: QuerySet[Any], user_ids: Sequence[UUID], embedding_model: str) -> int:
    """Give tombstones the vector of the row that they bury, once ``embedding_model`` has made one for that.

    ``rows`` are memories, or other statements with a person and a fingerprint. Returns how many. A tombstone holds no
    text, so one whose row was purged keeps the vector that it has.
    """
    buried = (
        rows.filter(user_id=OuterRef("user_id"), fingerprint=OuterRef("fingerprint"), embedding_model=embedding_model)
        .annotate(key=Cast("pk", CharField()))
        .filter(key=OuterRef("object_id"))
    )
    stones = stale(Tombstone.objects.filter(user_id__in=user_ids), embedding_model).filter(Exists(buried))
    return stones.update(embedding=Subquery(buried.values("embedding")[:1]), embedding_model=embedding_model)


def memories_compare_later(user_ids: Sequence[UUID], embedding_model: str) -> int:
    """Have memories that came with vectors of ``embedding_model`` compared again, where older ones lack them still.

    When they came, those could not be seen to be near. Returns how many. Call it before the older ones are moved: it
    leaves time for that.
    """
    older = stale(Memory.objects.filter(user_id=OuterRef("user_id")).present(), embedding_model)
    came = Memory.objects.present().filter(user_id__in=user_ids, embedding_model=embedding_model)
    waiting = came.filter(Exists(older), index_not_before__isnull=True)
    return waiting.update(index_not_before=timezone.now() + COMPARED_AFTER, index_attempts=0)
