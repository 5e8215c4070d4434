"""Abstract models of what facts and memories share, and the tables of suppressions, doubts and candidates."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic
from uuid import UUID

from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_noop
from pgvector.django import HalfVectorField

from accounts.models import Legacy, User
from conversations.models import Conversation, Message
from journal.models import ActorKind
from retrieval.fields import Searchable

from .querysets import CandidateQuerySet, DoubtQuerySet, Row, StatementQuerySet, SuppressionQuerySet


class Statement(Searchable):
    """The current state of a fact or memory. Its wording is a copy of its current version.

    ``fingerprint`` is the keyed hash of its words. ``written_by`` names the model, rules or agent that worded it; empty
    for the person. ``version`` counts wordings. ``index_not_before`` is set while it waits to be embedded, or to be
    compared with its neighbours.
    """

    fingerprint = models.CharField(max_length=64, editable=False)
    tokens = models.PositiveIntegerField()
    state_reason = models.CharField(max_length=200, blank=True)
    version = models.PositiveIntegerField(default=1)
    written_by = models.CharField(max_length=80, blank=True)
    source_conversation = models.ForeignKey(Conversation, on_delete=models.SET_NULL, null=True, related_name="+")
    updated_at = models.DateTimeField(default=timezone.now)
    reviewed_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)
    purge_at = models.DateTimeField(null=True)
    index_attempts = models.PositiveSmallIntegerField(default=0, editable=False)
    index_not_before = models.DateTimeField(null=True, editable=False)

    noun: ClassVar[str]
    """What pages call it."""

    if TYPE_CHECKING:  # Declared in the subclasses, with their own limits and choices.
        content: models.CharField[str, str]
        state: models.CharField[str, str]
        user: models.ForeignKey[User, User]
        user_id: UUID

    class Meta(Searchable.Meta):
        abstract = True


class RejectionReason(models.TextChoices):
    """Why a person rejects a statement. With DONT_KEEP, the words that it was learned from are withheld as well."""

    NOT_TRUE = "not_true", "Not true"
    DONT_KEEP = "dont_keep", "Not to be kept"


ERASURE_WAITS = gettext_noop("It waits for its erasure. To keep it, take the erasure back under “Your data”.")
"""The ``state_reason`` of what waits for its erasure: agents don't see it, and it can't be restored by itself."""

UPKEEP = frozenset({"index_not_before", "index_attempts", "embedding", "embedding_model"})


@dataclass(frozen=True, slots=True)
class StatementKind(Generic[Row]):
    """Describes facts or memories to the functions that work on both.

    ``name`` and ``plural`` are used in the log of changes and in jobs. ``owners`` are the columns with the ids of the
    ledgers that a change locks: the person's, and for a fact its legacy's. Statements are compared, suppressed and
    counted within them. ``upkeep`` are columns whose change is not a change of the statement. ``worked_out`` are
    columns that undo derives from the version's wording. ``worded`` are the columns that its ``versions`` copy.
    Columns of ``not_read`` are deferred in a change.
    """

    name: str
    plural: str
    model: type[Row]
    versions: type[StatementVersion]
    owners: tuple[str, ...]
    upkeep: frozenset[str]
    worked_out: frozenset[str]
    worded: tuple[str, ...]
    not_read: tuple[str, ...] = ("search", "search_config", "search_text")

    @property
    def rows(self) -> StatementQuerySet[Row]:
        """All rows."""
        rows: StatementQuerySet[Row] = self.model._default_manager.all()  # type: ignore[assignment]
        return rows

    def legacy_of(self, row: Row) -> UUID | None:
        """Return the legacy of a fact; None for a memory."""
        legacy_id: UUID | None = getattr(row, self.owners[1]) if len(self.owners) > 1 else None
        return legacy_id


class StatementVersion(models.Model):
    """A wording of a statement. Numbers run from 1 without gaps; the last one is the current version.

    It was current from ``recorded_from`` to ``recorded_to``, given with the person's revisions as well. ``written_by``
    worded it; the actor stored it. A trigger refuses changes of versions, and their deletion except in a purge.
    """

    number = models.PositiveIntegerField()
    recorded_from = models.DateTimeField(default=timezone.now)
    recorded_to = models.DateTimeField(null=True)
    recorded_from_rev = models.BigIntegerField()
    recorded_to_rev = models.BigIntegerField(null=True)
    written_by = models.CharField(max_length=80, blank=True)
    actor_kind = models.CharField(max_length=10, choices=ActorKind.choices)
    actor_id = models.CharField(max_length=64)

    class Meta:
        abstract = True


class Evidence(models.Model):
    """The message that a statement was learned from, and the quoted words."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="+")
    quote = models.CharField(max_length=500)

    class Meta:
        abstract = True


