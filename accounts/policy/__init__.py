"""Pure decisions about keys, scopes and what a principal may see. No database."""

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
from ..principals import SCOPES, SOURCES, Principal
from .names import (
    LOCAL_ISSUER,
    LONGEST_NAME,
    PARKED,
    check_instructions,
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
)

if TYPE_CHECKING:
    from ..models import Agent, Grant
    from ..queries import KeyRow

__all__ = [
    "LOCAL_ISSUER",
    "LONGEST_NAME",
    "PARKED",
    "check_instructions",
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
]

TELEGRAM_ISSUER = "telegram"
MEMBERS_PER_REQUEST = 50
REASON_CHARACTERS = 200
MEMBER_ROLES = ("owner", "member")
AGENT_KEY, LINK_CODE, INVITATION = "keepsake.agent-key", "keepsake.link-code", "keepsake.invitation"
ERASED_NAME = "keepsake.erased-name"
CODE_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Digits and capitals without those that are mistaken for others: five bits a character."""
LINK_CODE_CHARACTERS = 10
INVITATION_CHARACTERS = 20
"""A hundred bits: it is good for days, and nobody counts attempts. A link is for minutes and a few attempts."""
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
    """A code that nobody guesses, as it is shown: ``ABCDE-FGHJK``."""
    code = "".join(secrets.choice(CODE_ALPHABET) for _ in range(characters))
    return "-".join(code[start : start + 5] for start in range(0, characters, 5))


def clean_code(typed: str, characters: int) -> str:
    """A code without hyphens, however it was typed: small letters, blanks, O for 0. Empty for what is none."""
    code = typed.upper().translate(_MISTAKEN)
    return code if len(code) == characters and set(code) <= set(CODE_ALPHABET) else ""


def fingerprint(salt: str, secret: str) -> str:
    """What is stored of a secret, or of a code of ``clean_code``: HMAC-SHA256 under the SECRET_KEY, 64 hex digits.

    ``salt`` says what it is for, so that no code of one kind is taken for another.
    """
    return fingerprints(salt, secret)[0]


def fingerprints(salt: str, secret: str) -> list[str]:
    """That under the current SECRET_KEY and its fallbacks, so that what was stored before it was rotated counts."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [salted_hmac(salt, secret, secret=key, algorithm="sha256").hexdigest() for key in keys]


def erased_names(agent_id: UUID, name: str) -> list[str]:
    """What stands for how an agent named a person who was erased, the one that is stored first."""
    return fingerprints(ERASED_NAME, f"{agent_id}:{normal_name(name)}")


def check_scopes(scopes: Collection[str]) -> None:
    """Raise Refused unless every scope is known and there is one."""
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        raise Refused(
            _("Scopes are %(scopes)s; got %(value)s.")
            % {"scopes": ", ".join(SCOPES), "value": ", ".join(unknown) or "none"},
            code="bad_scope",
        )


def check_expiry(expires_at: datetime | None, now: datetime) -> None:
    """Raise Refused for a date that has passed."""
    if expires_at is not None and expires_at <= now:
        raise Refused(_("A key can't expire in the past."), code="bad_expiry")


def check_role(role: str) -> None:
    """Raise Refused unless the role is empty or named in categories.yaml."""
    if role and role not in categories.load().allowlists:
        known = ", ".join(sorted(categories.load().allowlists))
        raise Refused(
            _("The role %(value)s is not known. Roles: %(known)s.") % {"value": role[:50], "known": known},
            code="bad_role",
        )


def check_issuer(issuer: str) -> None:
    """Raise Refused for an issuer under which no agent may name people: the one of chats that people link themselves.

    An agent that named people so would act for whoever linked a chat, unasked, and a chat for whomever it had named.
    """
    if issuer == TELEGRAM_ISSUER:
        raise Refused(
            _("The issuer %(issuer)s is for chats that people link themselves.") % {"issuer": issuer}, code="bad_issuer"
        )
    if len(issuer) > 100 or "\x00" in issuer:
        raise Refused(_("An issuer has at most 100 characters."), code="bad_issuer")


