"""Pages of *Your data*: export, import of an export, erasure of everything."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe
from django.views.generic import RedirectView

from accounts.policy import must_act_for
from accounts.principals import Principal
from assistant.erasure.actions import erasure_request, erasure_withdraw
from assistant.erasure.serializers import NOT_REACHED
from assistant.takeout.api import export_file
from assistant.takeout.export_actions import JOB, export_begin
from conversations.models import Withheld
from journal.exceptions import Conflict
from journal.models import Erasure, Export, JobRun
from memories.models import Memory
from memories.overview import counts_by_state

from ..importing.views import import_fields
from ..legacies.tabs import tab_counts
from ..page import PageRequest, came_from, for_person
from .erasing import SCOPES, erasure_of_everything, receipts, removed_in_words
from .views import AS_SHOWN, RECORD, language_name

SOON = timedelta(minutes=5)
"""A receipt that is due within this is loaded again until it is done."""


@require_safe
@for_person
def my_data(request: PageRequest, principal: Principal) -> HttpResponse:
    """Show the progress of the export, and its file; only the panel for htmx."""
    return _show_data(request, principal)


def _show_data(request: PageRequest, principal: Principal, *, typed: str | None = None) -> HttpResponse:
    """Render the page. ``typed``: a name that is not the person's, with which everything was to be erased."""
    user_id = must_act_for(principal)
    job = JobRun.objects.of_user(user_id).filter(kind=JOB).order_by("-created_at").first()
    panel = {
        "principal": principal,
        "job": job,
        "is_open": job is not None and job.state in {JobRun.State.WAITING, JobRun.State.RUNNING},
        "export": Export.objects.of_user(user_id).whole(timezone.now()).first(),
        # Announced once, when it ends.
        "is_news": bool(request.htmx) and job is not None and job.state == JobRun.State.DONE,
    }
    if request.htmx:
        return render(request, "desk/_export.html", panel)
    withheld = Withheld.objects.visible_to(principal).restorable().passages().one_per_span()
    context = {
        **panel,
        "erasure": erasure_of_everything(principal),
        "grace_hours": settings.ERASE_GRACE_HOURS,
        "receipts": receipts(principal),
        "counts": counts_by_state(Memory.objects.visible_to(principal)),
        "facts_gone": sum(tab_counts(principal)["gone"].values()),
        "withheld": withheld.count(),
        "record": dict(RECORD)[AS_SHOWN[principal.recall_record]],
        "language": language_name(principal.language),
        "typed": typed,
        **import_fields(principal),
    }
    return render(request, "desk/my_data.html", context, status=200 if typed is None else 400)


@require_POST
@for_person
def erase(request: PageRequest, principal: Principal) -> HttpResponse:
    """Request the erasure of everything, after a day, or cancel it."""
    try:
        if receipt := request.POST.get("withdraw"):
            erasure_withdraw(principal, UUID(receipt))
            messages.success(request, _("Nothing is erased."))
        elif request.POST.get("confirm") == principal.name:
            erasure_request(principal, "everything", grace_hours=settings.ERASE_GRACE_HOURS)
            told = _("Everything is erased in %(hours)s hours. Until then you can keep it, here and at home.")
            messages.success(request, told % {"hours": settings.ERASE_GRACE_HOURS})
        else:
            return _show_data(request, principal, typed=request.POST.get("confirm", ""))
    except (Conflict, ValueError) as error:
        messages.error(request, getattr(error, "detail", _("There is no such erasure.")))
    return redirect(came_from(request, reverse("my-data")))


@require_safe
def receipt_page(request: PageRequest, receipt: UUID) -> HttpResponseBase:
    """The receipt of an erasure, without signing in, since the account may be gone."""
    if request.user.is_authenticated:
        return _receipt_as_signed_in(request, receipt)
    return _receipt(request, receipt)


@for_person
def _receipt_as_signed_in(request: PageRequest, principal: Principal, receipt: UUID) -> HttpResponse:
    return _receipt(request, receipt)


def _receipt(request: PageRequest, receipt: UUID) -> HttpResponse:
    erasure = get_object_or_404(Erasure, pk=receipt)
    is_open = erasure.state in Erasure.OPEN
    context = {
        "erasure": erasure,
        "is_open": is_open,
        "is_soon": is_open and erasure.due_at <= timezone.now() + SOON,
        "scope": _(SCOPES.get(erasure.scope, erasure.scope)),
        "removed": removed_in_words(erasure),
        "not_reached": [_(each) for each in NOT_REACHED],
    }
    return render(request, "desk/receipt.html", context)


@require_POST
@for_person
def begin_export(request: PageRequest, principal: Principal) -> HttpResponse:
    """Start an export."""
    export_begin(principal)
    return redirect("my-data")


@require_safe
@for_person
def fetch_export(request: PageRequest, principal: Principal, job_id: UUID) -> HttpResponseBase:
    """Download the export."""
    return export_file(principal, job_id)


urlpatterns = [
    path("data/", my_data, name="my-data"),
    path("my-data/", RedirectView.as_view(pattern_name="my-data", permanent=True)),
    path("data/erase/", erase, name="erase-page"),
    path("erased/<uuid:receipt>/", receipt_page, name="receipt-page"),
    path("data/export/", begin_export, name="export-page"),
    path("data/export/<uuid:job_id>/", fetch_export, name="export-file-page"),
]
