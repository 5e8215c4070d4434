"""The person's pages: sign in, home, the facts of a legacy, and what can be decided about them.

Every page begins with the principal and reads what is visible to it. Everything works without JavaScript: a form posts,
the answer redirects back to the list as it was. With htmx the same form gets the changed fact alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec, cast
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.views import LoginView, LogoutView, redirect_to_login
from django.core.paginator import Page, Paginator
from django.db.models import OuterRef, Subquery
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from accounts.authentication import principal_of
from accounts.models import Legacy, Member
from accounts.principals import Principal
from assistant.demo import demo_sign_ins
from conversations.models import Conversation, Message
from facts.models import LegacyFact
from facts.querysets import FactQuerySet
from journal.exceptions import NotFound, Refused

from . import decisions
from .cards import Done, Refusal, make_cards
from .shelves import FACTS_PER_PAGE, SHELVES, Numbers, View, numbers_by_legacy, tabs

LEGACIES_PER_PAGE = 24
LATEST_CONVERSATIONS = 5

Rest = ParamSpec("Rest")


class PageRequest(HttpRequest):
    """A request as the middleware leaves it."""

    htmx: HtmxDetails


def for_person(
    view: Callable[Concatenate[PageRequest, Principal, Rest], HttpResponse],
) -> Callable[Concatenate[PageRequest, Rest], HttpResponse]:
    """Give a page the principal of the person who is signed in, and show times in their zone.

    Others are sent to sign in and come back to where they were. What a person may not see is a 404.
    """

    @never_cache
    @wraps(view)
    def page(request: PageRequest, /, *args: Rest.args, **kwargs: Rest.kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            return _to_sign_in(request)
        principal = principal_of(request)
        with timezone.override(principal.time_zone):
            try:
                return view(request, principal, *args, **kwargs)
            except NotFound as error:
                raise Http404 from error

    return page


def _to_sign_in(request: PageRequest) -> HttpResponse:
    # An address that only takes forms is no place to come back to.
    back = request.get_full_path() if request.method in {"GET", "HEAD"} else _came_from(request, reverse("home"))
    answer = redirect_to_login(back)
    return HttpResponseClientRedirect(answer.url) if request.htmx else answer


def _came_from(request: PageRequest, otherwise: str) -> str:
    """The address in our own pages that a form was sent from."""
    back = request.POST.get("next", "")
    return back if url_has_allowed_host_and_scheme(back, allowed_hosts=None) else otherwise


class SignIn(LoginView):
    """Sign in with user name and password; who is signed in already goes home."""

    template_name = "desk/sign_in.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add who can sign in when the demo is loaded."""
        return super().get_context_data(demo=demo_sign_ins(), **kwargs)


@require_safe
@for_person
def home(request: PageRequest, principal: Principal) -> HttpResponse:
    """The person's legacies with what waits for them there, and their latest conversations."""
    legacies = Paginator(Legacy.objects.visible_to(principal).order_by("name", "pk"), LEGACIES_PER_PAGE)
    page = legacies.get_page(request.GET.get("page"))
    numbers = numbers_by_legacy(principal)
    last_said = Message.objects.visible_to(principal).filter(conversation=OuterRef("pk")).order_by("-index")
    conversations = Conversation.objects.visible_to(principal).annotate(said_at=Subquery(last_said.values("at")[:1]))
    latest = conversations.select_related("legacy").order_by("-created_at")
    guests = [] if legacies.count else demo_sign_ins()
    context = {
        "principal": principal,
        "page": page,
        "shown": [(legacy, numbers.get(legacy.pk, Numbers())) for legacy in page],
        "waiting": sum(each.waiting for each in numbers.values()),
        "conversations": latest[:LATEST_CONVERSATIONS],
        "demo": [each for each in guests if each.name != request.user.get_username()],
        **_neighbours_of(page, lambda number: f"?page={number}"),
    }
    return render(request, "desk/home.html", context)


@require_safe
@for_person
def legacy(request: PageRequest, principal: Principal, legacy_id: UUID) -> HttpResponse:
    """One shelf of the facts about a legacy, as the address says."""
    return _legacy_page(request, principal, legacy_id, View.of(request.GET))


@require_POST
@for_person
def decide(request: PageRequest, principal: Principal, fact_id: UUID, decision: str) -> HttpResponse:
    """Take a decision about a fact of the person."""
    return _decided(
        request,
        principal,
        fact_id,
        decision,
        lambda fact: decisions.carry_out(principal, fact, decision, request.POST.dict()),
    )


@require_POST
@for_person
def undo(request: PageRequest, principal: Principal, fact_id: UUID, before: str, version: int) -> HttpResponse:
    """Take a decision back: the fact stands and reads again as it did before."""
    return _decided(request, principal, fact_id, "", lambda fact: decisions.undo(principal, fact, before, version))


