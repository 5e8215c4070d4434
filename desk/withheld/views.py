"""The page of what the person took out of the record, and where else they said what is not to be kept."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.principals import Principal
from conversations.actions import Cause, Place, passages_withhold, withheld_give_back
from conversations.echoes import SaidAgain
from conversations.models import Conversation, Withheld
from facts import queries as facts
from journal.exceptions import NotFound
from memories import queries as memories

from ..outcomes import AlsoSaid, Done, undoable
from ..page import PageRequest, came_from, for_person, neighbours_of

PER_PAGE = 24


@require_safe
@for_person
def withheld(request: PageRequest, principal: Principal) -> HttpResponse:
    """What is withheld and can still be given back; above it what ``about`` was also said of."""
    rows = Withheld.objects.visible_to(principal).kept().passages().once().select_related("message", "conversation")
    rows = rows.order_by("-created_at", "message__index", "start")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    noun, _, pk = request.GET.get("about", "").partition("-")
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
    """Put words back, with all that went with them."""
    done = undoable(principal, lambda: _give_back(principal, withheld_id))
    messages.success(request, done.text, extra_tags=done.undo)
    return redirect("withheld-list")


def _give_back(principal: Principal, withheld_id: UUID) -> Done:
    withheld_give_back(principal, withheld_id)
    return Done("Given back", "Given back: it reads as it was said.")


@require_POST
@for_person
def withhold_also(request: PageRequest, principal: Principal, noun: str, pk: str) -> HttpResponse:
    """Withhold, with something that is not to be kept, where else it was said: what was chosen of that."""
    chosen = set(request.POST.getlist("message"))
    found = [each for each in _said_again(principal, noun, pk) if str(each.message_id) in chosen]
    back = came_from(request, reverse("withheld-list"))
    if not found:
        messages.success(request, "Nothing more was withheld.")
        return redirect(back)

    def change() -> Done:
        places = [Place(each.conversation_id, each.index, each.quote) for each in found]
        passages_withhold(principal, places, Cause(noun, pk))
        return Done("Withheld", f"Withheld in {_places(len(found))} more.")

    done = undoable(principal, change)
    messages.success(request, done.text, extra_tags=done.undo)
    return redirect(back)


def with_also_said(principal: Principal, done: Done, noun: str, pk: str) -> Done:
    """Tell, with what was decided not to keep, where else it was said."""
    also = also_said(principal, noun, pk)
    return replace(done, also=also) if also else done


def also_said(principal: Principal, noun: str, pk: str) -> AlsoSaid | None:
    """Where else was said what a fact or a memory says; None when it was nowhere."""
    found = _said_again(principal, noun, pk)
    if not found:
        return None
    talks = Conversation.objects.visible_to(principal).filter(pk__in={each.conversation_id for each in found})
    titles = dict(talks.values_list("pk", "title"))
    said = [(each, titles.get(each.conversation_id, "")) for each in found]
    return AlsoSaid(
        reverse("withhold-also", args=[noun, pk]),
        f"{reverse('withheld-list')}?about={noun}-{pk}",
        _places(len(found)),
        said,
    )


def _said_again(principal: Principal, noun: str, pk: str) -> list[SaidAgain]:
    if noun == "memory":
        return memories.also_said(principal, pk) if pk.isascii() and pk.isalnum() else []
    if noun != "fact":
        raise NotFound("There is no such thing.")
    try:
        return facts.also_said(principal, UUID(pk))
    except ValueError as error:
        raise NotFound("There is no such fact.") from error


def _places(count: int) -> str:
    return "one other place" if count == 1 else f"{count} other places"


urlpatterns = [
    path("withheld/", withheld, name="withheld-list"),
    path("withheld/<uuid:withheld_id>/give-back/", give_back, name="withheld-give-back"),
    path("withheld/also/<slug:noun>/<slug:pk>/", withhold_also, name="withhold-also"),
]
