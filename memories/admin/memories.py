"""Admin of memories, versions, evidence, uses, relations and disclosures."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join

from accounts import categories
from accounts.admin import OwnedAdmin
from accounts.models import Agent, User
from conversations.models import Conversation, Message
from statements.admin import StatementAdmin
from web.admin import label_column, link_column, link_to

from .. import actions
from ..models import MEMORY, Disclosure, Memory, MemoryEvidence, MemoryUse, MemoryVersion, Relation

_MEMORY_ID = re.compile(r"[A-Za-z0-9]{8}")


class OfPersonAdmin(OwnedAdmin):
    """Base for rows of a person, perhaps of a memory; ``memory_fields``: columns with its id."""

    id_fields: tuple[str, ...] = ("user_id",)
    legacy_field = ""
    memory_fields: tuple[str, ...] = ()
    search_help_text = "An id, or part of the name of a person"
    list_display_links = ["id"]
    ordering = ["-id"]

    def name_filter(self, term: str) -> Q:
        """Search by a person's name or a memory's id."""
        found = super().name_filter(term)
        if _MEMORY_ID.fullmatch(term):
            for name in self.memory_fields:
                found |= Q(**{name: term})
        return found


State = Memory.State


class CategoryFilter(SimpleListFilter):
    """Filter by category, with the configured ones as choices."""

    title = "category"
    parameter_name = "category"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the categories."""
        return [(name, name) for name in categories.load().by_name]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> QuerySet[Memory]:
        """Apply the filter."""
        return queryset.filter(category=self.value()) if self.value() else queryset


