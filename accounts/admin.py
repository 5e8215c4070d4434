"""People, agents and legacies for staff: records to read, buttons that call the actions, and people to manage."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from journal.admin import RecordAdmin, is_staff

from . import actions, queries
from .models import Agent, AgentKey, ExternalIdentity, Grant, Legacy, Member, Preferences, User

admin.site.unregister(Group)  # Rights follow from being staff, so there are no groups to manage.


@admin.register(User)
class PersonAdmin(UserAdmin):
    """People: kept out and let in again here; erasing one is their own decision.

    Only a superuser makes people and staff, sets what somebody signs in with, and touches the accounts of staff, so
    that no moderator can rise or become somebody else.
    """

    list_display = ["username", "display_name", "email", "is_active", "is_staff", "date_joined", "last_login"]
    list_filter = ["is_active", "is_staff", "is_superuser", "date_joined"]
    search_fields = ["id__exact", "username", "display_name", "email"]
    ordering = ["username"]
    filter_horizontal = []
    # Being let in or not changes by the buttons, whose action writes it into the person's log.
    readonly_fields = ["is_active", "last_login", "date_joined"]
    fieldsets = [
        (None, {"fields": ["username", "password", "display_name", "email"]}),
        ("Access", {"fields": ["is_active", "is_staff", "is_superuser"]}),
        ("Dates", {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets = [
        (
            None,
            {"classes": ["wide"], "fields": ["username", "display_name", "usable_password", "password1", "password2"]},
        )
    ]
    actions = ["deactivate", "activate"]

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Staff manage people."""
        return is_staff(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Staff see everybody."""
        return is_staff(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Superusers make people, since whoever does knows how they sign in."""
        return is_staff(request) and request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Staff change people who are not staff; superusers everybody."""
        return is_staff(request) and (
            request.user.is_superuser or obj is None or not (obj.is_staff or obj.is_superuser)
        )

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody deletes people from here."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Only superusers make staff and change user names."""
        superusers_own = ["username", "is_staff", "is_superuser"]
        return [*self.readonly_fields, *([] if request.user.is_superuser else superusers_own)]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Passwords, and where to set them, are for superusers."""
        fieldsets = super().get_fieldsets(request, obj)
        if request.user.is_superuser:
            return fieldsets
        return [
            (title, {**options, "fields": [name for name in options["fields"] if name != "password"]})
            for title, options in fieldsets
        ]

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        """Superusers set passwords."""
        if not request.user.is_superuser:
            raise PermissionDenied
        return super().user_change_password(request, id, form_url)

    @admin.action(description="Keep out", permissions=["change"])
    def deactivate(self, request: HttpRequest, people: QuerySet[User]) -> None:
        """End their sessions and the agents they own, until they are let in again."""
        self._set_active(request, people, active=False)

    @admin.action(description="Let in again", permissions=["change"])
    def activate(self, request: HttpRequest, people: QuerySet[User]) -> None:
        """Let them sign in."""
        self._set_active(request, people, active=True)

    def _set_active(self, request: HttpRequest, people: QuerySet[User], *, active: bool) -> None:
        principal = queries.principal_for_staff(cast(User, request.user))
        allowed = [person for person in people if self.has_change_permission(request, person)]
        for person in allowed:
            actions.user_set_active(principal, person.pk, active=active)
            self.log_change(request, person, [{"changed": {"fields": ["is_active"]}}])
        done = "let in again" if active else "kept out"
        self.message_user(request, f"{len(allowed)} of {len(people)} {done}.")


@admin.register(Preferences)
class PreferencesAdmin(RecordAdmin):
    """What people prefer."""

    list_display = ["user", "has_memory", "agentic_memory", "review", "extract_each_message", "time_zone", "language"]
    list_filter = ["has_memory", "review"]
    search_fields = ["user__id__exact", "user__username"]
    list_select_related = ["user"]


@admin.register(ExternalIdentity)
class ExternalIdentityAdmin(RecordAdmin):
    """How other systems name people."""

    list_display = ["issuer", "external_id", "user", "created_at"]
    list_filter = ["issuer"]
    search_fields = ["external_id", "user__id__exact", "user__username"]
    list_select_related = ["user"]


@admin.register(Agent)
class AgentAdmin(RecordAdmin):
    """Programs that write and read memory."""

    list_display = ["name", "kind", "owner", "role", "issuer", "created_at"]
    list_filter = ["kind", "role"]
    search_fields = ["id__exact", "name", "issuer", "owner__username"]
    list_select_related = ["owner"]


@admin.register(AgentKey)
class AgentKeyAdmin(RecordAdmin):
    """Keys of agents; their secrets are nowhere."""

    list_display = ["public", "agent", "owner", "scopes", "expires_at", "revoked_at", "last_used_at", "created_at"]
    list_filter = ["revoked_at", "expires_at"]
    search_fields = ["id__exact", "public", "agent__name", "agent__owner__username"]
    list_select_related = ["agent__owner"]
    exclude = ["secret_hmac"]
    actions = ["revoke"]

    @admin.display(ordering="agent__owner__username")
    def owner(self, key: AgentKey) -> User:
        """Whose agent it is."""
        return key.agent.owner

    @admin.action(description="Revoke", permissions=["view"])
    def revoke(self, request: HttpRequest, keys: QuerySet[AgentKey]) -> None:
        """End the keys; their next request is refused."""
        principal = queries.principal_for_staff(cast(User, request.user))
        done = [actions.agent_key_revoke(principal, key.pk) for key in keys if key.revoked_at is None]
        self.tell(request, len(done), len(keys), "revoked; the others were already")


@admin.register(Grant)
class GrantAdmin(RecordAdmin):
    """What people let agents see."""

    list_display = ["user", "agent", "categories", "sources", "revoked_at", "created_at"]
    list_filter = ["revoked_at"]
    search_fields = ["user__id__exact", "user__username", "agent__id__exact", "agent__name"]
    list_select_related = ["user", "agent"]


@admin.register(Legacy)
class LegacyAdmin(RecordAdmin):
    """Those who are memorialised."""

    list_display = ["id", "name", "created_at"]
    search_fields = ["id__exact", "name"]
    ordering = ["-created_at"]


@admin.register(Member)
class MemberAdmin(RecordAdmin):
    """Who keeps which legacy."""

    list_display = ["user", "legacy_id", "role", "joined_at"]
    list_filter = ["role"]
    search_fields = ["id__exact", "legacy__id__exact", "user__id__exact", "user__username"]
    list_select_related = ["user"]
