"""Who keeps a legacy: the page on which owners invite, revoke and hand over, and everybody leaves."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import actions
from accounts.models import Invitation, Legacy, Member
from accounts.policy import must_act_for
from accounts.principals import Principal
from facts.actions import member_leave
from journal.exceptions import NotFound, Refused

from ..page import PageRequest, for_person


class InviteForm(forms.Form):
    """Who is to keep the legacy too."""

    name = forms.CharField(
        max_length=255,
        required=False,
        label="User name",
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )


def members_of(principal: Principal, legacies: list[UUID]) -> list[Member]:
    """Who keeps these legacies, owners first."""
    rows = Member.objects.visible_to(principal).filter(legacy_id__in=legacies).select_related("user")
    return list(rows.order_by("-role", "joined_at", "pk"))


@require_safe
@for_person
def members(request: PageRequest, principal: Principal, legacy_id: UUID) -> HttpResponse:
    """Who keeps the legacy and, for owners, who is invited."""
    return _show(request, principal, legacy_id, InviteForm(label_suffix=""))


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def invite(request: PageRequest, principal: Principal, legacy_id: UUID) -> HttpResponse:
    """Make an invitation and show its link, this once. Whoever comes back to the address sees who keeps the legacy."""
    if request.method != "POST":
        return redirect("legacy-members", legacy_id)
    form = InviteForm(request.POST, label_suffix="")
    if not form.is_valid():
        return _show(request, principal, legacy_id, form, 400)
    try:
        sent = actions.member_invite(principal, legacy_id, form.cleaned_data["name"])
    except NotFound:
        raise
    except Refused as error:
        form.add_error("name", error.detail)
        return _show(request, principal, legacy_id, form, error.status)
    link = request.build_absolute_uri(reverse("invitation-page", args=[sent.code]))
    context = {"principal": principal, "legacy": sent.invitation.legacy, "name": sent.invitation.name, "link": link}
    return render(request, "desk/invited.html", {**context, "days": settings.INVITATION_DAYS})


@require_POST
@for_person
def rename(request: PageRequest, principal: Principal, legacy_id: UUID) -> HttpResponse:
    """Give a legacy another name."""

    def change() -> str:
        return f"It is named {actions.legacy_rename(principal, legacy_id, request.POST.get('name', '')).name} now."

    return _done(request, legacy_id, change)


@require_POST
@for_person
def revoke(request: PageRequest, principal: Principal, legacy_id: UUID, invitation_id: UUID) -> HttpResponse:
    """End an invitation that is outstanding."""

    def end() -> str:
        actions.invitation_revoke(principal, legacy_id, invitation_id)
        return "Revoked: its link works no more."

    return _done(request, legacy_id, end)


@require_POST
@for_person
def leave(request: PageRequest, principal: Principal, legacy_id: UUID, member_id: UUID) -> HttpResponse:
    """Leave, or remove somebody."""

    own = Member.objects.visible_to(principal).filter(pk=member_id, user_id=must_act_for(principal)).exists()

    def go() -> str:
        member_leave(principal, legacy_id, member_id)
        return f"{'You have left. What you' if own else 'Removed. What they'} had shared is private again."

    answer = _done(request, legacy_id, go)
    return answer if Legacy.objects.visible_to(principal).filter(pk=legacy_id).exists() else redirect("home")


@require_POST
@for_person
def hand_over(request: PageRequest, principal: Principal, legacy_id: UUID, member_id: UUID) -> HttpResponse:
    """Make a member an owner, or an owner a member."""

    def change() -> str:
        owner = actions.member_set_role(principal, legacy_id, member_id, request.POST.get("role", "")).role == "owner"
        return f"{'An owner' if owner else 'A member'} from now on."

    return _done(request, legacy_id, change)


def _done(request: PageRequest, legacy_id: UUID, change: Callable[[], str]) -> HttpResponse:
    """Make a change and go back to the page."""
    try:
        messages.success(request, change())
    except NotFound:
        raise
    except Refused as error:
        messages.error(request, error.detail)
    return redirect("legacy-members", legacy_id)


def _show(
    request: PageRequest, principal: Principal, legacy_id: UUID, form: InviteForm, status: int = 200
) -> HttpResponse:
    legacy = Legacy.objects.visible_to(principal).with_role(principal).filter(pk=legacy_id).first()
    if legacy is None:
        raise NotFound("There is no such legacy.")
    sent = Invitation.objects.visible_to(principal).outstanding(timezone.now()).filter(legacy=legacy)
    context = {
        "principal": principal,
        "legacy": legacy,
        "members": members_of(principal, [legacy_id]),
        "sent": sent.select_related("inviter").order_by("-created_at", "pk"),
        "form": form,
        "days": settings.INVITATION_DAYS,
    }
    return render(request, "desk/members.html", context, status=status)


urlpatterns = [
    path("legacies/<uuid:legacy_id>/members/", members, name="legacy-members"),
    path("legacies/<uuid:legacy_id>/name/", rename, name="legacy-rename"),
    path("legacies/<uuid:legacy_id>/members/invite/", invite, name="legacy-invite"),
    path("legacies/<uuid:legacy_id>/members/<uuid:member_id>/leave/", leave, name="legacy-leave"),
    path("legacies/<uuid:legacy_id>/members/<uuid:member_id>/role/", hand_over, name="legacy-role"),
    path("legacies/<uuid:legacy_id>/invitations/<uuid:invitation_id>/revoke/", revoke, name="legacy-revoke"),
]
