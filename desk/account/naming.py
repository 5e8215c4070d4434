"""The form field of the display name."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.policy import clean_display_name
from journal.exceptions import Refused


class DisplayNameField(forms.CharField):
    """The display name, optional."""

    def __init__(self, label: Any) -> None:
        widget = forms.TextInput({"autocomplete": "name"})
        super().__init__(max_length=100, required=False, label=label, widget=widget)

    def clean(self, value: Any) -> str:
        """Normalise and validate the name by the gates for names."""
        try:
            return clean_display_name(super().clean(value))
        except Refused as error:
            raise forms.ValidationError(str(error.detail)) from error
