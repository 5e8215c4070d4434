"""Memories, versions, evidence, uses, relations and disclosures."""

from __future__ import annotations

import secrets
import string
import uuid

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Length
from django.db.models.lookups import Range
from django.utils import timezone

from accounts.models import Agent, User
from conversations.models import Conversation
from retrieval.fields import Searchable
from statements.models import UPKEEP, Evidence, Statement, StatementKind, StatementVersion, version_constraints

from ..querysets import DisclosureQuerySet, MemoryQuerySet, MemoryVersionQuerySet, RelationQuerySet

ID_CHARACTERS = 8
RESERVED_IDS = frozenset({"document", "optimize"})
"""Words of eight letters that are paths below ``memories/``; an id is never one of them."""

_ALPHABET = string.ascii_letters + string.digits
_draw = secrets.randbelow


def new_memory_id() -> str:
    """Generate an id of eight characters A-Z, a-z, 0-9, short enough for prompt lines. Retry if it is taken."""
    while True:
        # One call for all characters is several times as fast.
        drawn, made = _draw(len(_ALPHABET) ** ID_CHARACTERS), ""
        for _ in range(ID_CHARACTERS):
            drawn, place = divmod(drawn, len(_ALPHABET))
            made += _ALPHABET[place]
        if made not in RESERVED_IDS:
            return made


