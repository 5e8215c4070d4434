"""Changes to people, agents, keys, grants, preferences, legacies and members: all the writing of this room."""

from __future__ import annotations

import secrets
import string
from datetime import datetime, timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied

from journal.actions import ledger_write
from journal.exceptions import NotFound, Refused

from . import policy, queries
from .models import Agent, AgentKey, ExternalIdentity, Grant, User
from .principals import Principal

_PUBLIC_ALPHABET = string.ascii_letters + string.digits


# --- People -----------------------------------------------------------------------------------------------------


def user_create(username: str, *, display_name: str = "", password: str | None = None) -> User:
    """Create a person. Without a password they can't sign in. Raises Refused (400) when the name is taken."""
    user = User(username=username, display_name=display_name)
    if password is None:
        user.set_unusable_password()
    else:
        user.set_password(password)
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError as error:
        raise Refused(f"The user name {username} is taken.", code="username_taken") from error
    return user


def user_resolve(issuer: str, external_id: str) -> User:
    """The person whom an issuer names so, created with no usable password when unknown.

    The issuer ``local`` means the deployment's own user names. Two first requests at once make one person.
    """
    for _ in range(3):
        user = _known_user(issuer, external_id)
        if user is not None:
            return user
        try:
            with transaction.atomic():
                if issuer == policy.LOCAL_ISSUER:
                    policy.check_username(external_id)
                    return user_create(external_id)
                user = user_create(f"u-{secrets.token_hex(8)}", display_name=external_id[:100])
                ExternalIdentity.objects.create(user=user, issuer=issuer, external_id=external_id)
                return user
        except (IntegrityError, Refused) as error:
            if isinstance(error, Refused) and error.code != "username_taken":
                raise
            continue  # Somebody else created this person a moment ago; read them.
    raise NotFound("Not found.")


def _known_user(issuer: str, external_id: str) -> User | None:
    if issuer == policy.LOCAL_ISSUER:
        return User.objects.filter(username=external_id).first()
    return User.objects.filter(identities__issuer=issuer, identities__external_id=external_id).first()


# --- Agents and keys --------------------------------------------------------------------------------------------


def agent_create(
    principal: Principal, name: str, *, kind: str = Agent.Kind.PERSONAL, role: str = "", issuer: str = ""
) -> Agent:
    """Make an agent of the person, or return theirs of that name. Raises NotAllowed without the right to decide."""
    owner_id = policy.must_decide(principal)
    policy.check_role(role)
    with ledger_write(principal.actor, owner_id) as write:
        agent, made = Agent.objects.get_or_create(
            owner_id=owner_id, name=name, defaults={"kind": kind, "role": role, "issuer": issuer or "pending"}
        )
        if made:
            if not issuer:
                agent.issuer = f"agent:{agent.pk}"
                agent.save(update_fields=["issuer"])
            write.change(owner_id, "ADD", "agent", agent.pk)
        elif (kind, role) != (agent.kind, agent.role) or (issuer and issuer != agent.issuer):
            agent.kind, agent.role, agent.issuer = kind, role, issuer or agent.issuer
            agent.save(update_fields=["kind", "role", "issuer"])
            write.change(owner_id, "UPDATE", "agent", agent.pk)
        write.result("agent", agent.pk, status_code=201)
    return agent


def agent_key_create(
    principal: Principal, agent: Agent, scopes: list[str], *, expires_at: datetime | None = None
) -> tuple[AgentKey, str]:
    """Make a key of an agent and return it with the credential, which can't be shown again.

    Raises NotFound for somebody else's agent, Refused for unknown scopes.
    """
    owner_id = policy.must_decide(principal)
    if agent.owner_id != owner_id:
        raise NotFound("Not found.")
    policy.check_scopes(scopes)
    secret = secrets.token_urlsafe(32)
    key = AgentKey(
        agent=agent,
        public="".join(secrets.choice(_PUBLIC_ALPHABET) for _ in range(12)),
        secret_hmac=policy.secret_hmac(secret),
        scopes=sorted(set(scopes)),
        expires_at=expires_at,
    )
    with ledger_write(principal.actor, owner_id) as write:
        key.save(force_insert=True)
        write.change(owner_id, "KEY", "agent", agent.pk, made=str(key.pk))
    return key, f"ks_{key.public}.{secret}"


def agent_key_revoke(principal: Principal, key_id: UUID) -> AgentKey:
    """End a key; its next request is refused. Raises NotFound for somebody else's key."""
    owner_id = policy.must_decide(principal)
    with ledger_write(principal.actor, owner_id) as write:
        key = AgentKey.objects.select_related("agent").filter(pk=key_id, agent__owner_id=owner_id).first()
        if key is None:
            raise NotFound("Not found.")
        if key.revoked_at is None:
            key.revoked_at = timezone.now()
            key.save(update_fields=["revoked_at"])
            write.change(owner_id, "KEY", "agent", key.agent_id, revoked=str(key.pk))
    return key


def principal_for_key(public: str, secret: str, external_id: str) -> Principal:
    """Authenticate an agent key and return the principal it stands for, in one query when everything is known.

    ``external_id`` names the person a service acts for. An unknown person is created; a first visit leaves a grant
    that the person can narrow.

    Raises AuthenticationFailed (401) for a wrong, expired or revoked key, PermissionDenied (403) when the person
    revoked the agent or the key may not act for others.
    """
    row = queries.read_key(public, external_id)
    expected = row.secret_hmac if row else "0" * 64
    if not any(constant_time_compare(expected, mac) for mac in policy.secret_hmacs(secret)) or row is None:
        raise AuthenticationFailed("This key is not known.", "bad_key")
    now = timezone.now()
    if row.revoked_at or (row.expires_at and row.expires_at <= now) or not row.owner_is_active:
        raise AuthenticationFailed("This key has been revoked or has expired.", "bad_key")
    if row.kind == Agent.Kind.PERSONAL and external_id not in {"", row.owner_username}:
        raise PermissionDenied("A personal key acts for its owner only.", "not_allowed")
    if row.user_id is None:
        user_resolve(row.issuer, external_id)
        row = queries.read_key(public, external_id)
        if row is None or row.user_id is None:
            raise AuthenticationFailed("This key is not known.", "bad_key")
    if not row.is_active or row.grant_revoked_at:
        raise PermissionDenied("This person does not let this agent in.", "not_allowed")
    if row.grant_id is None:
        Grant.objects.get_or_create(user_id=row.user_id, agent_id=row.agent_id)
    if row.last_used_at is None or row.last_used_at < now - timedelta(minutes=1):
        stale = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - timedelta(minutes=1))
        AgentKey.objects.filter(stale, pk=row.key_id).update(last_used_at=now)
    return policy.principal_of_key(row)


# --- Legacies and members ---------------------------------------------------------------------------------------
