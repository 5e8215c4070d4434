"""My data: everything about the person as one file, to keep and to read."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.policy import must_act_for
from accounts.principals import Principal
from assistant.takeout.api import export_file
from assistant.takeout.export_actions import JOB, export_begin
from journal.models import Export, JobRun

from ..page import PageRequest, for_person


@require_safe
@for_person
def my_data(request: PageRequest, principal: Principal) -> HttpResponse:
    """Show how far the export is, and its file. The panel alone for htmx."""
    user_id = must_act_for(principal)
    job = JobRun.objects.of_user(user_id).filter(kind=JOB).order_by("-created_at").first()
    context = {
        "principal": principal,
        "job": job,
        "is_open": job is not None and job.state in {JobRun.State.WAITING, JobRun.State.RUNNING},
        "export": Export.objects.of_user(user_id).whole(timezone.now()).first(),
        # Announced when it ends, not each time that the panel is loaded.
        "is_news": bool(request.htmx) and job is not None and job.state == JobRun.State.DONE,
    }
    return render(request, "desk/_export.html" if request.htmx else "desk/my_data.html", context)


@require_POST
@for_person
def begin_export(request: PageRequest, principal: Principal) -> HttpResponse:
    """Have everything written into one file."""
    export_begin(principal)
    return redirect("my-data")


@require_safe
@for_person
def fetch_export(request: PageRequest, principal: Principal, job_id: UUID) -> HttpResponseBase:
    """The file."""
    return export_file(principal, job_id)


urlpatterns = [
    path("my-data/", my_data, name="my-data"),
    path("my-data/export/", begin_export, name="export-page"),
    path("my-data/export/<uuid:job_id>/", fetch_export, name="export-file-page"),
]
