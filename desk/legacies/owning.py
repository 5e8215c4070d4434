"""Owners' actions on a legacy: picture, ending, restoring."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.actions import legacy_picture_remove, legacy_picture_set, must_own
from accounts.authentication import principal_of
from accounts.models import Legacy, LegacyEnding, LegacyPicture
from accounts.principals import Principal, rare
from facts.actions import legacy_end, legacy_restore
from facts.models import LegacyFact
from journal.exceptions import NotFound, Refused, must_find

from ..page import PageRequest, for_person, takes_uploads, telling_refusals
from .members import members_of


class PictureForm(forms.Form):
    """A picture to upload."""

    picture = forms.FileField(
        label=gettext_lazy("A photograph"),
        widget=forms.FileInput({"accept": "image/jpeg,image/png,image/webp"}),
        error_messages={"required": gettext_lazy("Choose a file."), "empty": gettext_lazy("This file is empty.")},
    )


@require_safe
@cache_control(private=True, max_age=3600)
def picture(request: HttpRequest, legacy_id: UUID) -> HttpResponseBase:
    """Return the picture of a legacy, for members. Page URLs contain its time, for caching."""
    if not request.user.is_authenticated:
        return HttpResponse(status=404)
    shown = LegacyPicture.objects.visible_to(principal_of(request)).filter(pk=legacy_id).first()
    if shown is None:
        return HttpResponse(status=404)
    return HttpResponse(bytes(shown.content), content_type="image/webp")


@takes_uploads
@require_POST
@for_person
def set_picture(request: PageRequest, principal: Principal, legacy_id: UUID) -> HttpResponse:
    """Set or remove the picture, or show why it was refused."""
    form = PictureForm(request.POST, request.FILES)
    with telling_refusals(request):
        if "remove" in request.POST:
            legacy_picture_remove(principal, legacy_id)
            messages.success(request, _("The picture is removed."))
        elif form.is_valid():
            file = cast(UploadedFile, form.cleaned_data["picture"])
            legacy_picture_set(principal, legacy_id, file, file.size or 0)
            messages.success(request, _("This is its picture from now on."))
        else:
            messages.error(request, " ".join(map(str, form.errors["picture"])))
    return redirect("legacy-members", legacy_id)


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def end(request: PageRequest, principal: Principal, legacy_id: UUID) -> HttpResponse:
    """Preview ending a legacy, or end it."""
    legacy = must_find(Legacy.objects.visible_to(principal).filter(pk=legacy_id).first(), "legacy")
    try:
        must_own(principal, legacy_id)
        if request.method == "POST":
            legacy_end(principal, legacy_id)
            days = settings.ARCHIVE_DAYS
            messages.success(request, _("%(name)s is ended. You can bring it back for %(days)s days.")
                             % {"name": legacy.name, "days": days})  # fmt: skip
            return redirect("home")
    except NotFound:
        raise
    except Refused as error:
        messages.error(request, error.detail)
        return redirect("legacy-members", legacy_id)
    facts = LegacyFact.objects.visible_to(principal).filter(legacy_id=legacy_id).present()
    counts = facts.values_list("user_id").annotate(Count("pk"), shared=Count("pk", filter=Q(visibility="shared")))
    numbers = {user_id: (every, shared) for user_id, every, shared in counts}
    context = {
        "principal": principal,
        "legacy": legacy,
        "members": [(member, *numbers.get(member.user_id, (0, 0))) for member in members_of(principal, [legacy_id])],
    }
    return render(request, "desk/legacy_end.html", context)


@require_POST
@for_person
def bring_back(request: PageRequest, principal: Principal, legacy_id: UUID) -> HttpResponse:
    """Restore a legacy that the person has ended."""
    legacy = legacy_restore(principal, legacy_id)
    messages.success(request, _("%(name)s is back, as it was when you ended it.") % {"name": legacy.name})
    return redirect("legacy-page", legacy_id)


def ended_legacies(principal: Principal) -> list[LegacyEnding]:
    """Return the legacies that the person can restore."""
    endings = rare(principal, "endings", LegacyEnding.objects.visible_to)
    return [] if endings is None else list(endings.undoable(timezone.now()).select_related("legacy"))


urlpatterns = [
    path("legacies/<uuid:legacy_id>/picture/", picture, name="legacy-picture"),
    path("legacies/<uuid:legacy_id>/picture/set/", set_picture, name="legacy-picture-set"),
    path("legacies/<uuid:legacy_id>/end/", end, name="legacy-end"),
    path("legacies/<uuid:legacy_id>/bring-back/", bring_back, name="legacy-bring-back"),
]
