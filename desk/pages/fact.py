"""One fact's page: everything about it, with its history."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.views.decorators.http import require_safe

from accounts.principals import Principal
from facts.models import LegacyFact
from journal.exceptions import NotFound

from ..dossiers import make_dossier
from ..histories import make_history
from ..outcomes import Done, Refusal
from .frame import PageRequest, for_person


@require_safe
@for_person
def fact(request: PageRequest, principal: Principal, fact_id: UUID) -> HttpResponse:
    """A fact of the person, or one that another member shares with them."""
    return show_fact(request, principal, fact_id)


def show_fact(
    request: PageRequest, principal: Principal, fact_id: UUID, outcome: Done | Refusal | None = None
) -> HttpResponse:
    """The page; ``outcome`` is what a form on it came to."""
    dossier = make_dossier(principal, fact_id, outcome)
    if dossier is None:
        raise NotFound("There is no such fact.")
    context = {
        "principal": principal,
        "dossier": dossier,
        "card": dossier.card,
        "fact": dossier.fact,
        "history": make_history(principal, dossier.fact),
        "bring_back": "fact-bring-back",
        "categories": LegacyFact.Category.choices,
        "next": reverse("fact-page", args=[fact_id]),
    }
    return render(request, "desk/fact.html", context, status=outcome.status if isinstance(outcome, Refusal) else 200)


urlpatterns = [path("facts/<uuid:fact_id>/", fact, name="fact-page")]
