"""Pure functions on codes, scopes, preferences, and what a principal may do and see. No database."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID
from zoneinfo import TZPATH, available_timezones

import regex as re
from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from journal.exceptions import NotAllowed, NotFound, NotYoursToDecide, Refused

from .. import categories
from ..principals import SCOPES, SOURCES, Principal, sees_everything, what_agent_sees
from .names import (
    LOCAL_ISSUER,
    LONGEST_NAME,
    PARKED,
    check_instructions,
    check_name_not_rejected,
    check_name_of_person,
    check_sensitive,
    check_username,
    clean_display_name,
    clean_name,
    clean_shown_name,
    issuer_of_names,
    names_to_invite,
    normal_name,
    parked_name,
    register_rejected_check,
    rejected_before,
)

if TYPE_CHECKING:
    from ..models import Agent, Grant
    from ..queries import KeyRow

__all__ = [
    "LOCAL_ISSUER",
    "LONGEST_NAME",
    "PARKED",
    "check_instructions",
    "check_name_not_rejected",
    "check_name_of_person",
    "check_sensitive",
    "check_username",
    "clean_display_name",
    "clean_name",
    "clean_shown_name",
    "issuer_of_names",
    "names_to_invite",
    "normal_name",
    "parked_name",
    "register_rejected_check",
    "rejected_before",
    "sees_everything",
    "what_agent_sees",
]

TELEGRAM_ISSUER = "telegram"
MEMBERS_PER_REQUEST = 50
REASON_CHARACTERS = 200
MEMBER_ROLES = ("owner", "member")
AGENT_KEY, LINK_CODE, INVITATION = "keepsake.agent-key", "keepsake.link-code", "keepsake.invitation"
ERASED_NAME = "keepsake.erased-name"
CODE_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Digits and capitals without look-alikes (Crockford's Base32): five bits a character."""
LINK_CODE_CHARACTERS = 10
INVITATION_CHARACTERS = 20
"""A hundred bits, because it is valid for days without a limit on attempts. Link codes have both limits."""
_MISTAKEN = str.maketrans("OIL", "011", "- ")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_PREFERENCE_SWITCHES = {
    "has_memory": (True, False),
    "agentic_memory": (True, False),
    "extract_each_message": (True, False, None),
    "recall_record": (True, False, None),
    "review": ("after", "before"),
}


def new_code(characters: int) -> str:
    """Generate a random code as displayed: ``ABCDE-FGHJK``."""
    code = "".join(secrets.choice(CODE_ALPHABET) for _ in range(characters))
    return "-".join(code[start : start + 5] for start in range(0, characters, 5))


def clean_code(typed: str, characters: int) -> str:
    """Normalise a typed code: upper case, without hyphens and blanks, O read as 0. "" for malformed codes."""
    code = typed.upper().translate(_MISTAKEN)
    return code if len(code) == characters and set(code) <= set(CODE_ALPHABET) else ""


def fingerprint(salt: str, secret: str) -> str:
    """Return the HMAC-SHA256 of a secret, or of a ``clean_code``, under the SECRET_KEY, as 64 hex digits.

    ``salt`` names its purpose, so that codes of one kind are not valid as another.
    """
    return fingerprints(salt, secret)[0]


def fingerprints(salt: str, secret: str) -> list[str]:
    """Return the fingerprints under the SECRET_KEY and its fallbacks, so that older ones match after a rotation."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [salted_hmac(salt, secret, secret=key, algorithm="sha256").hexdigest() for key in keys]


def erased_names(agent_id: UUID, name: str) -> list[str]:
    """Return the fingerprints of an agent's name for an erased person; the first is the one to store."""
    return fingerprints(ERASED_NAME, f"{agent_id}:{normal_name(name)}")


def check_scopes(scopes: Collection[str]) -> None:
    """Raise Refused (400) for unknown scopes, or none at all."""
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        raise Refused(
            _("Scopes are %(scopes)s; got %(value)s.")
            % {"scopes": ", ".join(SCOPES), "value": ", ".join(unknown) or "none"},
            code="bad_scope",
        )


def check_expiry(expires_at: datetime | None, now: datetime) -> None:
    """Raise Refused (400) for a past date."""
    if expires_at is not None and expires_at <= now:
        raise Refused(_("A key can't expire in the past."), code="bad_expiry")


def check_role(role: str) -> None:
    """Raise Refused (400) unless the role is empty or defined in categories.yaml."""
    if role and role not in categories.load().allowlists:
        known = ", ".join(sorted(categories.load().allowlists))
        raise Refused(
            _("The role %(value)s is not known. Roles: %(known)s.") % {"value": role[:50], "known": known},
            code="bad_role",
        )


