"""Admin pages of conversations. Texts are hidden; opening one needs a reason, which is logged."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin import EmptyFieldListFilter
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from accounts.admin import OwnedAdmin, moderator
from journal.exceptions import Refused
from web.admin import ReasonForm, RecordAdmin, button, label_column, link_column, render_in_dialog

from . import actions
from .models import (
    Checkpoint,
    CheckpointWrite,
    Conversation,
    ConversationChunk,
    ConversationImport,
    ImportPart,
    Message,
    Withheld,
)

IMPORT_COLOURS = {
    "storing": "info",
    "waiting": "info",
    "checking": "primary",
    "writing": "primary",
    "reading": "primary",
    "done": "success",
    "failed": "danger",
    "cancelled": "default",
    "undoing": "primary",
    "undone": "default",
}


@admin.register(Conversation)
class ConversationAdmin(OwnedAdmin):
    """Conversations and how far they are summarised."""

    list_display = ["id", "person", "about", "agent", "channel", "secrecy", "summarised", "finished_at", "created_at"]
    list_filter = ["private", ("finished_at", EmptyFieldListFilter), "created_at"]
    list_select_related = ["user", "legacy", "agent"]
    ordering = ["-created_at"]
    readonly_fields = ["person", "about", "import_link", "summarised"]
    fieldsets = [
        (None, {"fields": ["id", "person", "about", "agent", "channel", "external_id", "import_link", "private"]}),
        ("Summaries", {"fields": ["message_count", "summarized_upto", "summarised"]}),
        ("Times", {"fields": ["created_at", "last_message_at", "finished_at", "block_at"]}),
    ]
    deferred = ("title",)

    import_link = link_column(ConversationImport, "brought_by_id", "brought by")

    @admin.display(description="private", ordering="private")
    def secrecy(self, conversation: Conversation) -> str:
        """Whether the conversation is private."""
        return "yes" if conversation.private else "no"

    @admin.display(description="summarised")
    def summarised(self, conversation: Conversation) -> str:
        """Render how many of its messages are summarised."""
        return render_to_string(
            "admin/progress.html", {"done": conversation.summarized_upto, "total": conversation.message_count}
        )


class _SaidAdmin(OwnedAdmin):
    """Messages and summaries without their text, which opens in a dialog."""

    list_select_related = ["user"]
    list_filter = ["private", ("embedding", EmptyFieldListFilter)]
    id_fields = ("pk", "conversation_id", "user_id", "legacy_id")
    readonly_fields = ["talk", "person"]
    actions_row = ["open_text"]
    actions_detail = ["open_text"]

    talk = link_column(Conversation, "conversation_id", "conversation")

    @admin.display(description="private", ordering="private")
    def secrecy(self, row: Any) -> str:
        """Whether the conversation is private."""
        return "yes" if row.private else "no"

    @button(
        "Open the text",
        "This is private to its person. That you opened it, and why, is written into their log.",
        path="open",
        form=ReasonForm,
        submit="Open",
        icon="visibility",
    )
    def open_text(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Show the text once, in the dialog."""
        row = self.row(request, object_id)
        try:
            said = self.read(request, row, form.cleaned_data["reason"])
        except Refused as refusal:
            return self.refuse(request, refusal)
        return render_in_dialog(request, "admin/said_opened.html", {"said": said, "title": str(said)})

    def read(self, request: HttpRequest, row: Any, reason: str) -> Any:
        """Call the action that returns the text and logs the access."""
        raise NotImplementedError


@admin.register(Message)
class MessageAdmin(_SaidAdmin):
    """Messages without text and speaker."""

    list_display = ["id", "talk", "index", "person", "labelled_role", "tokens", "at", "secrecy", "index_attempts"]
    list_filter = ["role", *_SaidAdmin.list_filter]
    ordering = ["conversation_id", "index"]
    fields = [
        "id",
        "talk",
        "index",
        "person",
        "role",
        "tokens",
        "at",
        "created_at",
        "private",
        "embedding_model",
        "index_attempts",
        "index_not_before",
    ]
    deferred = ("content", "speaker", "embedding", "search_text", "search")

    labelled_role = label_column("role", {"user": "primary", "assistant": "info"})

    def read(self, request: HttpRequest, row: Message, reason: str) -> Message:
        """Return a message with its text and log the access."""
        return actions.message_open(moderator(request), row.pk, reason)


