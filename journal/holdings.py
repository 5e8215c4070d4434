"""Declarations of the personal data in each table, for export, restoring an export, and erasure.

Every room declares its tables in a file named ``holdings.py``. A test fails on a column with text, JSON, a vector or
bytes that no declaration names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.module_loading import module_has_submodule

from .models import (
    Change,
    Erased,
    Erasure,
    Export,
    ExportPart,
    IdempotencyRecord,
    JobRun,
    Learned,
    Ledger,
    ModelUse,
    OperationEvent,
    UndoStep,
)

ERASED_TEXT = "[erased]"
"""Replaces erased text in columns that may not be empty."""

_SAYS_NOTHING = (
    models.AutoField,
    models.BooleanField,
    models.DateField,
    models.DecimalField,
    models.DurationField,
    models.FloatField,
    models.ForeignKey,
    models.IntegerField,
    models.TimeField,
    models.UUIDField,
)

VECTOR = {"embedding": None, "embedding_model": ""}
"""The vector columns of ``retrieval.fields.Searchable``. They are exported, so that an import needs no embedder."""

SEARCHED = {"search_text": "", "search_config": "simple", "search_length": 0, "search": None}
"""The full-text columns of ``retrieval.fields.Searchable``. They are derived, so an import computes them again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """The declaration of one table.

    ``kind`` names its rows in an export; empty: they are not exported. ``owner`` is the lookup path from a row to the
    id of its person; empty where rows belong to nobody. ``theirs`` is the filter where no path leads there.
    ``restored``: whether an import of an export restores its rows. ``exported`` filters the rows to export.

    Columns that can hold text are in one of four groups:
    ``words`` hold personal text: exported; in rows that have to stay, erasure sets each to the value given here.
    ``terms`` hold the application's vocabulary (states, categories, names of models): exported, never erased.
    ``made`` are derived from other columns: not exported, erased like words.
    ``secret`` are not exported, and deleted with their row.

    ``revs`` are columns with revisions of the person's ledger, which an import shifts. ``refers`` are columns with ids
    of rows that are not foreign keys, which an import maps to the new ids. ``remake`` computes the derived columns of
    a row, in the person's language, before an import stores it. ``json`` names a column of bytes, and the column that
    is set where they are JSON: an export then holds ``{"json": value}``, to be read, in place of base64.
    """

    model: type[models.Model]
    kind: str = ""
    owner: str = ""
    theirs: Callable[[UUID], Q] | None = None
    words: Mapping[str, Any] = field(default_factory=dict)
    terms: tuple[str, ...] = ()
    made: Mapping[str, Any] = field(default_factory=dict)
    secret: tuple[str, ...] = ()
    revs: tuple[str, ...] = ()
    refers: tuple[str, ...] = ()
    restored: bool = True
    exported: Q = field(default_factory=Q)
    remake: Callable[[Any, str], None] | None = None
    json: tuple[str, str] | None = None

    @property
    def registered(self) -> list[str]:
        """The names of all columns in the four groups."""
        return [*self.words, *self.terms, *self.made, *self.secret]

    @property
    def written(self) -> list[models.Field[Any, Any]]:
        """The exported columns, in the order of the table."""
        left_out = {*self.made, *self.secret}
        return [column for column in self.model._meta.concrete_fields if column.name not in left_out]

    @property
    def blank(self) -> dict[str, Any]:
        """The values that erasure sets in a row that has to stay."""
        stored = {column.name for column in self.model._meta.concrete_fields if not column.generated}
        return {name: value for name, value in {**self.words, **self.made}.items() if name in stored}

    def of_person(self, user_id: UUID) -> models.QuerySet[Any]:
        """Return the rows of one person."""
        rows = self.model._base_manager.all()
        if self.theirs is not None:
            return rows.filter(self.theirs(user_id))
        return rows.filter(**{self.owner: user_id}) if self.owner else rows.none()


def can_hold_text(column: models.Field[Any, Any]) -> bool:
    """Whether a column can hold personal text: text, JSON, bytes, a vector, or a list of any of them."""
    if isinstance(column, ArrayField):
        return can_hold_text(column.base_field)
    return not isinstance(column, _SAYS_NOTHING)


@cache
def holdings() -> tuple[Holding, ...]:
    """Return the declarations of all rooms; a table comes after those that its foreign keys point to."""
    declared = {each.model: each for each in _declared()}
    order = TopologicalSorter({model: _referred_to(model) for model in declared}).static_order()
    return tuple(declared[model] for model in order if model in declared)


@cache
def holding_of(model: type[models.Model]) -> Holding:
    """Return the declaration of a table. Raises KeyError where there is none."""
    return {each.model: each for each in holdings()}[model]


def _declared() -> Iterator[Holding]:
    for config in apps.get_app_configs():
        if config.module is not None and module_has_submodule(config.module, "holdings"):
            yield from import_module(f"{config.name}.holdings").HOLDINGS


def _referred_to(model: type[models.Model]) -> list[type[models.Model]]:
    keys = [column for column in model._meta.concrete_fields if isinstance(column, models.ForeignKey)]
    return [key.related_model for key in keys if isinstance(key.related_model, type) and key.related_model != model]


HOLDINGS = (
    Holding(model=Ledger, owner="id", terms=("kind",)),
    Holding(
        model=Change,
        kind="changes",
        owner="ledger_id",
        words={"meta": {}, "actor_id": "", "object_id": ""},
        terms=("event", "object_type", "actor_kind"),
        revs=("rev",),
        refers=("object_id", "actor_id", "meta", "conversation_id"),
    ),
    # Not exported: an import starts without undo steps.
    Holding(
        model=UndoStep,
        owner="ledger_id",
        words={"before": {}},
        terms=("object_type", "object_id"),
    ),
    Holding(
        model=OperationEvent,
        kind="operations",
        owner="user_id",
        words={"thread_id": "", "object_id": ""},
        terms=("node", "op", "status", "category"),
        restored=False,
    ),
    Holding(
        model=JobRun,
        kind="jobs",
        owner="user_id",
        words={"result": {}, "subject_id": ""},
        terms=("kind", "state", "error_code"),
        restored=False,
    ),
    Holding(model=Export, owner="user_id"),
    # The exported file itself.
    Holding(model=ExportPart, owner="export__user_id", words={"data": b""}),
    Holding(model=Learned, owner="user_id", restored=False),
    # Sums over the whole deployment, which name nobody.
    Holding(model=ModelUse, terms=("purpose",)),
    # Receipts stay after the erasure, for those who have their id. They hold only ids and numbers.
    Holding(model=Erasure, terms=("scope", "object_id", "also", "hidden", "state", "removed")),
    Holding(model=Erased, terms=("kind", "object_id", "category")),
    # ``owner`` is the caller's kind and id, then the person's id.
    Holding(
        model=IdempotencyRecord,
        theirs=lambda user_id: Q(owner__endswith=f":{user_id}"),
        words={"object_ids": []},
        terms=("object_type",),
        secret=("owner", "key", "request_hash"),
    ),
)
