"""What must not come back, for staff: whose and since when. There is no text to read."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.admin import OwnedAdmin

from ..models import Tombstone


@admin.register(Tombstone)
class TombstoneAdmin(OwnedAdmin):
    """Marks of rejected and deleted statements."""

    list_display = ["object_id", "person", "about", "embedding_model", "created_at"]
    list_filter = ["created_at"]
    list_select_related = ["user", "legacy"]
    id_fields = ("object_id", "user_id", "legacy_id")
    fields = ["object_id", "person", "about", "embedding_model", "created_at"]
    readonly_fields = ["person", "about"]
    ordering = ["-id"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tombstone]:
        """All tombstones, without their vectors."""
        return super().get_queryset(request).defer("embedding", "fingerprint")
