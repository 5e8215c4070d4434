"""Querysets of the room's tables: who may read which rows, and named filters."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Self, TypeVar
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Cast

from accounts.policy import sees_everything
from accounts.querysets import Rows, own_rows
from journal.exceptions import must_find
from journal.models import Erasure, JobRun
from language.fillers import FILLERS

from .passages import MARK

if TYPE_CHECKING:
    from accounts.principals import Principal

    from .models import (  # noqa: F401 - named in the generic bases
        Checkpoint,
        CheckpointWrite,
        Conversation,
        ConversationChunk,
        ConversationImport,
        Message,
        Withheld,
    )

OPEN_IMPORTS = ("waiting", "checking", "writing", "reading", "undoing")

QUOTES_WITHHELD = Q(quote=MARK) | Q(message__content=MARK)
"""The condition for evidence whose words are withheld, whatever for."""

Said = TypeVar("Said", bound=models.Model)


class ConversationQuerySet(models.QuerySet["Conversation"]):
    """Conversations of the person."""

    def visible_to(self, principal: Principal) -> ConversationQuerySet:
        """Return all for staff, the person's own for a person, and for an agent those that it owns.

        An agent also gets the person's other conversations if its sources include turns and the person allows earlier
        conversations to be quoted, except private ones and those in which anything was said with memory switched off.
        Agents that can't take its erasure back get none that waits for it.
        """
        own = _kept(self, principal, "pk")
        if principal.kind != "agent":
            return own
        held = Q(agent_id=principal.agent_id)
        if not _reads_others(principal, "turns"):
            return own.filter(held)
        return own.filter(held | Q(private=False)).exclude(
            pk__in=_memory_off_elsewhere(principal).values("conversation")
        )

    def must_find(self, conversation_id: UUID) -> Conversation:
        """Return the conversation with this id. Raises NotFound when it is not in the queryset."""
        return must_find(self.filter(pk=conversation_id).first(), "conversation")

    def with_unsummarized_over(self, threshold: int) -> ConversationQuerySet:
        """Filter for conversations with more than ``threshold`` unsummarised messages, without private ones."""
        beyond = F("summarized_upto") + threshold
        return self.filter(private=False, message_count__gt=F("summarized_upto")).filter(message_count__gt=beyond)

    def idle_since(self, at: datetime) -> ConversationQuerySet:
        """Filter for unsummarised conversations whose last message came at or before ``at``, without private ones."""
        return self.filter(private=False, message_count__gt=F("summarized_upto"), last_message_at__lte=at)

    def not_being_imported(self) -> ConversationQuerySet:
        """Exclude conversations whose import is still open: the import reads them itself."""
        return self.exclude(brought_by__state__in=OPEN_IMPORTS)


class ImportQuerySet(models.QuerySet["ConversationImport"]):
    """Imports of the person."""

    def visible_to(self, principal: Principal) -> ImportQuerySet:
        """Return all for staff, and the person's own for callers that may decide for the person."""
        return own_rows(self, principal, decides=True)

    def with_job(self) -> ImportQuerySet:
        """Annotate each with its latest job: ``job_id``, ``job_error_code``, ``job_done``, ``job_total``."""
        jobs = JobRun.objects.filter(
            user_id=models.OuterRef("user_id"),
            kind__in=["import", "import_undo"],
            subject_id=Cast(models.OuterRef("pk"), models.CharField()),
        ).order_by("-created_at")
        columns = {
            f"job_{name}": models.Subquery(jobs.values(name)[:1]) for name in ("id", "done", "total", "error_code")
        }
        return self.annotate(**columns)

    def open(self) -> ImportQuerySet:
        """Filter for imports that have not ended."""
        return self.filter(state__in=OPEN_IMPORTS)


class _SaidQuerySet(models.QuerySet[Said]):
    """The filters that messages and chunks share."""

    source = ""

    def visible_to(self, principal: Principal) -> Self:
        """Return all for staff, the person's own for a person, and for an agent those in conversations that it owns.

        An agent also gets those in the person's other conversations that are not private, if its sources include this
        one and the person allows earlier conversations to be quoted. Agents that can't take its erasure back get none
        that waits for it.
        """
        own = _kept(self, principal, "conversation")
        if principal.kind != "agent":
            return own
        if not _reads_others(principal, self.source):
            return own.filter(conversation__agent_id=principal.agent_id)
        # A subquery for the few private conversations: a join would run for every row.
        held = Q(user_id=principal.user_id, agent_id=principal.agent_id, private=True)
        private = apps.get_model("conversations", "Conversation").objects.filter(held)
        return own.filter(Q(private=False) | Q(conversation__in=private.values("pk")))

    def without_vectors(self) -> Self:
        """Defer the columns that only search reads."""
        return self.defer("embedding", "search_text", "search")

    def recallable(self, legacy_id: UUID | None) -> Self:
        """Filter for rows that other conversations may recall: not private, of this legacy or of none."""
        scoped = self.filter(private=False)
        return scoped.filter(legacy_id=legacy_id) if legacy_id else scoped.filter(legacy__isnull=True)


class MessageQuerySet(_SaidQuerySet["Message"]):
    """Messages of the person."""

    source = "turns"

    def visible_to(self, principal: Principal) -> Self:
        """Filter as the base class does; for an agent also without what others heard with memory switched off."""
        rows = super().visible_to(principal)
        if principal.kind != "agent" or not _reads_others(principal, self.source):
            return rows
        return rows.exclude(pk__in=_memory_off_elsewhere(principal).values("pk"))

    def not_recalled(self, now: datetime) -> MessageQuerySet:
        """Filter for messages that are not recalled: declined, held, or said with memory switched off."""
        return self.filter(_apart(now))

    def unindexed(self, at: datetime) -> MessageQuerySet:
        """Filter for messages without a vector whose next attempt is due."""
        return self.filter(embedding__isnull=True, index_not_before__lte=at)

    def due_for_extraction(self, at: datetime) -> MessageQuerySet:
        """Filter for messages whose own extraction is due."""
        return self.filter(reading_due__lte=at)