@admin.register(Memory)
class MemoryAdmin(StatementAdmin, OfPersonAdmin):
    """Admin of memories."""

    kind = MEMORY
    opened_template = "admin/memory_opened.html"
    decisions: ClassVar = {
        State.PROPOSED: ["quarantine"],
        State.ACTIVE: ["quarantine"],
        State.QUARANTINED: ["release", "refuse"],
    }
    moderation: ClassVar = {
        "open": actions.memory_open,
        "quarantine": actions.memory_quarantine,
        "release": actions.memory_release,
        "refuse": actions.memory_refuse,
        "hold_again": actions.memory_hold_again,
    }
    queues = frozenset({State.QUARANTINED})
    newest_first = "-created_at"
    memory_fields = ("pk",)
    id_fields = ("user_id", "agent_id", "source_conversation_id")
    list_display = ["id", "labelled_state", "kind", "category", "person", "written_by", "pinned", "created_at"]
    queue_display = ["id", "labelled_state", "reason", "category", "person", "written_by", "updated_at"]
    list_filter = ["state", "kind", CategoryFilter, "deleted_why", "created_at"]
    list_select_related = ["user"]
    readonly_fields = ["reason", "person", "taken_from"]
    fieldsets = [
        (None, {"fields": ["id", "state", "reason", "deleted_why", "kind", "category", "field", "version"]}),
        ("Whose", {"fields": ["person", "agent", "written_by", "taken_from"]}),
        ("Weight", {"fields": ["importance", "pinned", "in_block", "tokens", "needs_check"]}),
        (
            "Times",
            {
                "fields": [
                    "created_at",
                    "updated_at",
                    "reviewed_at",
                    "expires_at",
                    "valid_from",
                    "valid_to",
                    "deleted_at",
                    "purge_at",
                ]
            },
        ),
        ("Index", {"fields": ["embedding_model", "index_attempts", "index_not_before"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Memory]:
        """Return all memories, without wording and subject."""
        return super().get_queryset(request).defer("subject", "topics")


class _OfMemoryAdmin(OfPersonAdmin):
    """Base for rows of a memory."""

    memory_fields = ("memory_id",)
    list_select_related = ["user"]
    readonly_fields = ["memory_link", "person"]

    memory_link = link_column(Memory, "memory_id", "memory")


@admin.register(MemoryVersion)
class MemoryVersionAdmin(_OfMemoryAdmin):
    """Admin of versions: when, and by whom."""

    list_display = ["id", "memory_link", "number", "person", "category", "actor_kind", "recorded_from", "recorded_to"]
    list_filter = ["actor_kind", "recorded_from"]
    fields = [
        "memory_link",
        "number",
        "person",
        "kind",
        "category",
        "written_by",
        "actor_kind",
        "actor_id",
        "recorded_from",
        "recorded_to",
        "recorded_from_rev",
        "recorded_to_rev",
        "valid_from",
        "valid_to",
        "embedding_model",
    ]
    deferred = ("content", "subject", "topics", "reason", "embedding", "search", "search_text")


@admin.register(MemoryEvidence)
class MemoryEvidenceAdmin(OfPersonAdmin):
    """Admin of evidence."""

    id_fields = ("message_id", "version__user_id")
    user_field = "version__user_id"
    memory_fields = ("version__memory_id",)
    list_display = ["id", "memory_link", "number", "message_link", "person"]
    fields = ["memory_link", "number", "message_link", "person"]
    readonly_fields = ["memory_link", "number", "message_link", "person"]
    list_select_related = ["version__user"]
    loaded = ("message_id", "version__memory_id", "version__number", "version__user__username")

    memory_link = link_column(Memory, "version.memory_id", "memory")

    @admin.display(description="version")
    def number(self, evidence: MemoryEvidence) -> int:
        """The version number."""
        return evidence.version.number

    message_link = link_column(Message, "message_id", "message")
    person = link_column(User, "version.user_id", "person", name="version.user.username")


@admin.register(MemoryUse)
class MemoryUseAdmin(OfPersonAdmin):
    """Admin of uses."""

    id_fields = ("memory__user_id",)
    user_field = "memory__user_id"
    memory_fields = ("pk",)
    list_display = ["memory_id", "memory_link", "person", "uses", "last_used_at"]
    list_display_links = ["memory_id"]
    fields = ["memory_link", "person", "uses", "last_used_at"]
    readonly_fields = ["memory_link", "person"]
    ordering = ["pk"]
    loaded = ("uses", "last_used_at", "memory__user__username")

    memory_link = link_column(Memory, "memory_id", "memory")
    person = link_column(User, "memory.user_id", "person", name="memory.user.username")


@admin.register(Relation)
class RelationAdmin(OfPersonAdmin):
    """Admin of relations."""

    id_fields = ("pk", "user_id")
    memory_fields = ("from_memory_id", "to_memory_id")
    list_display = ["id", "from_link", "labelled_type", "to_link", "person", "strength", "created_at"]
    list_filter = ["type", "created_at"]
    list_select_related = ["user"]
    fields = ["from_link", "type", "to_link", "person", "strength", "created_at"]
    readonly_fields = ["from_link", "to_link", "person"]

    labelled_type = label_column("type", {"related_to": "default", "supersedes": "warning", "derived_from": "info"})

    from_link = link_column(Memory, "from_memory_id", "memory")
    to_link = link_column(Memory, "to_memory_id", "other memory")


@admin.register(Disclosure)
class DisclosureAdmin(OfPersonAdmin):
    """Admin of disclosures."""

    list_display = ["id", "person", "agent_link", "labelled_by", "how_many", "at"]
    list_filter = ["by", "at"]
    list_select_related = ["user", "agent"]
    fields = ["person", "agent_link", "by", "conversation_link", "memory_links", "at"]
    readonly_fields = ["person", "agent_link", "conversation_link", "memory_links"]
    search_help_text = "The id of a person, or part of their name"

    labelled_by = label_column("by", {"query": "info", "context": "default", "turn": "default"})

    @admin.display(description="memories")
    def how_many(self, disclosure: Disclosure) -> int:
        """The number of disclosed memories."""
        return len(disclosure.memories)

    agent_link = link_column(Agent, "agent_id", "agent", name="agent.name")

    @admin.display(description="conversation")
    def conversation_link(self, disclosure: Disclosure) -> Any:
        """Link to the conversation, if it exists."""
        return "-" if disclosure.conversation_id is None else link_to(Conversation, disclosure.conversation_id)

    @admin.display(description="memories")
    def memory_links(self, disclosure: Disclosure) -> Any:
        """Links to the memories, whose text opens for a reason."""
        return format_html_join(" ", "{}", ((link_to(Memory, memory_id),) for memory_id in disclosure.memories))
