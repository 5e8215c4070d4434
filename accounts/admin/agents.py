"""Staff pages of agents, keys and grants."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django_htmx.http import HttpResponseClientRedirect
from unfold.decorators import display
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from journal.exceptions import Refused
from web.admin import ConfirmForm, button, link_to, render_in_dialog

from .. import actions, categories, policy
from ..models import Agent, AgentKey, Grant, User
from ..principals import SCOPES
from .people import OwnedAdmin, moderator

KEY_COLOURS = {"in use": "success", "never used": "info", "expired": "warning", "revoked": "danger"}


class NewAgentForm(BaseDialogForm):
    """The form of a new agent."""

    owner = forms.CharField(
        max_length=150, widget=UnfoldAdminTextInputWidget(), help_text="The user name of the person it belongs to."
    )
    name = forms.CharField(max_length=100, widget=UnfoldAdminTextInputWidget())
    kind = forms.ChoiceField(
        choices=Agent.Kind.choices,
        widget=UnfoldAdminSelectWidget(),
        help_text="A service acts for whomever its requests name, a personal agent for its owner only.",
    )
    role = forms.ChoiceField(required=False, widget=UnfoldAdminSelectWidget())
    issuer = forms.CharField(
        required=False,
        max_length=100,
        widget=UnfoldAdminTextInputWidget(),
        help_text="Under which name it names people. Empty: its own. “local”: this deployment's user names.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        roles = sorted(categories.load().allowlists)
        self.fields["role"].choices = [("", "none: sees everything"), *((each, each) for each in roles)]

    def clean_owner(self) -> User:
        """Return the person with that user name. Raises ValidationError."""
        owner = User.objects.filter(username=policy.normal_name(self.cleaned_data["owner"]), is_active=True).first()
        if owner is None:
            raise forms.ValidationError("There is nobody with this user name.")
        return owner


class NewKeyForm(BaseDialogForm):
    """The form of a new key."""

    scopes = forms.MultipleChoiceField(
        choices=[(each, each) for each in SCOPES],
        initial=["read", "write"],
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        help_text="admin takes decisions that belong to the person: approve, share, grant.",
    )
    last_day = forms.DateField(
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs={"type": "date"}),
        help_text="The last day on which it works, in UTC. Empty: it works until it is revoked.",
    )

    def clean_last_day(self) -> datetime | None:
        """Return the end of that day. Raises ValidationError for a past one."""
        day = self.cleaned_data["last_day"]
        if day is None:
            return None
        end = datetime.combine(day, time.max, UTC)
        if end <= timezone.now():
            raise forms.ValidationError("This day has passed.")
        return end


class MadeBySuperusers:
    """Lets only superusers create agents and keys, because these give access to people's data."""

    def has_make_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether to offer the buttons; the actions check it again."""
        return moderator(request).superuser


@admin.register(Agent)
class AgentAdmin(MadeBySuperusers, OwnedAdmin):
    """Programs that write and read memory."""

    list_display = ["name", "labelled_kind", "owned_by", "role", "names_from", "created_at"]
    list_filter = ["kind", "created_at"]
    list_select_related = ["owner"]
    id_fields = ("pk", "owner_id")
    user_field, legacy_field = "owner_id", ""
    search_help_text = "An id, or part of an agent's name, its issuer or its owner's name"
    ordering = ["-created_at", "-id"]
    fields = ["id", "name", "kind", "owner", "role", "issuer", "created_at"]
    actions_list = ["make"]
    actions_detail = ["make_key"]
    actions_row = ["make_key"]

    def name_filter(self, term: str) -> Q:
        """Filter agents by their name and issuer too."""
        return super().name_filter(term) | Q(name__icontains=term) | Q(issuer__icontains=term)

    @display(description="kind", ordering="kind", label={"service": "warning", "personal": "info"})
    def labelled_kind(self, agent: Agent) -> tuple[str, str]:
        """Return the kind with its label."""
        return agent.kind, agent.get_kind_display()

    @admin.display(description="owner", ordering="owner__username")
    def owned_by(self, agent: Agent) -> Any:
        """Return a link to the owner."""
        return link_to(User, agent.owner_id, agent.owner.username)

    @admin.display(description="issuer", ordering="issuer")
    def names_from(self, agent: Agent) -> str:
        """Return the issuer of a service; personal agents name no people."""
        return agent.issuer if agent.kind == Agent.Kind.SERVICE else "-"

    @button(
        "New agent",
        "It gets no key by being made.",
        path="make",
        form=NewAgentForm,
        submit="Make",
        icon="add",
        variant=ActionVariant.PRIMARY,
        permission="make",
    )
    def make(self, request: HttpRequest, form: NewAgentForm) -> HttpResponse:
        """Create an agent, and redirect to its page."""
        values = form.cleaned_data
        try:
            agent = actions.agent_create(
                moderator(request),
                values["name"],
                kind=values["kind"],
                role=values["role"],
                issuer=values["issuer"],
                owner_id=values["owner"].pk,
            )
        except Refused as refusal:
            return self.refuse(request, refusal)
        self.message_user(request, f"{agent.name} is made. Make a key for it next.")
        return HttpResponseClientRedirect(reverse("admin:accounts_agent_change", args=[agent.pk]))

    @button(
        "New key",
        "Whoever has the key acts as this agent.",
        path="make-key",
        form=NewKeyForm,
        submit="Make",
        icon="key",
        permission="make",
    )
    def make_key(self, request: HttpRequest, form: NewKeyForm, object_id: str) -> HttpResponse:
        """Create a key, and show the credential once."""
        agent = self.row(request, object_id)
        try:
            _key, credential = actions.agent_key_create(
                moderator(request), agent.pk, form.cleaned_data["scopes"], expires_at=form.cleaned_data["last_day"]
            )
        except Refused as refusal:
            return self.refuse(request, refusal)
        return render_in_dialog(request, "admin/key_made.html", {"agent": agent, "credential": credential})


class KeyStandingFilter(SimpleListFilter):
    """Filters keys by whether they are valid, unused, expired or revoked."""

    title = "standing"
    parameter_name = "is"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the choices."""
        return [("valid", "Valid"), ("unused", "Never used"), ("expired", "Expired"), ("revoked", "Revoked")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AgentKey]) -> QuerySet[AgentKey]:
        """Filter the keys."""
        revoked, expired = Q(revoked_at__isnull=False), Q(expires_at__lte=timezone.now())
        conditions = {
            "valid": ~revoked & (Q(expires_at__isnull=True) | Q(expires_at__gt=timezone.now())),
            "unused": Q(last_used_at__isnull=True),
            "expired": expired,
            "revoked": revoked,
        }
        return queryset.filter(conditions.get(self.value() or "", Q()))