def version_constraints(name: str) -> list[models.BaseConstraint]:
    """Return the constraints on versions of the statement in column ``name``: their order, and one current version."""
    return [
        models.UniqueConstraint(fields=[name, "number"], name=f"{name}_version_once"),
        models.UniqueConstraint(
            fields=[name], condition=Q(recorded_to__isnull=True), name=f"{name}_version_current_once"
        ),
        models.CheckConstraint(condition=Q(number__gt=0), name=f"{name}_version_from_one"),
        models.CheckConstraint(
            condition=Q(recorded_to__isnull=True, recorded_to_rev__isnull=True)
            | Q(recorded_to__gte=F("recorded_from"), recorded_to_rev__gt=F("recorded_from_rev")),
            name=f"{name}_version_recorded_in_order",
        ),
    ]


class Suppression(models.Model):
    """Marks something a person rejected or deleted, so that extraction can't bring it back.

    It holds no text, only a keyed fingerprint of the normalised words, and the vector. When the text is purged,
    ``traces`` keeps keyed hashes of its single words as well, so that another statement with a close vector can be told
    from it. It is removed when the person says the thing again. ``version``: the number of the version of a statement
    that its person replaced, if the vector is of that.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="suppressions")
    legacy = models.ForeignKey(Legacy, on_delete=models.CASCADE, null=True, related_name="+")
    fingerprint = models.CharField(max_length=64)
    object_id = models.CharField(max_length=36)
    embedding = HalfVectorField(null=True, editable=False)
    embedding_model = models.CharField(max_length=80, blank=True, default="")
    traces = models.TextField(blank=True, default="", db_default="", editable=False)
    version = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = SuppressionQuerySet.as_manager()

    class Meta:
        db_table = "memories_tombstone"
        constraints = [
            models.UniqueConstraint(
                fields=["user", "legacy", "fingerprint"], name="tombstone_once", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=Q(embedding__isnull=True, embedding_model="")
                | Q(embedding__isnull=False) & ~Q(embedding_model=""),
                name="tombstone_vector_named",
            ),
        ]

    def __str__(self) -> str:
        return f"suppression of {self.object_id}"


class Doubt(models.Model):
    """Marks a fact or a memory that may be out of date, because what it depends on has changed.

    ``rev`` is the person's revision of the latest such change. Any later decision of the person about the statement
    settles the doubt.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    object_type = models.CharField(max_length=10)
    object_id = models.CharField(max_length=36)
    rev = models.BigIntegerField()
    created_at = models.DateTimeField(default=timezone.now)

    objects = DoubtQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "object_type", "object_id"], name="doubt_once"),
            models.CheckConstraint(condition=Q(object_type__in=["memory", "fact"]), name="doubt_of_a_statement"),
        ]
        indexes = [models.Index(fields=["object_id"], name="doubt_by_statement")]

    def __str__(self) -> str:
        return f"doubt of {self.object_type} {self.object_id}"


class Candidate(models.Model):
    """An extracted statement over a cap, which waits to be written as a fact or a memory.

    ``rank`` is its ``policy.urgency``. ``explicit``: the person asked for it to be remembered. It is deleted if its
    ``quote`` is withheld.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="+")
    is_fact = models.BooleanField()
    content = models.TextField()
    quote = models.TextField()
    category = models.CharField(max_length=50)
    subject = models.CharField(max_length=200, blank=True)
    field = models.CharField(max_length=20, blank=True)
    importance = models.PositiveSmallIntegerField(default=2)
    explicit = models.BooleanField(default=False)
    rank = models.PositiveSmallIntegerField()
    written_by = models.CharField(max_length=80)
    created_at = models.DateTimeField(default=timezone.now)
    not_before = models.DateTimeField(default=timezone.now)

    objects = CandidateQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["user", "rank", "created_at"], name="candidate_in_order")]

    def __str__(self) -> str:
        return f"candidate {self.id}"