def check_member_role(role: str) -> None:
    """Raise Refused unless it is a role that a member can have."""
    if role not in MEMBER_ROLES:
        raise Refused(
            _("A member's role is one of %(member_roles)s.") % {"member_roles": ", ".join(MEMBER_ROLES)},
            code="bad_role",
        )


def check_member_count(names: Collection[str]) -> None:
    """Raise Refused for more members than one request may name."""
    if len(names) > MEMBERS_PER_REQUEST:
        raise Refused(
            _("Name at most %(members_per_request)s members at once.") % {"members_per_request": MEMBERS_PER_REQUEST},
            code="too_many",
        )


def canonical_categories(names: Collection[str]) -> list[str]:
    """The categories that names and aliases mean, sorted. Raise Refused that lists the unknown ones."""
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
    """The sources without repetition, sorted. Raise Refused that lists the unknown ones."""
    unknown = sorted(set(names) - set(SOURCES))
    if unknown:
        detail = f"Sources are {', '.join(SOURCES)}; got {', '.join(unknown)}."
        raise Refused(detail, code="unknown_source", names=unknown)
    return sorted(set(names))


def check_preferences(values: Mapping[str, Any]) -> None:
    """Raise Refused for a preference that does not exist or a value that it can't have."""
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
    """The names of all time zones; finding them reads some hundred files, so it is done once."""
    return frozenset(available_timezones())


@cache
def listed_time_zones() -> tuple[str, ...]:
    """The time zones that a person chooses from: one name each, by the system's table; all names without that table."""
    tables = [Path(directory, "zone.tab") for directory in TZPATH]
    table = next((each for each in tables if each.is_file()), None)
    lines = table.read_text("utf-8").splitlines() if table else []
    listed = {line.split("\t")[2] for line in lines if line and not line.startswith("#")}
    return tuple(sorted({"UTC", *listed} & time_zones() if listed else time_zones()))


def must_read(principal: Principal) -> None:
    """Raise NotAllowed without the scope read."""
    if "read" not in principal.scopes:
        raise NotAllowed(_("This key has no scope read."), code="missing_scope")


def must_write(principal: Principal) -> UUID:
    """Return the person's id. Raise NotAllowed without the scope write, or when nobody is acted for."""
    if "write" not in principal.scopes or principal.user_id is None:
        raise NotAllowed(_("This key has no scope write."), code="missing_scope")
    return principal.user_id


def must_act_for(principal: Principal) -> UUID:
    """Return the person's id. Raise NotFound for a principal that acts for nobody, who has nothing of their own."""
    if principal.user_id is None:
        raise NotFound("Not found.")
    return principal.user_id


def must_decide(principal: Principal) -> UUID:
    """Return the person's id. Raise NotYoursToDecide unless the principal may take the person's decisions."""
    if not principal.may_decide or principal.user_id is None:
        raise NotYoursToDecide
    return principal.user_id


def must_decide_for_all(principal: Principal) -> UUID:
    """Return the person's id. Raise NotYoursToDecide unless the principal may decide about more than what it sees.

    That is about the person's preferences, other agents, keys and links. An agent may only while it sees everything
    itself: narrowed by its role or by the person, it decides about what it sees. It would get the rest back through an
    agent, a key or a grant, and take from others what it does not know.
    """
    user_id = must_decide(principal)
    if principal.kind == "agent":
        every, sources = what_agent_sees("", None, None)
        if not (principal.sources >= sources and (principal.categories is None or principal.categories >= every)):
            raise NotYoursToDecide(
                _("This agent sees a part only, and decides about that alone. This is for the person.")
            )
    return user_id


