"""Home: what waits, memories, legacies, conversations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Min, QuerySet, Value
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST
from django.views.generic import RedirectView

from accounts.actions import legacy_create
from accounts.models import Agent, Legacy
from accounts.policy import must_act_for
from accounts.principals import Principal, shape_for
from assistant.demo import demo_sign_ins
from journal.exceptions import Refused
from journal.models import Change
from memories.lifecycle import leaving_soon
from memories.models import MemoryPlan, Place
from memories.plans import open_plan
from memories.queries import block_fill, ledger_of
from retrieval.filters import PLACEHOLDER_NOW
from retrieval.prepared import count, read, read_objects, together

from .account.erasing import erasure_of_everything
from .agents.webhooks import stopped_webhooks
from .conversations.listing import openings, read_talks, with_time
from .first_run import TellForm
from .history import agent_names, who_address, who_did
from .legacies.invitations import waiting_invitations
from .legacies.owning import ended_legacies
from .legacies.tabs import Numbers, numbers_by_legacy
from .page import PageRequest, for_person, neighbours_of
from .review.queue import count_waiting_memories, waiting_proposals
from .timeline.telling import names_of, tell, told_of

LEGACIES_PER_PAGE = 24
LATEST_CONVERSATIONS = 5


MOST = 6
LOOKED_AT = 200
"""The number of latest revisions that are searched for news."""
_SINCE = 9_000_000_000_000_000_001
"""The placeholder of a revision in compiled statements."""


class RememberForm(forms.Form):
    """The form of a new legacy."""

    name = forms.CharField(
        max_length=200, label=gettext_lazy("Remember somebody"), widget=forms.TextInput({"autocomplete": "off"})
    )


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def home(request: PageRequest, principal: Principal) -> HttpResponse:
    """Show what waits, memories, legacies and latest conversations; or create a legacy."""
    if request.method != "POST":
        return _show(request, principal, RememberForm(label_suffix=""))
    form = RememberForm(request.POST, label_suffix="")
    if form.is_valid():
        try:
            legacy, _made = legacy_create(principal, form.cleaned_data["name"])
        except Refused as error:
            form.add_error("name", error.detail)
        else:
            messages.success(
                request, _("What is said about %(name)s is remembered from now on.") % {"name": legacy.name}
            )
            return redirect("legacy-page", legacy.pk)
    return _show(request, principal, form, status=400)


@require_POST
@for_person
def first_run(request: PageRequest, principal: Principal) -> HttpResponse:
    """Store the answers of a new user, or show the questions with errors."""
    tell = TellForm(request.POST, label_suffix="")
    if tell.is_valid():
        told = tell.tell(principal)
        if told:
            messages.success(
                request,
                ngettext("%(count)s thing is remembered about you.", "%(count)s things are remembered about you.", told)
                % {"count": told},
            )
    if tell.is_valid():
        return redirect("home")
    return _show(request, principal, RememberForm(label_suffix=""), 400, tell)


def _show(
    request: PageRequest,
    principal: Principal,
    form: RememberForm,
    status: int = 200,
    tell: TellForm | None = None,
) -> HttpResponse:
    legacies = Paginator(Legacy.objects.visible_to(principal).with_picture().order_by("name", "pk"), LEGACIES_PER_PAGE)
    page = legacies.get_page(request.GET.get("page"))
    numbers = numbers_by_legacy(principal)
    latest = shape_for(principal, "latest talks", lambda who: with_time(who).order_by("-created_at"))
    talks = read_talks(latest, slice(0, LATEST_CONVERSATIONS))
    begins = openings(principal, talks)
    guests = [] if legacies.count else demo_sign_ins()
    waiting = _waiting(principal, sum(each.waiting for each in numbers.values()))
    ((remembered, tokens),), places, agents = together(
        read.steps(ledger_of(must_act_for(principal)), ("memories", "block_tokens")),
        count.steps(shape_for(principal, "places", lambda who: Place.objects.visible_to(who).present())),
        count.steps(shape_for(principal, "agents", Agent.objects.visible_to)),
    )
    if tell is None and not (legacies.count or remembered or places or waiting):
        tell = TellForm(label_suffix="")
    plan = open_plan(principal)
    context = {
        "principal": principal,
        "form": form,
        "erasure": erasure_of_everything(principal),
        "tell": tell,
        "plan": plan if plan and plan.state == MemoryPlan.State.PREVIEW and plan.items.exists() else None,
        "leaving": leaving_soon(principal),
        "stopped_webhooks": stopped_webhooks(principal),
        "page": page,
        "shown": [(legacy, numbers.get(legacy.pk, Numbers())) for legacy in page],
        "ended": ended_legacies(principal),
        "waiting": waiting,
        "invitations": waiting_invitations(principal),
        "next": reverse("home"),
        "remembered": remembered,
        "places": places,
        "agents": agents,
        "fill": block_fill(principal, tokens),
        "latest": latest_changes(principal),
        "conversations": [(talk, begins.get(talk.pk, "")) for talk in talks],
        "demo": [each for each in guests if each.name != request.user.get_username()],
        **neighbours_of(page, lambda number: f"?page={number}"),
    }
    return render(request, "desk/home.html", context, status=status)


@dataclass(frozen=True, slots=True)
class WaitingCounts:
    """Numbers of waiting proposals (the first expires at ``lapses``), memories and facts."""

    proposals: int
    memories: int
    facts: int
    lapses: datetime | None

    def __bool__(self) -> bool:
        return self.total > 0

    @property
    def total(self) -> int:
        """The sum."""
        return self.proposals + self.memories + self.facts

    @property
    def told(self) -> str:
        """The counts in words."""
        named = [
            (self.proposals, ngettext("%(count)s proposal", "%(count)s proposals", self.proposals)),
            (self.memories, ngettext("%(count)s memory", "%(count)s memories", self.memories)),
            (self.facts, ngettext("%(count)s fact", "%(count)s facts", self.facts)),
        ]
        parts = [text % {"count": count} for count, text in named if count]
        if len(parts) < 2:
            return "".join(parts)
        return _("%(some)s and %(last)s") % {"some": ", ".join(parts[:-1]), "last": parts[-1]}

    @property
    def in_use(self) -> bool:
        """Whether it includes active statements that only wait for review."""
        return bool(self.memories or self.facts)


def _waiting(principal: Principal, facts: int) -> WaitingCounts:

    def build(who: Principal) -> QuerySet[Any, Any]:
        rows = waiting_proposals(who, PLACEHOLDER_NOW).order_by().values(all=Value(1))
        return rows.annotate(number=Count("pk"), lapses=Min("expires_at"))

    proposed = shape_for(principal, "waiting proposals", build, {PLACEHOLDER_NOW: timezone.now()})
    ((number, lapses),) = read(proposed, ("number", "lapses"))
    return WaitingCounts(number, count_waiting_memories(principal), facts, lapses)


@dataclass(frozen=True, slots=True)
class Latest:
    """The last change of a memory or place with the current ``content`` and URL.

    ``who_address`` leads to the agent that did it.
    """

    at: datetime
    who: str
    what: str
    content: str
    address: str
    who_address: str


def latest_changes(principal: Principal) -> list[Latest]:
    """Return the last change of each recently changed memory and place that still exists."""
    user_id = principal.user_id
    if user_id is None:
        return []

    def build(who: Principal) -> QuerySet[Change]:
        log = Change.objects.of_owner(must_act_for(who)).filter(rev__gt=_SINCE)
        told = told_of(log).filter(object_type__in=["memory", "place"]).exclude(event="OPEN")
        return told.order_by("-rev")

    recent = shape_for(principal, "latest changes", build, {_SINCE: principal.rev - LOOKED_AT})
    last: dict[tuple[str, str], Change] = {}
    for change in read_objects(Change, recent):
        last.setdefault((change.object_type, change.object_id), change)
    shown = names_of(principal, list(last)[: 2 * MOST])
    found = [(change, shown[key]) for key, change in last.items() if key in shown][:MOST]
    agents = agent_names([change for change, _named in found])
    named = [(change, who_did(change, agents, user_id), shown) for change, shown in found]
    return [
        Latest(change.at, who, tell(change), shown.text, shown.address, who_address(change, who, agents))
        for change, who, shown in named
    ]


urlpatterns = [
    path("", home, name="home"),
    path("legacies/", RedirectView.as_view(pattern_name="home")),
    path("first-run/", first_run, name="first-run"),
]
