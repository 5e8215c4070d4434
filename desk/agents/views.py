"""Pages of agents: list, detail, disclosures, connecting."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import categories
from accounts.actions import agent_create, agent_key_create, agent_key_revoke, grant_set
from accounts.models import Agent, AgentKey
from accounts.principals import Principal
from accounts.querysets import AgentQuerySet
from conversations.actions import thread_delete
from journal.exceptions import NotFound, Refused, must_find
from memories.actions import webhook_create
from memories.models import Disclosure

from ..labels import category_in_text, role_label
from ..page import PageRequest, for_person, neighbours_of
from .cards import LATELY, AgentCard, as_granted, make_agent_cards, tell_shown, threads_of, with_use
from .webhooks import WebhookForm, show_secret, webhook_addresses, webhooks_of

PER_PAGE = 24
SHOWN_PER_PAGE = 20
WAITS = timedelta(minutes=10)
"""So long the page that shows a key looks for its first call."""
MAY = {
    "read": (gettext_noop("Read what is remembered"), ["read"]),
    "write": (gettext_noop("Read, save what we talk about, and add to it"), ["read", "write"]),
    "admin": (gettext_noop("Decide for me too: approve, correct, share and erase"), ["read", "write", "admin"]),
}


class MayForm(forms.Form):
    """The scopes of a key."""

    may = forms.ChoiceField(
        choices=[(name, gettext_lazy(label)) for name, (label, _scopes) in MAY.items()],
        widget=forms.RadioSelect,
        initial="write",
        label=gettext_lazy("What it may do"),
    )


class ConnectForm(MayForm):
    """A new agent: name, role, scopes."""

    name = forms.CharField(
        max_length=100,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("As you call it."),
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    role = forms.ChoiceField(required=False, label=gettext_lazy("What it is for"))
    field_order = ["name", "role", "may"]

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, label_suffix="")
        self.fields["role"].choices = [("", _("Anything: it sees all that you tell your agents")), *_roles()]  # type: ignore[attr-defined]


def _roles() -> list[tuple[str, str]]:
    """Return the roles with their categories."""
    known = categories.load()
    seen = {
        role: ", ".join(category_in_text(each) for each in known.by_name if each in names)
        for role, names in known.allowlists.items()
    }
    return [(role, f"{role_label(role).capitalize()}: {names}") for role, names in seen.items()]


@require_safe
@for_person
def agents(request: PageRequest, principal: Principal) -> HttpResponse:
    """List the agents."""
    page = Paginator(with_use(principal, _agents(principal)), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "principal": principal,
        "page": page,
        "cards": make_agent_cards(principal, page.object_list),
        **neighbours_of(page, lambda number: f"?page={number}"),
    }
    return render(request, "desk/agents.html", context)


@require_safe
@for_person
def agent(request: PageRequest, principal: Principal, agent_id: UUID) -> HttpResponse:
    """Show an agent: permissions, keys, revoking."""
    return _show(request, principal, agent_id)


@require_POST
@for_person
def narrow(request: PageRequest, principal: Principal, agent_id: UUID) -> HttpResponse:
    """Save the grant, effective from the agent's next request. For htmx only the form is returned.

    It is read from the address if that has ``undo``, which is the address that the answer offers.
    """
    before = _card(principal, agent_id)
    given = request.GET if "undo" in request.GET else request.POST
    seen, told = as_granted(before.agent, given.getlist("category"), given.getlist("source"))
    grant_set(principal, agent_id, categories=seen, sources=told)
    undo = f"{reverse('agent-narrow', args=[agent_id])}?{before.as_query(undo=1)}"
    if not request.htmx:
        messages.success(request, _("Saved. It holds from its next request on."), extra_tags=undo)
        return redirect("agent-page", agent_id)
    context = {"card": _card(principal, agent_id), "saved": True, "undo": undo}
    return render(request, "desk/_may_see.html", context)


@require_POST
@for_person
def revoke(request: PageRequest, principal: Principal, agent_id: UUID) -> HttpResponse:
    """Revoke the agent's access."""
    row = _find(principal, agent_id)
    grant_set(principal, agent_id, revoked=True)
    told = _("%(name)s is kept out: from its next request on it sees and adds nothing.") % {"name": row.name}
    messages.success(request, told, extra_tags=reverse("agent-let-in", args=[agent_id]))
    return redirect("agent-page", agent_id)


