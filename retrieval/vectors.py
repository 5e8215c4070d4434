"""Re-embedding: replaces the vectors of stored rows by those of another model, in batches, without downtime.

The text of a row does not change, so this adds no revision and locks no ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Model, QuerySet

from language.base import Vectors


@dataclass(frozen=True, slots=True)
class VectorSource:
    """A table with vectors: its display name, its model, and the function that returns the text to embed.

    ``passage`` uses only the columns ``columns``.
    """

    name: str
    model: type[Model]
    columns: tuple[str, ...]
    passage: Callable[[Any], str]

    @property
    def rows(self) -> QuerySet[Any]:
        """All rows."""
        return self.model._default_manager.all()

    def passages(self, ids: list[Any]) -> dict[Any, str]:
        """Return the texts to embed of those rows that still exist, by id."""
        return {row.pk: self.passage(row) for row in self.rows.filter(pk__in=ids).only("pk", *self.columns)}


def stale(rows: QuerySet[Any], embedding_model: str) -> QuerySet[Any]:
    """Return the rows with a vector of another model. Rows without a vector are not included."""
    return rows.exclude(embedding_model__in=["", embedding_model])


@transaction.atomic
def replace_vectors(source: VectorSource, passages: Mapping[Any, str], vectors: Vectors, embedding_model: str) -> int:
    """Store the vectors of ``passages``, of shape (len(passages), dimensions) in their order. Returns how many.

    Skips a row that was deleted, that has a vector of ``embedding_model`` by now, whose text has changed since, or that
    is locked: it never waits for a lock, so it can't cause a deadlock.
    """
    made = dict(zip(passages, vectors, strict=True))
    wanted = stale(source.rows.filter(pk__in=list(passages)), embedding_model).only("pk", *source.columns)
    locked: list[Model] = list(wanted.select_for_update(skip_locked=True, no_key=True, of=("self",)).order_by("pk"))
    rows = [row for row in locked if source.passage(row) == passages[row.pk]]
    for row in rows:
        vector: Any = made[row.pk]
        row.embedding, row.embedding_model = vector, embedding_model  # type: ignore[attr-defined]
    source.rows.bulk_update(rows, ["embedding", "embedding_model"])
    return len(rows)


def normalise_as_stored(vector: Vectors) -> Vectors:
    """Return a vector as the database compares it: rounded to half precision and normalised to length 1."""
    stored = vector.astype(np.float16).astype(np.float64)
    return stored / (np.linalg.norm(stored) or 1.0)


def decode_halfvec(sent: bytes) -> Vectors:
    """Decode the bytes of PostgreSQL's ``halfvec_send``: a header of two 16-bit integers, then 16-bit floats."""
    return np.frombuffer(sent, dtype=">f2", offset=4).astype(np.float32)
