"""Statements that staff decide about without reading them: queues of what waits, and buttons that fit its state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from unfold.decorators import display

from journal.admin import ReasonForm, opened, with_id
from journal.exceptions import Refused
from journal.models import Change

from ..principals import Principal
from .owned import OwnedAdmin, moderator

STATE_COLOURS = {
    "proposed": "info",
    "active": "success",
    "archived": "default",
    "rejected": "default",
    "hidden": "warning",
    "quarantined": "danger",
}
SHOWN_CHANGES = 100


class ModeratedAdmin(OwnedAdmin):
    """Rows with a ``state`` and a ``state_reason``, whose text opens for a reason that its author reads.

    ``decisions`` says by state what can be decided, by the buttons' paths, what is meant most first. ``queues`` are the
    states in which rows wait for staff. ``object_type`` is what the log calls such a row, and its text is shown by
    ``opened_template`` under that name.
    """

    object_type: ClassVar[str]
    opened_template: ClassVar[str]
    decisions: ClassVar[Mapping[str, Sequence[str]]]
    queues: ClassVar[frozenset[str]]
    queue_display: ClassVar[list[str]]
    newest_first: ClassVar[str]
    change_form_outer_after_template = "admin/story.html"

    def get_list_display(self, request: HttpRequest) -> list[str]:
        """In a queue why each waits, and since when."""
        return self.queue_display if self._is_queue(request) else list(self.list_display)

    def get_ordering(self, request: HttpRequest) -> list[str]:
        """The newest first; in a queue what has waited longest."""
        return ["updated_at"] if self._is_queue(request) else [self.newest_first]

    def get_actions_row(self, request: HttpRequest) -> list[Any]:
        """In a list of one state what can be decided there; elsewhere opening alone."""
        return self._possible(super().get_actions_row(request), request.GET.get("state__exact", ""))

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """What can be decided about the row as it stands."""
        rows = with_id(self.model._default_manager.all(), object_id)
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
        """The page of a row, with what happened to it."""
        author = with_id(self.model._default_manager.all(), object_id).values("user_id")
        rows = Change.objects.filter(object_type=self.object_type, object_id=object_id, ledger_id__in=author)
        story = rows.order_by("-rev")[:SHOWN_CHANGES]
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), "story": story})

    @display(description="state", ordering="state", label=STATE_COLOURS)
    def labelled_state(self, row: Any) -> tuple[str, str]:
        """Where it stands."""
        return row.state, row.get_state_display()

    @admin.display(description="reason")
    def reason(self, row: Any) -> str:
        """Why it waits for staff. Why its author rejected it is the author's own."""
        return row.state_reason if row.state in self.queues else "-"

    def show_opened(
        self,
        request: HttpRequest,
        form: ReasonForm,
        object_id: str,
        action: Callable[[Principal, Any, str], Any],
    ) -> HttpResponse:
        """Call the action that opens a text and logs it, and show it once, with what can be decided then."""
        row = self.row(request, object_id)
        try:
            text = action(moderator(request), row.pk, form.cleaned_data["reason"])
        except Refused as refusal:
            return self.refuse(request, refusal)
        offered = {each.path: each for each in super().get_actions_detail(request, object_id)}
        decisions = [
            {"button": offered[path], "address": f"admin:{offered[path].action_name}"}
            for path in self.decisions.get(text.state, [])
        ]
        context = {self.object_type: text, "row": text, "form": ReasonForm(request), "decisions": decisions}
        return opened(request, self.opened_template, context)

    def decide(
        self,
        request: HttpRequest,
        form: ReasonForm,
        object_id: str,
        decision: Callable[[Principal, Any, str], Any],
        done: str,
    ) -> HttpResponse:
        """Call the action of a button for the reason that was given."""
        row, reason = self.row(request, object_id), form.cleaned_data["reason"]
        return self.carry_out(request, lambda: decision(moderator(request), row.pk, reason), done)
