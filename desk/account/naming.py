"""The field of a form for what a person is called."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.policy import clean_display_name
from journal.exceptions import Refused


class DisplayNameField(forms.CharField):
    """What a person is called on pages and in prompts, which may be left empty."""

    def __init__(self, label: Any) -> None:
        widget = forms.TextInput({"autocomplete": "name"})
        super().__init__(max_length=100, required=False, label=label, widget=widget)

    def clean(self, value: Any) -> str:
        """The name in its stored form, refused by the rules for names that others read."""
        try:
            return clean_display_name(super().clean(value))
        except Refused as error:
            raise forms.ValidationError(str(error.detail)) from error
