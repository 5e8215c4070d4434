"""Authentication of requests: by agent key, by session, or by a linked chat. Each returns a principal."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from journal.exceptions import Refused

from . import actions, policy, queries
from .principals import Principal
from .scope import enter

_CREDENTIAL = re.compile(r"(?:Bearer|Token)\s+ks_([A-Za-z0-9]{8,16})\.([A-Za-z0-9_-]{20,100})", re.IGNORECASE)
USER_HEADER = "HTTP_X_KEEPSAKE_USER"


def principal_of(request: Request | HttpRequest) -> Principal:
    """Return the principal of an API request, or of a page's signed-in person.

    One query for a page; none for an API request, whose authentication has built it already. Raises NotAuthenticated
    (401).
    """
    user = getattr(request, "user", None)
    if isinstance(user, Principal):
        return user
    if user is None or isinstance(user, AnonymousUser) or not user.is_authenticated:
        raise exceptions.NotAuthenticated
    return enter(queries.principal_for_person(user.pk))


class PrincipalFactory(Protocol):
    """Builds the principal of a request again, in any thread, so that a key revoked meanwhile is noticed.

    Raises the same as authentication.
    """

    def __call__(self, *, makes_person: bool = False) -> Principal:
        """Return the principal. Set ``makes_person`` for writes, to create a person named for the first time."""


def principal_factory(request: Request) -> PrincipalFactory:
    """Return a function that builds the principal of an API request again later."""
    principal = principal_of(request)
    match = _CREDENTIAL.fullmatch(request.META.get("HTTP_AUTHORIZATION", "").strip())
    if match is None:
        user_id = principal.user_id
        assert user_id is not None
        return lambda *, makes_person=False: queries.principal_for_person(user_id)
    return partial(actions.principal_for_key, match[1], match[2], _person_named(request), makes_person=False)


def principal_factory_for_key(credential: str, person: str | None) -> PrincipalFactory:
    """Return a function that builds the principal of a key, acting for the person that a service names.

    Raises AuthenticationFailed (401) for a malformed key, Refused (400) for an impossible name.
    """
    match = _CREDENTIAL.fullmatch(f"Bearer {credential.strip()}")
    if match is None:
        raise exceptions.AuthenticationFailed("A key reads ks_<public>.<secret>.", "bad_key")
    if person is not None:
        policy.check_name_of_person(person)
    return partial(actions.principal_for_key, match[1], match[2], person, makes_person=False)


def principal_of_identity(issuer: str, external_id: str) -> Principal:
    """Return the principal of the person a chat is linked to, in one query. Raises NotFound (404)."""
    return enter(queries.principal_for_identity(issuer, external_id))


def claimed_by(request: HttpRequest) -> tuple[str, str]:
    """Return the unverified public part of the key and the named person of a request; empty without a key."""
    match = _CREDENTIAL.fullmatch(request.META.get("HTTP_AUTHORIZATION", "").strip())
    if match is None:
        return "", ""
    try:
        return match[1], policy.normal_name(_person_named(request) or "")
    except Refused:
        return match[1], ""


class AgentKeyAuthentication(BaseAuthentication):
    """Authenticates ``Authorization: Bearer ks_<public>.<secret>``; services name the person in X-Keepsake-User."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        """Return the principal, or None without an Authorization header."""
        header = request.META.get("HTTP_AUTHORIZATION", "")
        if not header:
            return None
        match = _CREDENTIAL.fullmatch(header.strip())
        if match is None:
            raise exceptions.AuthenticationFailed("Send Authorization: Bearer ks_<public>.<secret>.", "bad_key")
        principal = actions.principal_for_key(
            match[1], match[2], _person_named(request), makes_person=not _only_reads(request)
        )
        return enter(principal), None

    def authenticate_header(self, request: Request) -> str:
        """Return the WWW-Authenticate header of a 401."""
        return "Bearer"


def _only_reads(request: Request, view: APIView | None = None) -> bool:
    view = view or request.parser_context.get("view")
    return request.method in SAFE_METHODS or bool(getattr(view, "reads_only", False))


def _person_named(request: Request | HttpRequest) -> str | None:
    """Return the value of X-Keepsake-User, or None. Raises Refused (400) for an impossible name."""
    header = request.META.get(USER_HEADER)
    if header is None:
        return None
    try:
        # Django decodes headers as Latin-1.
        external_id: str = header.encode("latin-1").decode("utf-8").strip()
    except UnicodeError as error:
        raise Refused("X-Keepsake-User must be UTF-8.", code="bad_user") from error
    if "," in external_id:
        # Servers join a header that is sent twice by a comma: that would be a third person.
        raise Refused(
            "X-Keepsake-User is sent once, and names one person without a comma. For an id that has one, always send "
            "%2C in its place.",
            code="bad_user",
        )
    policy.check_name_of_person(external_id)
    if len(policy.normal_name(external_id)) > policy.LONGEST_NAME:
        raise Refused(f"X-Keepsake-User has at most {policy.LONGEST_NAME} characters.", code="bad_user")
    return external_id


class PersonSessionAuthentication(SessionAuthentication):
    """Authenticates a signed-in person by the session, with CSRF protection."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        """Return the principal of the session's user, or None."""
        signed_in = super().authenticate(request)
        if signed_in is None:
            return None
        return enter(queries.principal_for_person(signed_in[0].pk)), None


class AgentKeyScheme(OpenApiAuthenticationExtension):
    """Describes the key in the OpenAPI schema."""

    target_class = AgentKeyAuthentication
    name = "agentKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return an HTTP bearer scheme."""
        return {"type": "http", "scheme": "bearer", "description": "ks_<public>.<secret>"}


class PersonSessionScheme(OpenApiAuthenticationExtension):
    """Describes the session cookie in the OpenAPI schema."""

    target_class = PersonSessionAuthentication
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return an API key in a cookie."""
        return {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}


if TYPE_CHECKING:
    from rest_framework.views import APIView  # The view reads its defaults from this module.


class HasPrincipal(BasePermission):
    """Requires the scope read for reads, and write for everything else. Actions check for the scope admin."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Return False (401) without a principal. Raises NotAllowed (403) for a missing scope."""
        if not isinstance(request.user, Principal):
            return False
        if _only_reads(request, view):
            policy.must_read(request.user)
        else:
            policy.must_write(request.user)
        return True
