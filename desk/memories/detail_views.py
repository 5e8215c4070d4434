"""One memory: its page, and what forms about it are sent to.

The answer to a form is the page that it was sent from. With htmx, on a list, it is the memory's card alone.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.principals import Principal
from journal.exceptions import NotFound
from memories.models import Memory, MemoryVersion

from ..legacies.actions import attempt
from ..outcomes import Done, Refusal, undoable
from ..page import (
    PageRequest,
    came_from,
    for_person,
    neighbours_of,
    origin_of,
)
from ..review.queue import Item
from ..review.session import ReviewSession
from ..review.views import answer_decision, answer_gone
from . import actions as decisions
from .audience import disclosures_of, tell
from .cards import make_memory_cards
from .detail import make_memory_detail
from .history import make_memory_history
from .listing import MemoryView, counts_by_category
from .views import around_memories, filing_choices, show_memories

SEEN_PER_PAGE = 50


@require_safe
@for_person
def memory(request: PageRequest, principal: Principal, memory_id: str) -> HttpResponse:
    """A memory of the person. Only what agents recall counts as a use, not opening it here."""
    return show_memory(request, principal, memory_id)


def show_memory(
    request: PageRequest, principal: Principal, memory_id: str, outcome: Done | Refusal | None = None
) -> HttpResponse:
    """The page; ``outcome`` is what a form on it came to."""
    detail = make_memory_detail(principal, memory_id, outcome)
    if detail is None:
        raise NotFound("There is no such memory.")
    context = {
        "principal": principal,
        "detail": detail,
        "card": detail.card,
        "memory": detail.card.memory,
        "history": make_memory_history(principal, detail.card.memory),
        "bring_back": "memory-bring-back",
        "next": reverse("memory-page", args=[memory_id]),
        "days": settings.OPERATION_EVENT_DAYS,
        **filing_choices(),
    }
    status = outcome.status if isinstance(outcome, Refusal) else 200
    return render(request, "desk/memory.html", context, status=status)


@require_safe
@for_person
def seen(request: PageRequest, principal: Principal, memory_id: str) -> HttpResponse:
    """Every time that an agent saw a memory."""
    memory = Memory.objects.visible_to(principal).only("content").filter(pk=memory_id).first()
    if memory is None:
        raise NotFound("There is no such memory.")
    page = Paginator(disclosures_of(principal, memory), SEEN_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "principal": principal,
        "memory": memory,
        "page": page,
        "disclosures": tell(page),
        "days": settings.OPERATION_EVENT_DAYS,
        **neighbours_of(page, lambda number: f"?page={number}"),
    }
    return render(request, "desk/seen.html", context)


@require_POST
@for_person
def decide(request: PageRequest, principal: Principal, memory_id: str, decision: str) -> HttpResponseBase:
    """Take a decision about a memory."""
    typed = request.POST.dict()

    def change(memory: Memory) -> Done:
        done = undoable(principal, lambda: decisions.decide_memory(principal, memory, decision, typed))
        ReviewSession(request.session).note(done, item=Item("memory", memory_id))
        return done

    return _decided(request, principal, memory_id, decision, change)


@require_POST
@for_person
def bring_back(request: PageRequest, principal: Principal, memory_id: str, number: int) -> HttpResponseBase:
    """Give a memory an earlier wording."""

    def change(memory: Memory) -> Done:
        typed = request.POST.dict()
        done = undoable(principal, lambda: decisions.bring_back(principal, memory, number, typed))
        ReviewSession(request.session).note(done, item=Item("memory", memory_id))
        return done

    return _decided(request, principal, memory_id, "", change)


def _decided(
    request: PageRequest, principal: Principal, memory_id: str, decision: str, change: Callable[[Memory], Done]
) -> HttpResponseBase:
    """Carry out a decision and answer with the page as it is now, or with the reason why it is as it was."""
    memory = Memory.objects.visible_to(principal).without_vectors().filter(pk=memory_id).first()
    if memory is None:
        return _gone(request, principal)
    versions = MemoryVersion.objects.visible_to(principal).filter(memory=memory)
    try:
        outcome = attempt(lambda: change(memory), decision, request.POST.dict(), versions)
    except NotFound:
        return _gone(request, principal)
    return answer(request, principal, memory, outcome)


def answer(request: PageRequest, principal: Principal, memory: Memory, outcome: Done | Refusal) -> HttpResponseBase:
    """The page that a form about a memory was sent from, with what came of it."""
    its_page = reverse("memory-page", args=[memory.pk])
    back = came_from(request, its_page)
    origin = origin_of(back, its_page)
    if origin.url_name == "review":
        return answer_decision(request, principal, Item("memory", memory.pk), outcome)
    on_list = origin.url_name == "memory-list"
    view = MemoryView.of(QueryDict(urlsplit(back).query))
    if request.htmx and on_list:
        return _card_alone(request, principal, memory, outcome, view=view, back=back)
    if isinstance(outcome, Done):
        # A message carries one string beside its text: here the address that takes the decision back.
        messages.success(request, outcome.text, extra_tags=outcome.undo)
        return redirect(f"{back}#memory-{memory.pk}" if on_list else back)
    if on_list:
        return show_memories(request, principal, view, {memory.pk: outcome})
    return show_memory(request, principal, memory.pk, outcome)


def _card_alone(
    request: PageRequest, principal: Principal, memory: Memory, outcome: Done | Refusal, *, view: MemoryView, back: str
) -> HttpResponse:
    """What htmx puts in place of the card, with the counts that have changed beside it."""
    memories = Memory.objects.visible_to(principal)
    (card,) = make_memory_cards(memories.filter(pk=memory.pk), principal, {memory.pk: outcome})
    context = {
        "card": card,
        "address": reverse("memory-list"),
        "next": back,
        "total": counts_by_category(view.narrow(memories)).get(memory.category, 0),
        **around_memories(principal, memories, view),
    }
    status = outcome.status if isinstance(outcome, Refusal) else 200
    return render(request, "desk/_memory_swapped.html", context, status=status)


def _gone(request: PageRequest, principal: Principal) -> HttpResponseBase:
    if request.htmx and origin_of(came_from(request, "/"), "/").url_name == "review":
        return answer_gone(request, principal, "This memory is not there any more.")
    if request.htmx:
        return render(request, "desk/_gone.html", {"noun": "memory"}, status=404)
    raise Http404


urlpatterns = [
    path("memories/<slug:memory_id>/", memory, name="memory-page"),
    path("memories/<slug:memory_id>/bring-back/<int:number>/", bring_back, name="memory-bring-back"),
    path("memories/<slug:memory_id>/seen/", seen, name="memory-seen"),
    path("memories/<slug:memory_id>/<slug:decision>/", decide, name="memory-decide"),
]
