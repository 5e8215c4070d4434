"""Pages of sign-in, preferences, theme and Telegram links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import LogoutView
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_http_methods, require_POST

from accounts.actions import identity_unlink, link_code_create, preferences_set
from accounts.models import ExternalIdentity, Preferences, User
from accounts.policy import TELEGRAM_ISSUER, listed_time_zones, must_act_for
from accounts.principals import Principal
from accounts.sign_in import ThrottledSignIn
from assistant.demo import demo_sign_ins
from journal.exceptions import Conflict, NotFound, Refused

from ..page import THEME_COOKIE, THEMES, PageRequest, for_person, page_of
from ..translation import use_language
from .naming import DisplayNameField

DETECTED = gettext_noop("Detected from what I write")
# Each language in its own name.
LANGUAGES = {
    "": DETECTED,
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
    ("after", gettext_lazy("Use new memories and facts at once; I review them later")),
    ("before", gettext_lazy("Use only what I have approved: everything else is in no prompt, whenever it was found")),
]
EACH_MESSAGE = [
    (
        "",
        gettext_lazy(
            "As usual: from each message with the assistant here, from other agents’ conversations in batches"
        ),
    ),
    ("yes", gettext_lazy("From each message, wherever I write it")),
    ("no", gettext_lazy("In batches only: after about thirty messages, or when a conversation ends")),
]
RECORD = [
    ("", gettext_lazy("As I review: quote it while new memories are used at once, and not while I approve them first")),
    ("yes", gettext_lazy("Quote to my agents what I said to others")),
    ("no", gettext_lazy("Never quote one conversation in another")),
]
_AS_STORED = {"": None, "yes": True, "no": False}
AS_SHOWN = {stored: shown for shown, stored in _AS_STORED.items()}


def language_name(code: str) -> str:
    """Return a language's own name, or the text for none."""
    return LANGUAGES.get(code, code) if code else _(DETECTED)


class SignIn(ThrottledSignIn):
    """Sign in with user name and password; redirects home if already signed in."""

    template_name = "desk/sign_in.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the demo sign-ins, and whether registration is open."""
        return super().get_context_data(demo=demo_sign_ins(), registration=settings.REGISTRATION, **kwargs)


class PreferencesForm(forms.Form):
    """The form of the preferences."""

    display_name = DisplayNameField(gettext_lazy("Your name"))
    has_memory = forms.BooleanField(required=False, label=gettext_lazy("Remember what I tell my agents"))
    agentic_memory = forms.BooleanField(required=False, label=gettext_lazy("Keep memories up to date"))
    extract_each_message = forms.ChoiceField(
        choices=EACH_MESSAGE, required=False, widget=forms.RadioSelect, label=gettext_lazy("When memories are learned")
    )
    review = forms.ChoiceField(
        choices=REVIEW, widget=forms.RadioSelect, label=gettext_lazy("When memories and facts are found")
    )
    recall_record = forms.ChoiceField(
        choices=RECORD, required=False, widget=forms.RadioSelect, label=gettext_lazy("When an earlier talk would help")
    )
    time_zone = forms.ChoiceField(label=gettext_lazy("Time zone"))
    language = forms.ChoiceField(required=False, label=gettext_lazy("Language"))
    version = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)

    def __init__(self, principal: Principal, user: User, version: int, data: dict[str, str] | None = None) -> None:
        stored = {
            "display_name": user.display_name,
            "has_memory": principal.has_memory,
            "agentic_memory": principal.agentic_memory,
            "extract_each_message": AS_SHOWN[principal.extract_each_message],
            "recall_record": AS_SHOWN[principal.recall_record],
            "review": principal.review,
            "time_zone": principal.time_zone,
            "language": principal.language,
            "version": version,
        }
        super().__init__(data, initial=stored, label_suffix="")
        # Keep an alias of a zone that an agent has set.
        zones = sorted({*listed_time_zones(), principal.time_zone})
        self.fields["time_zone"].choices = [(name, name.replace("_", " ")) for name in zones]  # type: ignore[attr-defined]
        # Keep any language that an agent has set.
        known = LANGUAGES if principal.language in LANGUAGES else {**LANGUAGES, principal.language: principal.language}
        self.fields["language"].choices = [("", language_name("")), *list(known.items())[1:]]  # type: ignore[attr-defined]


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def preferences(request: PageRequest, principal: Principal) -> HttpResponse:
    """Show or save the preferences."""
    user = request.user
    assert user.is_authenticated
    row = Preferences.objects.filter(user_id=must_act_for(principal))
    version = row.values_list("version", flat=True).first() or 0
    if request.method != "POST":
        return _show(request, principal, PreferencesForm(principal, user, version))
    form = PreferencesForm(principal, user, version, request.POST.dict())
    if not form.is_valid():
        return _show(request, principal, form, 400)
    values = form.cleaned_data
    if "display_name" not in request.POST:
        del values["display_name"]
    for name in ("extract_each_message", "recall_record"):
        values[name] = _AS_STORED[values[name]]
    try:
        preferences_set(principal, **values)
    except Conflict:
        # Show the current values: the typed ones were based on outdated ones.
        form = PreferencesForm(principal, user, version)
        told = _("Your preferences were changed meanwhile, so nothing was saved. They are shown here as they are now.")
        return _show(request, principal, form, 409, told)
    except Refused as error:
        form.add_error(error.extra.get("field"), error.detail)
        return _show(request, principal, form, 400)
    use_language(values["language"])
    if principal.has_memory and not values["has_memory"]:
        messages.success(request, _("Saved. Memory is switched off: from now on no agent sees or adds any."))
    else:
        messages.success(request, _("Saved."))
    return redirect("preferences")


