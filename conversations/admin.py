"""Conversations for staff: how long, how far summarised, what failed. What was said is not shown here."""

from __future__ import annotations

from django.contrib import admin

from journal.admin import RecordAdmin

from .models import Conversation, ConversationChunk, Message


@admin.register(Conversation)
class ConversationAdmin(RecordAdmin):
    """Conversations and how far they are summarised."""

    list_display = [
        "id",
        "user",
        "legacy",
        "agent",
        "channel",
        "private",
        "message_count",
        "summarized_upto",
        "finished_at",
        "last_message_at",
    ]
    list_filter = ["private", "channel", "created_at"]
    search_fields = ["id__exact", "user__username", "external_id"]
    list_select_related = ["user", "legacy", "agent"]
    exclude = ["title"]


@admin.register(Message)
class MessageAdmin(RecordAdmin):
    """Messages: who, when, how long, whether indexed."""

    list_display = ["id", "conversation_id", "index", "role", "tokens", "at", "embedding_model", "index_attempts"]
    list_filter = ["role", "private", "embedding_model"]
    search_fields = ["id__exact", "conversation__id__exact", "user__username"]
    exclude = ["content", "speaker", "search_text", "search", "embedding"]


@admin.register(ConversationChunk)
class ChunkAdmin(RecordAdmin):
    """Summaries: which range, by which model."""

    list_display = ["id", "conversation_id", "message_range_start", "message_range_end", "written_by", "created_at"]
    list_filter = ["written_by", "private", "embedding_model"]
    search_fields = ["id__exact", "conversation__id__exact", "user__username"]
    exclude = ["content", "search_text", "search", "embedding"]
