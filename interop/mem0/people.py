"""The person of a mem0 request: ``user_id`` is what ``X-Keepsake-User`` is elsewhere.

If a request names only a memory's id, a service acts for the memory's owner, if it knows that person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from rest_framework.authentication import get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.authentication import AgentKeyAuthentication, principal_factory_for_key, principal_of
from accounts.models import ExternalIdentity, User
from accounts.policy import LOCAL_ISSUER, must_act_for
from accounts.principals import Principal
from accounts.scope import enter
from journal.exceptions import Refused, must_find
from memories.models import Memory

ENTITIES = ("user_id", "agent_id", "app_id", "run_id")
ANYBODY = "*"


class KeyAuthentication(AgentKeyAuthentication):
    """Authentication by ``Authorization: Token ks_…``. The view's ``user_of(request)`` names the person."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        """Return the principal for the named person. Raises AuthenticationFailed, also without a key."""
        credential = get_authorization_header(request).decode("latin-1").partition(" ")[2]
        if not credential:
            raise AuthenticationFailed("Send Authorization: Token ks_<public>.<secret>.", "bad_key")
        view = request.parser_context["view"]
        named = view.user_of(request)
        again = principal_factory_for_key(credential, named)
        principal = again(makes_person=named is not None and view.adds and request.method == "POST")
        if named is None and (external_id := _owner(principal, view.memory_of(request))):
            principal = principal_factory_for_key(credential, external_id)(makes_person=False)
        return enter(principal), None


def _owner(principal: Principal, memory_id: str) -> str:
    """Return the service's name of a memory's owner, or '' for the key's own person. Raises NotFound."""
    if not memory_id or not principal.service:
        return ""
    user_id = Memory.objects.filter(pk=memory_id).values_list("user_id", flat=True).first()
    if user_id is None or user_id == principal.user_id:
        return ""
    return must_find(_known_as(user_id, principal.issuer), "memory")


def _known_as(user_id: UUID, issuer: str) -> str | None:
    if issuer == LOCAL_ISSUER:
        return User.objects.filter(pk=user_id).values_list("username", flat=True).first()
    identities = ExternalIdentity.objects.filter(user_id=user_id, issuer=issuer)
    return identities.order_by("pk").values_list("external_id", flat=True).first()


def shown_user_id(principal: Principal, named: str | None) -> str:
    """Return the user_id of answers: as sent, else the service's name of the person, else their user name."""
    if named is not None:
        return named
    user_id = must_act_for(principal)
    known = _known_as(user_id, principal.issuer) if principal.service else None
    return known or _known_as(user_id, LOCAL_ISSUER) or ""


class PersonView(APIView):
    """Base view of mem0's API. It accepts keys only and is not in Keepsake's schema."""

    authentication_classes = [KeyAuthentication]
    schema = None
    adds = False
    """Whether a POST creates a person for an unknown name."""

    def user_of(self, request: Request) -> str | None:
        """Return the user_id of the request, or None. Raises Refused (400) for several."""
        named = {*_named(request.query_params.dict()), *_named(request.data if request.data else {})}
        if len(named) > 1:
            raise Refused("One request is about one user_id.", code="several_users")
        return named.pop() if named else None

    def memory_of(self, request: Request) -> str:
        """Return the memory id of the request, or ''."""
        return str(self.kwargs.get("memory_id", ""))

    def principal(self, request: Request) -> Principal:
        """Return the authenticated principal."""
        return principal_of(request)


def _named(sent: Any) -> Iterator[str]:
    """Yield the user ids at the top level of what was sent and anywhere in its filters."""
    if isinstance(sent, Mapping):
        yield from users_named(sent.get("user_id"))
        yield from _named_in(sent.get("filters"))


def _named_in(filters: Any) -> Iterator[str]:
    if isinstance(filters, list):
        for each in filters:
            yield from _named_in(each)
    elif isinstance(filters, Mapping):
        yield from users_named(filters.get("user_id"))
        for joined in ("AND", "OR", "NOT"):
            yield from _named_in(filters.get(joined))


def users_named(value: Any) -> Iterator[str]:
    """Yield the user ids of a filter value. Raises Refused (400) for a blank one, ``*`` or another type."""
    if isinstance(value, str):
        if value.strip() in {"", ANYBODY}:
            raise Refused("Name one user_id: no request is about everybody, or about nobody.", code="several_users")
        yield value
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, list):
        for each in value:
            yield from users_named(each)
    elif isinstance(value, Mapping):
        if value.keys() - {"eq", "in"}:
            raise Refused("user_id takes a name: eq, or in with one.", code="several_users")
        for each in value.values():
            yield from users_named(each)
    elif value is not None:
        raise Refused("user_id is a text.", code="bad_user")
