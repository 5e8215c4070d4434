"""Tables of conversations, messages, their summaries (chunks), redactions (``Withheld``) and imports."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import IntegerRangeField, RangeBoundary, RangeOperators
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.functions import Length
from django.db.models.lookups import Range
from django.utils import timezone

from accounts.models import Agent, Legacy, User
from retrieval.fields import Searchable

from ..querysets import (
    OPEN_IMPORTS,
    ChunkQuerySet,
    ConversationQuerySet,
    ImportQuerySet,
    MessageQuerySet,
    WithheldQuerySet,
)

_IMPORT_STATES = ["storing", "waiting", "checking", "writing", "reading", "done", "failed", "cancelled", "undoing",
                  "undone"]  # fmt: skip


class ConversationImport(models.Model):
    """The import of a file with a person's history. Its job does the work and holds the lease.

    ``digest`` is the file's SHA-256. ``position`` is the number of the file's conversations imported or found already
    there. ``survey`` counts what the file holds, ``outcome`` what became of it. Only the person sees ``notes`` and
    ``error``.
    """

    class State(models.TextChoices):
        STORING = "storing"  # -> waiting
        WAITING = "waiting"  # -> checking, cancelled
        CHECKING = "checking"  # -> writing, failed, cancelled
        WRITING = "writing"  # -> reading, failed, cancelled
        READING = "reading"  # -> done, failed, cancelled
        DONE = "done"  # -> undoing
        FAILED = "failed"  # -> undoing
        CANCELLED = "cancelled"  # -> undoing
        UNDOING = "undoing"  # -> undone
        UNDONE = "undone"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    legacy = models.ForeignKey(Legacy, on_delete=models.CASCADE, null=True, related_name="+")
    title = models.CharField(max_length=200, blank=True)
    file_name = models.CharField(max_length=255, blank=True)
    form = models.CharField(max_length=20)
    size = models.PositiveBigIntegerField()
    digest = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    files = models.JSONField(default=list)
    position = models.PositiveIntegerField(default=0)
    survey = models.JSONField(default=dict)
    outcome = models.JSONField(default=dict)
    notes = models.JSONField(default=list)
    error = models.CharField(max_length=600, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)

    objects = ImportQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=_IMPORT_STATES), name="import_state_known"),
        ]
        indexes = [
            models.Index(fields=["user", "-created_at"], name="import_by_user"),
            models.Index(fields=["created_at"], condition=Q(state__in=[*OPEN_IMPORTS]), name="import_open"),
        ]

    def __str__(self) -> str:
        return f"import {self.id} {self.state}"

    @property
    def is_open(self) -> bool:
        """Whether the import has not ended yet."""
        return self.state in OPEN_IMPORTS


class ImportPart(models.Model):
    """A compressed piece of an upload, deleted when the import ends. ``file`` counts the upload's files from 0.

    It is in the database because the worker may run on another machine than the web server.
    """

    upload = models.ForeignKey(ConversationImport, on_delete=models.CASCADE, related_name="parts", db_index=False)
    file = models.PositiveSmallIntegerField()
    number = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["upload", "file", "number"], name="import_part_once")]

    def __str__(self) -> str:
        return f"part {self.number} of file {self.file} of import {self.upload_id}"


class Conversation(models.Model):
    """A conversation of one person with an agent, optionally about a legacy.

    ``message_count`` and ``summarized_upto`` are counts: chunks cover the messages 0 … summarized_upto-1.
    ``block_at`` is the time that the prompts' facts block is pinned to, ``block_rev`` the person's revision at that
    time, which the memory block is pinned to. The two digests are of the texts shown, to detect changes to a pinned
    block. ``told_rev`` is the revision up to which changes were reported to the conversation, ``seen_rev`` its value at
    the last reply. ``brought_messages`` is the number of its first messages that came from the import
    ``brought_by``.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="conversations")
    legacy = models.ForeignKey(Legacy, on_delete=models.CASCADE, null=True, related_name="conversations")
    agent = models.ForeignKey(Agent, on_delete=models.SET_NULL, null=True, related_name="conversations")
    brought_by = models.ForeignKey(
        ConversationImport, on_delete=models.SET_NULL, null=True, related_name="conversations", db_index=False
    )
    brought_messages = models.PositiveIntegerField(default=0)
    title = models.CharField(max_length=200, blank=True)
    channel = models.CharField(max_length=40, blank=True)
    external_id = models.CharField(max_length=255, blank=True)
    private = models.BooleanField(default=False)
    message_count = models.PositiveIntegerField(default=0)
    summarized_upto = models.PositiveIntegerField(default=0)
    block_at = models.DateTimeField(null=True)
    block_rev = models.BigIntegerField(null=True)
    block_digest = models.CharField(max_length=40, blank=True, default="", db_default="")
    facts_digest = models.CharField(max_length=40, blank=True, default="", db_default="")
    seen_rev = models.BigIntegerField(default=0, db_default=0)
    told_rev = models.BigIntegerField(default=0, db_default=0)
    finished_at = models.DateTimeField(null=True)
    last_message_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(summarized_upto__lte=F("message_count")), name="conversation_summarized_within_count"
            ),
            models.UniqueConstraint(
                fields=["user", "agent", "channel", "external_id"],
                nulls_distinct=False,
                condition=~Q(external_id=""),
                name="conversation_external_id_once",
            ),
            # The target of the composite foreign keys that keep messages and chunks with their person.
            models.UniqueConstraint(fields=["id", "user"], name="conversation_of_user"),
        ]
        indexes = [
            models.Index(fields=["user", "-created_at"], name="conversation_by_user"),
            models.Index(fields=["brought_by"], condition=Q(brought_by__isnull=False), name="conversation_by_import"),
            models.Index(fields=["-created_at"], name="conversation_by_time"),
            # The sweep looks for unsummarised conversations; almost all rows are not in this index.
            models.Index(
                fields=["last_message_at"],
                condition=Q(message_count__gt=F("summarized_upto")),
                name="conversation_unsummarized",
            ),
        ]

    def __str__(self) -> str:
        return f"conversation {self.id}"

    @property
    def is_as_brought(self) -> bool:
        """Whether every message came from the import that created the conversation."""
        return self.message_count == self.brought_messages

    @property
    def unsummarized(self) -> int:
        """The number of messages not yet summarised; always 0 for a private conversation."""
        return 0 if self.private else self.message_count - self.summarized_upto

    def is_pinned(self, now: datetime) -> bool:
        """Whether the pin is valid: until IDLE_FINISH_SECONDS after the pin and after the last message."""
        if self.block_at is None or self.block_rev is None:
            return False
        last = max(self.block_at, self.last_message_at or self.block_at)
        return last > now - timedelta(seconds=settings.IDLE_FINISH_SECONDS)


