"""Pages of places: list, detail with mentions, actions."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Max, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.principals import Principal
from journal.exceptions import NotFound, Refused, must_find
from memories import actions
from memories.models import Place, PlaceMention, Proposal
from memories.querysets import PLACES_CATEGORY, PlaceQuerySet

from ..conversations.actions import waiting_erasure
from ..listing import Tab
from ..memories.audience import who_sees
from ..outcomes import Done, seen_version, with_undo
from ..page import PageRequest, came_from, for_person, neighbours_of, telling_refusals
from ..quotations import make_passages, messages_behind, quote
from ..review.queue import QueueItem, waiting_proposals
from ..withheld.views import with_also_said

PER_PAGE = 24
MENTIONS_PER_PAGE = 20
SHOW = {"present": gettext_noop("Places"), "removed": gettext_noop("Removed")}


class PlaceForm(forms.Form):
    """The form of a place."""

    name = forms.CharField(max_length=200, label=gettext_lazy("Name"), widget=forms.TextInput({"autocomplete": "off"}))
    notes = forms.CharField(
        max_length=500,
        required=False,
        label=gettext_lazy("Notes"),
        widget=forms.Textarea({"rows": 2, "autocomplete": "off"}),
    )
    version = forms.CharField(required=False, widget=forms.HiddenInput)


@dataclass(frozen=True, slots=True)
class Mentioned:
    """A mention as quotable evidence: the message, and the words that name the place."""

    message_id: UUID
    quote: str


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def places(request: PageRequest, principal: Principal) -> HttpResponse:
    """List the places, or add one."""
    if request.method != "POST":
        return _show_list(request, principal, PlaceForm(label_suffix=""))
    form = PlaceForm(request.POST, label_suffix="")
    if form.is_valid():
        name, notes = form.cleaned_data["name"], form.cleaned_data["notes"]
        twin = Place.objects.visible_to(principal).present().filter(name__iexact=name.strip()).first()
        if twin is not None:
            form.add_error("name", _("You have a place of this name already."))
        else:
            try:
                done = with_undo(principal, lambda: _add(principal, name, notes))
            except Refused as error:
                form.add_error("notes" if error.code == "bad_notes" else "name", error.detail)
            else:
                messages.success(request, done.text, extra_tags=done.undo)
                return redirect("place-list")
    return _show_list(request, principal, form, status=400)


def _add(principal: Principal, name: str, notes: str) -> Done:
    actions.place_add(principal, _new_id(name), name, notes)
    return Done(gettext_noop("Added"), _("Added."))


@require_safe
@for_person
def place(request: PageRequest, principal: Principal, place_id: UUID) -> HttpResponse:
    """Show a place with its mentions."""
    return _show_place(request, principal, place_id)


@require_POST
@for_person
def edit(request: PageRequest, principal: Principal, place_id: UUID) -> HttpResponse:
    """Edit a place's name or notes."""
    form = PlaceForm(request.POST, label_suffix="")
    if not form.is_valid():
        return _show_place(request, principal, place_id, form, status=400)
    name, notes = form.cleaned_data["name"], form.cleaned_data["notes"]
    version = seen_version(form.cleaned_data)

    def change() -> Done:
        actions.place_edit(principal, place_id, name=name, notes=notes, version=version)
        return Done(gettext_noop("Saved"), _("Saved."))

    try:
        done = with_undo(principal, change)
    except NotFound:
        raise
    except Refused as error:
        if error.code == "wrong_state":
            messages.error(request, error.detail)
        elif error.code == "version_conflict":
            # The typed values can be saved again: the current ones are shown above the form.
            form = PlaceForm({**request.POST.dict(), "version": error.extra["current"]}, label_suffix="")
            form.add_error(
                None, f"{error.detail} {_('Above it is as it is now. Save again to put yours in its place.')}"
            )
        else:
            form.add_error("notes" if error.code == "bad_notes" else None, error.detail)
        return _show_place(request, principal, place_id, form, status=error.status)
    messages.success(request, done.text, extra_tags=done.undo)
    return redirect("place-page", place_id)


@require_POST
@for_person
def remove(request: PageRequest, principal: Principal, place_id: UUID) -> HttpResponse:
    """Remove a place."""
    version = seen_version(request.POST.dict())
    done = Done(
        gettext_noop("Removed"),
        _("Removed: it is in no prompt. It can be restored for %(archive_days)s days.")
        % {"archive_days": settings.ARCHIVE_DAYS},
    )
    removed = partial(actions.place_remove, principal, place_id, version=version)
    return _done(request, principal, place_id, removed, done, also=True)


@require_POST
@for_person
def restore(request: PageRequest, principal: Principal, place_id: UUID) -> HttpResponse:
    """Restore a place."""
    done = Done(gettext_noop("Restored"), _("Restored."))
    return _done(request, principal, place_id, lambda: actions.place_restore(principal, place_id), done)


