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
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.principals import Principal
from journal.exceptions import NotFound
from memories.actions import memories_used
from memories.models import Memory, MemoryVersion

from .. import memory_decisions as decisions
from ..decisions import attempt
from ..memory_cards import make_memory_cards
from ..memory_dossiers import make_memory_dossier
from ..memory_histories import make_memory_history
from ..memory_views import MemoryView, counts_by_category
from ..outcomes import Done, Refusal
from ..queues import Item
from ..sightings import sightings_of, tell
from ..sittings import Sitting
from .frame import PageRequest, came_from, for_person, neighbours_of, origin_of
from .memories import around_memories, filing_choices, show_memories
from .review import answer_decision, answer_gone, queue_of

SEEN_PER_PAGE = 50


@require_safe
@for_person
def memory(request: PageRequest, principal: Principal, memory_id: str) -> HttpResponse:
    """A memory of the person. Opening it counts as a use."""
    answer = show_memory(request, principal, memory_id)
    if request.method == "GET":
        memories_used([memory_id], timezone.now())
    return answer


def show_memory(
    request: PageRequest, principal: Principal, memory_id: str, outcome: Done | Refusal | None = None
) -> HttpResponse:
    """The page; ``outcome`` is what a form on it came to."""
    dossier = make_memory_dossier(principal, memory_id, outcome)
    if dossier is None:
        raise NotFound("There is no such memory.")
    context = {
        "principal": principal,
        "dossier": dossier,
        "card": dossier.card,
        "memory": dossier.card.memory,
        "history": make_memory_history(principal, dossier.card.memory),
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
    page = Paginator(sightings_of(principal, memory), SEEN_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "principal": principal,
        "memory": memory,
        "page": page,
        "sightings": tell(page),
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
        done = decisions.carry_out(principal, memory, decision, typed)
        Sitting(request.session).note(done, item=Item("memory", memory_id))
        return done

    return _decided(request, principal, memory_id, decision, change)


@require_POST
@for_person
def undo(request: PageRequest, principal: Principal, memory_id: str, first: int, last: int) -> HttpResponseBase:
    """Take a decision back: the memory stands again as it did before."""

    def change(memory: Memory) -> Done:
        return _noted(request, decisions.undo(principal, memory, first, last))

    return _decided(request, principal, memory_id, "", change)


@require_POST
@for_person
def undo_wording(
    request: PageRequest, principal: Principal, memory_id: str, *, before: str, version: int, now: int
) -> HttpResponseBase:
    """Take a rewording back: the memory reads and stands again as it did before."""

    def change(memory: Memory) -> Done:
        return _noted(request, decisions.undo_wording(principal, memory, before, version, now))

    return _decided(request, principal, memory_id, "", change)


@require_POST
@for_person
def undo_filing(
    request: PageRequest,
    principal: Principal,
    memory_id: str,
    *,
    before: str,
    version: int,
    category: str,
    importance: int,
    until: int,
    rev: int,
) -> HttpResponseBase:
    """Take back that a memory was filed otherwise."""

    def change(memory: Memory) -> Done:
        done = decisions.undo_filing(
            principal, memory, before, version, category=category, importance=importance, until=until, rev=rev
        )
        return _noted(request, done)

    return _decided(request, principal, memory_id, "", change)


@require_POST
@for_person
def bring_back(request: PageRequest, principal: Principal, memory_id: str, number: int) -> HttpResponseBase:
    """Give a memory an earlier wording."""

    def change(memory: Memory) -> Done:
        done = decisions.bring_back(principal, memory, number, request.POST.dict())
        Sitting(request.session).note(done, item=Item("memory", memory_id))
        return done

    return _decided(request, principal, memory_id, "", change)


def _noted(request: PageRequest, done: Done) -> Done:
    """Drop from the last decisions what was taken back."""
    Sitting(request.session).forget(request.path, queue=queue_of(request))
    return done


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
    return _answer(request, principal, memory, outcome)


def _answer(request: PageRequest, principal: Principal, memory: Memory, outcome: Done | Refusal) -> HttpResponseBase:
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
    path("memories/<slug:memory_id>/undo/<int:first>/<int:last>/", undo, name="memory-undo"),
    path(
        "memories/<slug:memory_id>/undo-wording/<slug:before>/<int:version>/<int:now>/",
        undo_wording,
        name="memory-undo-wording",
    ),
    path(
        "memories/<slug:memory_id>/undo-filing/<slug:before>/<int:version>"
        "/<slug:category>/<int:importance>/<int:until>/<int:rev>/",
        undo_filing,
        name="memory-undo-filing",
    ),
    path("memories/<slug:memory_id>/bring-back/<int:number>/", bring_back, name="memory-bring-back"),
    path("memories/<slug:memory_id>/seen/", seen, name="memory-seen"),
    path("memories/<slug:memory_id>/<slug:decision>/", decide, name="memory-decide"),
]
