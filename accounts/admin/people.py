"""People and legacies for staff: records to read, buttons that call the actions, and people to manage."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, cast

from django import forms
from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html_join
from unfold.decorators import display
from unfold.enums import ActionVariant
from unfold.forms import AdminPasswordChangeForm, BaseDialogForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminTextInputWidget

from web.admin import ConfirmForm, RecordAdmin, button, is_staff, link_column, link_to

from .. import actions, policy
from ..models import ExternalIdentity, Invitation, Legacy, Member, Preferences, User
from ..principals import Principal
from ..queries import principal_for_staff
from ..scope import enter

NAMED_ALIKE = 100


def moderator(request: HttpRequest) -> Principal:
    """The principal of the signed-in moderator, under whose name actions are logged."""
    return enter(principal_for_staff(cast(User, request.user)))


class OwnedAdmin(RecordAdmin):
    """Rows found by ids, and by the names of their person and their legacy.

    Names are looked up first, in tables of people and legacies, so that no search reads through the rows themselves.
    ``user_field`` and ``legacy_field`` are the columns that hold their ids; empty, when the rows have none.
    """

    id_fields: tuple[str, ...] = ("pk", "user_id", "legacy_id")
    user_field = "user_id"
    legacy_field = "legacy_id"
    search_fields = ["id"]
    search_help_text = "An id, or part of the name of a person or a legacy"

    def name_filter(self, term: str) -> Q:
        """Rows of the people and of the legacies whose names hold the text."""
        found = Q(pk__in=[])
        if self.user_field:
            people = User.objects.filter(Q(username__icontains=term) | Q(display_name__icontains=term))
            found |= Q(**{f"{self.user_field}__in": list(people.order_by().values_list("pk", flat=True)[:NAMED_ALIKE])})
        if self.legacy_field:
            legacies = Legacy.objects.filter(name__icontains=term).values_list("pk", flat=True)
            found |= Q(**{f"{self.legacy_field}__in": list(legacies[:NAMED_ALIKE])})
        return found

    person = link_column(User, "user_id", "person", name="user.username")

    def title_of(self, row: Any) -> str:
        """What it is, and whose."""
        path = self.user_field.removesuffix("_id").replace("__", ".")
        person = attrgetter(path)(row) if path else None
        return f"{super().title_of(row)} of {person.username}" if person is not None else super().title_of(row)

    @admin.display(description="legacy")
    def about(self, row: Any) -> Any:
        """Whom it is about, with a link."""
        return "-" if row.legacy_id is None else link_to(Legacy, row.legacy_id, row.legacy.name)


class ParkedFilter(SimpleListFilter):
    """Rows whose name nobody is found by, since it could be several people's. ``field`` holds the name."""

    title = "name"
    parameter_name = "name"
    field = "username"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Those that wait for a name."""
        return [("parked", "Parked: needs a name")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Rows whose name is parked."""
        wanted = {f"{self.field}__startswith": policy.PARKED} if self.value() == "parked" else {}
        return queryset.filter(**wanted)


class ParkedIdentityFilter(ParkedFilter):
    """The same for how other systems name people."""

    field = "external_id"


class NewNameForm(BaseDialogForm):
    """How an issuer names a person from now on."""

    name = forms.CharField(max_length=policy.LONGEST_NAME, widget=UnfoldAdminTextInputWidget())


admin.site.unregister(Group)  # Rights follow from being staff, so there are no groups to manage.


