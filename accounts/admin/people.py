"""Staff pages of people, preferences, identities, legacies, invitations and members."""

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

from web.admin import ConfirmForm, RecordAdmin, button, is_staff, label_column, link_column, link_to

from .. import actions, policy
from ..models import ExternalIdentity, Invitation, Legacy, Member, Preferences, User
from ..principals import Principal
from ..queries import principal_for_staff
from ..scope import enter

NAMED_ALIKE = 100


def moderator(request: HttpRequest) -> Principal:
    """Return the principal of the signed-in moderator, by which actions are logged."""
    return enter(principal_for_staff(cast(User, request.user)))


class OwnedAdmin(RecordAdmin):
    """Rows that can be searched by ids and by the names of their person and legacy.

    Names are looked up in the tables of people and legacies first, so that no search scans the rows. ``user_field`` and
    ``legacy_field`` are the columns with their ids, or "" if there is none.
    """

    id_fields: tuple[str, ...] = ("pk", "user_id", "legacy_id")
    user_field = "user_id"
    legacy_field = "legacy_id"
    search_fields = ["id"]
    search_help_text = "An id, or part of the name of a person or a legacy"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the rows that are visible to the moderator."""
        rows, principal = super().get_queryset(request), moderator(request)
        return rows.visible_to(principal) if hasattr(rows, "visible_to") else rows

    def name_filter(self, term: str) -> Q:
        """Filter rows by people and legacies whose names contain the text."""
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
        """Return the title: the kind and the owner."""
        path = self.user_field.removesuffix("_id").replace("__", ".")
        person = attrgetter(path)(row) if path else None
        return f"{super().title_of(row)} of {person.username}" if person is not None else super().title_of(row)

    @admin.display(description="legacy")
    def about(self, row: Any) -> Any:
        """Return a link to the legacy."""
        return "-" if row.legacy_id is None else link_to(Legacy, row.legacy_id, row.legacy.name)


class ParkedFilter(SimpleListFilter):
    """Filters rows with a parked name, which was ambiguous and finds nobody. ``field`` is the column of the name."""

    title = "name"
    parameter_name = "name"
    field = "username"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the choice."""
        return [("parked", "Parked: needs a name")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Filter the rows."""
        wanted = {f"{self.field}__startswith": policy.PARKED} if self.value() == "parked" else {}
        return queryset.filter(**wanted)


class ParkedIdentityFilter(ParkedFilter):
    """Filters identities with a parked name."""

    field = "external_id"


class NewNameForm(BaseDialogForm):
    """The form of an issuer's new name for a person."""

    name = forms.CharField(max_length=policy.LONGEST_NAME, widget=UnfoldAdminTextInputWidget())


admin.site.unregister(Group)  # All staff have the same rights, so groups are not used.


@admin.register(User)
class PersonAdmin(UserAdmin, RecordAdmin):
    """People. Staff can deactivate and activate them; only the people themselves can erase their account.

    Only superusers create people and staff, set user names and passwords, and change accounts of staff, so that no
    moderator can raise their own rights or act as somebody else.
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
    # ``is_active`` is changed by the buttons, whose action logs it in the person's ledger.
    readonly_fields = ["is_active", "last_login", "date_joined"]
    fieldsets = [
        (None, {"fields": ["username", "password", "display_name", "email"]}),
        ("Access", {"fields": ["is_active", "is_staff", "is_superuser"]}),
        ("Dates", {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets = [
        (
            None,
            {
                "classes": ["wide"],
                "fields": ["username", "display_name", "email", "usable_password", "password1", "password2"],
            },
        )
    ]
    actions = ["deactivate", "activate"]
    actions_detail = ["keep_out", "let_in"]
    actions_row = ["keep_out", "let_in"]
    list_disable_select_all = True

    def title_of(self, row: User) -> str:
        """Return the title: whose account it is."""
        return f"Person {row.username}"

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Whether the user is staff."""
        return is_staff(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the user is staff."""
        return is_staff(request)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the user is a superuser: who creates an account knows its password."""
        return is_staff(request) and request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the user may change a person: staff those who are not staff, superusers everybody."""
        return is_staff(request) and (
            request.user.is_superuser or obj is None or not (obj.is_staff or obj.is_superuser)
        )

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """False: people erase their own accounts."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Return the read-only fields; for staff also the user name and the staff flags."""
        superusers_own = ["username", "is_staff", "is_superuser"]
        return [*self.readonly_fields, *([] if request.user.is_superuser else superusers_own)]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the fieldsets, without the password for staff who are not superusers."""
        fieldsets = super().get_fieldsets(request, obj)
        if request.user.is_superuser:
            return fieldsets
        return [
            (title, {**options, "fields": [name for name in options["fields"] if name != "password"]})
            for title, options in fieldsets
        ]

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        """Show the password form to superusers. Raises PermissionDenied for others."""
        if not request.user.is_superuser:
            raise PermissionDenied
        return super().user_change_password(request, id, form_url)

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Return the button that applies to the person; none if the user may not change them."""
        person = self.get_object(request, str(object_id))
        if person is None or not self.has_change_permission(request, person):
            return []
        possible = "keep-out" if person.is_active else "let-in"
        return [each for each in super().get_actions_detail(request, object_id) if each.path == possible]

    @display(description="standing", ordering="is_active", label={"in": "success", "kept out": "danger"})
    def standing(self, person: User) -> str:
        """Return whether the person is active."""
        return "in" if person.is_active else "kept out"

    @button(
        "Keep out",
        "Ends their sessions and the agents they own, until they are let in again.",
        path="keep-out",
        icon="block",
        variant=ActionVariant.DANGER,
    )
    def keep_out(self, request: HttpRequest, form: ConfirmForm, object_id: str) -> HttpResponse:
        """Deactivate one person."""
        return self._set_one(request, object_id, active=False)

    @button("Let in again", "They can sign in again, and so can their agents.", path="let-in", icon="login")
    def let_in(self, request: HttpRequest, form: ConfirmForm, object_id: str) -> HttpResponse:
        """Activate one person."""
        return self._set_one(request, object_id, active=True)

    def _set_one(self, request: HttpRequest, object_id: str, *, active: bool) -> HttpResponse:
        person = self.row(request, object_id)
        self._set_active(request, User.objects.filter(pk=person.pk), active=active)
        return self.refresh()

    @admin.action(description="Keep out", permissions=["change"])
    def deactivate(self, request: HttpRequest, people: QuerySet[User]) -> None:
        """Deactivate the selected people."""
        self._set_active(request, people, active=False)

    @admin.action(description="Let in again", permissions=["change"])
    def activate(self, request: HttpRequest, people: QuerySet[User]) -> None:
        """Activate the selected people."""
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
    """Preferences of people."""

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
    """Names of people at other systems."""

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
        """Filter identities by the external id too."""
        return super().name_filter(term) | Q(external_id=term)

    def has_rename_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the user is a superuser: a name decides whose memory a service reads."""
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
        """Rename one identity."""
        identity, name = self.row(request, object_id), form.cleaned_data["name"]
        return self.run_action(
            request, lambda: actions.identity_rename(moderator(request), identity.pk, name), "It has this name now."
        )


@admin.register(Legacy)
class LegacyAdmin(OwnedAdmin):
    """Legacies: the people who are memorialised."""

    list_display = ["name", "id", "members_count", "created_at"]
    list_filter = ["created_at"]
    id_fields = ("pk",)
    user_field, legacy_field = "", "pk"
    search_help_text = "An id, or part of a name"
    ordering = ["-created_at", "-id"]
    fields = ["id", "name", "kept_by", "created_at"]

    def title_of(self, row: Legacy) -> str:
        """Return the title: who is memorialised."""
        return f"Legacy {row.name}"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Legacy]:
        """Return the legacies with their number of members."""
        return super().get_queryset(request).annotate(members_counted=Count("memberships"))

    @admin.display(description="members")
    def members_count(self, legacy: Any) -> int:
        """Return the number of members."""
        return int(legacy.members_counted)

    @admin.display(description="kept by")
    def kept_by(self, legacy: Legacy) -> Any:
        """Return links to the members, with their roles."""
        rows = legacy.memberships.select_related("user").order_by("joined_at")[:50]
        return format_html_join(
            ", ", "{} ({})", ((link_to(User, row.user_id, row.user.username), row.role) for row in rows)
        )


@admin.register(Invitation)
class InvitationAdmin(OwnedAdmin):
    """Invitations by inviter and legacy, without the invited name or the answer."""

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
        """Return whether it is outstanding: not accepted, revoked or expired."""
        return invitation.state in Invitation.OUTSTANDING and invitation.expires_at > timezone.now()


@admin.register(Member)
class MemberAdmin(OwnedAdmin):
    """Members of legacies."""

    list_display = ["id", "person", "about", "labelled_role", "joined_at"]
    list_filter = ["role", "joined_at"]
    list_select_related = ["user", "legacy"]
    ordering = ["-joined_at", "-id"]

    labelled_role = label_column("role", {"owner": "primary", "member": "info"})