def _show(
    request: PageRequest, principal: Principal, form: PreferencesForm, status: int = 200, told: str = ""
) -> HttpResponse:
    context = {"principal": principal, "form": form, "told": told, "telegram": telegram_section(principal)}
    return render(request, "desk/preferences.html", context, status=status)


@dataclass(frozen=True, slots=True)
class TelegramSection:
    """The Telegram section: linked chats, and whether more can be linked."""

    chats: list[ExternalIdentity]
    takes_more: bool


def telegram_section(principal: Principal) -> TelegramSection | None:
    """Return the Telegram section; None without a bot and links."""
    identities = ExternalIdentity.objects.visible_to(principal).filter(issuer=TELEGRAM_ISSUER)
    chats = list(identities.order_by("created_at", "pk"))
    there_is_a_bot = bool(settings.TELEGRAM_SECRET_TOKEN)
    return TelegramSection(chats, there_is_a_bot) if chats or there_is_a_bot else None


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def telegram_code(request: PageRequest, principal: Principal) -> HttpResponse:
    """Create a link code and show it once. A GET shows the preferences."""
    if not settings.TELEGRAM_SECRET_TOKEN:
        raise NotFound("There is no bot.")
    if request.method != "POST":
        return redirect("preferences")
    code = link_code_create(principal, TELEGRAM_ISSUER)
    bot = settings.TELEGRAM_BOT_NAME
    shown = {"code": code, "bot": bot, "minutes": settings.LINK_CODE_MINUTES}
    return render(request, "desk/telegram.html", {"principal": principal, **shown})


@require_POST
@for_person
def telegram_unlink(request: PageRequest, principal: Principal, identity_id: int) -> HttpResponse:
    """Unlink a chat."""
    identity_unlink(principal, TELEGRAM_ISSUER, identity_id)
    messages.success(request, _("That chat is no longer linked."))
    return redirect("preferences")


@require_POST
def theme(request: PageRequest) -> HttpResponse:
    """Set a light or dark theme for this browser, or follow the device again."""
    answer = redirect(page_of(request) or reverse("home"))
    wanted = request.POST.get("theme", "")
    if wanted in THEMES:
        year = 365 * 86_400
        secure = settings.SESSION_COOKIE_SECURE
        answer.set_cookie(THEME_COOKIE, wanted, max_age=year, secure=secure, httponly=True, samesite="Lax")
    else:
        answer.delete_cookie(THEME_COOKIE, samesite="Lax")
    return answer


urlpatterns = [
    path("theme/", theme, name="theme"),
    path("sign-in/", SignIn.as_view(), name="sign-in"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("preferences/", preferences, name="preferences"),
    path("preferences/telegram/", telegram_code, name="telegram-code"),
    path("preferences/telegram/<int:identity_id>/unlink/", telegram_unlink, name="telegram-unlink"),
]
