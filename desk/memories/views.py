"""The list of memories by category, and adding one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from types import MappingProxyType
from typing import Any, cast

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import replace_url

from accounts import categories
from accounts.models import Agent
from accounts.principals import Principal
from assistant.recall.search import QueryVector, find_memories
from journal.exceptions import Refused
from memories.actions import MOST_AT_ONCE
from memories.lifecycle import leaving_soon
from memories.models import Kind, Memory
from memories.overview import Overview, read_overview
from memories.queries import block_fill
from memories.querysets import MemoryQuerySet
from memories.searching import Narrowing, present_shape

from ..cards import Card, decisions_in_words
from ..labels import category_label, in_words, memory_categories
from ..listing import PER_PAGE, Tab, close_in_meaning, is_bare, make_rail
from ..outcomes import Done, Refusal, with_undo
from ..page import PageRequest, for_person, neighbours_of
from . import actions as memory_decisions
from .cards import make_memory_cards
from .listing import SORTS, STATES, Counts, MemoryView, Pages

Outcomes = Mapping[str, Done | Refusal]
NONE: Outcomes = MappingProxyType({})
BLANK: Mapping[str, str] = MappingProxyType(
    {"content": "", "category": "", "field": "", "subject": "", "topics": "", "importance": "2"}
)
IMPORTANCES = {
    "1": gettext_noop("1, low"),
    "2": gettext_noop("2, normal"),
    "3": gettext_noop("3, raised"),
    "4": gettext_noop("4, high"),
    "5": gettext_noop("5, highest"),
}
BULK = {
    "active": ("approve", "reject", "archive", "pin", "unpin"),
    "proposed": ("approve", "reject", "archive"),
    "quarantined": ("reject", "archive"),
    "archived": ("restore", "reject"),
    "rejected": ("restore",),
}


@dataclass(frozen=True, slots=True)
class CategoryGroup:
    """The memories of a category on a page; ``continued`` from the previous page."""

    name: str
    label: str
    continued: bool
    cards: list[Card]


@require_safe
@for_person
def memory_list(request: PageRequest, principal: Principal) -> HttpResponse:
    """List the memories in one state."""
    return show_memories(request, principal, MemoryView.of(request.GET))


@require_POST
@for_person
def add(request: PageRequest, principal: Principal) -> HttpResponse:
    """Add a memory."""
    typed = request.POST.dict()
    made: list[Memory] = []

    def change() -> Done:
        memory, done = memory_decisions.add(principal, typed)
        made.append(memory)
        return done

    try:
        done = with_undo(principal, change)
    except Refused as error:
        return show_memories(
            request, principal, MemoryView(), refused=Refusal("add", error.detail, error.status, typed)
        )
    messages.success(request, done.text, extra_tags=done.undo)
    return redirect("memory-page", made[0].pk)


def show_memories(
    request: PageRequest,
    principal: Principal,
    view: MemoryView,
    outcomes: Outcomes = NONE,
    *,
    refused: Refusal | None = None,
) -> HttpResponse:
    """Render the list. ``outcomes``: refused decisions by memory; ``refused``: why one was not added."""
    memories = Memory.objects.visible_to(principal)
    overview = read_overview(principal)
    counts = Counts.of(memories, view, overview)
    totals = counts.shown(view)
    found = cast(MemoryQuerySet, Pages(view, principal, totals))  # The part of a paginator's interface that is used.
    page = Paginator(found, view.per_page).get_page(view.page)
    cards = make_memory_cards(page.object_list, principal, outcomes, opened=False)
    for memory_id in outcomes.keys() - {card.key for card in cards}:
        messages.error(request, outcomes[memory_id].text)  # It moved to another tab.
    address = reverse("memory-list")
    context = {
        "principal": principal,
        "where": "list",
        "view": view,
        "title": _(STATES[view.state]),
        "address": address,
        "everything": view.unfiltered.query,
        "page": page,
        "groups": _groups(page, cards, totals),
        "leaving": leaving_soon(principal),
        "changes": overview.changes,
        "near": [] if page.has_other_pages() else _near(principal, view, memories, {card.key for card in cards}),
        "next": address + view.query,
        "adding": {**BLANK, **(refused.typed if refused else {})},
        "adding_refused": refused.text if refused else "",
        "fields": in_words(Memory.Field.choices),
        "kinds": in_words(Kind.choices),
        "topics": [(topic, topic) for topic in overview.topics],
        "subjects": overview.subjects,
        "agents": _agents(overview),
        "pinned_or_not": [("yes", _("Pinned")), ("no", _("Not pinned"))],
        "reviewed_or_not": [("yes", _("Reviewed")), ("no", _("Not reviewed"))],
        "sorts": [(name, _(title)) for name, title in SORTS.items()],
        "sizes": PER_PAGE,
        "bulk": decisions_in_words(BULK[view.state] if cards else ()),
        "bulk_confirm": reverse("memory-bulk-confirm"),
        "most": MOST_AT_ONCE,
        **filing_choices(),
        **around_memories(principal, memories, view, counts),
        **neighbours_of(page, lambda number: view.at(number).query),
    }
    why_not = refused or next((each for each in outcomes.values() if isinstance(each, Refusal)), None)
    answer = render(request, "desk/memories.html", context, status=why_not.status if why_not else 200)
    return replace_url(answer, address + view.query) if request.htmx else answer


def around_memories(
    principal: Principal, memories: MemoryQuerySet, view: MemoryView, counts: Counts | None = None
) -> dict[str, Any]:
    """Return what changes with every decision: counts of tabs and categories, and the fill of the memory block."""
    counts = counts or Counts.of(memories, view, read_overview(principal))
    labels = {name: category_label(name) for name in sorted(categories.load().by_name)}
    tabs = [
        Tab(_(title), view.within(name).query, counts.states.get(name, 0), name == view.state)
        for name, title in STATES.items()
    ]
    return {
        "tabs": tabs,
        "bare": is_bare(view, tabs),
        "tabs_label": _("Which memories"),
        "rail": make_rail(view, labels, counts.categories),
        "fill": block_fill(principal),
    }


def filing_choices() -> dict[str, Any]:
    """Return the choices of categories and topics."""
    return {
        "categories": memory_categories(),
        "importances": [(value, _(label)) for value, label in IMPORTANCES.items()],
    }


def _near(principal: Principal, view: MemoryView, memories: MemoryQuerySet, holding: Collection[str]) -> list[Card]:
    """Return memories similar in meaning to the search, besides those ``holding`` the words.

    None if the latter fill more than a page.
    """
    if not view.search or view.state != "active":
        return []
    rows = present_shape(principal, Narrowing())
    found = find_memories(principal, QueryVector(view.search), rows=rows, top_k=PER_PAGE[0]).memories
    ids = [each for each in close_in_meaning(each.hit for each in found) if each not in holding]
    wanted = view.without_words().narrow(memories.filter(pk__in=ids)).without_vectors()
    cards = make_memory_cards(wanted, principal, NONE, opened=False)
    return sorted(cards, key=lambda card: ids.index(card.key))


def _groups(page: Page[Any], cards: Iterable[Card], totals: Mapping[str, int]) -> list[CategoryGroup]:
    by_category: dict[str, list[Card]] = {}
    for card in cards:
        by_category.setdefault(card.memory.category if card.memory else "", []).append(card)
    first = next(iter(by_category), "")
    earlier = sum(total for _name, total in takewhile(lambda each: each[0] != first, totals.items()))
    return [
        CategoryGroup(
            name=name,
            label=category_label(name),
            continued=name == first and page.start_index() - 1 > earlier,
            cards=those,
        )
        for name, those in by_category.items()
    ]


def _agents(overview: Overview) -> list[tuple[str, str]]:
    """Return the agents that added memories, by name."""
    named = Agent.objects.filter(pk__in=overview.agents).order_by("name").values_list("pk", "name")
    return [(str(pk), name) for pk, name in named]


urlpatterns = [
    path("memories/", memory_list, name="memory-list"),
    path("memories/add/", add, name="memory-add"),
]