@require_POST
@for_person
def let_in(request: PageRequest, principal: Principal, agent_id: UUID) -> HttpResponse:
    """Restore the agent's access, with its previous grant."""
    row = _find(principal, agent_id)
    grant_set(principal, agent_id, revoked=False)
    messages.success(request, _("%(name)s is let in again.") % {"name": row.name})
    return redirect("agent-page", agent_id)


@require_safe
@for_person
def shown(request: PageRequest, principal: Principal, agent_id: UUID) -> HttpResponse:
    """List the disclosures to the agent, newest first."""
    row = _find(principal, agent_id)
    told = Disclosure.objects.visible_to(principal).filter(agent=row).order_by("-at", "-pk")
    page = Paginator(told, SHOWN_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "principal": principal,
        "agent": row,
        "page": page,
        "lines": tell_shown(principal, list(page.object_list)),
        "days": settings.OPERATION_EVENT_DAYS,
        **neighbours_of(page, lambda number: f"?page={number}"),
    }
    return render(request, "desk/agent_shown.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def connect(request: PageRequest, principal: Principal) -> HttpResponse:
    """Create an agent and a key, which is shown once."""
    if request.method != "POST":
        return _show_connecting(request, principal, ConnectForm())
    form = ConnectForm(request.POST)
    if not form.is_valid():
        return _show_connecting(request, principal, form, 400)
    try:
        made = agent_create(principal, form.cleaned_data["name"], role=form.cleaned_data["role"])
    except Refused as error:
        is_there = error.code == "agent_exists"
        named = _agents(principal).filter(name=form.cleaned_data["name"]).first() if is_there else None
        form.add_error("role" if error.code == "bad_role" else "name", error.detail)
        return _show_connecting(request, principal, form, error.status, named)
    return _show_key(request, principal, made, MAY[form.cleaned_data["may"]][1])


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def another_key(request: PageRequest, principal: Principal, agent_id: UUID) -> HttpResponse:
    """Create another key of an agent, which is shown once."""
    row = _find(principal, agent_id)
    form = MayForm(request.POST, label_suffix="")
    if request.method != "POST" or not form.is_valid():
        return redirect("agent-page", agent_id)
    return _show_key(request, principal, row, MAY[form.cleaned_data["may"]][1])


@require_POST
@for_person
def end_key(request: PageRequest, principal: Principal, agent_id: UUID, key_id: UUID) -> HttpResponse:
    """Revoke a key."""
    agent_key_revoke(principal, key_id, agent_id=agent_id)
    messages.success(request, _("That key is ended: its next request is refused."))
    return redirect("agent-page", agent_id)


@require_POST
@for_person
def forget_thread(request: PageRequest, principal: Principal, agent_id: UUID) -> HttpResponse:
    """Delete a thread with all its states, for good."""
    thread_delete(principal, request.POST.get("thread", ""), agent_id=agent_id)
    messages.success(request, _("Deleted for good: the agent begins that thread anew."))
    return redirect("agent-page", agent_id)


@require_safe
@for_person
def first_call(request: PageRequest, principal: Principal, agent_id: UUID, key_id: UUID) -> HttpResponse:
    """Return the fragment that says whether a key was used; without htmx redirect to the agent."""
    key = must_find(AgentKey.objects.visible_to(principal).filter(pk=key_id, agent_id=agent_id).first(), "key")
    if not request.htmx:
        return redirect("agent-page", agent_id)
    return render(request, "desk/_first_call.html", _waiting(key))


def _waiting(key: AgentKey) -> dict[str, Any]:
    return {"key": key, "waits": key.created_at > timezone.now() - WAITS}


def _agents(principal: Principal) -> AgentQuerySet:
    return Agent.objects.visible_to(principal).order_by("name", "pk")


def _find(principal: Principal, agent_id: UUID) -> Agent:
    return must_find(_agents(principal).filter(pk=agent_id).first(), "agent")


def _card(principal: Principal, agent_id: UUID) -> AgentCard:
    rows = with_use(principal, _agents(principal).filter(pk=agent_id))
    cards = make_agent_cards(principal, rows, with_keys=True)
    if not cards:
        raise NotFound("There is no such agent.")
    return cards[0]


def _show(
    request: PageRequest, principal: Principal, agent_id: UUID, hook: WebhookForm | None = None, status: int = 200
) -> HttpResponse:
    context = {
        "principal": principal,
        "card": _card(principal, agent_id),
        "form": MayForm(label_suffix=""),
        "days": LATELY.days,
        "threads": threads_of(principal, agent_id),
        "webhooks": webhooks_of(principal, agent_id),
        "hook_form": hook or WebhookForm(label_suffix=""),
    }
    return render(request, "desk/agent.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def add_webhook(request: PageRequest, principal: Principal, agent_id: UUID) -> HttpResponse:
    """Register a webhook of an agent, and show its secret once."""
    row = _find(principal, agent_id)
    if request.method != "POST":
        return redirect("agent-page", agent_id)
    form = WebhookForm(request.POST, label_suffix="")
    if form.is_valid():
        try:
            return show_secret(request, principal, row, webhook_create(principal, agent_id, form.cleaned_data["url"]))
        except Refused as error:
            form.add_error("url", error.detail)
    return _show(request, principal, agent_id, form, 400)


def _show_connecting(
    request: PageRequest, principal: Principal, form: ConnectForm, status: int = 200, named: Agent | None = None
) -> HttpResponse:
    """Show the form. ``named``: an agent with that name, as after the page with the key was loaded again."""
    context = {"principal": principal, "form": form, "named": named}
    return render(request, "desk/agent_connect.html", context, status=status)


def _show_key(request: PageRequest, principal: Principal, row: Agent, scopes: list[str]) -> HttpResponse:
    key, credential = agent_key_create(principal, row.pk, scopes)
    context = {
        "principal": principal,
        "agent": row,
        "credential": credential,
        "api": request.build_absolute_uri("/api/v1/"),
        "mcp": request.build_absolute_uri("/mcp"),
        "closing": "}}}",  # Which a template would take for the end of a value.
        **_waiting(key),
    }
    return render(request, "desk/agent_connected.html", context)


urlpatterns = [
    path("agents/", agents, name="agent-list"),
    path("agents/connect/", connect, name="agent-connect"),
    path("agents/<uuid:agent_id>/", agent, name="agent-page"),
    path("agents/<uuid:agent_id>/may-see/", narrow, name="agent-narrow"),
    path("agents/<uuid:agent_id>/revoke/", revoke, name="agent-revoke"),
    path("agents/<uuid:agent_id>/let-in/", let_in, name="agent-let-in"),
    path("agents/<uuid:agent_id>/shown/", shown, name="agent-shown"),
    path("agents/<uuid:agent_id>/webhooks/", add_webhook, name="agent-add-webhook"),
    path("agents/<uuid:agent_id>/threads/forget/", forget_thread, name="agent-forget-thread"),
    *webhook_addresses,
    path("agents/<uuid:agent_id>/keys/", another_key, name="agent-another-key"),
    path("agents/<uuid:agent_id>/keys/<uuid:key_id>/", first_call, name="agent-first-call"),
    path("agents/<uuid:agent_id>/keys/<uuid:key_id>/end/", end_key, name="agent-end-key"),
]
