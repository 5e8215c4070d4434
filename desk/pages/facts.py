"""The facts of a legacy, and what can be decided about each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import cast
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.models import Legacy, Member
from accounts.principals import Principal
from facts.models import LegacyFact
from facts.querysets import FactQuerySet
from journal.exceptions import NotFound, Refused

from .. import decisions
from ..cards import Done, Refusal, make_cards
from ..shelves import FACTS_PER_PAGE, SHELVES, View, tabs
from .frame import PageRequest, came_from, for_person, neighbours_of


@require_safe
@for_person
def legacy(request: PageRequest, principal: Principal, legacy_id: UUID) -> HttpResponse:
    """One shelf of the facts about a legacy, as the address says."""
    return _legacy_page(request, principal, legacy_id, View.of(request.GET))


@require_POST
@for_person
def decide(request: PageRequest, principal: Principal, fact_id: UUID, decision: str) -> HttpResponse:
    """Take a decision about a fact of the person."""
    return _decided(
        request,
        principal,
        fact_id,
        decision,
        lambda fact: decisions.carry_out(principal, fact, decision, request.POST.dict()),
    )


@require_POST
@for_person
def undo(request: PageRequest, principal: Principal, fact_id: UUID, before: str, version: int) -> HttpResponse:
    """Take a decision back: the fact stands and reads again as it did before."""
    return _decided(request, principal, fact_id, "", lambda fact: decisions.undo(principal, fact, before, version))


def _decided(
    request: PageRequest, principal: Principal, fact_id: UUID, decision: str, change: Callable[[LegacyFact], Done]
) -> HttpResponse:
    """Carry out a decision and answer with the fact as it is now, or with the reason why it is as it was."""
    fact = LegacyFact.objects.visible_to(principal).filter(pk=fact_id).first()
    if fact is None:
        return _gone(request)
    back = came_from(request, reverse("legacy-page", args=[fact.legacy_id]))
    view = View.of(QueryDict(urlsplit(back).query))
    outcome: Done | Refusal
    try:
        outcome = change(fact)
    except NotFound:
        return _gone(request)
    except Refused as error:
        outcome = Refusal(decision, error.detail, error.status, request.POST.dict())
    if request.htmx:
        return _fact_alone(request, principal, fact, view=view, back=back, outcome=outcome)
    if isinstance(outcome, Refusal):
        return _legacy_page(request, principal, fact.legacy_id, view, refused={fact_id: outcome})
    # A message carries one string beside its text: here the address that takes the decision back.
    messages.success(request, outcome.text, extra_tags=outcome.undo)
    return redirect(f"{back}#fact-{fact_id}")


def _gone(request: PageRequest) -> HttpResponse:
    if request.htmx:
        return render(request, "desk/_gone.html", status=404)
    raise Http404


def _fact_alone(
    request: PageRequest,
    principal: Principal,
    fact: LegacyFact,
    *,
    view: View,
    back: str,
    outcome: Done | Refusal,
) -> HttpResponse:
    """What htmx puts in place of the fact, with the tabs, whose counts have changed, beside it."""
    own = LegacyFact.objects.visible_to(principal).filter(pk=fact.pk)
    cards = make_cards(own, principal, _members(principal, fact.legacy_id), {fact.pk: outcome})
    if not cards:
        return _gone(request)
    facts = LegacyFact.objects.visible_to(principal).filter(legacy_id=fact.legacy_id)
    context = {
        "card": cards[0],
        "legacy_id": fact.legacy_id,
        "tabs": tabs(facts, principal, view),
        "next": back,
        "categories": LegacyFact.Category.choices,
    }
    status = outcome.status if isinstance(outcome, Refusal) else 200
    return render(request, "desk/_swapped.html", context, status=status)


def _legacy_page(
    request: PageRequest,
    principal: Principal,
    legacy_id: UUID,
    view: View,
    refused: Mapping[UUID, Refusal] = MappingProxyType({}),
) -> HttpResponse:
    """A shelf; ``refused`` says by fact why something could not be done, which is shown beside it."""
    shown = Legacy.objects.visible_to(principal).filter(pk=legacy_id).first()
    if shown is None:
        raise NotFound("There is no such legacy.")
    facts = LegacyFact.objects.visible_to(principal).filter(legacy_id=legacy_id)
    page = Paginator(view.select(facts, principal), FACTS_PER_PAGE).get_page(view.page)
    members = _members(principal, legacy_id)
    cards = make_cards(cast(FactQuerySet, page.object_list), principal, members, refused)
    for fact_id in refused.keys() - {card.fact.pk for card in cards}:
        messages.error(request, refused[fact_id].text)  # The fact has moved to another shelf meanwhile.
    status = next((refusal.status for refusal in refused.values()), 200)
    context = {
        "principal": principal,
        "legacy": shown,
        "legacy_id": legacy_id,
        "members": members,
        "view": view,
        "title": SHELVES[view.shelf],
        "everything": view.unfiltered.query,
        "tabs": tabs(facts, principal, view),
        "page": page,
        "cards": cards,
        "next": reverse("legacy-page", args=[legacy_id]) + view.query,
        "categories": LegacyFact.Category.choices,
        **neighbours_of(page, lambda number: view.at(number).query),
    }
    return render(request, "desk/legacy.html", context, status=status)


def _members(principal: Principal, legacy_id: UUID) -> list[Member]:
    """Who keeps a legacy, its owners first."""
    rows = Member.objects.visible_to(principal).filter(legacy_id=legacy_id).select_related("user")
    return list(rows.order_by("-role", "joined_at", "pk"))


urlpatterns = [
    path("legacies/<uuid:legacy_id>/", legacy, name="legacy-page"),
    path("facts/<uuid:fact_id>/undo/<slug:before>/<int:version>/", undo, name="fact-undo"),
    path("facts/<uuid:fact_id>/<slug:decision>/", decide, name="fact-decide"),
]
