"""Pages of merge plans: create, preview, apply selected items, undo."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.principals import Principal
from journal.exceptions import NotFound, Refused
from language.backends import get_model
from language.base import LanguageError
from memories import actions
from memories.models import MemoryPlan
from memories.plans import open_plan, show_plan

from ..page import PageRequest, for_person
from .optimizing import categories_to_merge, latest_plans, make_plan_detail

State = MemoryPlan.State


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def tidy(request: PageRequest, principal: Principal) -> HttpResponse:
    """Show the form, or create a plan."""
    refused, status = "", 200
    if request.method == "POST":
        try:
            plan = actions.optimize_plan(
                principal, categories=request.POST.getlist("category"), pinned="pinned" in request.POST
            )
        except LanguageError:
            refused, status = _("The language model can't be reached. Nothing was changed; try again later."), 503
        except Refused as error:
            refused, status = error.detail, error.status
        else:
            return redirect("tidy-plan", plan.pk)
    context = {
        "principal": principal,
        "refused": refused,
        "choices": categories_to_merge(principal),
        "open": open_plan(principal),
        "latest": latest_plans(principal),
        "model": get_model(),
    }
    return render(request, "desk/tidy.html", context, status=status)


@require_safe
@for_person
def plan_page(request: PageRequest, principal: Principal, plan_id: UUID) -> HttpResponse:
    """Show a plan: progress, merges, results; only the panel for htmx."""
    return _show(request, principal, plan_id)


@require_POST
@for_person
def apply(request: PageRequest, principal: Principal, plan_id: UUID) -> HttpResponse:
    """Apply the selected merges."""
    chosen = [item for item in map(_id, request.POST.getlist("item")) if item]
    try:
        actions.optimize_apply(principal, plan_id, chosen)
    except NotFound:
        raise
    except Refused as error:
        nothing = error.code == "bad_items" and not chosen
        refused = (
            _("Nothing was selected. Select what you want merged, or discard the plan.") if nothing else error.detail
        )
        return _show(request, principal, plan_id, refused=refused, status=error.status)
    messages.success(request, _("Done."), extra_tags=reverse("tidy-undo", args=[plan_id]))
    return redirect("tidy-plan", plan_id)


@require_POST
@for_person
def undo(request: PageRequest, principal: Principal, plan_id: UUID) -> HttpResponse:
    """Revert the merges."""
    refused = _refused(request, principal, plan_id, actions.optimize_revert)
    if refused:
        return refused
    messages.success(request, _("Undone. Your memories are as they were."))
    return redirect("tidy-plan", plan_id)


@require_POST
@for_person
def discard(request: PageRequest, principal: Principal, plan_id: UUID) -> HttpResponse:
    """Discard a plan."""
    refused = _refused(request, principal, plan_id, actions.optimize_discard)
    if refused:
        return refused
    messages.success(request, _("The plan was discarded. Nothing was changed."))
    return redirect("tidy")


def _refused(
    request: PageRequest, principal: Principal, plan_id: UUID, change: Callable[[Principal, UUID], object]
) -> HttpResponse | None:
    """Execute a change of a plan, or show why it was refused."""
    try:
        change(principal, plan_id)
    except NotFound:
        raise
    except Refused as error:
        return _show(request, principal, plan_id, refused=error.detail, status=error.status)
    return None


def _show(
    request: PageRequest, principal: Principal, plan_id: UUID, *, refused: str = "", status: int = 200
) -> HttpResponse:
    detail = make_plan_detail(show_plan(principal, plan_id), principal)
    context = {
        "principal": principal,
        "detail": detail,
        "plan": detail.plan,
        "refused": refused,
        # Announced once, when it is ready.
        "is_news": bool(request.htmx) and detail.plan.state != State.MAKING,
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
