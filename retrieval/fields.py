"""Columns that make a row searchable by meaning and by word. Abstract: the tables belong to the rooms."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Func, Q
from pgvector import HalfVector
from pgvector.django import HalfVectorField
from pgvector.psycopg.halfvec import HalfVectorBinaryDumper, HalfVectorDumper
from psycopg import adapters

# Vectors are sent as they are: to write hundreds of numbers out and to read them again takes longer than to compare
# them. Here, since nothing is sent before the tables are declared.
adapters.register_dumper(HalfVector, HalfVectorDumper)
adapters.register_dumper(HalfVector, HalfVectorBinaryDumper)


class RegConfigField(models.CharField):
    """A PostgreSQL text search configuration, e.g. ``english``; typed, so that a generated column may use it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", 63)
        super().__init__(*args, **kwargs)

    def db_type(self, connection: Any) -> str:
        """The type is ``regconfig``, whatever the length."""
        return "regconfig"

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        """Send the name as text; PostgreSQL resolves it."""
        return value


class Searchable(models.Model):
    """A row with a vector, the name of the model that made it, and a text search document.

    ``search_text``, ``search_config`` and ``search_length`` are what ``retrieval.text.prepare`` makes of the content:
    its words (unaccented, in pairs of letters where a script has no spaces), the configuration that stems them, and how
    many there are. Stop words count, since their share hardly differs between texts: on long conversations the number
    correlates at 0.96 to 0.98 with that of the lexemes, and ranks equally well.

    ``embedding`` has no fixed dimension: it is always read together with ``embedding_model``, so a change of model
    needs no DDL and can't mix vectors. The covering indexes that hold it have room for 1,260 dimensions.
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
