"""Buttons with a confirmation dialog. They act on POST only, so opening a URL never changes anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django_htmx.http import reselect, reswap, retarget
from unfold.decorators import action
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminTextareaWidget

Method = TypeVar("Method", bound=Callable[..., HttpResponse])

REASON_CHARACTERS = 200


class ConfirmForm(BaseDialogForm):
    """Asks for a confirmation only."""


class ReasonForm(BaseDialogForm):
    """Asks for a reason."""

    reason = forms.CharField(
        max_length=REASON_CHARACTERS,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3, "autofocus": True}),
        help_text="It stands in the log of the person whom this concerns, who reads it there.",
    )


def button(
    title: str,
    question: str,
    *,
    path: str,
    form: type[BaseDialogForm] = ConfirmForm,
    submit: str = "",
    icon: str | None = None,
    variant: ActionVariant = ActionVariant.DEFAULT,
    permission: str = "view",
) -> Callable[[Method], Method]:
    """Make an admin's method a button of a row, a page or a list.

    It opens a dialog with ``question`` and the fields of ``form``. The method is called with the valid form, on a POST
    with the page's CSRF token. ``permission`` names the admin's ``has_…_permission``.
    """
    decorated: Callable[[Method], Method] = action(
        description=title,
        url_path=path,
        permissions=[permission],
        icon=icon,
        variant=variant,
        dialog={
            "title": title,
            "description": question,
            "form_class": form,
            "form_submit_text": submit or title,
        },
    )
    return decorated


def render_in_dialog(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Render a template into the dialog, with ``Cache-Control: no-store``."""
    answer = render(request, template, context)
    answer["Cache-Control"] = "no-store"
    return reswap(reselect(retarget(answer, "#dialog"), "#dialog"), "outerHTML")
