"""The page of a memory, and its disclosures."""

from __future__ import annotations

from django.conf import settings
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.views.decorators.http import require_safe

from accounts.principals import Principal
from journal.exceptions import NotFound, must_find
from memories.models import Memory, MemoryUse
from memories.policy import writing
from statements.policy.naming import in_second_person

from ..conversations.actions import waiting_erasure
from ..outcomes import Done, Refusal
from ..page import PageRequest, for_person, neighbours_of
from .audience import LATEST, LOOKED_AT, disclosures_of, tell, tell_by_day
from .cards import make_memory_card
from .history import make_memory_history
from .views import filing_choices

SEEN_PER_PAGE = 50


@require_safe
@for_person
def memory(request: PageRequest, principal: Principal, memory_id: str) -> HttpResponse:
    """Show a memory. Viewing it here does not count as a use."""
    return show_memory(request, principal, memory_id)


def show_memory(
    request: PageRequest, principal: Principal, memory_id: str, outcome: Done | Refusal | None = None
) -> HttpResponse:
    """Render the page; ``outcome``: the result of a form."""
    card = make_memory_card(principal, memory_id, outcome)
    if card is None or card.memory is None:
        raise NotFound("There is no such memory.")
    latest = list(disclosures_of(principal, card.memory)[:LOOKED_AT])
    seen = tell_by_day(latest)[:LATEST]
    context = {
        "principal": principal,
        "card": card,
        "where": "page",
        "erasure": waiting_erasure(principal, "memory", memory_id),
        "everywhere": True,
        "unused": writing.is_unused(card.memory, principal.review),
        "use": MemoryUse.objects.filter(memory=card.memory).first(),
        "seen": seen,
        "seen_more": len(latest) > len(seen),
        "history": make_memory_history(principal, card.memory),
        "restore_wording": "memory-bring-back",
        "next": reverse("memory-page", args=[memory_id]),
        "days": settings.OPERATION_EVENT_DAYS,
        **filing_choices(),
    }
    status = outcome.status if isinstance(outcome, Refusal) else 200
    return render(request, "desk/statement.html", context, status=status)


@require_safe
@for_person
def seen(request: PageRequest, principal: Principal, memory_id: str) -> HttpResponse:
    """List the disclosures of a memory."""
    memory = must_find(Memory.objects.visible_to(principal).only("content").filter(pk=memory_id).first(), "memory")
    page = Paginator(disclosures_of(principal, memory), SEEN_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "principal": principal,
        "memory": memory,
        "claim": in_second_person(memory.content),
        "page": page,
        "disclosures": tell(page),
        "days": settings.OPERATION_EVENT_DAYS,
        **neighbours_of(page, lambda number: f"?page={number}"),
    }
    return render(request, "desk/seen.html", context)


urlpatterns = [
    path("memories/<slug:memory_id>/", memory, name="memory-page"),
    path("memories/<slug:memory_id>/seen/", seen, name="memory-seen"),
]
