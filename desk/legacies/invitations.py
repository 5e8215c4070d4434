"""Pages of invitations for the invited person: list, link, answers, blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_POST, require_safe

from accounts import actions
from accounts.models import Invitation, InvitationBlock, Legacy
from accounts.policy import must_act_for
from accounts.principals import PLACEHOLDER_USER, Principal
from accounts.querysets import names_of
from journal.exceptions import NotFound, Refused
from retrieval.filters import PLACEHOLDER_NOW
from retrieval.prepared import Shaped, read

from ..page import PageRequest, came_from, for_person

MOST_WAITING = 20


def waiting_invitations(principal: Principal) -> list[Invitation]:
    """Return the latest waiting invitations, in two queries, and a third where there are any.

    Mostly there are none, so that query is compiled once for all who have as many names.
    """
    someone, now = principal.with_placeholders(), timezone.now()
    names = names_of(must_act_for(principal))
    placeholders = [(f"\0issuer {number}", f"\0name {number}") for number in range(len(names))]
    told = zip(placeholders, names, strict=True)
    values: dict[Any, Any] = {placeholder: value for pair in told for placeholder, value in zip(*pair, strict=True)}
    waiting = Shaped(
        key=("invitations", someone, len(names)),
        build=lambda: Invitation.objects.waiting_for(someone, PLACEHOLDER_NOW, placeholders).order_by(
            "-created_at", "pk"
        ),
        values={PLACEHOLDER_USER: principal.user_id, PLACEHOLDER_NOW: now, **values},
    )
    ids = [pk for (pk,) in read(waiting, ("pk",), slice(0, MOST_WAITING))]
    if not ids:
        return []
    rows = Invitation.objects.waiting_for(principal, now, names).filter(pk__in=ids).select_related("legacy", "inviter")
    return list(rows.order_by("-created_at", "pk"))


@require_safe
@for_person
def invitations(request: PageRequest, principal: Principal) -> HttpResponse:
    """List waiting invitations and blocks."""
    blocks = InvitationBlock.objects.visible_to(principal).select_related("inviter").order_by("-created_at", "-pk")
    context = {
        "principal": principal,
        "invitations": waiting_invitations(principal),
        "blocks": blocks,
        "next": reverse("invitation-list"),
    }
    return render(request, "desk/invitations.html", context)


@require_safe
@for_person
def invitation(request: PageRequest, principal: Principal, code: str) -> HttpResponse:
    """Show the invitation of a link. Opening it answers nothing."""
    try:
        found = actions.invitation_find(principal, code)
    except NotFound:
        return render(request, "desk/invitation.html", {"principal": principal}, status=404)
    kept = Legacy.objects.visible_to(principal).filter(pk=found.legacy_id).exists()
    declined = found.state == Invitation.State.DECLINED
    context = {"principal": principal, "invitation": found, "code": code, "kept": kept, "declined": declined}
    return render(request, "desk/invitation.html", context)


@require_POST
@for_person
def answer(request: PageRequest, principal: Principal, code: str, answer: str) -> HttpResponse:
    """Accept, decline or block, and redirect to the legacy or back."""
    back = came_from(request, reverse("home"))
    try:
        if answer == "accept":
            member = actions.invitation_accept(principal, code)
            messages.success(request, _("You keep this legacy too from now on. You can leave it at any time."))
            # A new member has no facts yet: show those that others share.
            return redirect(reverse("legacy-page", args=[member.legacy_id]) + "?show=shared")
        decide, said = _REFUSALS[answer]
        decide(principal, code)
    except NotFound:
        messages.error(request, _("This invitation can't be answered any more: it was revoked, or its time is over."))
        return redirect(back)
    except Refused as error:
        messages.error(request, error.detail)
        return redirect(back)
    messages.success(request, _(said))
    return redirect(back)


_REFUSALS: dict[str, tuple[Callable[[Principal, str], None], str]] = {
    "decline": (actions.invitation_decline, gettext_noop("Declined. Nobody is told.")),
    "block": (
        actions.invitation_block,
        gettext_noop(
            "Blocked: you get no invitation to that legacy again, nor any by whoever sent it. Nobody is told."
        ),
    ),
}


@require_POST
@for_person
def unblock(request: PageRequest, principal: Principal, block_id: int) -> HttpResponse:
    """Remove a block."""
    actions.invitation_unblock(principal, block_id)
    messages.success(request, _("They can invite you again."))
    return redirect("invitation-list")


urlpatterns = [
    path("invitations/", invitations, name="invitation-list"),
    path("invitations/blocks/<int:block_id>/lift/", unblock, name="invitation-lift"),
    path("invitations/<str:code>/", invitation, name="invitation-page"),
    *(
        path(f"invitations/<str:code>/{each}/", answer, {"answer": each}, name=f"invitation-{each}-page")
        for each in ("accept", "decline", "block")
    ),
]
