"""Staff pages of facts, their versions, evidence and links. Texts are shown only for a logged reason."""

from __future__ import annotations

from typing import ClassVar

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from unfold.enums import ActionVariant

from accounts.admin import OwnedAdmin
from accounts.models import User
from conversations.models import Message
from statements.admin import StatementAdmin
from web.admin import ReasonForm, button, label_column, link_column

from . import actions
from .models import FACT, FactEvidence, FactLink, FactVersion, LegacyFact

State = LegacyFact.State

_RECORDED = ["recorded_from", "recorded_to", "recorded_from_rev", "recorded_to_rev"]
_FACT_COLUMNS = ["fact__user__username", "fact__legacy_id"]


@admin.register(LegacyFact)
class FactAdmin(StatementAdmin):
    """Facts about legacies."""

    kind = FACT
    opened_template = "admin/fact_opened.html"
    decisions: ClassVar = {
        State.PROPOSED: ["quarantine"],
        State.ACTIVE: ["hide", "quarantine"],
        State.HIDDEN: ["unhide"],
        State.QUARANTINED: ["release", "refuse"],
    }
    moderation: ClassVar = {
        "open": actions.fact_open,
        "hide": actions.fact_hide,
        "unhide": actions.fact_unhide,
        "quarantine": actions.fact_quarantine,
        "release": actions.fact_release,
        "refuse": actions.fact_refuse,
        "hold_again": actions.fact_hold_again,
    }
    queues = frozenset({State.HIDDEN, State.QUARANTINED})
    newest_first = "-extracted_at"
    list_display = ["id", "labelled_state", "visibility", "category", "person", "about", "written_by", "extracted_at"]
    queue_display = ["id", "labelled_state", "reason", "category", "person", "about", "updated_at"]
    list_filter = ["state", "visibility", "category", "extracted_at"]
    list_select_related = ["user", "legacy"]
    actions_row = ["open_text", "hide", "unhide", "quarantine", "release", "refuse_statement"]
    actions_detail = actions_row
    readonly_fields = ["reason", "person", "about", "taken_from"]
    fieldsets = [
        (None, {"fields": ["id", "state", "reason", "visibility", "category", "version"]}),
        ("Whose", {"fields": ["person", "about", "written_by", "taken_from"]}),
        (
            "Times",
            {"fields": ["extracted_at", "updated_at", "reviewed_at", "hidden_at", "deleted_at", "purge_at"]},
        ),
        ("Index", {"fields": ["embedding_model", "index_attempts", "index_not_before"]}),
    ]

    @button(
        "Hide",
        "Hides it from everybody but its author, who sees the reason.",
        path="hide",
        form=ReasonForm,
        icon="visibility_off",
        variant=ActionVariant.DANGER,
    )
    def hide(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Hide an active fact."""
        return self.decide(request, form, object_id, "hide", "is hidden")

    @button(
        "Give back",
        "Ends the hiding. The fact is its author's own again; sharing it is up to them.",
        path="unhide",
        form=ReasonForm,
        icon="undo",
    )
    def unhide(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Unhide a fact."""
        return self.decide(request, form, object_id, "unhide", "is given back")


class _OfFactAdmin(OwnedAdmin):
    """The base of pages of a fact's related rows."""

    id_fields = ("fact_id", "fact__user_id", "fact__legacy_id")
    user_field, legacy_field = "fact__user_id", "fact__legacy_id"
    list_display_links = ["id"]
    list_select_related = ["fact__user"]
    readonly_fields = ["fact_link", "author"]

    fact_link = link_column(LegacyFact, "fact_id", "fact")
    author = link_column(User, "fact.user_id", "author", name="fact.user.username")


@admin.register(FactVersion)
class FactVersionAdmin(_OfFactAdmin):
    """Versions of facts, without their text."""

    list_display = ["id", "fact_link", "number", "author", "category", "actor_kind", "recorded_from", "recorded_to"]
    list_filter = ["actor_kind", "recorded_from"]
    fields = ["fact_link", "number", "author", "category", "actor_kind", "actor_id", *_RECORDED]
    ordering = ["-id"]
    loaded = ("number", "category", "actor_kind", "actor_id", *_RECORDED, *_FACT_COLUMNS)


@admin.register(FactEvidence)
class FactEvidenceAdmin(_OfFactAdmin):
    """Evidence of facts, without quotes."""

    list_display = ["id", "fact_link", "message_link", "author"]
    fields = ["fact_link", "message_link", "author"]
    readonly_fields = [*_OfFactAdmin.readonly_fields, "message_link"]
    ordering = ["-id"]
    loaded = ("message_id", *_FACT_COLUMNS)

    message_link = link_column(Message, "message_id", "message")


@admin.register(FactLink)
class FactLinkAdmin(OwnedAdmin):
    """Duplicates and contradictions among facts."""

    list_display = ["id", "from_link", "labelled_kind", "to_link", "strength", "created_at"]
    list_filter = ["kind", "created_at"]
    id_fields = ("from_fact_id", "to_fact_id")
    user_field, legacy_field = "from_fact__user_id", "from_fact__legacy_id"
    fields = ["from_link", "kind", "to_link", "strength", "created_at"]
    readonly_fields = ["from_link", "to_link"]
    ordering = ["-id"]

    labelled_kind = label_column("kind", {"duplicate": "info", "contradicts": "warning"})

    from_link = link_column(LegacyFact, "from_fact_id", "fact")
    to_link = link_column(LegacyFact, "to_fact_id", "other fact")
