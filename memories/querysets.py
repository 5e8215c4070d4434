"""Reads of what may not come back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.db import connection, models
from pgvector import HalfVector

from language.base import Vectors

from . import policy

if TYPE_CHECKING:
    from .models import Tombstone  # noqa: F401 - named in the generic base


@cache
def _statement(name: str) -> str:
    return (Path(__file__).parent / "sql" / f"{name}.sql").read_text(encoding="utf-8")


class TombstoneQuerySet(models.QuerySet["Tombstone"]):
    """Tombstones of one person, about one legacy or about themselves."""

    def of(self, user_id: UUID, legacy_id: UUID | None) -> TombstoneQuerySet:
        """Those of a person for a legacy, or those for none."""
        scoped = self.filter(user_id=user_id)
        return scoped.filter(legacy_id=legacy_id) if legacy_id else scoped.filter(legacy__isnull=True)

    def matching(
        self,
        user_id: UUID,
        legacy_id: UUID | None,
        statements: Sequence[tuple[str, Vectors | list[float] | None]],
        embedding_model: str,
    ) -> list[bool]:
        """Say for each (text, vector or None) whether a tombstone stands against it.

        It does when the words are the same, or when the vectors of ``embedding_model`` have a cosine similarity of at
        least ``TOMBSTONE_SIMILARITY``. Exact, and one statement for any number of texts.
        """
        positions: list[int] = []
        prints: list[str] = []
        vectors: list[str | None] = []
        for position, (text, vector) in enumerate(statements):
            as_text = None if vector is None else _text_of(vector)
            for value in policy.fingerprints(user_id, text):
                positions.append(position)
                prints.append(value)
                vectors.append(as_text)
        values = {
            "user": user_id,
            "legacy": legacy_id,
            "positions": positions,
            "fingerprints": prints,
            "vectors": vectors,
            "model": embedding_model,
            "at_least": settings.TOMBSTONE_SIMILARITY,
        }
        with connection.cursor() as cursor:
            cursor.execute(_statement("tombstones_matching"), values)
            found = {row[0] for row in cursor.fetchall()}
        return [position in found for position in range(len(statements))]


def _text_of(vector: Vectors | list[float]) -> str:
    return HalfVector(vector).to_text()