@admin.register(User)
class PersonAdmin(UserAdmin, RecordAdmin):
    """People: kept out and let in again here; erasing one is their own decision.

    Only a superuser makes people and staff, sets what somebody signs in with, and touches the accounts of staff, so
    that no moderator can rise or become somebody else.
    """

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ["username", "display_name", "email", "standing", "is_staff", "date_joined", "last_login"]
    list_filter = ["is_active", "is_staff", "is_superuser", "date_joined", ParkedFilter]
    search_fields = ["id__exact", "username", "display_name", "email"]
    search_help_text = "An id, or part of a name or an e-mail address"
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
    actions_detail = ["keep_out", "let_in"]
    actions_row = ["keep_out", "let_in"]
    list_disable_select_all = True

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Staff manage people."""
        return is_staff(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Staff see everybody."""
        return is_staff(request)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
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

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Keeping out who is in, letting in who is out; nothing for an account that is not theirs to touch."""
        person = self.get_object(request, str(object_id))
        if person is None or not self.has_change_permission(request, person):
            return []
        possible = "keep-out" if person.is_active else "let-in"
        return [each for each in super().get_actions_detail(request, object_id) if each.path == possible]

    @display(description="standing", ordering="is_active", label={"in": "success", "kept out": "danger"})
    def standing(self, person: User) -> str:
        """Whether they may sign in."""
        return "in" if person.is_active else "kept out"

    @button(
        "Keep out",
        "Ends their sessions and the agents they own, until they are let in again.",
        path="keep-out",
        icon="block",
        variant=ActionVariant.DANGER,
    )
    def keep_out(self, request: HttpRequest, form: ConfirmForm, object_id: str) -> HttpResponse:
        """Keep one person out."""
        return self._set_one(request, object_id, active=False)

    @button("Let in again", "They can sign in again, and so can their agents.", path="let-in", icon="login")
    def let_in(self, request: HttpRequest, form: ConfirmForm, object_id: str) -> HttpResponse:
        """Let one person in."""
        return self._set_one(request, object_id, active=True)

    def _set_one(self, request: HttpRequest, object_id: str, *, active: bool) -> HttpResponse:
        person = self.row(request, object_id)
        self._set_active(request, User.objects.filter(pk=person.pk), active=active)
        return self.refresh()

    @admin.action(description="Keep out", permissions=["change"])
    def deactivate(self, request: HttpRequest, people: QuerySet[User]) -> None:
        """End their sessions and the agents they own, until they are let in again."""
        self._set_active(request, people, active=False)

    @admin.action(description="Let in again", permissions=["change"])
    def activate(self, request: HttpRequest, people: QuerySet[User]) -> None:
        """Let them sign in."""
        self._set_active(request, people, active=True)

    def _set_active(self, request: HttpRequest, people: QuerySet[User], *, active: bool) -> None:
        principal = moderator(request)
        allowed = [person for person in people if self.has_change_permission(request, person)]
        for person in allowed:
            actions.user_set_active(principal, person.pk, active=active)
            self.log_change(request, person, [{"changed": {"fields": ["is_active"]}}])
        done = "let in again" if active else "kept out"
        self.message_user(request, f"{len(allowed)} of {len(people)} {done}.")


@admin.register(Preferences)
class PreferencesAdmin(OwnedAdmin):
    """What people prefer."""

    list_display = [
        "person",
        "has_memory",
        "agentic_memory",
        "review",
        "extract_each_message",
        "recall_record",
        "time_zone",
        "language",
    ]
    list_display_links = ["has_memory"]
    list_filter = ["has_memory", "review"]
    list_select_related = ["user"]
    id_fields = ("pk",)
    legacy_field = ""
    search_help_text = "The id or part of the name of a person"


@admin.register(ExternalIdentity)
class ExternalIdentityAdmin(OwnedAdmin):
    """How other systems name people."""

    list_display = ["issuer", "external_id", "person", "created_at"]
    list_filter = ["created_at", ParkedIdentityFilter]
    list_select_related = ["user"]
    id_fields = ("user_id", "external_id")
    legacy_field = ""
    search_help_text = "An external id, or the id or part of the name of a person"
    actions_detail = ["rename"]
    actions_row = ["rename"]
    ordering = ["-id"]

    def name_filter(self, term: str) -> Q:
        """Identities by the other system's id too."""
        return super().name_filter(term) | Q(external_id=term)

    def has_rename_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever names a person says whose memory a service reads, so superusers do; the action checks it again."""
        return moderator(request).superuser

    @button(
        "Rename",
        "Requests that name this person so act for them from now on.",
        path="rename",
        form=NewNameForm,
        icon="badge",
        permission="rename",
    )
    def rename(self, request: HttpRequest, form: NewNameForm, object_id: str) -> HttpResponse:
        """Give one identity another name."""
        identity, name = self.row(request, object_id), form.cleaned_data["name"]
        return self.run_action(
            request, lambda: actions.identity_rename(moderator(request), identity.pk, name), "It has this name now."
        )


@admin.register(Legacy)
class LegacyAdmin(OwnedAdmin):
    """Those who are memorialised."""

    list_display = ["name", "id", "members_count", "created_at"]
    list_filter = ["created_at"]
    id_fields = ("pk",)
    user_field, legacy_field = "", "pk"
    search_help_text = "An id, or part of a name"
    ordering = ["-created_at", "-id"]
    fields = ["id", "name", "kept_by", "created_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Legacy]:
        """Legacies with how many people keep each."""
        return super().get_queryset(request).annotate(members_counted=Count("memberships"))

    @admin.display(description="members")
    def members_count(self, legacy: Any) -> int:
        """How many people keep it."""
        return int(legacy.members_counted)

    @admin.display(description="kept by")
    def kept_by(self, legacy: Legacy) -> Any:
        """Who keeps it, and as what."""
        rows = legacy.memberships.select_related("user").order_by("joined_at")[:50]
        return format_html_join(
            ", ", "{} ({})", ((link_to(User, row.user_id, row.user.username), row.role) for row in rows)
        )


@admin.register(Invitation)
class InvitationAdmin(OwnedAdmin):
    """Who asks others to keep a legacy; not whom, and not what they answered."""

    list_display = ["id", "sent_by", "about", "role", "is_open", "created_at", "expires_at"]
    list_filter = ["created_at"]
    list_select_related = ["inviter", "legacy"]
    id_fields = ("pk", "inviter_id", "legacy_id")
    user_field = "inviter_id"
    search_help_text = "An id, or part of the name of an inviter or a legacy"
    ordering = ["-created_at", "-id"]
    fields = ["id", "sent_by", "about", "role", "is_open", "created_at", "expires_at"]

    sent_by = link_column(User, "inviter_id", "sent by", name="inviter.username")

    @admin.display(description="outstanding", boolean=True)
    def is_open(self, invitation: Invitation) -> bool:
        """Whether it was neither accepted nor revoked, and its time is not over."""
        return invitation.state in Invitation.OUTSTANDING and invitation.expires_at > timezone.now()


@admin.register(Member)
class MemberAdmin(OwnedAdmin):
    """Who keeps which legacy."""

    list_display = ["id", "person", "about", "labelled_role", "joined_at"]
    list_filter = ["role", "joined_at"]
    list_select_related = ["user", "legacy"]
    ordering = ["-joined_at", "-id"]

    @display(description="role", ordering="role", label={"owner": "primary", "member": "info"})
    def labelled_role(self, member: Member) -> tuple[str, str]:
        """Owner or member."""
        return member.role, member.get_role_display()
