"""Who may read which conversations, messages and chunks."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Self, TypeVar
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Cast

from journal.exceptions import NotFound
from journal.models import JobRun

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

Said = TypeVar("Said", bound=models.Model)


class ConversationQuerySet(models.QuerySet["Conversation"]):
    """Conversations of the person."""

    def visible_to(self, principal: Principal) -> ConversationQuerySet:
        """All for staff; the person's own; for an agent those it holds itself.

        Others that are not private too, for an agent that may read turns and where the person has earlier
        conversations quoted.
        """
        if principal.kind == "staff":
            return self
        if principal.user_id is None:
            return self.none()
        own = self.filter(user_id=principal.user_id)
        if principal.kind != "agent":
            return own
        held = Q(agent_id=principal.agent_id)
        return own.filter(held | Q(private=False) if _reads_others(principal, "turns") else held)

    def must_find(self, conversation_id: UUID) -> Conversation:
        """The conversation of this id. Raises NotFound when it is not among these."""
        conversation = self.filter(pk=conversation_id).first()
        if conversation is None:
            raise NotFound("There is no such conversation.")
        return conversation

    def with_unsummarized_over(self, threshold: int) -> ConversationQuerySet:
        """Conversations that have more than ``threshold`` messages to be summed up; no private ones."""
        beyond = F("summarized_upto") + threshold
        return self.filter(private=False, message_count__gt=F("summarized_upto")).filter(message_count__gt=beyond)

    def idle_since(self, at: datetime) -> ConversationQuerySet:
        """Conversations with something to be summed up whose last message came before ``at``; no private ones."""
        return self.filter(private=False, message_count__gt=F("summarized_upto"), last_message_at__lte=at)

    def not_being_imported(self) -> ConversationQuerySet:
        """Conversations but those whose import still works on them, which reads them itself."""
        return self.exclude(brought_by__state__in=OPEN_IMPORTS)


class ImportQuerySet(models.QuerySet["ConversationImport"]):
    """Imports of the person."""

    def visible_to(self, principal: Principal) -> ImportQuerySet:
        """All for staff; the person's own for whoever decides for the person."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None or not principal.may_decide:
            return self.none()
        return self.filter(user_id=principal.user_id)

    def with_job(self) -> ImportQuerySet:
        """Each with its latest job: ``job_id``, ``job_error_code``, and ``job_done`` of ``job_total``."""
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
        """Imports about which something is still being done."""
        return self.filter(state__in=OPEN_IMPORTS)


class _SaidQuerySet(models.QuerySet[Said]):
    """What messages and chunks share: they belong to a person and, through the conversation, to a legacy."""

    source = ""

    def visible_to(self, principal: Principal) -> Self:
        """All for staff; the person's own; for an agent what was said in conversations that it holds itself.

        What was said in others that are not private too, when its sources include this one and where the person has
        earlier conversations quoted.
        """
        if principal.kind == "staff":
            return self
        if principal.user_id is None:
            return self.none()
        own = self.filter(user_id=principal.user_id)
        if principal.kind != "agent":
            return own
        if not _reads_others(principal, self.source):
            return own.filter(conversation__agent_id=principal.agent_id)
        # By id, of the few that are private: a join would be made for every row.
        held = Q(user_id=principal.user_id, agent_id=principal.agent_id, private=True)
        private = apps.get_model("conversations", "Conversation").objects.filter(held)
        return own.filter(Q(private=False) | Q(conversation__in=private.values("pk")))

    def without_vectors(self) -> Self:
        """The rows without the columns that only a search reads."""
        return self.defer("embedding", "search_text", "search")

    def recallable(self, legacy_id: UUID | None) -> Self:
        """What may be recalled elsewhere: about this legacy (or about none), and not said in private."""
        scoped = self.filter(private=False)
        return scoped.filter(legacy_id=legacy_id) if legacy_id else scoped.filter(legacy__isnull=True)