def check_issuer(issuer: str) -> None:
    """Raise Refused (400) for the issuer of linked chats, or a too long one.

    An agent with that issuer could act for everybody who linked a chat, and a chat for people that the agent named.
    """
    if issuer == TELEGRAM_ISSUER:
        raise Refused(
            _("The issuer %(issuer)s is for chats that people link themselves.") % {"issuer": issuer}, code="bad_issuer"
        )
    if len(issuer) > 100 or "\x00" in issuer:
        raise Refused(_("An issuer has at most 100 characters."), code="bad_issuer")


def check_member_role(role: str) -> None:
    """Raise Refused (400) unless it is a role of members."""
    if role not in MEMBER_ROLES:
        raise Refused(
            _("A member's role is one of %(member_roles)s.") % {"member_roles": ", ".join(MEMBER_ROLES)},
            code="bad_role",
        )


def check_member_count(names: Collection[str]) -> None:
    """Raise Refused (400) for more than ``MEMBERS_PER_REQUEST`` names."""
    if len(names) > MEMBERS_PER_REQUEST:
        raise Refused(
            _("Name at most %(members_per_request)s members at once.") % {"members_per_request": MEMBERS_PER_REQUEST},
            code="too_many",
        )


def canonical_categories(names: Collection[str]) -> list[str]:
    """Return the sorted canonical categories of names and aliases. Raises Refused (400) with the unknown ones."""
    meant = {name: categories.load().canonical(name) for name in names}
    unknown = [name for name, category in meant.items() if category is None]
    if unknown:
        raise Refused(
            _("There is no category %(unknown)s.") % {"unknown": ", ".join(unknown)},
            code="unknown_category",
            names=unknown,
        )
    return sorted({category for category in meant.values() if category})


def known_sources(names: Collection[str]) -> list[str]:
    """Return the distinct sources, sorted. Raises Refused (400) with the unknown ones."""
    unknown = sorted(set(names) - set(SOURCES))
    if unknown:
        detail = f"Sources are {', '.join(SOURCES)}; got {', '.join(unknown)}."
        raise Refused(detail, code="unknown_source", names=unknown)
    return sorted(set(names))


def check_preferences(values: Mapping[str, Any]) -> None:
    """Raise Refused (400) for an unknown preference or an invalid value."""
    for name, value in values.items():
        if name in _PREFERENCE_SWITCHES:
            sound = value in _PREFERENCE_SWITCHES[name]
        elif name == "time_zone":
            sound = value in time_zones()
        elif name == "language":
            sound = value == "" or (len(value) <= 16 and _LANGUAGE.fullmatch(value) is not None)
        else:
            raise Refused(_("There is no preference %(value)s.") % {"value": name[:50]}, code="unknown_preference")
        if not sound:
            raise Refused(
                _("%(name)s can't be %(value)s.") % {"name": name, "value": repr(str(value)[:50])},
                code="bad_preference",
                field=name,
            )


@cache
def time_zones() -> frozenset[str]:
    """Return the names of all time zones. Cached, because finding them reads hundreds of files."""
    return frozenset(available_timezones())


@cache
def listed_time_zones() -> tuple[str, ...]:
    """Return the time zones to choose from: those of the system's ``zone.tab``, or all if there is no such file."""
    tables = [Path(directory, "zone.tab") for directory in TZPATH]
    table = next((each for each in tables if each.is_file()), None)
    lines = table.read_text("utf-8").splitlines() if table else []
    listed = {line.split("\t")[2] for line in lines if line and not line.startswith("#")}
    return tuple(sorted({"UTC", *listed} & time_zones() if listed else time_zones()))


def must_read(principal: Principal) -> None:
    """Raise NotAllowed (403) without the scope read."""
    if "read" not in principal.scopes:
        raise NotAllowed(_("This key has no scope read."), code="missing_scope")


def must_write(principal: Principal) -> UUID:
    """Return the person's id. Raises NotAllowed (403) without the scope write, or without a person."""
    if "write" not in principal.scopes or principal.user_id is None:
        raise NotAllowed(_("This key has no scope write."), code="missing_scope")
    return principal.user_id


def must_act_for(principal: Principal) -> UUID:
    """Return the person's id. Raises NotFound (404) for a principal that acts for nobody."""
    if principal.user_id is None:
        raise NotFound("Not found.")
    return principal.user_id


def must_decide(principal: Principal) -> UUID:
    """Return the person's id. Raises NotYoursToDecide (403) without the scope admin."""
    if not principal.may_decide or principal.user_id is None:
        raise NotYoursToDecide
    return principal.user_id


