"""What else happens when the facts get the vectors of another model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.utils import timezone

from retrieval.vectors import stale

from ..models import LegacyFact

COMPARED_AFTER = timedelta(minutes=5)


def facts_compare_later(user_ids: Sequence[UUID], embedding_model: str) -> int:
    """Have facts that came with vectors of ``embedding_model`` compared again, where older ones lack them still.

    When they came, those could not be seen to be near. Returns how many. Call it before the older ones are moved: it
    leaves time for that.
    """
    older = stale(LegacyFact.objects.filter(legacy_id=OuterRef("legacy_id")).present(), embedding_model)
    came = LegacyFact.objects.present().filter(user_id__in=user_ids, embedding_model=embedding_model)
    waiting = came.filter(Exists(older), index_not_before__isnull=True)
    return waiting.update(index_not_before=timezone.now() + COMPARED_AFTER, index_attempts=0)
