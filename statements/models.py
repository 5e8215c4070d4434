"""The columns that facts and memories have alike, and what must not come back."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic
from uuid import UUID

from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from pgvector.django import HalfVectorField

from accounts.models import Legacy, User
from conversations.models import Conversation, Message
from journal.models import ActorKind
from retrieval.fields import Searchable

from .querysets import CandidateQuerySet, DoubtQuerySet, Row, StatementQuerySet, SuppressionQuerySet


class Statement(Searchable):
    """What is kept of what somebody said, as it stands now. It mirrors its current version.

    ``fingerprint`` stands for the words. ``written_by`` names the model, rules or agent whose wording it is; empty
    means the person's own. ``version`` counts wordings. ``index_not_before`` is set while it waits for its vector, or
    for being compared with its neighbours.
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
    """What people are told it is."""

    if TYPE_CHECKING:  # Alike but for what they are limited to.
        content: models.CharField[str, str]
        state: models.CharField[str, str]
        user: models.ForeignKey[User, User]
        user_id: UUID

    class Meta(Searchable.Meta):
        abstract = True


class Refusal(models.TextChoices):
    """Why a person refuses a statement: it was read wrongly, or it is theirs and not to be used.

    What is not to be kept is withheld: the words that it was learned from leave the record too.
    """

    NOT_TRUE = "not_true", "Not true"
    DONT_KEEP = "dont_keep", "Not to be kept"


UPKEEP = frozenset({"index_not_before", "index_attempts", "embedding", "embedding_model"})


@dataclass(frozen=True, slots=True)
class StatementKind(Generic[Row]):
    """What functions that work on facts and on memories have to know of the one or the other.

    ``name`` and ``plural`` stand in the log of changes and in jobs. ``owners`` are the columns whose ledgers a change
    locks: the person's, and for a fact its legacy's. Statements are compared, suppressed and counted within them.
    ``upkeep`` are columns that change without anybody having changed the statement, ``worked_out`` those that undo
    works out again, with the wording, which stands in its version. A change does not read those of ``not_read``.
    """

    name: str
    plural: str
    model: type[Row]
    owners: tuple[str, ...]
    upkeep: frozenset[str]
    worked_out: frozenset[str]
    not_read: tuple[str, ...] = ("search",)

    @property
    def rows(self) -> StatementQuerySet[Row]:
        """All of them."""
        rows: StatementQuerySet[Row] = self.model._default_manager.all()  # type: ignore[assignment]
        return rows

    def legacy_of(self, row: Row) -> UUID | None:
        """The legacy that a statement is about, none where it is about its person."""
        legacy_id: UUID | None = getattr(row, self.owners[1]) if len(self.owners) > 1 else None
        return legacy_id


class StatementVersion(models.Model):
    """How a statement read from one change to the next. Numbers run from 1 without holes; the last is the statement.

    ``recorded_from`` and ``recorded_to``, with the person's revisions at those moments, say when it was what is kept.
    ``written_by`` says whose wording it is; the actor is who put it there. A trigger keeps what was recorded, and lets
    rows go only in a purge.
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
    """The message that says what is kept, and the words that say it."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="+")
    quote = models.CharField(max_length=500)

    class Meta:
        abstract = True


def version_constraints(name: str) -> list[models.BaseConstraint]:
    """What keeps the versions of the statement in the column ``name`` in order, and one of them the current."""
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

    It holds no text: a keyed fingerprint of the normalised words and the vector. When the person says the thing again
    themselves, the suppression is removed.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="suppressions")
    legacy = models.ForeignKey(Legacy, on_delete=models.CASCADE, null=True, related_name="+")
    fingerprint = models.CharField(max_length=64)
    object_id = models.CharField(max_length=36)
    embedding = HalfVectorField(null=True, editable=False)
    embedding_model = models.CharField(max_length=80, blank=True, default="")
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
    """Marks a fact or a memory that may be out of date: what it rests on, or was made of, has changed.

    ``rev`` is the person's revision of that change; the latest counts. It is settled by whatever the person decides
    about the statement after that.
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
    """Something that was found in what a person said, over a cap: it waits to be written as a fact or a memory.

    ``rank`` is what ``policy.urgency`` says of it. With ``explicit`` the person asked for it to be remembered. It goes
    where its ``quote`` is withheld.
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