def _done(
    request: PageRequest,
    principal: Principal,
    place_id: UUID,
    change: Callable[[], object],
    done: Done,
    *,
    also: bool = False,
) -> HttpResponse:
    """Execute a change and redirect back, with its outcome. ``also``: to where else its notes are said, if anywhere."""
    back = came_from(request, reverse("place-page", args=[place_id]))

    def changed() -> Done:
        change()
        return done

    with telling_refusals(request):
        told = with_undo(principal, changed)
        messages.success(request, told.text, extra_tags=told.undo)
        if also and (told := with_also_said(principal, told, "place", str(place_id))).also:
            return redirect(told.also.page)
    return redirect(back)


def _new_id(name: str) -> str:
    """Generate an id from the name for a place added on the page."""
    return f"{slugify(name)[:100]}-{uuid.uuid4().hex[:8]}".lstrip("-")


def _with_mentions(places: PlaceQuerySet) -> PlaceQuerySet:
    return places.annotate(
        times=Count("mentions", distinct=True),
        conversations=Count("mentions__message__conversation", distinct=True),
        last_named=Max("mentions__message__at"),
    )


def _show_list(request: PageRequest, principal: Principal, form: PlaceForm, status: int = 200) -> HttpResponse:
    show = "removed" if request.GET.get("show") == "removed" else "present"
    search = request.GET.get("search", "").strip()[:200]
    mine = Place.objects.visible_to(principal)
    if search:
        mine = mine.filter(Q(name__icontains=search) | Q(notes__icontains=search))
    gone = Q(deleted_at__isnull=False)
    counts = mine.aggregate(present=Count("pk", filter=~gone), removed=Count("pk", filter=gone))
    rows = mine.filter(gone) if show == "removed" else mine.present()
    page = Paginator(_with_mentions(rows).order_by("name", "pk"), PER_PAGE).get_page(request.GET.get("page"))

    def address(part: str, number: int = 1) -> str:
        values = {"show": part if part == "removed" else "", "search": search, "page": number if number > 1 else ""}
        return "?" + urlencode({name: value for name, value in values.items() if value})

    context = {
        "principal": principal,
        "form": form,
        "show": show,
        "search": search,
        "tabs": [Tab(_(title), address(part), counts[part], part == show) for part, title in SHOW.items()],
        "tabs_label": _("Which places"),
        "page": page,
        "removed": counts["removed"],
        "audience": who_sees(principal, PLACES_CATEGORY),
        "waiting": waiting_proposals(principal).filter(kind=Proposal.Kind.PLACE).count(),
        "next": reverse("place-list") + address(show, page.number),
        **neighbours_of(page, lambda number: address(show, number)),
    }
    return render(request, "desk/places.html", context, status=status)


def _show_place(
    request: PageRequest, principal: Principal, place_id: UUID, form: PlaceForm | None = None, status: int = 200
) -> HttpResponse:
    shown = must_find(_with_mentions(Place.objects.visible_to(principal)).filter(pk=place_id).first(), "place")
    mentions = PlaceMention.objects.filter(place=shown).order_by("-message__at", "-pk")
    page = Paginator(mentions.values_list("message_id", flat=True), MENTIONS_PER_PAGE).get_page(request.GET.get("page"))
    evidence = [Mentioned(message_id, shown.name) for message_id in page]
    quotations = list(quote(evidence, messages_behind(principal, evidence)))
    stored = {"name": shown.name, "notes": shown.notes, "version": shown.version}
    waiting = waiting_proposals(principal).filter(kind=Proposal.Kind.PLACE, values__place_id=shown.place_id)
    context = {
        "principal": principal,
        "place": shown,
        "erasure": waiting_erasure(principal, "place", place_id),
        "form": form or PlaceForm(initial=stored, label_suffix=""),
        "page": page,
        "passages": list(make_passages(principal, quotations)),
        "audience": who_sees(principal, PLACES_CATEGORY),
        "waiting": [
            QueueItem("proposal", str(pk)).key for pk in waiting.order_by("expires_at").values_list("pk", flat=True)
        ],
        "next": reverse("place-page", args=[place_id]),
        **neighbours_of(page, lambda number: f"?page={number}"),
    }
    return render(request, "desk/place.html", context, status=status)


urlpatterns = [
    path("places/", places, name="place-list"),
    path("places/<uuid:place_id>/", place, name="place-page"),
    path("places/<uuid:place_id>/edit/", edit, name="place-edit"),
    path("places/<uuid:place_id>/remove/", remove, name="place-remove"),
    path("places/<uuid:place_id>/restore/", restore, name="place-restore"),
]
