"""What forms of the queue about the person's memory are sent to: decide, take back.

The answer is the queue at its next item; with htmx its panel alone. Facts have addresses of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.http import HttpResponseBase
from django.urls import path
from django.views.decorators.http import require_POST

from accounts.principals import Principal
from journal.exceptions import Conflict, NotFound
from memories.models import MemoryVersion

from .. import verdicts
from ..decisions import attempt
from ..outcomes import Done
from ..queues import Item
from ..sittings import Sitting
from .frame import PageRequest, for_person
from .review import answer_decision, answer_gone, queue_of


@require_POST
@for_person
def decide(request: PageRequest, principal: Principal, key: str, decision: str) -> HttpResponseBase:
    """Take a decision about an item of the queue."""

    def change(item: Item) -> Done:
        done = verdicts.carry_out(principal, item, decision, request.POST.dict())
        Sitting(request.session).note(done, item=item, queue=queue_of(request))
        return done

    return _decided(request, principal, key, decision, change)


@require_POST
@for_person
def undo(request: PageRequest, principal: Principal, key: str) -> HttpResponseBase:
    """Take a decision about a proposal back."""

    def change(item: Item) -> Done:
        if item.kind != "proposal":
            raise NotFound("There is no such proposal.")
        return _noted(request, verdicts.undo_proposal(principal, item))

    return _decided(request, principal, key, "", change)


@require_POST
@for_person
def undo_edit(
    request: PageRequest, principal: Principal, key: str, *, before: str, version: int, now: int
) -> HttpResponseBase:
    """Take back that a memory was approved in other words."""

    def change(item: Item) -> Done:
        if item.kind != "memory":
            raise NotFound("There is no such memory.")
        return _noted(request, verdicts.undo_edit(principal, item, before, version, now))

    return _decided(request, principal, key, "", change)


def _noted(request: PageRequest, done: Done) -> Done:
    Sitting(request.session).forget(request.path, queue=queue_of(request))
    return done


def _decided(
    request: PageRequest, principal: Principal, key: str, decision: str, change: Callable[[Item], Done]
) -> HttpResponseBase:
    item = Item.of(key)
    try:
        if item is None or item.kind == "fact":
            raise NotFound("There is no such item.")
        typed = request.POST.dict()
        versions = MemoryVersion.objects.visible_to(principal).filter(memory=item.pk)
        seen = versions if item.kind == "memory" else versions.none()
        outcome = attempt(partial(_in_words, change, item), decision, typed, seen)
    except NotFound:
        return answer_gone(request, principal, "This is not there any more: it was removed, or its days were over.")
    return answer_decision(request, principal, item, outcome)


def _in_words(change: Callable[[Item], Done], item: Item) -> Done:
    """Carry a decision out; who comes too late reads why in words of the page."""
    try:
        return change(item)
    except Conflict as error:
        raise Conflict(verdicts.explain(error), code=error.code, **error.extra) from error


urlpatterns = [
    path("review/<slug:key>/undo/", undo, name="review-undo"),
    path("review/<slug:key>/undo/<slug:before>/<int:version>/<int:now>/", undo_edit, name="review-undo-edit"),
    path("review/<slug:key>/<slug:decision>/", decide, name="review-decide"),
]