def _decided(
    request: PageRequest, principal: Principal, fact_id: UUID, decision: str, change: Callable[[LegacyFact], Done]
) -> HttpResponse:
    """Carry out a decision and answer with the fact as it is now, or with the reason why it is as it was."""
    fact = LegacyFact.objects.visible_to(principal).filter(pk=fact_id).first()
    if fact is None:
        return _gone(request)
    back = _came_from(request, reverse("legacy-page", args=[fact.legacy_id]))
    view = View.of(QueryDict(urlsplit(back).query))
    outcome: Done | Refusal
    try:
        outcome = change(fact)
    except NotFound:
        return _gone(request)
    except Refused as error:
        outcome = Refusal(decision, error.detail, error.status, request.POST.dict())
    if request.htmx:
        return _fact_alone(request, principal, fact, view=view, back=back, outcome=outcome)
    if isinstance(outcome, Refusal):
        return _legacy_page(request, principal, fact.legacy_id, view, refused={fact_id: outcome})
    # A message carries one string beside its text: here the address that takes the decision back.
    messages.success(request, outcome.text, extra_tags=outcome.undo)
    return redirect(f"{back}#fact-{fact_id}")


def _gone(request: PageRequest) -> HttpResponse:
    if request.htmx:
        return render(request, "desk/_gone.html", status=404)
    raise Http404


def _fact_alone(
    request: PageRequest,
    principal: Principal,
    fact: LegacyFact,
    *,
    view: View,
    back: str,
    outcome: Done | Refusal,
) -> HttpResponse:
    """What htmx puts in place of the fact, with the tabs, whose counts have changed, beside it."""
    own = LegacyFact.objects.visible_to(principal).filter(pk=fact.pk)
    cards = make_cards(own, principal, _members(principal, fact.legacy_id), {fact.pk: outcome})
    if not cards:
        return _gone(request)
    facts = LegacyFact.objects.visible_to(principal).filter(legacy_id=fact.legacy_id)
    context = {
        "card": cards[0],
        "legacy_id": fact.legacy_id,
        "tabs": tabs(facts, principal, view),
        "next": back,
        "categories": LegacyFact.Category.choices,
    }
    status = outcome.status if isinstance(outcome, Refusal) else 200
    return render(request, "desk/_swapped.html", context, status=status)


def _legacy_page(
    request: PageRequest,
    principal: Principal,
    legacy_id: UUID,
    view: View,
    refused: Mapping[UUID, Refusal] = MappingProxyType({}),
) -> HttpResponse:
    """A shelf; ``refused`` says by fact why something could not be done, which is shown beside it."""
    shown = Legacy.objects.visible_to(principal).filter(pk=legacy_id).first()
    if shown is None:
        raise NotFound("There is no such legacy.")
    facts = LegacyFact.objects.visible_to(principal).filter(legacy_id=legacy_id)
    page = Paginator(view.select(facts, principal), FACTS_PER_PAGE).get_page(view.page)
    members = _members(principal, legacy_id)
    cards = make_cards(cast(FactQuerySet, page.object_list), principal, members, refused)
    for fact_id in refused.keys() - {card.fact.pk for card in cards}:
        messages.error(request, refused[fact_id].text)  # The fact has moved to another shelf meanwhile.
    status = next((refusal.status for refusal in refused.values()), 200)
    context = {
        "principal": principal,
        "legacy": shown,
        "legacy_id": legacy_id,
        "members": members,
        "view": view,
        "title": SHELVES[view.shelf],
        "everything": view.unfiltered.query,
        "tabs": tabs(facts, principal, view),
        "page": page,
        "cards": cards,
        "next": reverse("legacy-page", args=[legacy_id]) + view.query,
        "categories": LegacyFact.Category.choices,
        **_neighbours_of(page, lambda number: view.at(number).query),
    }
    return render(request, "desk/legacy.html", context, status=status)


def _members(principal: Principal, legacy_id: UUID) -> list[Member]:
    """Who keeps a legacy, its owners first."""
    rows = Member.objects.visible_to(principal).filter(legacy_id=legacy_id).select_related("user")
    return list(rows.order_by("-role", "joined_at", "pk"))


def _neighbours_of(page: Page[Any], address: Callable[[int], str]) -> dict[str, str]:
    """The addresses of the pages before and after one, where there are any."""
    return {
        "earlier": address(page.previous_page_number()) if page.has_previous() else "",
        "later": address(page.next_page_number()) if page.has_next() else "",
    }


urlpatterns = [
    path("", home, name="home"),
    path("sign-in/", SignIn.as_view(), name="sign-in"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("legacies/<uuid:legacy_id>/", legacy, name="legacy-page"),
    path("facts/<uuid:fact_id>/undo/<slug:before>/<int:version>/", undo, name="fact-undo"),
    path("facts/<uuid:fact_id>/<slug:decision>/", decide, name="fact-decide"),
]
