"""Admin of replies, and titles of this room's jobs."""

from __future__ import annotations

from django.contrib import admin

from accounts.admin import OwnedAdmin
from assistant.imports.actions import JOB as IMPORT_JOB
from conversations.models import Conversation, ConversationImport
from journal.models import Erasure
from web.admin import job_subjects, link_column

from .erasure.actions import JOB as ERASE_JOB
from .imports.actions import UNDO_JOB
from .learn.actions import JOB as EXTRACT_JOB
from .learn.rewriting import JOB as REWRITE_JOB
from .learn.summarizing import JOB as SUMMARIZE_JOB
from .models import Reply
from .reembedding import JOB as REEMBED_JOB
from .takeout.export_actions import JOB as EXPORT_JOB

job_subjects.update(
    {
        SUMMARIZE_JOB: Conversation,
        EXTRACT_JOB: Conversation,
        REWRITE_JOB: Conversation,
        IMPORT_JOB: ConversationImport,
        UNDO_JOB: ConversationImport,
        REEMBED_JOB: None,
        EXPORT_JOB: None,
        ERASE_JOB: Erasure,
    }
)


@admin.register(Reply)
class ReplyAdmin(OwnedAdmin):
    """Replies of the assistant, with their token usage."""

    list_display = [
        "id",
        "talk",
        "person",
        "mode",
        "model",
        "state",
        "error_code",
        "rounds",
        "input_tokens",
        "cached",
        "output_tokens",
        "started_at",
    ]
    list_filter = ["state", "mode", "started_at"]
    list_select_related = ["user"]
    legacy_field = ""
    id_fields = ("pk", "conversation_id", "user_id")
    ordering = ["-started_at"]
    readonly_fields = ["talk", "person", "cached"]
    fieldsets = [
        (None, {"fields": ["id", "talk", "message_index", "answer_index", "person", "agent"]}),
        (
            "How it went",
            {"fields": ["mode", "uses_tools", "model", "council", "state", "error_code", "attempt", "rounds"]},
        ),
        ("Tokens", {"fields": ["input_tokens", "cached_tokens", "cached", "output_tokens"]}),
        ("Times", {"fields": ["started_at", "lease_until", "ended_at"]}),
    ]

    talk = link_column(Conversation, "conversation_id", "conversation")

    @admin.display(description="from the cache", ordering="cached_tokens")
    def cached(self, reply: Reply) -> str:
        """Percentage of input tokens from the prompt cache."""
        return f"{reply.cached_percent}%"
