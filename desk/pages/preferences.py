"""What the person prefers: whether anything is remembered, how it is learned and reviewed, time zone, language."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods

from accounts.actions import preferences_set
from accounts.models import Preferences
from accounts.policy import must_act_for, time_zones
from accounts.principals import Principal
from journal.exceptions import Conflict, Refused

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
    ("after", "Use what is new at once; I look through it when I like"),
    ("before", "Use nothing that I have not approved: until then it is in no prompt, whenever it was found"),
]
EACH_MESSAGE = [
    ("", "As usual: from each message with the assistant here, from other agents’ conversations in batches"),
    ("yes", "From each message, wherever I write it"),
    ("no", "In batches only: after about thirty messages, or when a conversation ends"),
]
_AS_STORED = {"": None, "yes": True, "no": False}


class PreferencesForm(forms.Form):
    """The fields of the page, with the choices that make sense."""

    has_memory = forms.BooleanField(required=False, label="Remember what I tell my agents")
    agentic_memory = forms.BooleanField(required=False, label="Keep memories up to date")
    extract_each_message = forms.ChoiceField(
        choices=EACH_MESSAGE, required=False, widget=forms.RadioSelect, label="When memories are learned"
    )
    review = forms.ChoiceField(choices=REVIEW, widget=forms.RadioSelect, label="When memories and facts are found")
    time_zone = forms.ChoiceField(label="Time zone")
    language = forms.ChoiceField(required=False, label="Language")
    version = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)

    def __init__(self, principal: Principal, version: int, data: dict[str, str] | None = None) -> None:
        each = principal.extract_each_message
        stored = {
            "has_memory": principal.has_memory,
            "agentic_memory": principal.agentic_memory,
            "extract_each_message": "" if each is None else "yes" if each else "no",
            "review": principal.review,
            "time_zone": principal.time_zone,
            "language": principal.language,
            "version": version,
        }
        super().__init__(data, initial=stored, label_suffix="")
        self.fields["time_zone"].choices = [(name, name.replace("_", " ")) for name in sorted(time_zones())]  # type: ignore[attr-defined]
        # A language that an agent has set stays a choice, whichever it is.
        known = LANGUAGES if principal.language in LANGUAGES else {**LANGUAGES, principal.language: principal.language}
        self.fields["language"].choices = list(known.items())  # type: ignore[attr-defined]


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def preferences(request: PageRequest, principal: Principal) -> HttpResponse:
    """Show the preferences, or store them."""
    row = Preferences.objects.filter(user_id=must_act_for(principal))
    version = row.values_list("version", flat=True).first() or 0
    if request.method != "POST":
        return _show(request, principal, PreferencesForm(principal, version))
    form = PreferencesForm(principal, version, request.POST.dict())
    if not form.is_valid():
        return _show(request, principal, form, 400)
    values = form.cleaned_data
    values["extract_each_message"] = _AS_STORED[values["extract_each_message"]]
    try:
        preferences_set(principal, **values)
    except Conflict:
        # Shown as they are now: what was typed was meant for others.
        form = PreferencesForm(principal, version)
        told = "Your preferences were changed meanwhile, so nothing was saved. They are shown here as they are now."
        return _show(request, principal, form, 409, told)
    except Refused as error:
        form.add_error(error.extra.get("field"), error.detail)
        return _show(request, principal, form, 400)
    if principal.has_memory and not values["has_memory"]:
        messages.success(request, "Saved. Memory is switched off: from now on no agent sees or adds any.")
    else:
        messages.success(request, "Saved.")
    return redirect("preferences")


def _show(
    request: PageRequest, principal: Principal, form: PreferencesForm, status: int = 200, told: str = ""
) -> HttpResponse:
    return render(request, "desk/preferences.html", {"principal": principal, "form": form, "told": told}, status=status)


urlpatterns = [path("preferences/", preferences, name="preferences")]
