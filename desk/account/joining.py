"""Registration (if enabled), changing the password, and resetting a forgotten one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.forms import SetPasswordForm, SetPasswordMixin
from django.contrib.auth.views import PasswordResetConfirmView
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from accounts.actions import email_set, password_change, password_forgotten, user_create
from accounts.models import User
from accounts.policy import must_act_for
from accounts.principals import Principal
from accounts.queries import principal_for_person
from accounts.sign_in import EmailForm, PasswordForm, may_register, may_request_reset
from journal.exceptions import Refused

from ..page import PageRequest, for_person
from .naming import DisplayNameField


class RegisterForm(SetPasswordMixin, forms.Form):
    """User name, and the password twice."""

    username = forms.CharField(
        max_length=150,
        label=gettext_lazy("User name"),
        widget=forms.TextInput({"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}),
    )
    display_name = DisplayNameField(gettext_lazy("Name"))
    email = forms.EmailField(
        required=False,
        label=gettext_lazy("E-mail address, for a forgotten password"),
        widget=forms.EmailInput({"autocomplete": "email"}),
    )
    password1, password2 = SetPasswordMixin.create_password_fields()

    def clean(self) -> dict[str, Any]:
        """Validate the passwords, also against the names."""
        cleaned: dict[str, Any] = super().clean() or {}
        self.validate_passwords()
        person = User(username=cleaned.get("username", ""), display_name=cleaned.get("display_name", ""))
        self.validate_password_for_user(person, "password1")
        return cleaned


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def register(request: PageRequest) -> HttpResponse:
    """Create an account and sign in. 404 unless ``REGISTRATION`` is on, 429 after too many from one address."""
    if not settings.REGISTRATION:
        raise Http404
    if request.user.is_authenticated:
        return redirect("home")
    form, status = RegisterForm(request.POST or None, label_suffix=""), 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            if not may_register(request):
                form.add_error(None, _("Too many accounts were made from here. Try again in an hour."))
                status = 429
            else:
                names = form.cleaned_data
                try:
                    person = user_create(
                        names["username"], display_name=names["display_name"], password=names["password1"]
                    )
                except Refused as error:
                    form.add_error("username", error.detail)
                else:
                    if names["email"]:
                        email_set(principal_for_person(person.pk), names["email"])
                    login(request, person)
                    return redirect("home")
    return render(request, "desk/register.html", {"form": form}, status=status)


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def password(request: PageRequest, principal: Principal) -> HttpResponse:
    """Change the password; other sessions of the person end."""
    person = User.objects.get(pk=must_act_for(principal))
    if not person.has_usable_password():
        raise Http404
    form = PasswordForm(person, request.POST or None, label_suffix="")
    if request.method == "POST" and form.is_valid():
        update_session_auth_hash(request, password_change(principal, form.cleaned_data["new_password1"]))
        messages.success(request, _("Your password is changed. Elsewhere you are signed out."))
        return redirect("preferences")
    status = 400 if request.method == "POST" else 200
    context = {"principal": principal, "form": form, "email_form": EmailForm(person)}
    return render(request, "desk/password.html", context, status=status)


@sensitive_post_parameters()
@require_POST
@for_person
def email(request: PageRequest, principal: Principal) -> HttpResponse:
    """Set the mail address for password resets."""
    person = User.objects.get(pk=must_act_for(principal))
    if not person.has_usable_password():
        raise Http404
    form = EmailForm(person, request.POST)
    if not form.is_valid():
        context = {"principal": principal, "form": PasswordForm(person, label_suffix=""), "email_form": form}
        return render(request, "desk/password.html", context, status=400)
    email_set(principal, form.cleaned_data["email"])
    messages.success(request, _("Saved."))
    return redirect("preferences")


class ForgottenForm(forms.Form):
    """The name or mail address of the account."""

    name = forms.CharField(
        max_length=254,
        label=gettext_lazy("User name or e-mail address"),
        widget=forms.TextInput({"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}),
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def forgotten(request: PageRequest) -> HttpResponse:
    """Mail a reset link. The response does not depend on whether the account exists."""
    form = ForgottenForm(request.POST or None, label_suffix="")
    asked = request.method == "POST" and form.is_valid()
    if asked and may_request_reset(request, form.cleaned_data["name"]):
        password_forgotten(form.cleaned_data["name"], request.build_absolute_uri("/"))
    context = {"form": form, "asked": asked, "minutes": settings.RESET_MINUTES}
    return render(request, "desk/forgotten.html", context, status=400 if form.errors else 200)


class NewPasswordForm(SetPasswordForm):
    """The new password, twice."""

    def save(self, commit: bool = True) -> Any:
        """Change the password in the person's name; their sessions end."""
        return password_change(principal_for_person(self.user.pk), self.cleaned_data["new_password1"])


class NewPassword(PasswordResetConfirmView):
    """The page of a reset link. The code is moved to the session at once, so that no referrer contains it."""

    form_class = NewPasswordForm
    template_name = "desk/new_password.html"
    success_url = reverse_lazy("sign-in")

    def form_valid(self, form: SetPasswordForm[User]) -> HttpResponse:
        """Change the password, and redirect to the sign-in."""
        messages.success(self.request, _("Your password is changed. Sign in with it."))
        return super().form_valid(form)


urlpatterns = [
    path("register/", register, name="register"),
    path("preferences/password/", password, name="password"),
    path("preferences/email/", email, name="email"),
    path("sign-in/forgotten/", forgotten, name="forgotten"),
    path("sign-in/new-password/<uidb64>/<token>/", NewPassword.as_view(), name="new-password"),
]
