"""Members of a legacy: inviting, revoking, ownership, leaving, preview as another member."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import actions
from accounts.models import Invitation, Legacy, Member
from accounts.policy import must_act_for
from accounts.principals import Principal
from accounts.queries import principal_for_person
from facts.actions import member_leave
from facts.models import LegacyFact
from facts.querysets import FactQuerySet
from journal.exceptions import NotFound, Refused, must_find

from ..page import PageRequest, for_person, neighbours_of, telling_refusals

PER_PAGE = 50


class InviteForm(forms.Form):
    """The person to invite."""

    name = forms.CharField(
        max_length=255,
        required=False,
        label=gettext_lazy("User name"),
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )


def members_of(principal: Principal, legacies: list[UUID] | QuerySet[Any, Any]) -> list[Member]:
    """Return the members of the legacies with these ids, owners first."""
    rows = Member.objects.visible_to(principal).filter(legacy_id__in=legacies).select_related("user")
    return list(rows.order_by("-role", "joined_at", "pk"))


@require_safe
@for_person
def members(request: PageRequest, principal: Principal, legacy_id: UUID) -> HttpResponse:
    """Show the members and, for owners, the invitations."""
    return _show(request, principal, legacy_id, InviteForm(label_suffix=""))


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def invite(request: PageRequest, principal: Principal, legacy_id: UUID) -> HttpResponse:
    """Create an invitation and show its link once. A GET shows the members."""
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
    """Rename a legacy."""
    with telling_refusals(request):
        legacy = actions.legacy_rename(principal, legacy_id, request.POST.get("name", ""))
        messages.success(request, _("It is named %(name)s now.") % {"name": legacy.name})
    return redirect("legacy-members", legacy_id)


@require_POST
@for_person
def revoke(request: PageRequest, principal: Principal, legacy_id: UUID, invitation_id: UUID) -> HttpResponse:
    """Revoke an open invitation."""
    with telling_refusals(request):
        actions.invitation_revoke(principal, legacy_id, invitation_id)
        messages.success(request, _("Revoked: its link works no more."))
    return redirect("legacy-members", legacy_id)


@require_POST
@for_person
def leave(request: PageRequest, principal: Principal, legacy_id: UUID, member_id: UUID) -> HttpResponse:
    """Leave, or remove a member."""
    own = Member.objects.visible_to(principal).filter(pk=member_id, user_id=must_act_for(principal)).exists()
    with telling_refusals(request):
        member_leave(principal, legacy_id, member_id)
        told = _("Removed. What they had shared is private again.")
        messages.success(request, _("You have left. What you had shared is private again.") if own else told)
    stays = Legacy.objects.visible_to(principal).filter(pk=legacy_id).exists()
    return redirect("legacy-members", legacy_id) if stays else redirect("home")


@require_POST
@for_person
def hand_over(request: PageRequest, principal: Principal, legacy_id: UUID, member_id: UUID) -> HttpResponse:
    """Make a member an owner, or an owner a member."""
    with telling_refusals(request):
        owner = actions.member_set_role(principal, legacy_id, member_id, request.POST.get("role", "")).role == "owner"
        messages.success(request, _("An owner from now on.") if owner else _("A member from now on."))
    return redirect("legacy-members", legacy_id)


def seen_by_both(principal: Principal, member: Member) -> FactQuerySet:
    """Return what both the member and the person see of a legacy, without the private facts of either."""
    theirs = LegacyFact.objects.visible_to(principal_for_person(member.user_id)).filter(legacy_id=member.legacy_id)
    mine = LegacyFact.objects.visible_to(principal).filter(visibility=LegacyFact.Visibility.SHARED)
    return theirs.filter(state=LegacyFact.State.ACTIVE, pk__in=mine.values("pk"))


@require_safe
@for_person
def as_member(request: PageRequest, principal: Principal, legacy_id: UUID, member_id: UUID) -> HttpResponse:
    """Show what another member sees of a legacy, read-only."""
    members = Member.objects.visible_to(principal).filter(legacy_id=legacy_id)
    member = must_find(members.select_related("user", "legacy").filter(pk=member_id).first(), "member")
    rows = seen_by_both(principal, member).without_vectors().select_related("user")
    page = Paginator(rows.order_by("category", "extracted_at", "pk"), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "principal": principal,
        "legacy": member.legacy,
        "member": member,
        "page": page,
        **neighbours_of(page, lambda number: f"?page={number}"),
    }
    return render(request, "desk/legacy_as.html", context)


def _show(
    request: PageRequest, principal: Principal, legacy_id: UUID, form: InviteForm, status: int = 200
) -> HttpResponse:
    legacy = must_find(
        Legacy.objects.visible_to(principal).with_role(principal).with_picture().filter(pk=legacy_id).first(), "legacy"
    )
    sent = Invitation.objects.visible_to(principal).outstanding(timezone.now()).filter(legacy=legacy)
    members = members_of(principal, [legacy_id])
    owners = [member.user_id for member in members if member.role == Member.Role.OWNER]
    context = {
        "principal": principal,
        "legacy": legacy,
        "members": members,
        "only_owner": owners[0] if len(owners) == 1 else None,
        "sent": sent.select_related("inviter").order_by("-created_at", "pk"),
        "form": form,
        "days": settings.INVITATION_DAYS,
    }
    return render(request, "desk/members.html", context, status=status)


urlpatterns = [
    path("legacies/<uuid:legacy_id>/members/", members, name="legacy-members"),
    path("legacies/<uuid:legacy_id>/name/", rename, name="legacy-rename"),
    path("legacies/<uuid:legacy_id>/members/invite/", invite, name="legacy-invite"),
    path("legacies/<uuid:legacy_id>/members/<uuid:member_id>/sees/", as_member, name="legacy-as"),
    path("legacies/<uuid:legacy_id>/members/<uuid:member_id>/leave/", leave, name="legacy-leave"),
    path("legacies/<uuid:legacy_id>/members/<uuid:member_id>/role/", hand_over, name="legacy-role"),
    path("legacies/<uuid:legacy_id>/invitations/<uuid:invitation_id>/revoke/", revoke, name="legacy-revoke"),
]
