"""The abstract model of rows that are searchable by vector and by word."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Func, Q
from pgvector import HalfVector
from pgvector.django import HalfVectorField
from pgvector.psycopg.halfvec import HalfVectorBinaryDumper, HalfVectorDumper
from psycopg import adapters

# Send vectors in binary: formatting and parsing hundreds of numbers takes longer than comparing them. Registered here
# because no query runs before the models are loaded.
adapters.register_dumper(HalfVector, HalfVectorDumper)
adapters.register_dumper(HalfVector, HalfVectorBinaryDumper)


class RegConfigField(models.CharField):
    """A PostgreSQL text search configuration, e.g. ``english``, of a type that generated columns may use."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", 63)
        super().__init__(*args, **kwargs)

    def db_type(self, connection: Any) -> str:
        """Return ``regconfig``."""
        return "regconfig"

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        """Send the name as text; PostgreSQL resolves it."""
        return value


class Searchable(models.Model):
    """A row with a vector, the name of the model that made it, and a text search document.

    ``search_text``, ``search_config`` and ``search_length`` come from ``retrieval.text.prepare``: the words (without
    accents; as pairs of letters in scripts without spaces), the configuration that stems them, and the number of words.
    This includes stop words, whose share hardly differs between texts: on long conversations, it correlates at 0.96 to
    0.98 with the number of lexemes, and ranks equally well.

    ``embedding`` has no fixed dimension. It is always read together with ``embedding_model``, so a change of model
    needs no DDL and vectors of two models are never compared. The covering indexes have room for 1,260 dimensions.
    """

    embedding = HalfVectorField(null=True, editable=False)
    embedding_model = models.CharField(max_length=80, blank=True, default="", editable=False)
    search_config = RegConfigField(default="simple", editable=False)
    search_text = models.TextField(blank=True, default="", editable=False)
    search_length = models.PositiveIntegerField(default=0, editable=False)
    search = models.GeneratedField(
        expression=Func(F("search_config"), F("search_text"), function="to_tsvector"),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                condition=Q(embedding__isnull=True, embedding_model="")
                | Q(embedding__isnull=False) & ~Q(embedding_model=""),
                name="%(app_label)s_%(class)s_vector_named",
            ),
        ]