class Message(Searchable):
    """A message. ``user``, ``legacy``, ``private`` repeat the conversation's, so that a search reads one index.

    ``processed``: memories were extracted from it alone. ``declined``: not to be remembered. ``held_until``: until then
    the person is being asked whether to remember it; not after ``at`` if they agreed. ``reading_due``: when memories
    are to be extracted from it alone (null: by its batch). ``voice``: who sent a live message, the person or an agent
    in a turn. ``memory_off``: nothing is learned of it. ``unjudged``: an agent's, not compared by meaning yet.
    """

    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"
        SYSTEM = "system"
        TOOL = "tool"

    class Voice(models.TextChoices):
        OWN = "own"
        RELAYED = "relayed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # message_index_once begins with the conversation.
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="messages", db_index=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    legacy = models.ForeignKey(Legacy, on_delete=models.CASCADE, null=True, related_name="+")
    private = models.BooleanField(default=False)
    index = models.PositiveIntegerField()
    role = models.CharField(max_length=10, choices=Role.choices)
    speaker = models.CharField(max_length=100, blank=True)
    content = models.TextField()
    tokens = models.PositiveIntegerField()
    at = models.DateTimeField()
    created_at = models.DateTimeField(default=timezone.now)
    processed = models.BooleanField(default=False, db_default=False)
    declined = models.BooleanField(default=False, db_default=False)
    held_until = models.DateTimeField(null=True)
    reading_due = models.DateTimeField(null=True)
    memory_off = models.BooleanField(default=False, db_default=False)
    voice = models.CharField(max_length=7, choices=Voice.choices, blank=True, default="", db_default="")
    unjudged = models.BooleanField(default=False, db_default=False)
    index_attempts = models.PositiveSmallIntegerField(default=0)
    index_not_before = models.DateTimeField(default=timezone.now)

    objects = MessageQuerySet.as_manager()

    class Meta(Searchable.Meta):
        abstract = False
        constraints = [
            *Searchable.Meta.constraints,
            models.UniqueConstraint(fields=["conversation", "index"], name="message_index_once"),
            models.CheckConstraint(
                condition=Q(role__in=["user", "assistant", "system", "tool"]), name="message_role_known"
            ),
            models.CheckConstraint(condition=Q(Range(Length("content"), (1, 32_000))), name="message_content_length"),
            models.CheckConstraint(
                condition=Q(reading_due__isnull=True) | Q(declined=False, processed=False),
                name="message_read_once_if_at_all",
            ),
        ]
        indexes = [
            # Vector search is an index-only scan: the index holds the vectors and the columns of access control.
            models.Index(
                fields=["user", "legacy", "embedding_model"],
                include=["id", "conversation", "search_config", "embedding"],
                condition=Q(private=False),
                name="message_vectors",
            ),
            models.Index(fields=["index_not_before"], condition=Q(embedding__isnull=True), name="message_unindexed"),
            models.Index(fields=["reading_due"], condition=Q(reading_due__isnull=False), name="message_reading_due"),
            models.Index(
                fields=["user"],
                condition=Q(declined=True) | Q(held_until__isnull=False) | Q(memory_off=True),
                include=["id", "declined", "held_until", "memory_off"],
                name="message_not_recalled",
            ),
        ]

    def __str__(self) -> str:
        return f"message {self.index} of {self.conversation_id}"

    def is_open(self, now: datetime, *, asked: bool = False) -> bool:
        """Whether it may be summarised and learned from: not declined, not held, not said with memory switched off.

        ``asked``: the person has agreed, so a hold does not count.
        """
        is_held = self.held_until is not None and self.held_until > now
        return not self.declined and not self.memory_off and (asked or not is_held)


