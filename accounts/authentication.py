"""How a request becomes a principal: an agent key, or a person's session."""

from __future__ import annotations

import re
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.request import Request

from . import actions, queries
from .principals import Principal

_CREDENTIAL = re.compile(r"(?:Bearer|Token)\s+ks_([A-Za-z0-9]{8,16})\.([A-Za-z0-9_-]{20,100})", re.IGNORECASE)
USER_HEADER = "HTTP_X_KEEPSAKE_USER"


def principal_of(request: Request | HttpRequest) -> Principal:
    """The principal of an authenticated API request, or of a signed-in person's page.

    One query for a page; none for an API request, whose authentication has made it already. Raises NotAuthenticated.
    """
    user = getattr(request, "user", None)
    if isinstance(user, Principal):
        return user
    if user is None or isinstance(user, AnonymousUser) or not user.is_authenticated:
        raise exceptions.NotAuthenticated
    return queries.principal_for_person(user.pk)


class AgentKeyAuthentication(BaseAuthentication):
    """``Authorization: Bearer ks_<public>.<secret>``; a service names the person in ``X-Keepsake-User``."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        """Return the principal, or None when the request carries no Authorization header at all."""
        header = request.META.get("HTTP_AUTHORIZATION", "")
        if not header:
            return None
        match = _CREDENTIAL.fullmatch(header.strip())
        if match is None:
            raise exceptions.AuthenticationFailed("Send Authorization: Bearer ks_<public>.<secret>.", "bad_key")
        external_id = request.META.get(USER_HEADER, "").strip()
        try:
            external_id = external_id.encode("latin-1").decode("utf-8")
        except UnicodeError as error:
            raise exceptions.AuthenticationFailed("X-Keepsake-User must be UTF-8.", "bad_user") from error
        if len(external_id) > 255 or "\x00" in external_id:
            raise exceptions.AuthenticationFailed("X-Keepsake-User is longer than 255 characters.", "bad_user")
        return actions.principal_for_key(match[1], match[2], external_id), None

    def authenticate_header(self, request: Request) -> str:
        """What a 401 answer asks for."""
        return "Bearer"


class PersonSessionAuthentication(SessionAuthentication):
    """A signed-in person, with Django's CSRF protection."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        """Return the principal of the session's user, or None."""
        signed_in = super().authenticate(request)
        if signed_in is None:
            return None
        return queries.principal_for_person(signed_in[0].pk), None


class AgentKeyScheme(OpenApiAuthenticationExtension):
    """Describes the key in the OpenAPI schema."""

    target_class = AgentKeyAuthentication
    name = "agentKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """An HTTP bearer scheme."""
        return {"type": "http", "scheme": "bearer", "description": "ks_<public>.<secret>"}


class PersonSessionScheme(OpenApiAuthenticationExtension):
    """Describes the session cookie in the OpenAPI schema."""

    target_class = PersonSessionAuthentication
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """An API key in a cookie."""
        return {"type": "apiKey", "in": "cookie", "name": "keepsake_session"}
