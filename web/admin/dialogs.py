"""Buttons: each asks in a dialog before anything happens, so that no address does something by being opened."""

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
    """Asks nothing but whether it is meant."""


class ReasonForm(BaseDialogForm):
    """Asks why."""

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

    Pressing it opens a dialog with ``question`` and the fields of ``form``; the method is called with the valid form
    only, on a POST that carries the token of the page. ``permission`` names the admin's ``has_…_permission``.
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
    """Answer a dialog with what it opened, in the dialog's place. Kept nowhere: closed, it is gone."""
    answer = render(request, template, context)
    answer["Cache-Control"] = "no-store"
    return reswap(reselect(retarget(answer, "#dialog"), "#dialog"), "outerHTML")
