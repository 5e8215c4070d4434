"""Pages of imports: upload, progress, cancel, undo, erasure of the record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import Legacy
from accounts.principals import Principal
from assistant.erasure.actions import erasure_request
from assistant.imports.actions import import_cancel, import_create, import_undo
from conversations.imports import EXPORTS, FORMS
from conversations.imports.forms import MEM0
from conversations.models import ConversationImport
from facts.models import LegacyFact
from facts.querysets import WAITING
from journal.exceptions import Conflict, Refused, must_find
from memories.models import Memory, Proposal

from ..page import PageRequest, for_person, neighbours_of, takes_uploads, telling_refusals

IMPORTS_PER_PAGE = 10
# Labels of what is not imported, in order of display.
LEFT_OUT = {
    "repeated": gettext_noop("Duplicate conversations"),
    "empty_conversations": gettext_noop("Empty conversations"),
    "branches": gettext_noop("Messages of other branches, from before an edit or a regenerated answer"),
    "instructions": gettext_noop("Custom instructions"),
    "hidden": gettext_noop("Messages that were hidden from you"),
    "system": gettext_noop("System messages"),
    "tool": gettext_noop("Tool calls and their results"),
    "reasoning": gettext_noop("Steps of reasoning"),
    "empty": gettext_noop("Empty messages"),
    "unknown": gettext_noop("Messages of an unknown kind"),
    "attachments": gettext_noop("Attached files, which are named in their message"),
}
# Labels of outcomes of imported memories that are not active.
MEMORY_COUNTS = {
    "quarantined": gettext_lazy("held back by a gate"),
    "in_already": gettext_lazy("known already"),
    "refused": gettext_lazy("refused by a gate"),
    "expired": gettext_lazy("expired"),
}


class ImportForm(forms.Form):
    """The fields of the page."""

    file = forms.FileField(
        label=gettext_lazy("File"),
        error_messages={
            "required": gettext_lazy("Choose a file."),
            "empty": gettext_lazy("This file is empty."),
            "missing": gettext_lazy("Choose a file."),
        },
    )
    legacy = forms.ChoiceField(required=False, label=gettext_lazy("Whom the conversations are about"))
    form = forms.ChoiceField(required=False, label=gettext_lazy("What the file is"))
    title = forms.CharField(required=False, max_length=200, label=gettext_lazy("Name of this import (optional)"))

    def __init__(self, principal: Principal, data: Any = None, files: Any = None) -> None:
        super().__init__(data, files, label_suffix="")
        legacies = Legacy.objects.visible_to(principal).order_by("name", "pk").values_list("pk", "name")
        about = [("", _("Nobody in particular: no facts are extracted")), *((str(pk), name) for pk, name in legacies)]
        kinds = [("", _("Detect")), *((name, _(FORMS[name].title)) for name in EXPORTS)]
        cast(forms.ChoiceField, self.fields["legacy"]).choices = about
        cast(forms.ChoiceField, self.fields["form"]).choices = kinds
        self.fields["file"].widget.attrs["data-most-bytes"] = settings.IMPORT_MAX_BYTES


@takes_uploads
@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def imports(request: PageRequest, principal: Principal) -> HttpResponse:
    """Show the form and previous imports, or accept a file."""
    if request.method != "POST":
        return _page(request, principal, ImportForm(principal))
    form = ImportForm(principal, request.POST, request.FILES)
    status = 400
    if form.is_valid():
        file = cast(UploadedFile, form.cleaned_data["file"])
        legacy = form.cleaned_data["legacy"]
        try:
            upload, _made = import_create(
                principal,
                file,  # type: ignore[arg-type]  # It reads and seeks like any file.
                file_name=file.name or "",
                legacy_id=UUID(legacy) if legacy else None,
                title=form.cleaned_data["title"],
                form=form.cleaned_data["form"],
            )
        except Refused as error:
            form.add_error("file" if not isinstance(error, Conflict) else None, error.detail)
            status = error.status
        else:
            return redirect("import-page", upload.pk)
    return _page(request, principal, form, status)


def import_fields(principal: Principal, form: ImportForm | None = None) -> dict[str, Any]:
    """Return the context of the import form."""
    return {"form": form or ImportForm(principal), "most": settings.IMPORT_MAX_BYTES // 1_048_576}


def _page(request: PageRequest, principal: Principal, form: ImportForm, status: int = 200) -> HttpResponse:
    rows = ConversationImport.objects.visible_to(principal).exclude(state="storing").select_related("legacy")
    page = Paginator(rows.order_by("-created_at"), IMPORTS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "principal": principal,
        **import_fields(principal, form),
        "page": page,
        **neighbours_of(page, lambda number: f"?page={number}"),
    }
    return render(request, "desk/imports.html", context, status=status)


@require_safe
@for_person
def import_page(request: PageRequest, principal: Principal, import_id: UUID) -> HttpResponse:
    """Show an import: progress, content of the file, results; only the panel for htmx."""
    rows = ConversationImport.objects.visible_to(principal).exclude(state="storing").with_job()
    upload = must_find(rows.select_related("legacy").filter(pk=import_id).first(), "import")
    found = LegacyFact.objects.mine(principal).brought_by(upload.pk)
    memories = Memory.objects.visible_to(principal).brought_by(upload.pk)
    proposals = Proposal.objects.visible_to(principal).open(timezone.now()).exclude(kind=Proposal.Kind.CREATE)
    said = Q(evidence__message__conversation__brought_by=upload)
    brought = upload.conversations.count()
    context = {
        "principal": principal,
        "upload": upload,
        "left_out": [
            (_(words), upload.survey["skipped"][key]) for key, words in LEFT_OUT.items() if _count(upload, key)
        ],
        "found": found.count(),
        "waiting": found.filter(WAITING).count(),
        "memories": memories.filter(state=Memory.State.ACTIVE).count(),
        "proposed": memories.filter(state=Memory.State.PROPOSED).count(),
        "proposals": proposals.filter(said).distinct().count(),
        "brought": brought,
        "undoable": brought or (upload.form == MEM0 and memories.exists()),
        "other_counts": [(label, upload.outcome[key]) for key, label in MEMORY_COUNTS.items() if key in upload.outcome],
        # Announced when it changes, not at each reload.
        "is_news": bool(request.htmx) and request.GET.get("was") != upload.state,
    }
    return render(request, "desk/_import.html" if request.htmx else "desk/import.html", context)


def _count(upload: ConversationImport, reason: str) -> int:
    return int(upload.survey.get("skipped", {}).get(reason, 0))


@require_POST
@for_person
def cancel(request: PageRequest, principal: Principal, import_id: UUID) -> HttpResponse:
    """Cancel an import."""
    return _apply(import_cancel, request, principal, import_id)


@require_POST
@for_person
def undo(request: PageRequest, principal: Principal, import_id: UUID) -> HttpResponse:
    """Undo an import."""
    return _apply(import_undo, request, principal, import_id)


@require_POST
@for_person
def erase(request: PageRequest, principal: Principal, import_id: UUID) -> HttpResponse:
    """Erase the record of an import, and show the receipt."""
    try:
        erasure, _job = erasure_request(principal, "import", str(import_id))
    except Conflict as error:
        messages.error(request, error.detail)
        return redirect("import-page", import_id)
    return redirect("receipt-page", erasure.pk)


def _apply(
    action: Callable[[Principal, UUID], object], request: PageRequest, principal: Principal, import_id: UUID
) -> HttpResponse:
    """Apply an action to the import, and return to its page with the error if it is refused."""
    with telling_refusals(request):
        action(principal, import_id)
    return redirect("import-page", import_id)


urlpatterns = [
    path("import/", imports, name="imports"),
    path("import/<uuid:import_id>/", import_page, name="import-page"),
    path("import/<uuid:import_id>/cancel/", cancel, name="import-cancel-page"),
    path("import/<uuid:import_id>/undo/", undo, name="import-undo-page"),
    path("import/<uuid:import_id>/erase/", erase, name="import-erase-page"),
]
