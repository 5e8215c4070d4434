"""Saying what is remembered in fewer: have a plan made, look at it, carry out what one likes of it, take it back."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.principals import Principal
from journal.exceptions import NotFound, Refused
from language.backends import get_model
from language.base import LanguageError
from memories import actions
from memories.models import MemoryPlan
from memories.plans import open_plan, show_plan

from ..page import PageRequest, for_person
from .optimizing import lately_tidied, make_tidying, shelves_to_tidy

State = MemoryPlan.State


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def tidy(request: PageRequest, principal: Principal) -> HttpResponse:
    """Offer to make a plan, or have one made."""
    refused, status = "", 200
    if request.method == "POST":
        try:
            plan = actions.optimize_plan(
                principal, categories=request.POST.getlist("category"), pinned="pinned" in request.POST
            )
        except LanguageError:
            refused, status = "The language model can't be reached. Nothing was changed; try again in a while.", 503
        except Refused as error:
            refused, status = error.detail, error.status
        else:
            return redirect("tidy-plan", plan.pk)
    context = {
        "principal": principal,
        "refused": refused,
        "shelves": shelves_to_tidy(principal),
        "open": open_plan(principal),
        "lately": lately_tidied(principal),
        "model": get_model(),
    }
    return render(request, "desk/tidy.html", context, status=status)


@require_safe
@for_person
def plan_page(request: PageRequest, principal: Principal, plan_id: UUID) -> HttpResponse:
    """One plan: how far it is, what it would merge, what became of it. The panel alone for htmx."""
    return _show(request, principal, plan_id)


@require_POST
@for_person
def apply(request: PageRequest, principal: Principal, plan_id: UUID) -> HttpResponse:
    """Merge what was ticked."""
    chosen = [item for item in map(_id, request.POST.getlist("item")) if item]
    try:
        actions.optimize_apply(principal, plan_id, chosen)
    except NotFound:
        raise
    except Refused as error:
        nothing = error.code == "bad_items" and not chosen
        refused = "Nothing was ticked. Tick what you want merged, or discard the plan." if nothing else error.detail
        return _show(request, principal, plan_id, refused=refused, status=error.status)
    messages.success(request, "Done.", extra_tags=reverse("tidy-undo", args=[plan_id]))
    return redirect("tidy-plan", plan_id)


@require_POST
@for_person
def undo(request: PageRequest, principal: Principal, plan_id: UUID) -> HttpResponse:
    """Take back what was merged."""
    try:
        actions.optimize_revert(principal, plan_id)
    except NotFound:
        raise
    except Refused as error:
        return _show(request, principal, plan_id, refused=error.detail, status=error.status)
    messages.success(request, "Undone. Your memories are as they were.")
    return redirect("tidy-plan", plan_id)


@require_POST
@for_person
def discard(request: PageRequest, principal: Principal, plan_id: UUID) -> HttpResponse:
    """Leave everything as it is."""
    try:
        actions.optimize_discard(principal, plan_id)
    except NotFound:
        raise
    except Refused as error:
        return _show(request, principal, plan_id, refused=error.detail, status=error.status)
    messages.success(request, "Everything stays as it is.")
    return redirect("tidy")


def _show(
    request: PageRequest, principal: Principal, plan_id: UUID, *, refused: str = "", status: int = 200
) -> HttpResponse:
    tidying = make_tidying(show_plan(principal, plan_id))
    context = {
        "principal": principal,
        "tidying": tidying,
        "plan": tidying.plan,
        "refused": refused,
        # Announced when it is there, not each time that the panel is fetched.
        "is_news": bool(request.htmx) and tidying.plan.state != State.MAKING,
    }
    return render(request, "desk/_plan.html" if request.htmx else "desk/plan.html", context, status=status)


def _id(value: str) -> UUID | None:
    try:
        return UUID(value)
    except ValueError:
        return None


urlpatterns = [
    path("memories/tidy/", tidy, name="tidy"),
    path("memories/tidy/<uuid:plan_id>/", plan_page, name="tidy-plan"),
    path("memories/tidy/<uuid:plan_id>/apply/", apply, name="tidy-apply"),
    path("memories/tidy/<uuid:plan_id>/undo/", undo, name="tidy-undo"),
    path("memories/tidy/<uuid:plan_id>/discard/", discard, name="tidy-discard"),
]
