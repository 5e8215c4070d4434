"""Pages of the review queue."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import replace_url

from accounts import categories
from accounts.models import Legacy
from accounts.principals import Principal
from facts.models import LegacyFact
from journal.exceptions import Conflict, NotFound
from memories.models import MemoryVersion

from ..labels import in_words, memory_categories
from ..outcomes import Done, Refusal, attempt, with_undo
from ..page import PageRequest, came_from, for_person
from ..withheld.views import with_also_said
from . import actions
from .items import make_item
from .queue import KINDS, MOST_COUNTED, QueueItem, QueueQuery
from .session import ReviewSession

AHEAD = 5
"""Most items that are loaded before they are asked for."""


@require_safe
@for_person
def review(request: PageRequest, principal: Principal) -> HttpResponse:
    """Show the queue at an item, or from its start."""
    queue = QueueQuery.of(request.GET)
    return show_queue(request, principal, queue, said="" if request.htmx else None)


def queue_of(request: PageRequest) -> str | None:
    """Return the filters of the queue that a form came from, or None."""
    return _queue(request).filters if urlsplit(came_from(request, "/")).path == reverse("review") else None


def answer_decision(
    request: PageRequest, principal: Principal, item: QueueItem, outcome: Done | Refusal
) -> HttpResponseBase:
    """Answer a decision with the next item; after an undo or a refusal with the same one."""
    at = _queue(request).at(item)
    if isinstance(outcome, Refusal):
        if _shown(request) and at.place(principal).item != item:
            return _show_after(request, principal, outcome)
        return show_queue(request, principal, at, said=outcome.text, refusal=outcome)
    if _shown(request):
        return _show_after(request, principal, outcome)
    if not request.htmx:
        messages.success(request, outcome.text)
        return redirect(outcome.also.page if outcome.also else f"{reverse('review')}{at.query}#item")
    answer = show_queue(request, principal, at, said=outcome.text, done=outcome)
    return replace_url(answer, reverse("review") + at.query)


def answer_gone(request: PageRequest, principal: Principal, why: str) -> HttpResponseBase:
    """Answer a decision about a missing item with the queue from its start."""
    if not request.htmx:
        raise Http404
    if _shown(request):
        return _show_after(request, principal, Refusal("", why, 404))
    return show_queue(request, principal, _queue(request).from_the_start, said=why, refusal=Refusal("", why, 404))


def show_queue(
    request: PageRequest,
    principal: Principal,
    queue: QueueQuery,
    *,
    said: str | None,
    refusal: Refusal | None = None,
    done: Done | None = None,
) -> HttpResponse:
    """Render the queue, only the panel for htmx. ``said`` is announced, with the position.

    ``done``: the decision just made.
    """
    place = queue.place(principal)
    decisions = ReviewSession(request.session)
    if not place.total:
        decisions.start_over()
    decided = decisions.done_in(queue.filters)
    about = refusal if place.item and place.item.key == queue.item else None
    card = make_item(principal, place.item, about) if place.item else None
    context = {
        "principal": principal,
        "queue": queue,
        "place": place,
        "number": decided + place.before + 1,
        "of": decided + place.total,
        "more": place.total >= MOST_COUNTED,
        "behind": decided + place.before,
        "card": card,
        "where": "queue",
        "everywhere": True,
        "decided": decisions.decided(principal),
        "done": done,
        "editing": request.GET.get("edit") == "yes",
        "said": said,
        # If the item does not wait any more, the next one is shown, below the reason.
        "notice": refusal.text if refusal and about is None else "",
        "next": reverse("review") + queue.at(place.item).query,
        "start": reverse("review") + queue.filters,
        "end": reverse("review") + queue.at(None).query,
        "later": reverse("review") + queue.at(place.later).query,
        "earlier": reverse("review") + queue.at(place.earlier).query if place.earlier else "",
        "kinds": [(name, _(title)) for name, title in KINDS.items()],
        "categories": _categories(queue.kind),
        "legacies": Legacy.objects.visible_to(principal).order_by("name", "pk"),
        "swapped": bool(request.htmx),
    }
    status = refusal.status if refusal else 200
    return render(request, "desk/_queue.html" if request.htmx else "desk/review.html", context, status=status)


@require_safe
@for_person
def ahead(request: PageRequest, principal: Principal) -> HttpResponse:
    """Return the items after the current one, for prefetching."""
    queue, most = QueueQuery.of(request.GET), request.GET.get("most", "")
    items = queue.ahead(principal, min(int(most), AHEAD) if most.isdecimal() and len(most) < 4 else AHEAD)
    cards = [(make_item(principal, item), reverse("review") + queue.at(item).query) for item in items]
    context = {
        "principal": principal,
        "cards": [(card, address) for card, address in cards if card],
        "where": "queue",
        "everywhere": True,
    }
    return render(request, "desk/_ahead.html", context)


def _shown(request: PageRequest) -> bool:
    """Whether the page shows the next item already, and requests only the outcome."""
    return bool(request.htmx) and "ahead" in request.POST


def _show_after(request: PageRequest, principal: Principal, outcome: Done | Refusal) -> HttpResponse:
    """Render the outcome of a decision, beside an item that is shown already."""
    refused = isinstance(outcome, Refusal)
    context = {
        "done": None if refused else outcome,
        "said": outcome.text,
        "notice": outcome.text if refused else "",
        "decided": ReviewSession(request.session).decided(principal),
        "next": came_from(request, reverse("review")),
    }
    return render(request, "desk/_after.html", context, status=outcome.status if isinstance(outcome, Refusal) else 200)


def _queue(request: PageRequest) -> QueueQuery:
    """Return the queue that a form came from."""
    return QueueQuery.of(QueryDict(urlsplit(came_from(request, "/")).query))


def _categories(kind: str) -> list[tuple[str, str]]:
    """Return the category choices of a queue, each once."""
    of_facts = dict(in_words(LegacyFact.Category.choices)) if kind != "memories" else {}
    of_memories = dict(memory_categories()) if kind != "facts" else {}
    known = {categories.load().canonical(name) for name in of_facts}
    both = {**of_facts, **{name: label for name, label in of_memories.items() if name not in known}}
    return sorted(both.items(), key=lambda each: each[1])


@require_POST
@for_person
def decide(request: PageRequest, principal: Principal, key: str, decision: str) -> HttpResponseBase:
    """Execute a decision about an item."""

    def change(item: QueueItem) -> Done:
        typed = request.POST.dict()
        done = with_undo(principal, lambda: actions.decide_item(principal, item, decision, typed))
        if decision == "dont_keep" and item.kind == "memory":
            done = with_also_said(principal, done, item.kind, item.pk)
        ReviewSession(request.session).note(done, item=item, queue=queue_of(request))
        return done

    return _decided(request, principal, key, decision, change)


def _decided(
    request: PageRequest, principal: Principal, key: str, decision: str, change: Callable[[QueueItem], Done]
) -> HttpResponseBase:
    item = QueueItem.of(key)
    try:
        if item is None or item.kind == "fact":
            raise NotFound("There is no such item.")
        typed = request.POST.dict()
        versions = MemoryVersion.objects.visible_to(principal).filter(memory=item.pk)
        seen = versions if item.kind == "memory" else versions.none()
        outcome = attempt(partial(_in_words, change, item), decision, typed, seen)
    except NotFound:
        return answer_gone(request, principal, _("This is not there any more: it was removed, or its days were over."))
    return answer_decision(request, principal, item, outcome)


def _in_words(change: Callable[[QueueItem], Done], item: QueueItem) -> Done:
    """Execute a decision, with the page's message if it comes too late."""
    try:
        return change(item)
    except Conflict as error:
        raise Conflict(actions.explain(error), code=error.code, **error.extra) from error


urlpatterns = [
    path("review/", review, name="review"),
    path("review/ahead/", ahead, name="review-ahead"),
    path("review/<slug:key>/<slug:decision>/", decide, name="review-decide"),
]
