"""What must not come back, for staff: whose and since when. There is no text to read."""

from __future__ import annotations

from django.contrib import admin

from journal.admin import RecordAdmin

from .models import Tombstone


@admin.register(Tombstone)
class TombstoneAdmin(RecordAdmin):
    """Marks of rejected and deleted statements."""

    list_display = ["object_id", "user_id", "legacy_id", "embedding_model", "created_at"]
    list_filter = ["created_at"]
    search_fields = ["object_id__exact", "user__id__exact", "user__username", "legacy__id__exact"]
    fields = ["object_id", "user_id", "legacy_id", "embedding_model", "created_at"]
    ordering = ["-created_at"]
