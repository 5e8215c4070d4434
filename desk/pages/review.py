"""The review queue: one item, one decision, the next."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.views.decorators.http import require_safe
from django_htmx.http import replace_url

from accounts.models import Legacy
from accounts.principals import Principal
from facts.models import LegacyFact

from ..dossiers import make_dossier
from ..outcomes import Done, Refusal
from ..queues import Queue
from ..sittings import Sitting
from .frame import PageRequest, for_person


@require_safe
@for_person
def review(request: PageRequest, principal: Principal) -> HttpResponse:
    """The queue at the item that the address names, or at its beginning."""
    queue = Queue.of(request.GET)
    return show_queue(request, principal, queue, said="" if request.htmx else None)


def answer_decision(
    request: PageRequest, principal: Principal, queue: Queue, fact: LegacyFact, outcome: Done | Refusal
) -> HttpResponseBase:
    """What follows a decision in the queue: the next item; after an undo or a refusal the same one again."""
    at = queue.at(fact.pk)
    if isinstance(outcome, Refusal):
        return show_queue(request, principal, at, said=outcome.text, refusal=outcome)
    if not request.htmx:
        messages.success(request, outcome.text)
        return redirect(f"{reverse('review')}{at.query}#item")
    answer = show_queue(request, principal, at, said=outcome.text)
    return replace_url(answer, reverse("review") + at.query)


def show_queue(
    request: PageRequest,
    principal: Principal,
    queue: Queue,
    *,
    said: str | None,
    refusal: Refusal | None = None,
) -> HttpResponse:
    """The queue's panel alone for htmx, else in its page. ``said`` is announced, with where one is now."""
    place = queue.place(principal)
    sitting = Sitting(request.session)
    if not place.total:
        sitting.start_over()
    done = sitting.done_in(queue.filters)
    about = refusal if str(place.fact_id) == queue.fact else None
    dossier = make_dossier(principal, place.fact_id, about) if place.fact_id else None
    context = {
        "principal": principal,
        "queue": queue,
        "place": place,
        "number": done + place.before + 1,
        "of": done + place.total,
        "behind": done + place.before,
        "dossier": dossier,
        "card": dossier.card if dossier else None,
        "decided": sitting.decided(principal),
        "said": said,
        # When what was decided about waits no more, another fact is shown, and the reason stands above that.
        "notice": refusal.text if refusal and about is None else "",
        "next": reverse("review") + queue.at(place.fact_id).query,
        "start": reverse("review") + queue.filters,
        "later": reverse("review") + queue.at(place.later).query,
        "earlier": reverse("review") + queue.at(place.earlier).query if place.earlier else "",
        "categories": LegacyFact.Category.choices,
        "legacies": Legacy.objects.visible_to(principal).order_by("name", "pk"),
        "swapped": bool(request.htmx),
    }
    status = refusal.status if refusal else 200
    return render(request, "desk/_queue.html" if request.htmx else "desk/review.html", context, status=status)


urlpatterns = [path("review/", review, name="review")]
