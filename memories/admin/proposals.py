"""Admin of proposals: owner, author, result, without texts."""

from __future__ import annotations

from django.contrib import admin

from accounts.models import User
from conversations.models import Conversation, Message
from web.admin import label_column, link_column

from ..models import FieldSignal, Memory, Proposal, ProposalEvidence
from .memories import OfPersonAdmin


@admin.register(Proposal)
class ProposalAdmin(OfPersonAdmin):
    """Admin of proposals."""

    id_fields = ("pk", "user_id", "agent_id")
    memory_fields = ("memory_id",)
    list_display = ["id", "labelled_state", "kind", "memory_link", "person", "written_by", "created_at", "expires_at"]
    list_filter = ["state", "kind", "created_at"]
    list_select_related = ["user"]
    readonly_fields = ["memory_link", "person", "taken_from"]
    fieldsets = [
        (None, {"fields": ["id", "kind", "state", "memory_link", "memory_version"]}),
        ("Whose", {"fields": ["person", "agent", "written_by", "taken_from"]}),
        ("Times", {"fields": ["created_at", "expires_at", "decided_at"]}),
    ]
    deferred = ("values",)

    labelled_state = label_column(
        "state", {"waiting": "info", "approved": "success", "rejected": "default", "lapsed": "default"}
    )

    memory_link = link_column(Memory, "memory_id", "memory")
    taken_from = link_column(Conversation, "source_conversation_id", "taken from")


@admin.register(ProposalEvidence)
class ProposalEvidenceAdmin(OfPersonAdmin):
    """Admin of the evidence of proposals."""

    id_fields = ("proposal_id", "message_id", "proposal__user_id")
    user_field = "proposal__user_id"
    list_display = ["id", "proposal_link", "message_link", "person"]
    fields = ["proposal_link", "message_link", "person"]
    readonly_fields = ["proposal_link", "message_link", "person"]
    loaded = ("message_id", "proposal__user__username")

    proposal_link = link_column(Proposal, "proposal_id", "proposal")
    message_link = link_column(Message, "message_id", "message")
    person = link_column(User, "proposal.user_id", "person", name="proposal.user.username")


@admin.register(FieldSignal)
class FieldSignalAdmin(OfPersonAdmin):
    """Admin of signals of a tone or goal."""

    list_display = ["id", "person", "field", "conversation_id", "at"]
    list_filter = ["field", "at"]
    list_select_related = ["user"]
    fields = ["person", "field", "conversation_id", "at"]
    readonly_fields = ["person", "conversation_id"]
    search_help_text = "The id of a person, or part of their name"
    deferred = ("digest",)
