"""Pages of withheld passages, and of other places with the same words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_POST, require_safe

from accounts.principals import Principal
from assistant.erasure.preview import said_again
from conversations.actions import Cause, PassagePlace, passages_withhold, withheld_restore
from conversations.echoes import Repetition
from conversations.models import Withheld
from facts.actions import fact_reject
from journal.exceptions import Conflict, NotFound
from memories.actions import memory_reject, place_withhold
from statements.models import RejectionReason

from ..elsewhere import places_in_words, said_elsewhere
from ..outcomes import AlsoSaid, Done, with_undo
from ..page import PageRequest, came_from, for_person, neighbours_of

PER_PAGE = 24


@require_safe
@for_person
def withheld(request: PageRequest, principal: Principal) -> HttpResponse:
    """Show restorable withheld passages, and above them where ``about`` was also said."""
    rows = (
        Withheld.objects.visible_to(principal)
        .restorable()
        .passages()
        .one_per_span()
        .select_related("message", "conversation")
    )
    rows = rows.order_by("-created_at", "message__index", "start")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    noun, _dash, pk = request.GET.get("about", "").partition("-")
    context = {
        "principal": principal,
        "page": page,
        "also": also_said(principal, noun, pk) if pk else None,
        "next": reverse("withheld-list"),
        **neighbours_of(page, lambda number: f"?page={number}"),
    }
    return render(request, "desk/withheld.html", context)


@require_POST
@for_person
def give_back(request: PageRequest, principal: Principal, withheld_id: UUID) -> HttpResponse:
    """Restore withheld words, and all that was withheld for the same reason."""
    done = with_undo(principal, lambda: _give_back(principal, withheld_id))
    messages.success(request, done.text, extra_tags=done.undo)
    return redirect("withheld-list")


def _give_back(principal: Principal, withheld_id: UUID) -> Done:
    withheld_restore(principal, withheld_id)
    return Done(gettext_noop("Given back"), _("Given back: it reads as it was said."))


@require_POST
@for_person
def withhold_also(request: PageRequest, principal: Principal, noun: str, pk: str) -> HttpResponse:
    """Withhold the selected other places with the same words."""
    chosen = set(request.POST.getlist("also"))
    found = [each for each in _said_again(principal, noun, pk) if each.key in chosen]
    back = came_from(request, reverse("withheld-list"))
    if not found:
        messages.success(request, _("Nothing more was withheld."))
        return redirect(back)

    def change() -> Done:
        places = [PassagePlace(each.conversation_id, each.index, each.quote) for each in found if each.conversation_id]
        if places:
            # What was removed with a place is restored by itself: only a statement brings its words back.
            passages_withhold(principal, places, None if noun == "place" else Cause(noun, pk))
        for each in found:
            if refuse := _REFUSE.get(each.object_type):
                with suppress(Conflict, NotFound):  # It may have been withheld together with another one.
                    refuse(principal, each)
        return Done(gettext_noop("Withheld"), _("Withheld in %(found)s more.") % {"found": places_in_words(len(found))})

    done = with_undo(principal, change)
    messages.success(request, done.text, extra_tags=done.undo)
    return redirect(back)


_REFUSE: Mapping[str, Callable[[Principal, Repetition], object]] = {
    "memory": lambda principal, each: memory_reject(principal, each.object_id, RejectionReason.DONT_KEEP),
    "fact": lambda principal, each: fact_reject(principal, UUID(each.object_id), RejectionReason.DONT_KEEP),
    "place": lambda principal, each: place_withhold(principal, UUID(each.object_id), each.quote),
}


def with_also_said(principal: Principal, done: Done, noun: str, pk: str) -> Done:
    """Add to an outcome where else the words were said."""
    also = also_said(principal, noun, pk)
    return replace(done, also=also) if also else done


def also_said(principal: Principal, noun: str, pk: str) -> AlsoSaid | None:
    """Return the other places that say the same, or None."""
    found = said_elsewhere(principal, _said_again(principal, noun, pk))
    if not found:
        return None
    page = f"{reverse('withheld-list')}?about={noun}-{pk}"
    return AlsoSaid(reverse("withhold-also", args=[noun, pk]), page, places_in_words(len(found)), found)


def _said_again(principal: Principal, noun: str, pk: str) -> list[Repetition]:
    if noun not in {"memory", "fact", "place"}:
        raise NotFound("There is no such thing.")
    return said_again(principal, noun, pk)


urlpatterns = [
    path("withheld/", withheld, name="withheld-list"),
    path("withheld/<uuid:withheld_id>/give-back/", give_back, name="withheld-give-back"),
    path("withheld/also/<slug:noun>/<slug:pk>/", withhold_also, name="withhold-also"),
]
