"""Pure decisions about keys, scopes and what a principal may see. No database."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.utils.crypto import salted_hmac

from journal.exceptions import NotAllowed, NotYoursToDecide, Refused

from . import categories
from .principals import SCOPES, SOURCES, Principal

if TYPE_CHECKING:
    from .queries import KeyRow

LOCAL_ISSUER = "local"
_SALT = "keepsake.agent-key"


def secret_hmac(secret: str) -> str:
    """The keyed fingerprint under which a key's secret is stored: HMAC-SHA256, 64 hex digits."""
    return salted_hmac(_SALT, secret, algorithm="sha256").hexdigest()


def secret_hmacs(secret: str) -> list[str]:
    """The fingerprints under the current SECRET_KEY and its fallbacks, so that rotating it keeps keys valid."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [salted_hmac(_SALT, secret, secret=key, algorithm="sha256").hexdigest() for key in keys]


def check_scopes(scopes: list[str]) -> None:
    """Raise Refused unless every scope is known and there is one."""
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        raise Refused(f"Scopes are {', '.join(SCOPES)}; got {', '.join(unknown) or 'none'}.", code="bad_scope")


def check_role(role: str) -> None:
    """Raise Refused unless the role is empty or named in categories.yaml."""
    if role and role not in categories.load().allowlists:
        known = ", ".join(sorted(categories.load().allowlists))
        raise Refused(f"The role {role} is not known. Roles: {known}.", code="bad_role")


def check_username(username: str) -> None:
    """Raise Refused for something that can't be a user name."""
    try:
        UnicodeUsernameValidator()(username)
    except ValidationError as error:
        raise Refused(f"{username[:50]!r} is not a user name.", code="bad_username") from error
    if len(username) > 150:
        raise Refused("A user name has at most 150 characters.", code="bad_username")


def must_read(principal: Principal) -> None:
    """Raise NotAllowed without the scope read."""
    if "read" not in principal.scopes:
        raise NotAllowed("This key has no scope read.", code="missing_scope")


def must_write(principal: Principal) -> UUID:
    """Return the person's id. Raise NotAllowed without the scope write, or when nobody is acted for."""
    if "write" not in principal.scopes or principal.user_id is None:
        raise NotAllowed("This key has no scope write.", code="missing_scope")
    return principal.user_id


def must_decide(principal: Principal) -> UUID:
    """Return the person's id. Raise NotYoursToDecide unless the principal may take the person's decisions."""
    if not principal.may_decide or principal.user_id is None:
        raise NotYoursToDecide
    return principal.user_id


def must_remember(principal: Principal) -> UUID:
    """Return the person's id. Raise NotAllowed when an agent writes and the person has memory switched off."""
    user_id = must_write(principal)
    if principal.kind == "agent" and not principal.has_memory:
        raise NotAllowed("This person has memory switched off.", code="memory_off")
    return user_id


def principal_of_key(row: KeyRow) -> Principal:
    """Combine role and grant into what the key's agent may see for this person.

    Without a role an agent has every category but procedural, and every source. A role with an allowlist has its
    categories only, and no chunks, turns or facts unless the grant gives them. The grant narrows categories further.
    """
    allowed = categories.load().of_role(row.role)
    if row.categories is not None:
        allowed = allowed & frozenset(row.categories)
    sources_of_role = () if row.role else SOURCES
    return Principal(
        kind="agent",
        actor_id=str(row.agent_id),
        user_id=row.user_id,
        scopes=frozenset(row.scopes),
        categories=allowed,
        sources=frozenset(sources_of_role if row.sources is None else row.sources),
        rev=row.rev or 0,
        agent_id=row.agent_id,
        service=row.kind == "service",
        issuer=row.issuer,
        role=row.role,
        has_memory=row.has_memory is not False,
        review=row.review or "after",
        time_zone=row.time_zone or "UTC",
        language=row.language or "",
        name=row.display_name or row.username or "",
    )
