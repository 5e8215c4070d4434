"""Pages of the timeline and its charts."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.views.decorators.http import require_safe

from accounts.models import Agent
from accounts.principals import Principal, shape_for
from retrieval.prepared import read

from ..page import PageRequest, for_person
from .feed import KINDS, PEOPLE, TimelineView, read_timeline
from .pictures import ARCS, HEIGHT, ROW, WIDTH, picture_months, picture_relations, picture_tokens


@require_safe
@for_person
def timeline(request: PageRequest, principal: Principal) -> HttpResponse:
    """Show the timeline."""
    view = TimelineView.of(request.GET)
    entries, last = read_timeline(principal, view)
    address = reverse("timeline")
    context = {
        "principal": principal,
        "view": view,
        "entries": entries,
        "who": _who(principal),
        "kinds": [(name, label) for name, (label, _types) in KINDS.items()],
        "everything": address,
        "latest": address + view.from_revision(0).query if view.before else "",
        "earlier": address + view.from_revision(last).query if last else "",
        "next": address + view.query,
    }
    return render(request, "desk/timeline.html", context)


def _who(principal: Principal) -> list[tuple[str, object]]:
    """Return the choices of authors: people, Keepsake, and the person's agents by name."""
    agents = shape_for(principal, "authors", lambda someone: Agent.objects.visible_to(someone).order_by("name", "pk"))
    return [*PEOPLE.items(), *((str(pk), name) for pk, name in read(agents, ("pk", "name")))]


@require_safe
@for_person
def pictures(request: PageRequest, principal: Principal) -> HttpResponse:
    """Show the charts: tokens against the budget, memories over time, relations."""
    tokens = picture_tokens(principal)
    context = {
        "tokens": tokens,
        "months": picture_months(principal, tokens),
        "graph": picture_relations(principal),
        "width": WIDTH,
        "height": HEIGHT,
        "row": ROW,
        "arcs_width": ARCS,
    }
    return render(request, "desk/pictures.html", context)


urlpatterns = [
    path("timeline/", timeline, name="timeline"),
    path("timeline/pictures/", pictures, name="pictures"),
]