class ChunkQuerySet(_SaidQuerySet["ConversationChunk"]):
    """Summaries of the person's conversations."""

    source = "chunks"

    def visible_to(self, principal: Principal) -> Self:
        """Filter as the base class does, and exclude hidden summaries."""
        return super().visible_to(principal).filter(hidden_since__isnull=True)

    def telling(self) -> Self:
        """Exclude summaries of messages that say nothing worth recalling."""
        return self.exclude(content__in=FILLERS)

    def hidden(self) -> ChunkQuerySet:
        """Filter for hidden summaries, which are to be rewritten because their messages changed."""
        return self.filter(hidden_since__isnull=False)

    def unfinished(self) -> ChunkQuerySet:
        """Filter for summaries to be rewritten: hidden ones, and those cut without a model."""
        return self.filter(models.Q(hidden_since__isnull=False) | models.Q(is_cut=True))

    def with_times(self) -> ChunkQuerySet:
        """Annotate each with ``first_at`` and ``last_at``: the earliest and latest time of its messages."""
        said = apps.get_model("conversations", "Message").objects.filter(
            conversation=models.OuterRef("conversation"),
            index__gte=models.OuterRef("message_range_start"),
            index__lt=models.OuterRef("message_range_end"),
        )
        # By time and not by index: imported messages need not be in chronological order.
        earliest, latest = said.order_by("at").values("at")[:1], said.order_by("-at").values("at")[:1]
        return self.annotate(first_at=models.Subquery(earliest), last_at=models.Subquery(latest))


def _reads_others(principal: Principal, source: str) -> bool:
    return source in principal.sources and principal.recalls_record


def _kept(rows: Rows, principal: Principal, conversation: str) -> Rows:
    """Return own rows; for agents that can't take erasures back without those of conversations that wait for theirs."""
    own = own_rows(rows, principal)
    if principal.kind != "agent" or principal.may_decide:
        return own
    waiting = own_rows(Erasure.objects.waiting("conversation"), principal)
    erased = waiting.annotate(conversation_id=Cast("object_id", models.UUIDField()))
    return own.exclude(**{f"{conversation}__in": erased.values_list("conversation_id", flat=True)})


def _memory_off_elsewhere(principal: Principal) -> models.QuerySet[Message]:
    """Return what the person said with memory switched off, in conversations that are not this agent's."""
    said = own_rows(apps.get_model("conversations", "Message").objects.filter(memory_off=True), principal)
    return said.exclude(conversation__agent=principal.agent_id)


class WithheldQuerySet(models.QuerySet["Withheld"]):
    """Words that people withheld."""

    def visible_to(self, principal: Principal) -> WithheldQuerySet:
        """Return the person's own for callers that may decide for them; none for others, staff included.

        An agent that sees a part only gets those of its conversations.
        """
        from .models import Conversation  # noqa: PLC0415 - its models import this module

        if principal.kind == "staff" or principal.user_id is None or not principal.may_decide:
            return self.none()
        own = self.filter(user_id=principal.user_id)
        if sees_everything(principal):
            return own
        return own.filter(conversation__in=Conversation.objects.visible_to(principal).values("pk"))

    def restorable(self) -> WithheldQuerySet:
        """Filter for words that can still be restored."""
        return self.exclude(text="")

    def passages(self) -> WithheldQuerySet:
        """Filter for passages of messages, without titles and quotations."""
        return self.filter(object_type="message")

    def one_per_span(self) -> WithheldQuerySet:
        """Return one row per withheld span, even if several causes withhold it."""
        same = {name: models.OuterRef(name) for name in ("object_type", "object_id", "start", "end")}
        return self.exclude(models.Exists(self.model._default_manager.filter(**same, pk__lt=models.OuterRef("pk"))))

    def because_of(self, cause_type: str, ids: Iterable[object]) -> WithheldQuerySet:
        """Filter for words withheld because of these memories, facts, proposals or messages."""
        return self.filter(cause_type=cause_type, cause_id__in=[str(each) for each in ids])


def _apart(now: datetime) -> Q:
    return Q(declined=True) | Q(held_until__gt=now) | Q(memory_off=True)


Kept = TypeVar("Kept", bound=models.Model)


class _OfAgent(models.QuerySet[Kept]):
    """Checkpoints of an agent for one person."""

    def visible_to(self, principal: Principal) -> Self:
        """Return all for staff, the person's own for a person, and for an agent those that it wrote."""
        own = own_rows(self, principal)
        return own.filter(agent_id=principal.agent_id) if principal.kind == "agent" else own

    def written_by(self, principal: Principal) -> Self:
        """Filter for rows that this principal writes; a person's own rows have no agent."""
        return self.visible_to(principal).filter(agent_id=principal.agent_id)


class CheckpointQuerySet(_OfAgent["Checkpoint"]):
    """States of threads."""

    def states(self) -> Self:
        """Filter for simple states."""
        return self.filter(version__isnull=False)

    def of_graphs(self) -> Self:
        """Filter for states of graphs."""
        return self.filter(version__isnull=True)


class CheckpointWriteQuerySet(_OfAgent["CheckpointWrite"]):
    """Writes of graph tasks."""
