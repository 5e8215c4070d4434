"""Lists of facts of one legacy or all, and the page of a fact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import cast
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import replace_url

from accounts.models import Legacy, Member
from accounts.principals import Principal, shape_for
from assistant.recall.search import QueryVector, find_facts
from facts.actions import BULK_DECISIONS, MOST_AT_ONCE
from facts.filters import OWN_WORDS
from facts.models import LegacyFact
from facts.querysets import FactQuerySet
from facts.searching import FactSelection
from journal.exceptions import NotFound, Refused, must_find
from retrieval.prepared import read
from statements.policy import LONGEST

from ..cards import Card, decisions_in_words
from ..conversations.actions import waiting_erasure
from ..labels import in_words, label, writer_label
from ..listing import PER_PAGE, Tab, close_in_meaning, is_bare, make_rail
from ..outcomes import Done, Refusal, with_undo
from ..page import PageRequest, for_person, neighbours_of
from . import actions as fact_decisions
from .cards import load_facts, make_cards, make_fact_card
from .history import make_fact_history
from .invitations import waiting_invitations
from .listing import SORTS, STATES, Counted, Counts, FactView
from .members import members_of
from .tabs import ANY_LEGACY, TABS, facts_about

Outcomes = Mapping[UUID, Done | Refusal]
NONE: Outcomes = MappingProxyType({})


def make_tabs(view: FactView, counts: Counts) -> list[Tab]:
    """Return the tabs with counts."""
    return [Tab(_(title), view.on(name).query, counts.tabs[name], name == view.show) for name, title in TABS.items()]


@require_safe
@for_person
def legacy(request: PageRequest, principal: Principal, legacy_id: UUID) -> HttpResponse:
    """List the facts of a legacy."""
    return show_list(request, principal, FactView.of(request.GET), legacy_id)


@require_POST
@for_person
def add(request: PageRequest, principal: Principal, legacy_id: UUID) -> HttpResponse:
    """Add a fact."""
    typed, made = request.POST.dict(), []

    def change() -> Done:
        fact, done = fact_decisions.add(principal, legacy_id, typed)
        made.append(fact)
        return done

    try:
        done = with_undo(principal, change)
    except NotFound:
        raise
    except Refused as error:
        refused = Refusal("add", error.detail, error.status, typed)
        return show_list(request, principal, FactView.of({}), legacy_id, refused=refused)
    messages.success(request, done.text, extra_tags=done.undo)
    return redirect("fact-page", made[0].pk)


@require_safe
@for_person
def every_legacy(request: PageRequest, principal: Principal) -> HttpResponse:
    """List the facts of all legacies."""
    return show_list(request, principal, FactView.of(request.GET))


def show_list(
    request: PageRequest,
    principal: Principal,
    view: FactView,
    legacy_id: UUID | None = None,
    outcomes: Outcomes = NONE,
    *,
    refused: Refusal | None = None,
) -> HttpResponse:
    """Render a list of facts. ``outcomes``: refused decisions by fact; ``refused``: why a fact was not added."""
    facts, shown = facts_about(principal, legacy_id), None
    if legacy_id is not None:
        shown = must_find(Legacy.objects.visible_to(principal).with_picture().filter(pk=legacy_id).first(), "legacy")
    counts = view.counts(principal, legacy_id)
    found = cast(FactQuerySet, Counted(view, principal, legacy_id, counts.categories, opened=bool(outcomes)))
    page = Paginator(found, view.per_page).get_page(view.page)
    on_page = list(page.object_list)
    members = members_of(principal, [legacy_id] if legacy_id else list({each.legacy_id for each in on_page}))
    cards = make_cards(on_page, principal, members, outcomes, opened=bool(outcomes))
    for fact_id in outcomes.keys() - {UUID(card.key) for card in cards}:
        messages.error(request, outcomes[fact_id].text)  # The fact moved to another tab.
    why_not = refused or next((each for each in outcomes.values() if isinstance(each, Refusal)), None)
    address = reverse("legacy-page", args=[legacy_id]) if legacy_id else reverse("fact-list")
    tabs = make_tabs(view, counts)
    context = {
        "principal": principal,
        "legacy": shown,
        "members": members,
        "invitations": [] if legacy_id else waiting_invitations(principal),
        "view": view,
        "title": _(TABS[view.show]),
        "address": address,
        "everything": view.unfiltered.query,
        "tabs": tabs,
        "bare": legacy_id is None and is_bare(view, tabs),
        "rail": make_rail(view, dict(in_words(LegacyFact.Category.choices)), counts.categories),
        "page": page,
        "cards": cards,
        "near": [] if page.has_other_pages() else _near(principal, view, facts, members, legacy_id),
        "where": "list",
        "next": address + view.query,
        "adding": refused.typed if refused else {},
        "adding_refused": refused.text if refused else "",
        "longest": LONGEST,
        "categories": in_words(LegacyFact.Category.choices),
        "visibilities": in_words(LegacyFact.Visibility.choices) if view.show == "mine" else [],
        "states": [(value, label(LegacyFact.State(value).label)) for value in STATES[view.show]],
        "writers": writers(principal, legacy_id),
        "sorts": [(name, _(title)) for name, title in SORTS.items()],
        "sizes": PER_PAGE,
        "legacies": [] if legacy_id else Legacy.objects.visible_to(principal).order_by("name", "pk"),
        "bulk": decisions_in_words(BULK_DECISIONS if view.show in {"waiting", "mine"} and cards else ()),
        "bulk_confirm": reverse("bulk-confirm"),
        "most": MOST_AT_ONCE,
        **neighbours_of(page, lambda number: view.at(number).query),
    }
    answer = render(request, "desk/facts.html", context, status=why_not.status if why_not else 200)
    return replace_url(answer, address + view.query) if request.htmx else answer


def _near(
    principal: Principal, view: FactView, facts: FactQuerySet, members: Iterable[Member], legacy_id: UUID | None
) -> list[Card]:
    """Return active facts similar in meaning to the search, without the words.

    None if the matches of the words fill more than a page.
    """
    if not view.search or view.show == "gone":
        return []
    found = find_facts(principal, QueryVector(view.search), wanted=FactSelection(legacy_id), top_k=PER_PAGE[0])
    ids = close_in_meaning(each.hit for each in found)
    wanted = view.without_words().select(facts, principal).filter(pk__in=ids)
    wanted = wanted.exclude(pk__in=view.narrow(facts).values("pk"))
    cards = make_cards(load_facts(wanted, principal, opened=False), principal, members, NONE, opened=False)
    return sorted(cards, key=lambda card: ids.index(card.key))


@require_safe
@for_person
def fact(request: PageRequest, principal: Principal, fact_id: UUID) -> HttpResponse:
    """Show a fact of the person, or one shared with them."""
    return show_fact(request, principal, fact_id)


def show_fact(
    request: PageRequest, principal: Principal, fact_id: UUID, outcome: Done | Refusal | None = None
) -> HttpResponse:
    """Render the page; ``outcome``: the result of a form."""
    card = make_fact_card(principal, fact_id, outcome)
    if card is None or card.fact is None:
        raise NotFound("There is no such fact.")
    context = {
        "principal": principal,
        "card": card,
        "where": "page",
        "erasure": waiting_erasure(principal, "fact", fact_id),
        "history": make_fact_history(principal, card.fact),
        "restore_wording": "fact-bring-back",
        "next": reverse("fact-page", args=[fact_id]),
    }
    return render(
        request, "desk/statement.html", context, status=outcome.status if isinstance(outcome, Refusal) else 200
    )


def writers(principal: Principal, legacy_id: UUID | None) -> list[tuple[str, str]]:
    """Return the filter choices of writers: models, rules, agents, people."""
    named = shape_for(
        principal,
        ("writers", legacy_id is None),
        lambda who: facts_about(who, legacy_id and ANY_LEGACY).order_by("written_by").distinct(),
        {ANY_LEGACY: legacy_id},
    )
    names = [name for (name,) in read(named, ("written_by",))]
    return [(name, writer_label(name)) if name else (OWN_WORDS, _("Own words")) for name in names]


urlpatterns = [
    path("facts/", every_legacy, name="fact-list"),
    path("facts/<uuid:fact_id>/", fact, name="fact-page"),
    path("legacies/<uuid:legacy_id>/", legacy, name="legacy-page"),
    path("legacies/<uuid:legacy_id>/add/", add, name="fact-write-down"),
]
