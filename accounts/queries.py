"""Queries that build principals, in one statement each unless noted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from journal.exceptions import NotFound
from journal.models import Erasure, Ledger
from retrieval.prepared import PreparedStatement, Shaped, build_statement, read

from . import policy
from .models import Agent, AgentKey, Grant, User
from .principals import PLACEHOLDER_USER, SCOPES, Principal

CHAT_SCOPES = frozenset({"read", "write"})


@cache
def statement(name: str) -> str:
    """Return the text of ``sql/<name>.sql``."""
    return (Path(__file__).parent / "sql" / f"{name}.sql").read_text(encoding="utf-8")


@cache
def _principal_for_key() -> PreparedStatement:
    return build_statement(statement("principal_for_key"), {}, lasting=True)


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A row of ``principal_for_key.sql``."""

    key_id: UUID
    secret_hmac: str
    scopes: list[str]
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    agent_id: UUID
    kind: str
    role: str
    issuer: str
    owner_id: UUID
    owner_username: str
    owner_is_active: bool
    user_id: UUID | None
    is_active: bool | None
    username: str | None
    display_name: str | None
    grant_id: int | None
    categories: list[str] | None
    sources: Collection[str] | None
    grant_revoked_at: datetime | None
    has_memory: bool | None
    agentic_memory: bool | None
    extract_each_message: bool | None
    recall_record: bool | None
    review: str | None
    time_zone: str | None
    language: str | None
    rev: int | None
    agent_name: str
    is_leaving: bool
    is_paused: bool = False


def read_key(public: str, external_id: str) -> KeyRow | None:
    """Read an agent key with the person it acts for. ``user_id`` is None if that person does not exist yet."""
    values = {"public": public, "external_id": policy.normal_name(external_id), "local": policy.LOCAL_ISSUER}
    rows = _principal_for_key().run(values)
    row = KeyRow(*rows[0]) if rows else None
    if row is None or not row.is_leaving or "admin" in row.scopes:
        return row
    return replace(row, **_paused(row.has_memory))


def _paused(has_memory: bool | None) -> dict[str, Any]:
    """What an agent has while the erasure of everything waits: no memory, no facts, no earlier conversations."""
    return {"has_memory": False, "is_paused": has_memory is not False, "recall_record": False, "sources": frozenset()}


def principal_for_person(user_id: UUID) -> Principal:
    """Return the principal of a signed-in person, with every scope. Raises NotFound (404) if inactive or unknown."""
    return _person("person", user_id)


def principal_for_job(user_id: UUID) -> Principal:
    """Return the principal of a background job that works for a person. Raises NotFound (404)."""
    return _person("job", user_id)


def principal_for_agent(agent_id: UUID, user_id: UUID, key_id: UUID | None = None) -> Principal:
    """Return the read-only principal of an agent, for webhooks and other deliveries without a request.

    Runs up to five queries. Raises NotFound (404) if the agent would have no access: the grant is revoked or missing,
    the key is revoked or expired, or its owner or the person is inactive.
    """
    agent = Agent.objects.filter(pk=agent_id, owner__is_active=True).first()
    grant = Grant.objects.filter(agent_id=agent_id, user_id=user_id).first()
    over = Q(revoked_at__isnull=False) | Q(expires_at__lte=timezone.now())
    ended = key_id is not None and not AgentKey.objects.filter(~over, pk=key_id).exists()
    if agent is None or ended or (grant.revoked if grant else agent.owner_id != user_id):
        raise NotFound("Not found.")
    granted = (grant.categories, grant.sources) if grant else (None, None)
    categories, sources = policy.what_agent_sees(agent.role, *granted)
    person = replace(_person("agent", user_id), sources=sources)
    if Erasure.objects.waiting("everything").filter(user_id=user_id).exists():
        person = replace(person, **_paused(person.has_memory))
    return replace(
        person,
        actor_id=str(agent_id),
        scopes=frozenset({"read"}),
        categories=categories,
        agent_id=agent_id,
        agent_name=agent.name,
        service=agent.kind == Agent.Kind.SERVICE,
        issuer=agent.issuer,
        role=agent.role,
    )


def principal_for_staff(user: User) -> Principal:
    """Return the principal of a moderator, who sees everybody's rows. Raises NotFound (404) for others. No query."""
    if not (user.is_active and user.is_staff):
        raise NotFound("Not found.")
    return Principal(
        kind="staff",
        actor_id=str(user.pk),
        user_id=None,
        scopes=frozenset(SCOPES),
        superuser=user.is_superuser,
        name=user.get_full_name(),
    )


def principal_for_identity(issuer: str, external_id: str) -> Principal:
    """Return the principal of the person a chat is linked to; the chat is the actor.

    Its text is the person's own word, but it has no scope admin: decisions such as approving and sharing need a
    session. Raises NotFound (404) for an unlinked chat or an inactive person.
    """
    one = Shaped("identity", _linked, {_ISSUER: issuer, _EXTERNAL_ID: external_id})
    row = _row(one, "pk", "identity")
    return replace(
        _principal("person", row["pk"], row),
        actor_id=f"{issuer}:{row['identity']}",
        scopes=CHAT_SCOPES,
        issuer=issuer,
        identity_id=row["identity"],
    )


# Placeholders with a NUL, which PostgreSQL refuses, so one that is not replaced fails.
_ISSUER, _EXTERNAL_ID = "\0issuer", "\0external id"


def _linked() -> QuerySet[User]:
    users = User.objects.filter(identities__issuer=_ISSUER, identities__external_id=_EXTERNAL_ID)
    return users.annotate(identity=F("identities__pk"))


def _person(kind: str, user_id: UUID) -> Principal:
    one = Shaped("person", lambda: User.objects.filter(pk=PLACEHOLDER_USER), {PLACEHOLDER_USER: user_id})
    return _principal(kind, user_id, _row(one))


def _row(one: Shaped, *more: str) -> dict[str, Any]:
    columns = (*more, *_COLUMNS)
    active = Shaped(one.key, lambda: one.build().filter(is_active=True).annotate(rev=_rev_of_user()), one.values)
    found = read(active, columns)
    if not found:
        raise NotFound("Not found.")
    return dict(zip(columns, found[0], strict=True))


_COLUMNS = (
    "username",
    "display_name",
    "preferences__has_memory",
    "preferences__agentic_memory",
    "preferences__extract_each_message",
    "preferences__recall_record",
    "preferences__review",
    "preferences__time_zone",
    "preferences__language",
    "rev",
)


def _principal(kind: str, user_id: UUID, row: Mapping[str, Any]) -> Principal:
    return Principal(
        kind=kind,
        actor_id=str(user_id),
        user_id=user_id,
        scopes=frozenset(SCOPES),
        rev=row["rev"],
        has_memory=row["preferences__has_memory"] is not False,
        agentic_memory=row["preferences__agentic_memory"] is not False,
        extract_each_message=row["preferences__extract_each_message"],
        recall_record=row["preferences__recall_record"],
        review=row["preferences__review"] or "after",
        time_zone=row["preferences__time_zone"] or "UTC",
        language=row["preferences__language"] or "",
        name=row["display_name"] or row["username"],
    )


def _rev_of_user() -> Any:
    return Subquery(Ledger.objects.filter(pk=OuterRef("pk")).values("rev"))
