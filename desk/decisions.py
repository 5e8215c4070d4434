"""Targets of the decision forms of facts and memories.

They answer with the page that the form was sent from: queue, list or detail page. For htmx on a list: the card only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_POST, require_safe

from accounts.principals import Principal
from facts.models import FactVersion, LegacyFact
from journal.exceptions import NotFound, must_find
from memories.models import Memory, MemoryVersion

from .cards import Card
from .labels import in_words
from .legacies import actions as fact_actions
from .legacies.cards import load_facts, make_cards
from .legacies.listing import FactView
from .legacies.members import members_of
from .legacies.views import make_tabs, show_fact, show_list
from .listing import make_rail
from .memories import actions as memory_actions
from .memories.cards import make_memory_cards
from .memories.detail_views import show_memory
from .memories.listing import MemoryView
from .memories.views import around_memories, show_memories
from .outcomes import Done, Refusal, Typed, attempt, with_undo
from .page import PageRequest, came_from, for_person, origin_of
from .review.queue import QueueItem
from .review.session import ReviewSession
from .review.views import answer_decision, answer_gone, queue_of
from .withheld.views import with_also_said

Outcome = Done | Refusal
GONE = {
    "fact": gettext_noop("This fact is not there any more."),
    "memory": gettext_noop("This memory is not there any more."),
}


class ListOrigin(NamedTuple):
    """The list that a form was sent from: its query, and its legacy, if any."""

    query: QueryDict
    legacy_id: UUID | None


@dataclass(frozen=True, slots=True)
class DecisionKind:
    """Functions for decisions about facts or about memories. ``lists``: URL names of their lists.

    ``default``: the URL to return to if the form does not name one. ``show_list`` renders a list with refusals;
    ``card`` returns one card, or None if it is gone, ``around`` the context of the counts beside it.
    """

    noun: Literal["fact", "memory"]
    lists: frozenset[str]
    rows: Callable[[Principal], QuerySet[Any]]
    versions: Callable[[Principal, Any], QuerySet[Any]]
    decide: Callable[[Principal, Any, str, Typed], Done]
    restore_wording: Callable[[Principal, Any, int, Typed], Done]
    default: Callable[[Any], str]
    show_page: Callable[[PageRequest, Principal, Any, Outcome], HttpResponse]
    show_list: Callable[[PageRequest, Principal, ListOrigin, Any, Refusal], HttpResponse]
    card: Callable[[Principal, Any, Outcome | None], Card | None]
    around: Callable[[Principal, ListOrigin], dict[str, Any]]


def _list_of_facts(
    request: PageRequest, principal: Principal, at: ListOrigin, fact: LegacyFact, outcome: Refusal
) -> HttpResponse:
    return show_list(request, principal, FactView.of(at.query), at.legacy_id, {fact.pk: outcome})


def _card_of_fact(principal: Principal, fact: LegacyFact, outcome: Outcome | None) -> Card | None:
    rows = LegacyFact.objects.visible_to(principal).filter(pk=fact.pk)
    outcomes = {fact.pk: outcome} if outcome else {}
    members = members_of(principal, [fact.legacy_id])
    return next(iter(make_cards(load_facts(rows, principal), principal, members, outcomes)), None)


def _around_facts(principal: Principal, at: ListOrigin) -> dict[str, Any]:
    legacy_id, view = at.legacy_id, FactView.of(at.query)
    counts = view.counts(principal, legacy_id)
    return {
        "rail": make_rail(view, dict(in_words(LegacyFact.Category.choices)), counts.categories),
        "address": reverse("legacy-page", args=[legacy_id]) if legacy_id else reverse("fact-list"),
        "everywhere": legacy_id is None,
        "tabs": make_tabs(view, counts),
    }


def _list_of_memories(
    request: PageRequest, principal: Principal, at: ListOrigin, memory: Memory, outcome: Refusal
) -> HttpResponse:
    return show_memories(request, principal, MemoryView.of(at.query), {memory.pk: outcome})


def _card_of_memory(principal: Principal, memory: Memory, outcome: Outcome | None) -> Card | None:
    rows = Memory.objects.visible_to(principal).filter(pk=memory.pk)
    return next(iter(make_memory_cards(rows, principal, {memory.pk: outcome} if outcome else {})), None)


def _around_memories(principal: Principal, at: ListOrigin) -> dict[str, Any]:
    memories, view = Memory.objects.visible_to(principal), MemoryView.of(at.query)
    return {
        "address": reverse("memory-list"),
        **around_memories(principal, memories, view),
    }


KINDS = {
    "fact": DecisionKind(
        noun="fact",
        lists=frozenset({"fact-list", "legacy-page"}),
        rows=LegacyFact.objects.visible_to,
        versions=lambda principal, fact: FactVersion.objects.filter(fact=fact),
        decide=fact_actions.decide_fact,
        restore_wording=fact_actions.restore_wording,
        default=lambda fact: reverse("fact-list"),
        show_page=lambda request, principal, fact, outcome: show_fact(request, principal, fact.pk, outcome),
        show_list=_list_of_facts,
        card=_card_of_fact,
        around=_around_facts,
    ),
    "memory": DecisionKind(
        noun="memory",
        lists=frozenset({"memory-list"}),
        rows=lambda principal: Memory.objects.visible_to(principal).without_vectors(),
        versions=lambda principal, memory: MemoryVersion.objects.visible_to(principal).filter(memory=memory),
        decide=memory_actions.decide_memory,
        restore_wording=memory_actions.restore_wording,
        default=lambda memory: reverse("memory-page", args=[memory.pk]),
        show_page=lambda request, principal, memory, outcome: show_memory(request, principal, memory.pk, outcome),
        show_list=_list_of_memories,
        card=_card_of_memory,
        around=_around_memories,
    ),
}


@require_POST
@for_person
def decide(request: PageRequest, principal: Principal, pk: str | UUID, decision: str, noun: str) -> HttpResponseBase:
    """Execute a decision about a fact or a memory."""
    return _change(request, principal, KINDS[noun], str(pk), decision=decision)


@require_POST
@for_person
def restore_wording(
    request: PageRequest, principal: Principal, pk: str | UUID, number: int, noun: str
) -> HttpResponseBase:
    """Restore the wording of an earlier version."""
    return _change(request, principal, KINDS[noun], str(pk), wording=number)


def _change(
    request: PageRequest, principal: Principal, kind: DecisionKind, pk: str, *, decision: str = "", wording: int = 0
) -> HttpResponseBase:
    """Execute a change, and answer with the updated page or the reason of a refusal."""
    typed = request.POST.dict()
    row = kind.rows(principal).filter(pk=pk).first()
    if row is None:
        return _gone(request, principal, kind)

    def change() -> Done:
        if wording:
            return kind.restore_wording(principal, row, wording, typed)
        return kind.decide(principal, row, decision, typed)

    def noted() -> Done:
        done = with_undo(principal, change)
        if decision == "dont_keep":
            done = with_also_said(principal, done, kind.noun, pk)
        ReviewSession(request.session).note(done, item=QueueItem(kind.noun, pk), queue=queue_of(request))
        return done

    try:
        return answer(request, principal, kind, row, attempt(noted, decision, typed, kind.versions(principal, row)))
    except NotFound:
        return _gone(request, principal, kind)


def answer(
    request: PageRequest, principal: Principal, kind: DecisionKind, row: Any, outcome: Outcome
) -> HttpResponseBase:
    """Return the page that a form was sent from, with the outcome. Raises NotFound if its object is gone."""
    default = kind.default(row)
    back = came_from(request, default)
    origin = origin_of(back, default)
    if origin.url_name == "review":
        return answer_decision(request, principal, QueueItem(kind.noun, str(row.pk)), outcome)
    listed = None
    if origin.url_name in kind.lists:
        listed = ListOrigin(QueryDict(urlsplit(back).query), origin.kwargs.get("legacy_id"))
    if request.htmx and listed:
        card = must_find(kind.card(principal, row, outcome), kind.noun)
        context = {"next": back, "where": "list", "card": card, **kind.around(principal, listed)}
        status = outcome.status if isinstance(outcome, Refusal) else 200
        return render(request, "desk/_card_swapped.html", context, status=status)
    if isinstance(outcome, Done):
        # The message's extra tag is the URL that undoes the decision.
        messages.success(request, outcome.text, extra_tags=outcome.undo)
        if outcome.also and origin.url_name != "conversation-page":
            return redirect(outcome.also.page)
        if outcome.also:
            told = _("It is also said in {where}. {link}")
            link = format_html('<a href="{}">{}</a>', outcome.also.page, _("See what else to withhold"))
            messages.info(request, format_html(told, where=outcome.also.where, link=link))
        return redirect(f"{back}#{kind.noun}-{row.pk}" if listed else back)
    if listed:
        return kind.show_list(request, principal, listed, row, outcome)
    return kind.show_page(request, principal, row, outcome)


@require_safe
@for_person
def opened(request: PageRequest, principal: Principal, pk: str | UUID, noun: str) -> HttpResponse:
    """Return the expanded row with evidence and decisions; without htmx redirect to the detail page."""
    kind = KINDS[noun]
    row = kind.rows(principal).filter(pk=pk).first()
    if row is None:
        raise Http404
    if not request.htmx:
        return redirect(f"{noun}-page", row.pk)
    back = request.htmx.current_url_abs_path or kind.default(row)
    origin = origin_of(back, kind.default(row))
    context = {
        "principal": principal,
        "next": back,
        "where": "list",
        "card": kind.card(principal, row, None),
        "everywhere": origin.url_name == "fact-list",
    }
    return render(request, "desk/_opened.html", context)


def _gone(request: PageRequest, principal: Principal, kind: DecisionKind) -> HttpResponseBase:
    if request.htmx and origin_of(came_from(request, "/"), "/").url_name == "review":
        return answer_gone(request, principal, _(GONE[kind.noun]))
    if request.htmx:
        return render(request, "desk/_gone.html", {"noun": kind.noun}, status=404)
    raise Http404


_FACT, _MEMORY = {"noun": "fact"}, {"noun": "memory"}
urlpatterns = [
    path("facts/<uuid:pk>/opened/", opened, _FACT, name="fact-opened"),
    path("memories/<slug:pk>/opened/", opened, _MEMORY, name="memory-opened"),
    path("facts/<uuid:pk>/bring-back/<int:number>/", restore_wording, _FACT, name="fact-bring-back"),
    path("facts/<uuid:pk>/<slug:decision>/", decide, _FACT, name="fact-decide"),
    path("memories/<slug:pk>/bring-back/<int:number>/", restore_wording, _MEMORY, name="memory-bring-back"),
    path("memories/<slug:pk>/<slug:decision>/", decide, _MEMORY, name="memory-decide"),
]