class Kind(models.TextChoices):
    """The kind of a memory."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    INSIGHT = "insight"
    PROCEDURAL = "procedural"


class Worded(models.Model):
    """Columns that memories and versions share."""

    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.SEMANTIC)
    category = models.CharField(max_length=50)
    field = models.CharField(max_length=20, blank=True)
    subject = models.CharField(max_length=200, blank=True)
    topics = ArrayField(models.CharField(max_length=50), default=list, blank=True)
    content = models.CharField(max_length=4_000)
    # Data of the client that wrote it; never part of a prompt.
    metadata = models.JSONField(default=dict, db_default={}, blank=True)
    # Validity as far as known; not the time of storage.
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    # When it was said according to its evidence, perhaps years before it was stored.
    said_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


class Memory(Worded, Statement):
    """A statement about a person.

    Category, subject, topics and metadata may have changed since the current version. ``tokens`` are those of its line
    in the memory block. ``in_block``: it is in the block while active, since its category is and its kind is semantic.
    ``active_rev`` is the person's revision at which it last became active.
    """

    noun = "memory"

    class Field(models.TextChoices):
        PREFERRED_NAME = "preferred_name"
        PRONOUNS = "pronouns"
        CITY = "city"
        LANGUAGE = "language"
        TONE = "tone"
        GOAL = "goal"

    class State(models.TextChoices):
        PROPOSED = "proposed"  # -> active, rejected, gone (lapsed)
        ACTIVE = "active"  # -> archived, rejected, quarantined
        ARCHIVED = "archived"  # -> active (restored), gone (purged)
        REJECTED = "rejected"  # -> active, proposed (undone), gone (purged)
        QUARANTINED = "quarantined"  # -> active, rejected

    class DeletedWhy(models.TextChoices):
        PERSON = "person"
        AGENT = "agent"
        REJECTED = "rejected"
        TTL = "ttl"
        EVICTED = "evicted"
        REPLACED = "replaced"
        MERGED = "merged"
        STAFF = "staff"
        WITHHELD = "withheld"
        UNFOUNDED = "unfounded"

    id = models.CharField(primary_key=True, max_length=ID_CHARACTERS, default=new_memory_id, editable=False)
    # memory_vectors begins with the user.
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memories", db_index=False)
    # memory_by_agent lacks the rows that name none.
    agent = models.ForeignKey(Agent, on_delete=models.SET_NULL, null=True, related_name="memories", db_index=False)
    external_id = models.CharField(max_length=255, blank=True)
    run_id = models.CharField(max_length=100, blank=True)
    actor_id = models.CharField(max_length=100, blank=True)
    role = models.CharField(max_length=20, blank=True)
    in_block = models.BooleanField(default=False, editable=False)
    importance = models.PositiveSmallIntegerField(default=2)
    pinned = models.BooleanField(default=False)
    # Stored byte for byte, and never merged, unless imported.
    verbatim = models.BooleanField(default=False, db_default=False)
    # The import that created it. Only imports write it, and it outlives the import's row.
    brought_by = models.UUIDField(null=True, editable=False)
    state = models.CharField(max_length=12, choices=State.choices, default=State.ACTIVE)
    needs_check = models.BooleanField(default=False)  # A possible duplicate, to be checked by consolidation.
    active_rev = models.BigIntegerField(null=True)
    expires_at = models.DateTimeField(null=True)
    deleted_why = models.CharField(max_length=10, choices=DeletedWhy.choices, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = MemoryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "memories"
        constraints = [
            *Searchable.Meta.constraints,
            # Foreign keys of versions, relations and uses include the person.
            models.UniqueConstraint(fields=["user", "id"], name="memory_of_user"),
            models.UniqueConstraint(
                fields=["user", "agent", "external_id"],
                nulls_distinct=False,
                condition=~Q(external_id=""),
                name="memory_external_id_once",
            ),
            models.UniqueConstraint(
                fields=["user", "field"],
                condition=Q(state="active") & ~Q(field__in=["", "goal"]),
                name="memory_field_active_once",
            ),
            models.CheckConstraint(
                condition=Q(Range(Length("content"), (5, 500)))
                | Q(kind="procedural") & Q(Range(Length("content"), (5, 4_000)))
                | Q(verbatim=True) & Q(Range(Length("content"), (1, 4_000))),
                name="memory_content_length",
            ),
            models.CheckConstraint(condition=Q(id__regex=r"^[A-Za-z0-9]{8}$"), name="memory_id_form"),
            models.CheckConstraint(
                condition=Q(kind__in=["semantic", "episodic", "insight", "procedural"]), name="memory_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(field__in=["", "preferred_name", "pronouns", "city", "language", "tone", "goal"]),
                name="memory_field_known",
            ),
            models.CheckConstraint(condition=Q(field="") | Q(subject=""), name="memory_field_is_about_the_user"),
            models.CheckConstraint(condition=Q(Range(F("importance"), (1, 5))), name="memory_importance_1_to_5"),
            models.CheckConstraint(
                condition=Q(state__in=["proposed", "active", "archived", "rejected", "quarantined"]),
                name="memory_state_known",
            ),
            models.CheckConstraint(
                condition=Q(state="active", active_rev__isnull=False) | ~Q(state="active") & Q(active_rev__isnull=True),
                name="memory_active_means_since",
            ),
            models.CheckConstraint(
                condition=(
                    Q(state__in=["archived", "rejected"], deleted_at__isnull=False, purge_at__isnull=False)
                    & ~Q(deleted_why="")
                )
                | (
                    ~Q(state__in=["archived", "rejected"])
                    & Q(deleted_at__isnull=True, purge_at__isnull=True, deleted_why="")
                ),
                name="memory_gone_means_dated",
            ),
            models.CheckConstraint(
                condition=Q(embedding__isnull=False) | Q(index_not_before__isnull=False),
                name="memory_without_vector_waits",
            ),
            models.CheckConstraint(
                condition=Q(valid_from__isnull=True) | Q(valid_to__isnull=True) | Q(valid_to__gte=F("valid_from")),
                name="memory_valid_in_order",
            ),
        ]
        indexes = [
            # Covering index of vector searches: vectors, and the columns that decide visibility.
            models.Index(
                fields=["user", "state", "embedding_model"],
                include=["id", "kind", "category", "search_config", "embedding"],
                name="memory_vectors",
            ),
            # The block in rendering order, and eviction.
            models.Index(
                fields=["user", "category", "created_at", "id"],
                condition=Q(state="active", in_block=True),
                name="memory_block",
            ),
            models.Index(fields=["user", "fingerprint"], name="memory_by_fingerprint"),
            models.Index(fields=["user", "-updated_at", "id"], name="memory_by_update"),
            models.Index(fields=["-created_at"], name="memory_by_time"),
            # Unreviewed memories: the review queue and its counts.
            models.Index(
                fields=["user", "created_at"],
                condition=Q(state="active") & (Q(reviewed_at__isnull=True) | Q(needs_check=True)),
                name="memory_to_review",
            ),
            # The moderation queue.
            models.Index(fields=["updated_at"], condition=Q(state="quarantined"), name="memory_moderated"),
            models.Index(fields=["purge_at"], condition=Q(purge_at__isnull=False), name="memory_by_purge"),
            models.Index(
                fields=["expires_at"], condition=Q(expires_at__isnull=False, state="active"), name="memory_by_expiry"
            ),
            models.Index(
                fields=["index_not_before"], condition=Q(index_not_before__isnull=False), name="memory_unindexed"
            ),
            models.Index(fields=["agent"], condition=Q(agent__isnull=False), name="memory_by_agent"),
        ]

    def __str__(self) -> str:
        return f"memory {self.id}"


class MemoryVersion(Worded, Searchable, StatementVersion):
    """A wording of a memory.

    ``valid_from`` and ``valid_to`` say when it was true. Vectors, and ends of spans, may be set later.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="versions", db_index=False)
    reason = models.CharField(max_length=200, blank=True)
    source_conversation = models.ForeignKey(
        Conversation, on_delete=models.SET_NULL, null=True, related_name="+", db_index=False
    )

    objects = MemoryVersionQuerySet.as_manager()

    class Meta:
        constraints = [
            *Searchable.Meta.constraints,
            *version_constraints("memory"),
        ]
        indexes = [
            models.Index(fields=["user", "memory", "-number"], name="memory_version_by_user"),
            models.Index(
                fields=["source_conversation"],
                condition=Q(source_conversation__isnull=False),
                name="memory_version_by_conversation",
            ),
        ]

    def __str__(self) -> str:
        return f"version {self.number} of {self.memory_id}"