class ConversationChunk(Searchable):
    """A summary of messages ``message_range_start`` (included) to ``message_range_end`` (excluded).

    Always stored with its vector. The ranges of a conversation neither repeat nor overlap. ``hidden_since`` is when
    words of its messages were withheld or restored: it is hidden until a job has rewritten it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # chunk_range_once begins with the conversation.
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="chunks", db_index=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    legacy = models.ForeignKey(Legacy, on_delete=models.CASCADE, null=True, related_name="+")
    private = models.BooleanField(default=False)
    content = models.TextField()
    written_by = models.CharField(max_length=80)
    message_range_start = models.PositiveIntegerField()
    message_range_end = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=timezone.now)
    hidden_since = models.DateTimeField(null=True)
    is_cut = models.BooleanField(default=False, db_default=False)  # No model was there to write it.

    objects = ChunkQuerySet.as_manager()

    class Meta(Searchable.Meta):
        abstract = False
        constraints = [
            *Searchable.Meta.constraints,
            models.CheckConstraint(condition=Q(embedding__isnull=False), name="chunk_has_vector"),
            models.CheckConstraint(
                condition=Q(message_range_end__gt=F("message_range_start")), name="chunk_range_not_empty"
            ),
            models.UniqueConstraint(
                fields=["conversation", "message_range_start", "message_range_end"], name="chunk_range_once"
            ),
            ExclusionConstraint(
                name="chunk_ranges_do_not_overlap",
                expressions=[
                    ("conversation", RangeOperators.EQUAL),
                    (
                        Func(
                            F("message_range_start"),
                            F("message_range_end"),
                            RangeBoundary(),
                            function="int4range",
                            output_field=IntegerRangeField(),
                        ),
                        RangeOperators.OVERLAPS,
                    ),
                ],
            ),
        ]
        indexes = [
            models.Index(
                fields=["user", "legacy", "embedding_model"],
                include=["id", "conversation", "search_config", "embedding"],
                condition=Q(private=False, hidden_since__isnull=True),
                name="chunk_readable_vectors",
            ),
            models.Index(
                fields=["hidden_since"], condition=Q(hidden_since__isnull=False), name="chunk_to_be_written_anew"
            ),
            models.Index(fields=["conversation"], condition=Q(is_cut=True), name="chunk_that_is_cut"),
        ]

    def __str__(self) -> str:
        return f"chunk {self.message_range_start}-{self.message_range_end} of {self.conversation_id}"


class Withheld(models.Model):
    """Words that a person withheld: ``text`` is the characters ``start`` to ``end`` of the original text.

    ``object_type`` and ``object_id`` name the text's row: a message, a conversation's title or a quotation of a
    message. Several causes may withhold the same words; they are restored when no cause is left. ``message`` is the
    message that holds the words, for a title a message that it repeats. ``digest`` is the keyed digest of the whole
    text, by which an import recognises it; ``keyed_by`` is the account whose export it came with, if any. After
    ``erase_at``, or when the message is deleted, ``text`` is emptied; the row stays for the digest and the positions.
    """

    class Cause(models.TextChoices):
        MEMORY = "memory"
        FACT = "fact"
        PROPOSAL = "proposal"
        MESSAGE = "message"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.SET_NULL, null=True, related_name="+")
    message = models.ForeignKey(Message, on_delete=models.SET_NULL, null=True, related_name="+")
    object_type = models.CharField(max_length=60)
    object_id = models.CharField(max_length=36)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    text = models.TextField()
    digest = models.CharField(max_length=64)
    keyed_by = models.UUIDField(null=True, editable=False)
    cause_type = models.CharField(max_length=10, choices=Cause.choices)
    cause_id = models.CharField(max_length=36)
    created_at = models.DateTimeField(default=timezone.now)
    erase_at = models.DateTimeField()

    objects = WithheldQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["object_type", "object_id", "start", "end", "cause_type", "cause_id"], name="withheld_once"
            ),
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="withheld_not_empty"),
            models.CheckConstraint(
                condition=Q(cause_type__in=["memory", "fact", "proposal", "message"]), name="withheld_cause"
            ),
        ]
        indexes = [
            models.Index(fields=["user", "-created_at"], name="withheld_by_user"),
            models.Index(fields=["user", "cause_type", "cause_id"], name="withheld_by_cause"),
            models.Index(fields=["erase_at"], condition=~Q(text=""), name="withheld_to_be_erased"),
        ]

    def __str__(self) -> str:
        return f"withheld words {self.id}"