@admin.register(ConversationChunk)
class ChunkAdmin(_SaidAdmin):
    """Summaries without text."""

    list_display = ["id", "talk", "person", "message_range_start", "message_range_end", "written_by", "created_at"]
    list_filter = ["private"]
    ordering = ["conversation_id", "message_range_start"]
    fields = [
        "id",
        "talk",
        "person",
        "message_range_start",
        "message_range_end",
        "written_by",
        "created_at",
        "private",
        "embedding_model",
    ]
    deferred = ("content", "embedding", "search_text", "search")

    def read(self, request: HttpRequest, row: ConversationChunk, reason: str) -> ConversationChunk:
        """Return a summary with its text and log the access."""
        return actions.chunk_open(moderator(request), row.pk, reason)


@admin.register(ConversationImport)
class ImportAdmin(OwnedAdmin):
    """Imports and their progress, without file names, notes and errors, which are private."""

    list_display = ["id", "person", "about", "form", "labelled_state", "position", "size", "created_at", "ended_at"]
    list_filter = ["state", "created_at"]
    list_select_related = ["user", "legacy"]
    ordering = ["-created_at"]
    readonly_fields = ["person", "about"]
    fieldsets = [
        (None, {"fields": ["id", "person", "about", "form", "size", "state", "position"]}),
        ("In numbers", {"fields": ["survey", "outcome"]}),
        ("Times", {"fields": ["created_at", "ended_at"]}),
    ]
    deferred = ("title", "file_name", "files", "notes", "error", "digest")

    labelled_state = label_column("state", IMPORT_COLOURS)


@admin.register(ImportPart)
class ImportPartAdmin(OwnedAdmin):
    """Pieces of uploads of unfinished imports."""

    list_display = ["id", "import_link", "file", "number"]
    id_fields = ("upload_id", "upload__user_id")
    user_field, legacy_field = "upload__user_id", "upload__legacy_id"
    ordering = ["upload_id", "file", "number"]
    fields = ["import_link", "file", "number"]
    readonly_fields = ["import_link"]
    loaded = ("upload_id", "file", "number")

    import_link = link_column(ConversationImport, "upload_id", "import")


@admin.register(Withheld)
class WithheldAdmin(OwnedAdmin):
    """Words that people withheld, without the words themselves."""

    list_display = ["id", "person", "object_type", "cause_type", "created_at", "erase_at"]
    list_filter = ["object_type", "cause_type", "created_at"]
    id_fields = ("user_id", "conversation_id", "message_id")
    legacy_field = ""
    ordering = ["-created_at", "id"]
    fields = ["id", "person", "object_type", "object_id", "cause_type", "cause_id", "created_at", "erase_at"]
    readonly_fields = ["person"]
    deferred = ("text", "digest")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Withheld]:
        """Return all rows: ``visible_to`` returns none to staff."""
        return RecordAdmin.get_queryset(self, request)


class _AgentStateAdmin(OwnedAdmin):
    """Agents' checkpoints without their bytes."""

    legacy_field = ""
    id_fields = ("pk", "user_id", "agent_id")
    list_select_related = ["user", "agent"]
    ordering = ["-pk"]
    readonly_fields = ["person"]
    deferred: tuple[str, ...] = ("data",)


@admin.register(Checkpoint)
class CheckpointAdmin(_AgentStateAdmin):
    """States of agents' threads."""

    list_display = ["id", "person", "agent", "thread", "namespace", "version", "at"]
    fields = ["id", "person", "agent", "thread", "namespace", "checkpoint_id", "parent_id", "version", "type", "at"]
    deferred = ("data", "metadata")


@admin.register(CheckpointWrite)
class CheckpointWriteAdmin(_AgentStateAdmin):
    """Writes of graph tasks between two states."""

    list_display = ["id", "person", "agent", "thread", "checkpoint_id", "task_id", "index"]
    fields = ["id", "person", "agent", "thread", "namespace", "checkpoint_id", "task_id", "index", "channel", "type"]
