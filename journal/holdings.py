"""What each table holds of a person: what an export of their data writes, and what erasing it leaves.

Every room declares its tables in a file of this name. Export, import of an export and erasure work from these
declarations alone; a test fails on a column with text, JSON, a vector or bytes that is in none.
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
"""What stands in a column that may not be empty."""

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
"""The vector of a row of ``retrieval.fields.Searchable``; an export holds it, so that an import needs no model."""

SEARCHED = {"search_text": "", "search_config": "simple", "search_length": 0, "search": None}
"""What makes such a row found by its words: made of them, and made anew by an import."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """One table.

    ``kind`` names its rows in an export; empty: they are in none. ``owner`` is the path from a row to the id of its
    person; empty where the rows are nobody's. ``theirs`` says so where no path does. ``restored`` tells whether an
    import of an export brings its rows back, ``exported`` which of them the
    export holds.

    Columns that can hold text are in one of four groups. An export writes ``words``, and erasure leaves the value that
    stands by their names in rows that have to stay. It writes ``terms`` too, which are words of ours or of the
    deployment (states, categories, names of models) and stay. ``made`` is worked out from other columns: not written,
    and erased like words. ``secret`` is in no export and goes with its row.

    ``revs`` are revisions of the person's ledger; ``refers`` are columns that hold ids of rows without being keys. An
    import moves the former on and puts the ids that rows have got in the latter. ``remake`` works out what is made of a
    row, in the person's language, before it is stored again.
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

    @property
    def registered(self) -> list[str]:
        """The columns that the declaration names as holding text or not."""
        return [*self.words, *self.terms, *self.made, *self.secret]

    @property
    def written(self) -> list[models.Field[Any, Any]]:
        """The columns of an export, in the order of the table."""
        left_out = {*self.made, *self.secret}
        return [column for column in self.model._meta.concrete_fields if column.name not in left_out]

    @property
    def blank(self) -> dict[str, Any]:
        """What the columns of a row hold that has to stay without its text."""
        stored = {column.name for column in self.model._meta.concrete_fields if not column.generated}
        return {name: value for name, value in {**self.words, **self.made}.items() if name in stored}

    def of_person(self, user_id: UUID) -> models.QuerySet[Any]:
        """The rows of one person."""
        rows = self.model._base_manager.all()
        if self.theirs is not None:
            return rows.filter(self.theirs(user_id))
        return rows.filter(**{self.owner: user_id}) if self.owner else rows.none()


def can_hold_text(column: models.Field[Any, Any]) -> bool:
    """Whether a column can hold something that was said: text, JSON, bytes, a vector, or a list of any of them."""
    if isinstance(column, ArrayField):
        return can_hold_text(column.base_field)
    return not isinstance(column, _SAYS_NOTHING)


@cache
def holdings() -> tuple[Holding, ...]:
    """The declarations of all rooms; a table comes after those that its rows refer to."""
    declared = {each.model: each for each in _declared()}
    order = TopologicalSorter({model: _referred_to(model) for model in declared}).static_order()
    return tuple(declared[model] for model in order if model in declared)


@cache
def holding_of(model: type[models.Model]) -> Holding:
    """The declaration of a table. Raises KeyError where there is none."""
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
    # Steps back from what was done lately. An import begins without: what it brings is the person's word as it is.
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
    # Everything that was written by then: the file itself.
    Holding(model=ExportPart, owner="export__user_id", words={"data": b""}),
    Holding(model=Learned, owner="user_id", restored=False),
    # Sums of a deployment: they name nobody.
    Holding(model=ModelUse, terms=("purpose",)),
    # Receipts are for whoever has their id, and stay. They hold ids and numbers.
    Holding(model=Erasure, terms=("scope", "object_id", "state", "removed")),
    Holding(model=Erased, terms=("kind", "object_id")),
    # The owner is named by kind, actor and person.
    Holding(
        model=IdempotencyRecord,
        theirs=lambda user_id: Q(owner__endswith=f":{user_id}"),
        words={"object_ids": []},
        terms=("object_type",),
        secret=("owner", "key", "request_hash"),
    ),
)
