"""One fact's page: everything about it, with its history."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.principals import Principal
from facts.models import FactVersion, LegacyFact
from journal.exceptions import NotFound

from ..outcomes import Done, Refusal, undoable
from ..page import PageRequest, came_from, for_person, origin_of
from ..review.queue import Item
from ..review.session import ReviewSession
from ..review.views import answer_decision, answer_gone, queue_of
from . import actions as decisions
from .cards import make_cards
from .detail import make_fact_detail
from .history import make_history
from .listing import View
from .views import make_tabs, members_of, show_list


@require_safe
@for_person
def fact(request: PageRequest, principal: Principal, fact_id: UUID) -> HttpResponse:
    """A fact of the person, or one that another member shares with them."""
    return show_fact(request, principal, fact_id)


def show_fact(
    request: PageRequest, principal: Principal, fact_id: UUID, outcome: Done | Refusal | None = None
) -> HttpResponse:
    """The page; ``outcome`` is what a form on it came to."""
    detail = make_fact_detail(principal, fact_id, outcome)
    if detail is None:
        raise NotFound("There is no such fact.")
    context = {
        "principal": principal,
        "detail": detail,
        "card": detail.card,
        "fact": detail.fact,
        "history": make_history(principal, detail.fact),
        "bring_back": "fact-bring-back",
        "categories": LegacyFact.Category.choices,
        "next": reverse("fact-page", args=[fact_id]),
    }
    return render(request, "desk/fact.html", context, status=outcome.status if isinstance(outcome, Refusal) else 200)


@require_POST
@for_person
def decide(request: PageRequest, principal: Principal, fact_id: UUID, decision: str) -> HttpResponseBase:
    """Take a decision about a fact of the person."""
    typed = request.POST.dict()

    def change(fact: LegacyFact) -> Done:
        done = undoable(principal, lambda: decisions.decide_fact(principal, fact, decision, typed))
        ReviewSession(request.session).note(done, item=Item("fact", str(fact_id)), queue=queue_of(request))
        return done

    return _decided(request, principal, fact_id, decision, change)


@require_POST
@for_person
def bring_back(request: PageRequest, principal: Principal, fact_id: UUID, number: int) -> HttpResponseBase:
    """Give a fact the wording of an earlier version."""

    def change(fact: LegacyFact) -> Done:
        typed = request.POST.dict()
        done = undoable(principal, lambda: decisions.bring_back(principal, fact, number, typed))
        ReviewSession(request.session).note(done, item=Item("fact", str(fact_id)))
        return done

    return _decided(request, principal, fact_id, "", change)


def _decided(
    request: PageRequest, principal: Principal, fact_id: UUID, decision: str, change: Callable[[LegacyFact], Done]
) -> HttpResponseBase:
    """Carry out a decision and answer with the page as it is now, or with the reason why it is as it was."""
    fact = LegacyFact.objects.visible_to(principal).filter(pk=fact_id).first()
    if fact is None:
        return _gone(request, principal)
    versions = FactVersion.objects.filter(fact=fact)
    try:
        outcome = decisions.attempt(lambda: change(fact), decision, request.POST.dict(), versions)
    except NotFound:
        return _gone(request, principal)
    return answer(request, principal, fact, outcome)


def answer(request: PageRequest, principal: Principal, fact: LegacyFact, outcome: Done | Refusal) -> HttpResponseBase:
    """The page that a form about a fact was sent from, with what came of it."""
    back = came_from(request, reverse("fact-list"))
    origin = origin_of(back, reverse("fact-list"))
    query = QueryDict(urlsplit(back).query)
    if origin.url_name == "review":
        return answer_decision(request, principal, Item("fact", str(fact.pk)), outcome)
    legacy_id = origin.kwargs["legacy_id"] if origin.url_name == "legacy-page" else None
    if request.htmx and origin.url_name != "fact-page":
        return _fact_alone(request, principal, fact, outcome, view=View.of(query), legacy_id=legacy_id, back=back)
    if isinstance(outcome, Done):
        # A message carries one string beside its text: here the address that takes the decision back.
        messages.success(request, outcome.text, extra_tags=outcome.undo)
        return redirect(back if origin.url_name == "fact-page" else f"{back}#fact-{fact.pk}")
    if origin.url_name == "fact-page":
        return show_fact(request, principal, fact.pk, outcome)
    return show_list(request, principal, View.of(query), legacy_id, {fact.pk: outcome})


def _gone(request: PageRequest, principal: Principal) -> HttpResponseBase:
    back = came_from(request, "/")
    if request.htmx and origin_of(back, reverse("fact-list")).url_name == "review":
        return answer_gone(request, principal, "This fact is not there any more.")
    if request.htmx:
        return render(request, "desk/_gone.html", status=404)
    raise Http404


def _fact_alone(
    request: PageRequest,
    principal: Principal,
    fact: LegacyFact,
    outcome: Done | Refusal,
    *,
    view: View,
    legacy_id: UUID | None,
    back: str,
) -> HttpResponseBase:
    """What htmx puts in place of the fact, with the tabs, whose counts have changed, beside it."""
    facts = LegacyFact.objects.visible_to(principal)
    cards = make_cards(facts.filter(pk=fact.pk), principal, members_of(principal, [fact.legacy_id]), {fact.pk: outcome})
    if not cards:
        return _gone(request, principal)
    context = {
        "card": cards[0],
        "address": reverse("legacy-page", args=[legacy_id]) if legacy_id else reverse("fact-list"),
        "everywhere": legacy_id is None,
        "tabs": make_tabs(facts.filter(legacy_id=legacy_id) if legacy_id else facts, principal, view),
        "next": back,
        "categories": LegacyFact.Category.choices,
    }
    status = outcome.status if isinstance(outcome, Refusal) else 200
    return render(request, "desk/_swapped.html", context, status=status)


urlpatterns = [
    path("facts/<uuid:fact_id>/", fact, name="fact-page"),
    path("facts/<uuid:fact_id>/bring-back/<int:number>/", bring_back, name="fact-bring-back"),
    path("facts/<uuid:fact_id>/<slug:decision>/", decide, name="fact-decide"),
]
