"""Staff pages of facts, memories, suppressions, doubts and candidates. Text is shown only for a logged reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.enums import ActionVariant

from accounts.admin import OwnedAdmin, moderator
from accounts.principals import Principal
from conversations.models import Conversation
from journal.exceptions import Refused
from journal.models import Change
from web.admin import ReasonForm, button, filter_by_id, label_column, link_column, render_in_dialog

from .models import Candidate, Doubt, StatementKind, Suppression

STATE_COLOURS = {
    "proposed": "info",
    "active": "success",
    "archived": "default",
    "rejected": "default",
    "hidden": "warning",
    "quarantined": "danger",
}
SHOWN_CHANGES = 100


class StatementAdmin(OwnedAdmin):
    """Facts or memories. Staff give a reason to open a text, and its author can read that reason.

    ``decisions`` maps a state to the paths of the buttons that it allows, the most usual first. ``queues`` are the
    states in which rows wait for staff. ``moderation`` maps the buttons' paths to actions. ``opened_template`` shows an
    opened text, in the context under ``kind.name``.
    """

    kind: ClassVar[StatementKind[Any]]
    opened_template: ClassVar[str]
    moderation: ClassVar[Mapping[str, Callable[[Principal, Any, str], Any]]]
    decisions: ClassVar[Mapping[str, Sequence[str]]]
    queues: ClassVar[frozenset[str]]
    queue_display: ClassVar[list[str]]
    newest_first: ClassVar[str]
    actions_row = ["open_text", "quarantine", "release", "refuse_statement"]
    actions_detail = actions_row
    change_form_outer_after_template = "admin/story.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return all rows without their text."""
        rows = self.kind.rows.visible_to(moderator(request)).without_vectors()
        return rows.defer("content", "fingerprint", "embedding", "search", "search_text")

    def get_list_display(self, request: HttpRequest) -> list[str]:
        """Return the columns; in a queue those of ``queue_display``."""
        if not self._is_queue(request):
            return list(super().get_list_display(request))
        return ["handle" if name == "id" else name for name in self.queue_display]

    def get_ordering(self, request: HttpRequest) -> list[str]:
        """Order by newest first; a queue by longest waiting first."""
        return ["updated_at"] if self._is_queue(request) else [self.newest_first]

    def get_actions_row(self, request: HttpRequest) -> list[Any]:
        """Return the buttons of a list: "open", and the decisions of the state that it is filtered by."""
        return self._possible(super().get_actions_row(request), request.GET.get("state__exact", ""))

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Return the buttons of a row: "open", and the decisions of its state."""
        rows = filter_by_id(self.model._default_manager.all(), object_id)
        state = rows.values_list("state", flat=True).first()
        return self._possible(super().get_actions_detail(request, object_id), state or "")

    def _possible(self, buttons: list[Any], state: str) -> list[Any]:
        possible = {"open", *self.decisions.get(state, [])}
        return [each for each in buttons if each.path in possible]

    def _is_queue(self, request: HttpRequest) -> bool:
        return request.GET.get("state__exact") in self.queues

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the page of a row with its changes."""
        author = filter_by_id(self.model._default_manager.all(), object_id).values("user_id")
        rows = Change.objects.filter(object_type=self.kind.name, object_id=object_id, ledger_id__in=author)
        story = rows.order_by("-rev")[:SHOWN_CHANGES]
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), "story": story})

    def title_of(self, row: Any) -> str:
        """Return the title: the owner and the category."""
        return f"{super().title_of(row)}, {row.category}"

    labelled_state = label_column("state", STATE_COLOURS)

    @admin.display(description="reason")
    def reason(self, row: Any) -> str:
        """Return why it waits for staff. The author's reasons for a rejection are not shown."""
        return row.state_reason if row.state in self.queues else "-"

    taken_from = link_column(Conversation, "source_conversation_id", "taken from")

    @button(
        "Open the text",
        "This is private to its author and, where shared, to the members of the legacy. "
        "That you opened it, and why, is written into the author's log.",
        path="open",
        form=ReasonForm,
        submit="Open",
        icon="visibility",
    )
    def open_text(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Show the text and its evidence once, with buttons for the possible decisions."""
        row = self.row(request, object_id)
        try:
            text = self.moderation["open"](moderator(request), row.pk, form.cleaned_data["reason"])
        except Refused as refusal:
            return self.refuse(request, refusal)
        offered = {each.path: each for each in super().get_actions_detail(request, object_id)}
        decisions = [
            {"button": offered[path], "address": f"admin:{offered[path].action_name}"}
            for path in self.decisions.get(text.state, [])
        ]
        context = {self.kind.name: text, "row": text, "form": ReasonForm(request), "decisions": decisions}
        return render_in_dialog(request, self.opened_template, context)

    @button(
        "Quarantine",
        "Keeps it out of every prompt and hides it from other members until it is released, refused or reworded. "
        "Its author sees the reason.",
        path="quarantine",
        form=ReasonForm,
        icon="gpp_maybe",
    )
    def quarantine(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Move it to quarantine."""
        return self.decide(request, form, object_id, "quarantine", "is in quarantine")

    @button(
        "Release",
        "Ends the quarantine. It counts again, or waits for its author's review, as they have chosen.",
        path="release",
        form=ReasonForm,
        icon="check_circle",
        variant=ActionVariant.PRIMARY,
    )
    def release(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """End its quarantine."""
        return self.decide(request, form, object_id, "release", "is released")

    @button(
        "Refuse",
        "Rejects it. Its words don't come back by themselves; restored by its author, it is held back again.",
        path="refuse",
        form=ReasonForm,
        icon="cancel",
        variant=ActionVariant.DANGER,
    )
    def refuse_statement(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Reject a quarantined statement."""
        return self.decide(request, form, object_id, "refuse", "is refused")

    def decide(self, request: HttpRequest, form: ReasonForm, object_id: str, path: str, done: str) -> HttpResponse:
        """Call the action of a button with the given reason, and show a message."""
        row, reason = self.row(request, object_id), form.cleaned_data["reason"]
        call = self.moderation[path]
        return self.run_action(request, lambda: call(moderator(request), row.pk, reason), f"The {row.noun} {done}.")


@admin.register(Suppression)
class SuppressionAdmin(OwnedAdmin):
    """Suppressions of rejected and deleted statements."""

    list_display = ["object_id", "person", "about", "embedding_model", "created_at"]
    list_filter = ["created_at"]
    list_select_related = ["user", "legacy"]
    id_fields = ("object_id", "user_id", "legacy_id")
    fields = ["object_id", "person", "about", "embedding_model", "created_at"]
    readonly_fields = ["person", "about"]
    ordering = ["-id"]
    deferred = ("embedding", "fingerprint")


@admin.register(Doubt)
class DoubtAdmin(OwnedAdmin):
    """Doubts about statements that may be out of date."""

    list_display = ["object_type", "object_id", "person", "rev", "created_at"]
    list_filter = ["object_type", "created_at"]
    id_fields = ("object_id", "user_id")
    legacy_field = ""
    fields = ["object_type", "object_id", "person", "rev", "created_at"]
    readonly_fields = ["person"]
    ordering = ["-id"]


@admin.register(Candidate)
class CandidateAdmin(OwnedAdmin):
    """Candidates over a cap, without their text."""

    list_display = ["id", "person", "is_fact", "category", "rank", "written_by", "created_at"]
    list_filter = ["is_fact", "created_at"]
    id_fields = ("id", "user_id", "message_id")
    legacy_field = ""
    fields = ["id", "person", "is_fact", "category", "rank", "written_by", "created_at", "not_before"]
    readonly_fields = ["id", "person"]
    ordering = ["-created_at"]
    deferred = ("content", "quote", "subject")