def must_decide_for_all(principal: Principal) -> UUID:
    """Return the person's id. Raises NotYoursToDecide (403) unless the principal may decide beyond what it sees.

    That is about the person's preferences, other agents, keys and links. An agent may do so only if it sees everything
    itself. An agent narrowed by its role or its grant could otherwise regain access through another agent, a key or a
    grant, and could change access to data that it can't see.
    """
    user_id = must_decide(principal)
    if not sees_everything(principal):
        raise NotYoursToDecide(_("This agent sees a part only, and decides about that alone. This is for the person."))
    return user_id


def must_not_widen_own(principal: Principal, agent: Agent, grant: Grant, wanted: Mapping[str, Any]) -> None:
    """Raise NotYoursToDecide (403) if an agent would widen its own grant.

    ``wanted`` holds the new values of the grant's fields that change.
    """
    if principal.agent_id != agent.pk:
        return
    known, sources = what_agent_sees(agent.role, grant.categories, grant.sources)
    lets_in_again = "revoked_at" in wanted and wanted["revoked_at"] is None
    # Compare the stored values, not their intersection with the role: a role can get more categories later.
    more_categories = "categories" in wanted and (
        wanted["categories"] is None or not known.issuperset(wanted["categories"])
    )
    more_sources = "sources" in wanted and not what_agent_sees(agent.role, None, wanted["sources"])[1] <= sources
    if lets_in_again or more_categories or more_sources:
        raise NotYoursToDecide(_("An agent does not widen what it may see itself. That is for the person."))


def must_be_staff(principal: Principal) -> None:
    """Raise NotAllowed (403) unless the principal is staff."""
    if principal.kind != "staff":
        raise NotAllowed(_("Only staff may do this."), code="not_staff")


def must_be_superuser(principal: Principal) -> None:
    """Raise NotAllowed (403) unless the principal is staff and a superuser."""
    if principal.kind != "staff" or not principal.superuser:
        raise NotAllowed(_("Only a superuser may do this."), code="not_superuser")


def clean_reason(reason: str) -> str:
    """Return a reason given by staff without surrounding blanks. Raises Refused (400) unless 1 to 200 characters,
    one of them a letter or digit.

    It is stored in the log of the person concerned, who can read it.
    """
    reason = reason.strip()
    # Of invisible characters alone the person would read nothing.
    if not (any(map(str.isalnum, reason)) and len(reason) <= REASON_CHARACTERS) or "\x00" in reason:
        told = _("Give a reason of 1 to %(reason_characters)s characters: the person reads it.")
        raise Refused(told % {"reason_characters": REASON_CHARACTERS}, code="bad_reason")
    return reason


def must_have_scopes(principal: Principal, scopes: Collection[str]) -> None:
    """Raise NotAllowed (403) for scopes that the principal itself lacks."""
    missing = sorted(set(scopes) - principal.scopes)
    if missing:
        raise NotAllowed(
            _("This key has no scope %(missing)s.") % {"missing": ", ".join(missing)}, code="missing_scope"
        )


def must_remember(principal: Principal) -> UUID:
    """Return the person's id. Raises NotAllowed (403) if an agent writes and the person has turned memory off."""
    user_id = must_write(principal)
    if principal.kind == "agent" and not principal.has_memory:
        raise NotAllowed(_("This person has memory switched off."), code="memory_off")
    return user_id


def may_see_sources(principal: Principal) -> bool:
    """Whether the principal may see the quotes and conversations that facts and memories were learned from."""
    return principal.kind != "agent" or "turns" in principal.sources


def narrowed(principal: Principal, role: str) -> Principal:
    """Return the principal, restricted to what the role may read; unchanged without a role. Raises Refused (400)."""
    check_role(role)
    if not role:
        return principal
    seen, sources = what_agent_sees(role, None, None)
    if principal.categories is not None:
        seen &= principal.categories
    return replace(principal, categories=seen, sources=principal.sources & sources)


def principal_of_key(row: KeyRow) -> Principal:
    """Build the principal of a key: its agent, acting for this person."""
    seen_categories, seen_sources = what_agent_sees(row.role, row.categories, row.sources)
    return Principal(
        kind="agent",
        actor_id=str(row.agent_id),
        user_id=row.user_id,
        scopes=frozenset(row.scopes),
        categories=seen_categories,
        sources=seen_sources,
        rev=row.rev or 0,
        agent_id=row.agent_id,
        agent_name=row.agent_name,
        service=row.kind == "service",
        issuer=row.issuer,
        role=row.role,
        has_memory=row.has_memory is not False,
        is_paused=row.is_paused,
        agentic_memory=row.agentic_memory is not False,
        extract_each_message=row.extract_each_message,
        recall_record=row.recall_record,
        review=row.review or "after",
        time_zone=row.time_zone or "UTC",
        language=row.language or "",
        name=row.display_name or row.username or "",
    )