def must_not_widen_own(principal: Principal, agent: Agent, grant: Grant, wanted: Mapping[str, Any]) -> None:
    """Raise NotYoursToDecide when an agent would widen what it may see itself.

    ``wanted`` holds the new values of those fields of the grant that change.
    """
    if principal.agent_id != agent.pk:
        return
    known, sources = what_agent_sees(agent.role, grant.categories, grant.sources)
    lets_in_again = "revoked_at" in wanted and wanted["revoked_at"] is None
    # Compared as it is written, not as the role cuts it: a role can get more categories later.
    more_categories = "categories" in wanted and (
        wanted["categories"] is None or not known.issuperset(wanted["categories"])
    )
    more_sources = "sources" in wanted and not what_agent_sees(agent.role, None, wanted["sources"])[1] <= sources
    if lets_in_again or more_categories or more_sources:
        raise NotYoursToDecide(_("An agent does not widen what it may see itself. That is for the person."))


def must_be_staff(principal: Principal) -> None:
    """Raise NotAllowed unless the principal is a moderator's."""
    if principal.kind != "staff":
        raise NotAllowed(_("Only staff may do this."), code="not_staff")


def must_be_superuser(principal: Principal) -> None:
    """Raise NotAllowed unless the principal is a moderator who is a superuser."""
    if principal.kind != "staff" or not principal.superuser:
        raise NotAllowed(_("Only a superuser may do this."), code="not_superuser")


def clean_reason(reason: str) -> str:
    """The reason that staff give for what they do, without blanks around it. Raise Refused unless 1 to 200 characters.

    It is kept in the log of the person whom it concerns, who reads it there.
    """
    reason = reason.strip()
    if not 1 <= len(reason) <= REASON_CHARACTERS or "\x00" in reason:
        raise Refused(
            _("Give a reason of 1 to %(reason_characters)s characters: the person reads it.")
            % {"reason_characters": REASON_CHARACTERS},
            code="bad_reason",
        )
    return reason


def must_have_scopes(principal: Principal, scopes: Collection[str]) -> None:
    """Raise NotAllowed when the principal would hand on a scope that it lacks."""
    missing = sorted(set(scopes) - principal.scopes)
    if missing:
        raise NotAllowed(
            _("This key has no scope %(missing)s.") % {"missing": ", ".join(missing)}, code="missing_scope"
        )


def must_remember(principal: Principal) -> UUID:
    """Return the person's id. Raise NotAllowed when an agent writes and the person has memory switched off."""
    user_id = must_write(principal)
    if principal.kind == "agent" and not principal.has_memory:
        raise NotAllowed(_("This person has memory switched off."), code="memory_off")
    return user_id


def may_see_sources(principal: Principal) -> bool:
    """Whether what is kept of the person may be shown with the words and the conversation that it was taken from."""
    return principal.kind != "agent" or "turns" in principal.sources


def what_agent_sees(
    role: str, granted_categories: Collection[str] | None, granted_sources: Collection[str] | None
) -> tuple[frozenset[str], frozenset[str]]:
    """Combine role and grant into the categories and the sources that an agent sees.

    Without a role an agent has every category but procedural, and every source. A role with an allowlist has its
    categories only, and no chunks, turns or facts unless the grant gives them. The grant narrows categories further.
    """
    allowed = categories.load().of_role(role)
    if granted_categories is not None:
        allowed = allowed & frozenset(granted_categories)
    sources_of_role = () if role else SOURCES
    return allowed, frozenset(sources_of_role if granted_sources is None else granted_sources)


def narrowed(principal: Principal, role: str) -> Principal:
    """The principal with no more than an agent in this role sees too; without a role as it is. Raises Refused."""
    check_role(role)
    if not role:
        return principal
    seen, sources = what_agent_sees(role, None, None)
    if principal.categories is not None:
        seen &= principal.categories
    return replace(principal, categories=seen, sources=principal.sources & sources)


def principal_of_key(row: KeyRow) -> Principal:
    """What the key stands for: its agent, acting for this person."""
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
        agentic_memory=row.agentic_memory is not False,
        extract_each_message=row.extract_each_message,
        recall_record=row.recall_record,
        review=row.review or "after",
        time_zone=row.time_zone or "UTC",
        language=row.language or "",
        name=row.display_name or row.username or "",
    )
