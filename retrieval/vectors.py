"""Replacing the vectors of stored rows by those of another model, a batch at a time, while everything else goes on.

A vector is derived from a text that stays as it is. Replacing it is no change of anybody's: it takes no revision and
locks no ledger.
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
    """A table with vectors: its name for people, its model, and what of a row is embedded.

    ``passage`` reads no columns but ``columns``.
    """

    name: str
    model: type[Model]
    columns: tuple[str, ...]
    passage: Callable[[Any], str]

    @property
    def rows(self) -> QuerySet[Any]:
        """All of them."""
        return self.model._default_manager.all()

    def passages(self, ids: list[Any]) -> dict[Any, str]:
        """What is embedded of each of these rows that are still there."""
        return {row.pk: self.passage(row) for row in self.rows.filter(pk__in=ids).only("pk", *self.columns)}


def stale(rows: QuerySet[Any], embedding_model: str) -> QuerySet[Any]:
    """The rows whose vector another model has made. One that waits for its first vector is not among them."""
    return rows.exclude(embedding_model__in=["", embedding_model])


@transaction.atomic
def replace_vectors(source: VectorSource, passages: Mapping[Any, str], vectors: Vectors, embedding_model: str) -> int:
    """Store the vectors of ``passages``, of shape (len(passages), dimensions) and in their order. Returns how many.

    A row is passed over when it is gone, when it has a vector of ``embedding_model`` by now, when its text is another
    than was embedded, and when somebody is writing it: nobody is waited for, so nothing can lock each other out.
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
    """A vector as the database compares it: rounded as it is stored, of length 1."""
    stored = vector.astype(np.float16).astype(np.float64)
    return stored / (np.linalg.norm(stored) or 1.0)


def decode_halfvec(sent: bytes) -> Vectors:
    """The vector that the database's ``halfvec_send`` made bytes of: two numbers of two bytes, then halves."""
    return np.frombuffer(sent, dtype=">f2", offset=4).astype(np.float32)
