"""What the person prefers: when they review, their time zone, the language they speak."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods

from accounts.actions import preferences_set
from accounts.policy import time_zones
from accounts.principals import Principal
from journal.exceptions import Refused

from .frame import PageRequest, for_person

# Each in its own language, as its speakers look for it.
LANGUAGES = {
    "": "Found out from what I write",
    "ar": "العربية",
    "da": "Dansk",
    "de": "Deutsch",
    "el": "Ελληνικά",
    "en": "English",
    "es": "Español",
    "fi": "Suomi",
    "fr": "Français",
    "hi": "हिन्दी",
    "hu": "Magyar",
    "it": "Italiano",
    "ja": "日本語",
    "ko": "한국어",
    "nl": "Nederlands",
    "no": "Norsk",
    "pl": "Polski",
    "pt": "Português",
    "ro": "Română",
    "ru": "Русский",
    "sv": "Svenska",
    "tr": "Türkçe",
    "uk": "Українська",
    "zh": "中文",
}
REVIEW = [
    ("after", "Use new facts at once; I look through them when I like"),
    ("before", "Use nothing that I have not approved: until then it is in no prompt, whenever it was found"),
]


class PreferencesForm(forms.Form):
    """The fields of the page, with the choices that make sense."""

    review = forms.ChoiceField(choices=REVIEW, widget=forms.RadioSelect, label="When facts are found")
    time_zone = forms.ChoiceField(label="Time zone")
    language = forms.ChoiceField(required=False, label="Language")

    def __init__(self, principal: Principal, data: dict[str, str] | None = None) -> None:
        stored = {"review": principal.review, "time_zone": principal.time_zone, "language": principal.language}
        super().__init__(data, initial=stored, label_suffix="")
        self.fields["time_zone"].choices = [(name, name.replace("_", " ")) for name in sorted(time_zones())]  # type: ignore[attr-defined]
        # A language that an agent has set stays a choice, whichever it is.
        known = LANGUAGES if principal.language in LANGUAGES else {**LANGUAGES, principal.language: principal.language}
        self.fields["language"].choices = list(known.items())  # type: ignore[attr-defined]


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def preferences(request: PageRequest, principal: Principal) -> HttpResponse:
    """Show the preferences, or store them."""
    if request.method != "POST":
        return render(request, "desk/preferences.html", {"principal": principal, "form": PreferencesForm(principal)})
    form = PreferencesForm(principal, request.POST.dict())
    if form.is_valid():
        try:
            preferences_set(principal, **form.cleaned_data)
        except Refused as error:
            form.add_error(error.extra.get("field"), error.detail)
        else:
            messages.success(request, "Saved.")
            return redirect("preferences")
    return render(request, "desk/preferences.html", {"principal": principal, "form": form}, status=400)


urlpatterns = [path("preferences/", preferences, name="preferences")]