class MessageQuerySet(_SaidQuerySet["Message"]):
    """Messages of the person."""

    source = "turns"

    def set_apart(self, now: datetime) -> MessageQuerySet:
        """What the person does not want remembered, what they are being asked about, what was said with memory off."""
        return self.filter(_apart(now))

    def unindexed(self, at: datetime) -> MessageQuerySet:
        """Messages that wait for their vector and whose time to try has come."""
        return self.filter(embedding__isnull=True, index_not_before__lte=at)

    def to_be_read(self, at: datetime) -> MessageQuerySet:
        """Messages that are to be read by themselves for what to remember, and whose time has come."""
        return self.filter(reading_due__lte=at)


class ChunkQuerySet(_SaidQuerySet["ConversationChunk"]):
    """Summaries of the person's conversations."""

    source = "chunks"

    def visible_to(self, principal: Principal) -> Self:
        """The same, but none of which something was withheld since it was written."""
        return super().visible_to(principal).filter(hidden_since__isnull=True)

    def hidden(self) -> ChunkQuerySet:
        """Those that are to be written anew, since what they sum up has changed."""
        return self.filter(hidden_since__isnull=False)

    def unfinished(self) -> ChunkQuerySet:
        """Those, and what was cut while no model was there."""
        return self.filter(models.Q(hidden_since__isnull=False) | models.Q(is_cut=True))

    def with_times(self) -> ChunkQuerySet:
        """Each with ``first_at`` and ``last_at``, when the messages that it sums up were said."""
        said = apps.get_model("conversations", "Message").objects.filter(
            conversation=models.OuterRef("conversation"),
            index__gte=models.OuterRef("message_range_start"),
            index__lt=models.OuterRef("message_range_end"),
        )
        # Not the first and the last: what was brought in need not be in the order of its times.
        earliest, latest = said.order_by("at").values("at")[:1], said.order_by("-at").values("at")[:1]
        return self.annotate(first_at=models.Subquery(earliest), last_at=models.Subquery(latest))


def _reads_others(principal: Principal, source: str) -> bool:
    return source in principal.sources and principal.recalls_record


class WithheldQuerySet(models.QuerySet["Withheld"]):
    """Words that people took out of the record."""

    def visible_to(self, principal: Principal) -> WithheldQuerySet:
        """Their person's own, for whoever decides for them; nobody else's, staff included."""
        if principal.kind == "staff" or principal.user_id is None or not principal.may_decide:
            return self.none()
        return self.filter(user_id=principal.user_id)

    def kept(self) -> WithheldQuerySet:
        """Those that can still be given back."""
        return self.exclude(text="")

    def passages(self) -> WithheldQuerySet:
        """What was said; not the titles and the quotations that went with it."""
        return self.filter(object_type="message")

    def once(self) -> WithheldQuerySet:
        """Of words that several causes keep out, one row."""
        same = {name: models.OuterRef(name) for name in ("object_type", "object_id", "start", "end")}
        return self.exclude(models.Exists(self.model._default_manager.filter(**same, pk__lt=models.OuterRef("pk"))))

    def because_of(self, cause_type: str, ids: Iterable[object]) -> WithheldQuerySet:
        """What was taken out because of these memories, facts or messages."""
        return self.filter(cause_type=cause_type, cause_id__in=[str(each) for each in ids])


def _apart(now: datetime) -> Q:
    return Q(declined=True) | Q(held_until__gt=now) | Q(memory_off=True)


Kept = TypeVar("Kept", bound=models.Model)


class _OfAgent(models.QuerySet[Kept]):
    """What an agent keeps of its own work, for one person."""

    def visible_to(self, principal: Principal) -> Self:
        """All for staff; the person's own; for an agent those that it wrote."""
        if principal.kind == "staff":
            return self
        if principal.user_id is None:
            return self.none()
        own = self.filter(user_id=principal.user_id)
        return own.filter(agent_id=principal.agent_id) if principal.kind == "agent" else own

    def written_by(self, principal: Principal) -> Self:
        """Those that the principal writes: a person's are no agent's."""
        return self.visible_to(principal).filter(agent_id=principal.agent_id)


class CheckpointQuerySet(_OfAgent["Checkpoint"]):
    """States of threads."""

    def states(self) -> Self:
        """The simple ones."""
        return self.filter(version__isnull=False)

    def of_graphs(self) -> Self:
        """Those of graphs."""
        return self.filter(version__isnull=True)


class CheckpointWriteQuerySet(_OfAgent["CheckpointWrite"]):
    """What tasks of graphs wrote."""
