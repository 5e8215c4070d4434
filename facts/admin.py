"""Facts for staff: where they stand, and buttons that hide and unhide. What a member keeps private is not shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.models import User
from accounts.principals import Principal
from accounts.queries import principal_for_staff
from journal.admin import RecordAdmin
from journal.exceptions import Refused

from . import actions
from .models import FactLink, LegacyFact


class ReasonForm(ActionForm):
    """The reason that an author is given for a hidden fact."""

    reason = forms.CharField(max_length=actions.REASON_CHARACTERS, required=False, label="Reason (for hiding):")


@admin.register(LegacyFact)
class FactAdmin(RecordAdmin):
    """What members say about legacies."""

    list_display = ["id", "state", "visibility", "category", "user_id", "legacy_id", "written_by", "extracted_at"]
    list_filter = ["state", "visibility", "category", "extracted_at"]
    search_fields = ["id__exact", "user__id__exact", "user__username", "legacy__id__exact"]
    ordering = ["-extracted_at"]
    action_form = ReasonForm
    actions = ["hide", "unhide"]
    fields = [
        "id",
        "state",
        "state_reason",
        "visibility",
        "category",
        "shared_content",
        "user_id",
        "legacy_id",
        "version",
        "written_by",
        "extracted_at",
        "updated_at",
        "reviewed_at",
        "hidden_at",
        "deleted_at",
        "purge_at",
        "index_attempts",
        "index_not_before",
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[LegacyFact]:
        """All facts, without what a search reads."""
        rows = LegacyFact.objects.visible_to(principal_for_staff(cast(User, request.user)))
        return rows.defer("embedding", "search", "search_text")

    @admin.display(description="content")
    def shared_content(self, fact: LegacyFact) -> str:
        """The text, when its author shares it."""
        return fact.content if fact.visibility == LegacyFact.Visibility.SHARED else "(private)"

    @admin.action(description="Hide, for the reason given", permissions=["view"])
    def hide(self, request: HttpRequest, facts: QuerySet[LegacyFact]) -> None:
        """Take active facts out of everybody's sight but their authors'."""
        reason = request.POST.get("reason", "").strip()
        if not reason:
            self.message_user(request, "Give the reason: the author is told.", messages.ERROR)
            return
        self._each(request, facts, lambda staff, fact: actions.fact_hide(staff, fact.pk, reason), "hidden")

    @admin.action(description="Unhide", permissions=["view"])
    def unhide(self, request: HttpRequest, facts: QuerySet[LegacyFact]) -> None:
        """Give hidden facts back to their authors."""
        reason = request.POST.get("reason", "").strip()
        if not reason:
            self.message_user(request, "Give the reason: the author is told.", messages.ERROR)
            return
        self._each(request, facts, lambda staff, fact: actions.fact_unhide(staff, fact.pk, reason), "given back")

    def _each(
        self,
        request: HttpRequest,
        facts: QuerySet[LegacyFact],
        change: Callable[[Principal, LegacyFact], Any],
        what: str,
    ) -> None:
        staff, done, total = principal_for_staff(cast(User, request.user)), 0, 0
        for fact in facts:
            total += 1
            try:
                change(staff, fact)
            except Refused as refusal:
                self.message_user(request, f"{fact}: {refusal.detail}", messages.WARNING)
            else:
                done += 1
        self.tell(request, done, total, what)


@admin.register(FactLink)
class FactLinkAdmin(RecordAdmin):
    """Duplicates and contradictions among facts."""

    list_display = ["from_fact_id", "kind", "to_fact_id", "strength", "created_at"]
    list_filter = ["kind", "created_at"]
    search_fields = ["from_fact__id__exact", "to_fact__id__exact"]
    fields = ["from_fact_id", "kind", "to_fact_id", "strength", "created_at"]
    ordering = ["-created_at"]
