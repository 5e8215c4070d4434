"""Making an account, where the operator lets people, and changing one's password."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.forms import SetPasswordMixin
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from accounts.actions import password_change, user_create
from accounts.models import User
from accounts.policy import must_act_for
from accounts.principals import Principal
from accounts.sign_in import PasswordForm, may_register
from journal.exceptions import Refused

from ..page import PageRequest, for_person


class RegisterForm(SetPasswordMixin, forms.Form):
    """Who wants an account, and their password twice."""

    username = forms.CharField(
        max_length=150,
        label="User name",
        widget=forms.TextInput({"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}),
    )
    display_name = forms.CharField(
        max_length=150, required=False, label="Name", widget=forms.TextInput({"autocomplete": "name"})
    )
    password1, password2 = SetPasswordMixin.create_password_fields()

    def clean(self) -> dict[str, Any]:
        """Check the passwords as Django does, against the names too."""
        cleaned: dict[str, Any] = super().clean() or {}
        self.validate_passwords()
        person = User(username=cleaned.get("username", ""), display_name=cleaned.get("display_name", ""))
        self.validate_password_for_user(person, "password1")
        return cleaned


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def register(request: PageRequest) -> HttpResponse:
    """Make an account and sign in. 404 unless ``REGISTRATION`` is on, 429 after too many from one address."""
    if not settings.REGISTRATION:
        raise Http404
    if request.user.is_authenticated:
        return redirect("home")
    form, status = RegisterForm(request.POST or None, label_suffix=""), 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            if not may_register(request):
                form.add_error(None, "Too many accounts were made from here. Try again in an hour.")
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
        messages.success(request, "Your password is changed. Elsewhere you are signed out.")
        return redirect("preferences")
    status = 400 if request.method == "POST" else 200
    return render(request, "desk/password.html", {"principal": principal, "form": form}, status=status)


urlpatterns = [
    path("register/", register, name="register"),
    path("preferences/password/", password, name="password"),
]