@admin.register(AgentKey)
class AgentKeyAdmin(OwnedAdmin):
    """Keys of agents, without secrets, of which only the HMAC is stored."""

    list_display = ["public", "agent", "owner", "standing", "allowed", "expires_at", "last_used_at", "created_at"]
    list_filter = [KeyStandingFilter, "created_at"]
    list_select_related = ["agent__owner"]
    id_fields = ("pk", "agent_id", "agent__owner_id")
    user_field, legacy_field = "agent__owner_id", ""
    search_help_text = "An id, the public part, or part of the agent's or its owner's name"
    ordering = ["-created_at", "-id"]
    fields = [
        "id",
        "public",
        "agent",
        "standing",
        "allowed",
        "expires_at",
        "revoked_at",
        "last_used_at",
        "created_at",
    ]
    actions = ["revoke_selected"]
    actions_row = ["revoke"]
    actions_detail = ["revoke"]

    def name_filter(self, term: str) -> Q:
        """Filter keys by their public part and their agent's name too."""
        public = term.removeprefix("ks_").partition(".")[0]
        return super().name_filter(term) | Q(public=public) | Q(agent__name__icontains=term)

    @admin.display(description="owner", ordering="agent__owner__username")
    def owner(self, key: AgentKey) -> Any:
        """Return a link to the agent's owner."""
        return link_to(User, key.agent.owner_id, key.agent.owner.username)

    @display(description="standing", label=KEY_COLOURS)
    def standing(self, key: AgentKey) -> str:
        """Return the key's status."""
        if key.revoked_at is not None:
            return "revoked"
        if key.expires_at is not None and key.expires_at <= timezone.now():
            return "expired"
        return "never used" if key.last_used_at is None else "in use"

    @admin.display(description="scopes")
    def allowed(self, key: AgentKey) -> str:
        """Return the scopes."""
        return ", ".join(key.scopes)

    @button(
        "Revoke",
        "Its next request is refused. A revoked key stays revoked.",
        path="revoke",
        icon="key_off",
        variant=ActionVariant.DANGER,
    )
    def revoke(self, request: HttpRequest, form: ConfirmForm, object_id: str) -> HttpResponse:
        """Revoke one key."""
        key = self.row(request, object_id)
        return self.run_action(
            request, lambda: actions.agent_key_revoke(moderator(request), key.pk), f"{key} is revoked."
        )

    @admin.action(description="Revoke", permissions=["view"])
    def revoke_selected(self, request: HttpRequest, keys: QuerySet[AgentKey]) -> None:
        """Revoke the selected keys."""
        principal = moderator(request)
        done = [actions.agent_key_revoke(principal, key.pk) for key in keys if key.revoked_at is None]
        self.report(request, len(done), len(keys), "revoked; the others were already")


@admin.register(Grant)
class GrantAdmin(OwnedAdmin):
    """Grants of people to agents."""

    list_display = ["person", "agent", "categories", "sources", "revoked_at", "created_at"]
    list_filter = [("revoked_at", admin.EmptyFieldListFilter), "created_at"]
    list_select_related = ["user", "agent"]
    id_fields = ("user_id", "agent_id")
    legacy_field = ""
    search_help_text = "The id of a person or an agent, or part of a name"
    ordering = ["-id"]

    def name_filter(self, term: str) -> Q:
        """Filter grants by the agent's name too."""
        return super().name_filter(term) | Q(agent__name__icontains=term)
