"""Sign-in, password and e-mail forms, with limits on wrong passwords.

Wrong passwords are counted in three ways. By account and address, so that an attacker elsewhere can't lock a person
out; a device with the signed cookie of an earlier sign-in is counted separately, so it works while an attacker at the
same address is blocked. By address, over all accounts. By account, over all addresses without a recent sign-in, so that
distributed guessing blocks only unknown devices at new addresses. Attempts are counted before the password is checked,
so parallel requests don't get more; a correct password removes its own count. Without the cache, nothing is counted.
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
    """User name and password. After too many wrong ones, no password is checked for ``SIGN_IN_MINUTES``."""

    def clean(self) -> dict[str, Any]:
        """Check the password. Raises ValidationError; ``too_many_attempts`` if it was not checked."""
        assert self.request is not None
        username = normal_name(self.cleaned_data.get("username") or "")
        device = _device(self.request, username)
        address = address_of(self.request)
        by_pair = f"sign-in:{_digest(username, device or address)}"
        limits = {by_pair: settings.SIGN_IN_ATTEMPTS}
        # The limits over all accounts and all addresses apply only to unknown devices.
        if not device:
            limits[f"sign-in:{_digest(address)}"] = settings.SIGN_IN_ATTEMPTS_PER_ADDRESS
        if not device and not _knows(username, address):
            limits[f"sign-in:{_digest('account', username)}"] = settings.SIGN_IN_ATTEMPTS_PER_ACCOUNT
        # Stop at the first exceeded limit, without counting for the others.
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
    """Django's sign-in view: 429 if no password was checked, and a cookie for known devices."""

    authentication_form = SignInForm

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Show the form again with the error."""
        answer = super().form_invalid(form)
        if form.has_error(NON_FIELD_ERRORS, _TOO_MANY):
            answer.status_code = 429
            answer["Retry-After"] = str(settings.SIGN_IN_MINUTES * 60)
        return answer

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Sign in, and set the device's cookie."""
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
    """Checks the field ``old_password``. After too many wrong ones, none is checked for ``SIGN_IN_MINUTES``."""

    user: User
    cleaned_data: dict[str, Any]

    def clean_old_password(self) -> str:
        """Check the old password. Raises ValidationError; ``too_many_attempts`` if it was not checked."""
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
    """The address for password resets. It needs the password, because reset mails give access to the account."""

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


def may_request_reset(request: HttpRequest, name: str) -> bool:
    """Count a request for a reset mail. Whether it is within the limits per hour."""
    by_address, by_name = (f"forgotten:{_digest(part)}" for part in (address_of(request), f"name {normal_name(name)}"))
    return (
        valkey().increment(by_address, 3_600) <= settings.RESETS_PER_ADDRESS_AND_HOUR
        and valkey().increment(by_name, 3_600) <= settings.RESETS_PER_ACCOUNT_AND_HOUR
    )


def may_register(request: HttpRequest) -> bool:
    """Count a registration from an address. Whether it is within the limit per hour."""
    return valkey().increment(f"register:{_digest(address_of(request))}", 3_600) <= settings.REGISTRATIONS_PER_HOUR


def _seconds() -> int:
    return int(settings.SIGN_IN_MINUTES * 60)


def _knows(username: str, address: str) -> bool:
    """Whether the person has recently signed in from this address."""
    return valkey().get(_known(username, address)) is not None


def _known(username: str, address: str) -> str:
    return f"signed-in:{_digest(username, address)}"


def _device(request: HttpRequest, username: str) -> str:
    """Return the id in the device's cookie for this account, or "" for an unknown device."""
    name, salt = _cookie(username), _SALT + username
    return request.get_signed_cookie(name, default="", salt=salt, max_age=_DEVICE_SECONDS) or ""


def _cookie(username: str) -> str:
    """Return the cookie's name: one for each account, as people share devices; it does not reveal the account."""
    return f"{settings.SESSION_COOKIE_NAME}_device_{_digest(username)[:8]}"


def _digest(*parts: str) -> str:
    return salted_hmac(_SALT, "\0".join(parts), algorithm="sha256").hexdigest()
