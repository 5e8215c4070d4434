"""Signing in: how many wrong passwords are checked for one account from one address, or from one known device.

Wrong passwords count against the pair of account and address, so that somebody elsewhere locks nobody out. A device on
which its person has signed in before carries a signed cookie and counts by itself: it gets in while an attacker at the
same address does not. They count against the address too, for all accounts, and against the account, for all addresses
that are new to it: whoever guesses from many shuts out other newcomers, but no known device and nobody at an address
from which the person has signed in lately. Counting comes before checking, so many requests at once get no more
attempts; a right password takes its own attempt back. Without the cache nothing is counted.
"""

from __future__ import annotations

import secrets
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from journal.cache import valkey
from web.throttling import address_of

from .models import User
from .policy import normal_name

_SALT = "keepsake.sign-in"
_DEVICE_SECONDS = 365 * 86_400
_TOO_MANY = "too_many_attempts"


class SignInForm(AuthenticationForm):
    """User name and password; once too many were wrong, none is checked for ``SIGN_IN_MINUTES``."""

    def clean(self) -> dict[str, Any]:
        """Check the password. Raises ValidationError: ``too_many_attempts`` where it was not looked at."""
        assert self.request is not None
        username = normal_name(self.cleaned_data.get("username") or "")
        device = _device(self.request, username)
        address = address_of(self.request)
        by_pair = f"sign-in:{_digest(username, device or address)}"
        limits = {by_pair: settings.SIGN_IN_ATTEMPTS}
        # A device that is known is no help to whoever tries one password on many accounts.
        if not device:
            limits[f"sign-in:{_digest(address)}"] = settings.SIGN_IN_ATTEMPTS_PER_ADDRESS
        if not device and not _knows(username, address):
            limits[f"sign-in:{_digest('account', username)}"] = settings.SIGN_IN_ATTEMPTS_PER_ACCOUNT
        # One that is not checked for one reason counts for no further one.
        if any(valkey().increment(key, _seconds()) > limit for key, limit in limits.items()):
            raise forms.ValidationError(
                _(
                    "Too many passwords were wrong, so this one was not checked. Wait %(sign_in_minutes)s minutes, "
                    "or use a device on which you have signed in before."
                )
                % {"sign_in_minutes": settings.SIGN_IN_MINUTES},
                code=_TOO_MANY,
            )
        cleaned = super().clean()
        valkey().reset_count(by_pair)
        for key in limits.keys() - {by_pair}:
            valkey().decrement(key, _seconds())
        valkey().set(_known(username, address), 1, settings.SIGN_IN_ADDRESS_DAYS * 86_400)
        return cleaned


class ThrottledSignIn(LoginView):
    """Django's sign-in with that form: 429 where no password was checked, and a cookie for the device of who is in."""

    authentication_form = SignInForm

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Show the form again, with the reason."""
        answer = super().form_invalid(form)
        if form.has_error(NON_FIELD_ERRORS, _TOO_MANY):
            answer.status_code = 429
            answer["Retry-After"] = str(settings.SIGN_IN_MINUTES * 60)
        return answer

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Sign in, and know this device from now on."""
        answer = super().form_valid(form)
        username = normal_name(form.cleaned_data["username"])
        answer.set_signed_cookie(
            _cookie(username),
            secrets.token_hex(16),
            salt=_SALT + username,
            max_age=_DEVICE_SECONDS,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
        return answer


class OldPassword:
    """Checks the field ``old_password``; once too many were wrong, none is checked for ``SIGN_IN_MINUTES``."""

    user: User
    cleaned_data: dict[str, Any]

    def clean_old_password(self) -> str:
        """Check the old password. Raises ValidationError: ``too_many_attempts`` where it was not looked at."""
        key = f"password:{_digest(str(self.user.pk))}"
        if valkey().increment(key, _seconds()) > settings.SIGN_IN_ATTEMPTS:
            raise forms.ValidationError(
                _("Too many passwords were wrong. Wait %(sign_in_minutes)s minutes.")
                % {"sign_in_minutes": settings.SIGN_IN_MINUTES},
                code=_TOO_MANY,
            )
        old: str = self.cleaned_data["old_password"]
        if not self.user.check_password(old):
            raise forms.ValidationError(
                PasswordChangeForm.error_messages["password_incorrect"], code="password_incorrect"
            )
        valkey().reset_count(key)
        return old


class PasswordForm(OldPassword, PasswordChangeForm):
    """The old password and a new one."""


class EmailForm(OldPassword, forms.Form):
    """Where mails about a forgotten password go: it takes the password to say, since it lets in whoever reads them."""

    email = forms.EmailField(
        required=False,
        max_length=254,
        label=gettext_lazy("E-mail address"),
        widget=forms.EmailInput({"autocomplete": "email"}),
    )
    old_password = forms.CharField(
        strip=False,
        label=gettext_lazy("Your password"),
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )

    def __init__(self, user: User, data: QueryDict | None = None) -> None:
        self.user = user
        super().__init__(data, initial={"email": user.email}, label_suffix="", auto_id="email-%s")


def may_ask_for_a_mail(request: HttpRequest, name: str) -> bool:
    """Count that somebody has forgotten a password; whether it is one of the few within the hour that are mailed."""
    by_address, by_name = (f"forgotten:{_digest(part)}" for part in (address_of(request), f"name {normal_name(name)}"))
    return (
        valkey().increment(by_address, 3_600) <= settings.RESETS_PER_ADDRESS_AND_HOUR
        and valkey().increment(by_name, 3_600) <= settings.RESETS_PER_ACCOUNT_AND_HOUR
    )


def may_register(request: HttpRequest) -> bool:
    """Count an account that is to be made from an address; whether it is one of the few within the hour."""
    return valkey().increment(f"register:{_digest(address_of(request))}", 3_600) <= settings.REGISTRATIONS_PER_HOUR


def _seconds() -> int:
    return int(settings.SIGN_IN_MINUTES * 60)


def _knows(username: str, address: str) -> bool:
    """Whether the person has signed in from this address lately."""
    return valkey().get(_known(username, address)) is not None


def _known(username: str, address: str) -> str:
    return f"signed-in:{_digest(username, address)}"


def _device(request: HttpRequest, username: str) -> str:
    """What tells this device from all others on which the person has signed in; empty for one that is not known."""
    name, salt = _cookie(username), _SALT + username
    return request.get_signed_cookie(name, default="", salt=salt, max_age=_DEVICE_SECONDS) or ""


def _cookie(username: str) -> str:
    """One for each account, for devices that people share; it does not say whose."""
    return f"{settings.SESSION_COOKIE_NAME}_device_{_digest(username)[:8]}"


def _digest(*parts: str) -> str:
    return salted_hmac(_SALT, "\0".join(parts), algorithm="sha256").hexdigest()
