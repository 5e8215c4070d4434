"""Tables of facts, their versions, evidence and links."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Length
from django.db.models.lookups import Range
from django.utils import timezone

from accounts.models import Legacy, User
from retrieval.fields import Searchable
from statements.models import UPKEEP, Evidence, Statement, StatementKind, StatementVersion, version_constraints

from .querysets import FactQuerySet


class LegacyFact(Statement):
    """A statement of one member about a legacy. Private until the member shares it.

    ``hidden_at`` is set while staff hide the fact, also while its author has archived it. ``quarantined_at`` is set
    while it is quarantined, also while its author has archived or rejected it.
    """

    noun = "fact"

    class Category(models.TextChoices):
        PERSONALITY = "personality"
        HOBBY = "hobby"
        RELATIONSHIP = "relationship"
        MILESTONE = "milestone"
        OCCUPATION = "occupation"
        PREFERENCE = "preference"
        HABIT = "habit"
        OTHER = "other"

    class Visibility(models.TextChoices):
        PRIVATE = "private"
        SHARED = "shared"

    class State(models.TextChoices):
        PROPOSED = "proposed"  # -> active, rejected, quarantined
        ACTIVE = "active"  # -> archived, hidden, quarantined
        ARCHIVED = "archived"  # -> active, hidden or quarantined (restored), gone (purged)
        REJECTED = "rejected"  # -> active or quarantined (restored), gone (purged)
        HIDDEN = "hidden"  # -> active, by staff; -> archived
        QUARANTINED = "quarantined"  # -> active or proposed (reworded, released), rejected, archived

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # No index of the legacy alone: the planner would choose it instead of fact_vectors.
    legacy = models.ForeignKey(Legacy, on_delete=models.CASCADE, related_name="facts", db_index=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="facts")
    category = models.CharField(max_length=20, choices=Category.choices)
    content = models.CharField(max_length=500)
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.PRIVATE)
    state = models.CharField(max_length=12, choices=State.choices, default=State.ACTIVE)
    source_index = models.PositiveIntegerField(null=True)
    extracted_at = models.DateTimeField(default=timezone.now)
    active_since = models.DateTimeField(null=True)
    shared_since = models.DateTimeField(null=True)
    hidden_at = models.DateTimeField(null=True)
    quarantined_at = models.DateTimeField(null=True)

    objects = FactQuerySet.as_manager()

    class Meta:
        constraints = [
            *Searchable.Meta.constraints,
            models.CheckConstraint(condition=Q(Range(Length("content"), (5, 500))), name="fact_content_length"),
            models.CheckConstraint(
                condition=Q(
                    category__in=[
                        "personality",
                        "hobby",
                        "relationship",
                        "milestone",
                        "occupation",
                        "preference",
                        "habit",
                        "other",
                    ]
                ),
                name="fact_category_known",
            ),
            models.CheckConstraint(condition=Q(visibility__in=["private", "shared"]), name="fact_visibility_known"),
            models.CheckConstraint(
                condition=Q(state__in=["proposed", "active", "archived", "rejected", "hidden", "quarantined"]),
                name="fact_state_known",
            ),
            # Only active facts can be shared.
            models.CheckConstraint(
                condition=Q(visibility="private") | Q(state="active"),
                name="fact_shared_only_while_active",
            ),
            models.CheckConstraint(
                condition=Q(state="hidden", hidden_at__isnull=False)
                | Q(state="archived")
                | ~Q(state__in=["hidden", "archived"]) & Q(hidden_at__isnull=True),
                name="fact_hidden_means_dated",
            ),
            # A quarantined fact is quarantined again when it is restored.
            models.CheckConstraint(
                condition=Q(state="quarantined", quarantined_at__isnull=False)
                | Q(state__in=["archived", "rejected"])
                | ~Q(state__in=["quarantined", "archived", "rejected"]) & Q(quarantined_at__isnull=True),
                name="fact_quarantined_means_dated",
            ),
            models.CheckConstraint(
                condition=Q(embedding__isnull=False) | Q(index_not_before__isnull=False),
                name="fact_without_vector_waits",
            ),
            # Conversations keep the facts block of their first turn; these times tell which facts it contained.
            models.CheckConstraint(
                condition=Q(state="active", active_since__isnull=False)
                | ~Q(state="active") & Q(active_since__isnull=True),
                name="fact_active_means_since",
            ),
            models.CheckConstraint(
                condition=Q(visibility="shared", shared_since__isnull=False)
                | Q(visibility="private", shared_since__isnull=True),
                name="fact_shared_means_since",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["archived", "rejected"], deleted_at__isnull=False, purge_at__isnull=False)
                | ~Q(state__in=["archived", "rejected"]) & Q(deleted_at__isnull=True, purge_at__isnull=True),
                name="fact_gone_means_dated",
            ),
        ]
        indexes = [
            # A covering index with vectors and visibility columns, for nearest neighbours and centres.
            models.Index(
                fields=["legacy", "state", "embedding_model"],
                include=["id", "user", "visibility", "search_config", "embedding"],
                name="fact_vectors",
            ),
            models.Index(fields=["user", "legacy", "state"], name="fact_by_user"),
            models.Index(fields=["-extracted_at"], name="fact_by_time"),
            # Facts that wait for a moderator: few rows of a large table.
            models.Index(
                fields=["state", "updated_at"], condition=Q(state__in=["quarantined", "hidden"]), name="fact_moderated"
            ),
            models.Index(fields=["purge_at"], condition=Q(purge_at__isnull=False), name="fact_by_purge"),
            models.Index(fields=["user", "legacy", "fingerprint"], name="fact_by_fingerprint"),
            models.Index(
                fields=["index_not_before"], condition=Q(index_not_before__isnull=False), name="fact_unindexed"
            ),
        ]

    def __str__(self) -> str:
        return f"fact {self.id}"


class FactVersion(StatementVersion):
    """A wording and category of a fact."""

    fact = models.ForeignKey(LegacyFact, on_delete=models.CASCADE, related_name="versions")
    content = models.CharField(max_length=500)
    category = models.CharField(max_length=20)

    class Meta:
        constraints = version_constraints("fact")

    def __str__(self) -> str:
        return f"version {self.number} of {self.fact_id}"


FACT = StatementKind(
    "fact",
    "facts",
    LegacyFact,
    FactVersion,
    ("user_id", "legacy_id"),
    upkeep=UPKEEP,
    worked_out=UPKEEP
    | {"content", "search_text", "search_config", "search_length", "active_since", "shared_since", "updated_at"}
    | {"deleted_at", "purge_at"},
    worded=("content", "category", "written_by"),
)


class FactEvidence(Evidence):
    """A message that a fact was learned from, with the quoted words."""

    fact = models.ForeignKey(LegacyFact, on_delete=models.CASCADE, related_name="evidence")

    class Meta:
        verbose_name_plural = "fact evidence"
        constraints = [models.UniqueConstraint(fields=["fact", "message"], name="fact_evidence_once")]

    def __str__(self) -> str:
        return f"evidence of {self.fact_id}"


class FactLink(models.Model):
    """Two facts about a legacy that are duplicates or contradict each other. Visible to those who can see both."""

    class Kind(models.TextChoices):
        DUPLICATE = "duplicate"
        CONTRADICTS = "contradicts"

    from_fact = models.ForeignKey(LegacyFact, on_delete=models.CASCADE, related_name="links_from")
    to_fact = models.ForeignKey(LegacyFact, on_delete=models.CASCADE, related_name="links_to")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    strength = models.FloatField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["from_fact", "to_fact", "kind"], name="fact_link_once"),
            models.CheckConstraint(condition=~Q(from_fact=F("to_fact")), name="fact_link_not_to_itself"),
            models.CheckConstraint(condition=Q(kind__in=["duplicate", "contradicts"]), name="fact_link_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.from_fact_id} {self.to_fact_id}"