MEMORY = StatementKind(
    "memory",
    "memories",
    Memory,
    MemoryVersion,
    ("user_id",),
    upkeep=UPKEEP | {"needs_check"},
    worked_out=UPKEEP | {"content", "said_at", "search_text", "search_config", "active_rev", "updated_at"},
    worded=("user_id", "kind", "category", "field", "subject", "topics", "metadata", "content", "valid_from",
            "valid_to", "said_at", "embedding", "embedding_model", "search_config", "search_text", "search_length",
            "written_by"),
    not_read=("embedding", "search", "search_config", "search_text"),
)  # fmt: skip


class MemoryEvidence(Evidence):
    """Evidence of a version: the message and the quote."""

    # memory_evidence_once begins with the version.
    version = models.ForeignKey(MemoryVersion, on_delete=models.CASCADE, related_name="evidence", db_index=False)

    class Meta:
        verbose_name_plural = "memory evidence"
        constraints = [models.UniqueConstraint(fields=["version", "message"], name="memory_evidence_once")]

    def __str__(self) -> str:
        return f"evidence of {self.version_id}"


class MemoryUse(models.Model):
    """How often, and when last, agents recalled a memory. A table of its own, so that recall updates no other index.

    Being in a block, viewed or edited by the person, or repeated does not count.
    """

    memory = models.OneToOneField(Memory, on_delete=models.CASCADE, primary_key=True, related_name="use")
    uses = models.PositiveIntegerField(default=0)
    last_used_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"use of {self.memory_id}"


class Relation(models.Model):
    """A relation between two memories of a person."""

    class Type(models.TextChoices):
        RELATED_TO = "related_to"
        SUPERSEDES = "supersedes"
        DERIVED_FROM = "derived_from"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # Migration 0003 adds composite foreign keys with the person, so single-column ones would be redundant.
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False)
    from_memory = models.ForeignKey(
        Memory, on_delete=models.CASCADE, related_name="relations_from", db_index=False, db_constraint=False
    )
    to_memory = models.ForeignKey(
        Memory, on_delete=models.CASCADE, related_name="relations_to", db_index=False, db_constraint=False
    )
    type = models.CharField(max_length=12, choices=Type.choices)
    strength = models.FloatField()
    created_at = models.DateTimeField(default=timezone.now)

    objects = RelationQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["to_memory"], name="relation_to")]
        constraints = [
            models.UniqueConstraint(fields=["from_memory", "to_memory", "type"], name="relation_once"),
            models.CheckConstraint(condition=~Q(from_memory=F("to_memory")), name="relation_not_to_itself"),
            models.CheckConstraint(
                condition=Q(type__in=["related_to", "supersedes", "derived_from"]), name="relation_type_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.from_memory_id} {self.to_memory_id}"


class Disclosure(models.Model):
    """The memories disclosed to an agent by one response: their ids in order, without text.

    ``by``: by a search, the memory block, or a turn. Written after the response, and kept as long as operations.
    """

    class By(models.TextChoices):
        QUERY = "query"
        CONTEXT = "context"
        TURN = "turn"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="disclosures", db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="+")
    conversation = models.ForeignKey(Conversation, on_delete=models.SET_NULL, null=True, related_name="+")
    by = models.CharField(max_length=10, choices=By.choices)
    memories = ArrayField(models.CharField(max_length=8))
    at = models.DateTimeField(default=timezone.now)

    objects = DisclosureQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(by__in=["query", "context", "turn"]), name="disclosure_by_known"),
        ]
        indexes = [
            models.Index(fields=["user", "-at"], name="disclosure_by_user"),
            models.Index(fields=["at"], name="disclosure_by_time"),
            # Disclosures of one memory, out of many thousands per agent.
            GinIndex(fields=["memories"], name="disclosure_by_memory"),
        ]

    def __str__(self) -> str:
        return f"disclosure {self.pk}"
