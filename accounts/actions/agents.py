"""Actions on agents, keys and grants, and the authentication of agent keys."""

from __future__ import annotations

import secrets
import string
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied

from journal.actions import ledger_write
from journal.exceptions import Conflict, Gone, NotFound, Refused, must_find
from journal.models import Erased

from .. import policy, queries
from ..models import Agent, AgentKey, Grant
from ..principals import Principal
from .people import user_resolve

_PUBLIC_ALPHABET = string.ascii_letters + string.digits
_UNCHANGED: Collection[str] = ("unchanged",)


def agent_create(
    principal: Principal,
    name: str,
    *,
    kind: str = Agent.Kind.PERSONAL,
    role: str = "",
    issuer: str = "",
    owner_id: UUID | None = None,
) -> Agent:
    """Create an agent of the person, or of ``owner_id`` for a superuser. The default issuer is the agent itself.

    Raises Conflict (409 ``agent_exists``) if that person has one with this name, Refused (400) for an unknown role, a
    bad name or a reserved issuer, NotFound (404) for an unknown owner, NotAllowed (403) for staff who are not
    superusers, NotYoursToDecide (403; also for an agent that does not see everything itself).
    """
    owner_id = _owner(principal, owner_id)
    name = policy.clean_name(name, 100)
    policy.check_role(role)
    policy.check_issuer(issuer)
    agent = Agent(owner_id=owner_id, name=name, kind=kind, role=role, issuer=issuer)
    agent.issuer = issuer or f"agent:{agent.pk}"
    with ledger_write(principal.actor, owner_id) as write:
        try:
            with transaction.atomic():
                agent.save(force_insert=True)
        except IntegrityError as error:
            raise Conflict(
                _("There is an agent named %(name)s already.") % {"name": name}, code="agent_exists"
            ) from error
        write.change(owner_id, "ADD", "agent", agent.pk)
        write.result("agent", agent.pk, status_code=201)
    return agent


def agent_key_create(
    principal: Principal, agent_id: UUID, scopes: Collection[str], *, expires_at: datetime | None = None
) -> tuple[AgentKey, str]:
    """Create a key of one of the person's agents, and return it with the credential, which is not stored.

    An agent can't give scopes that its own key lacks, or create keys if it does not see everything itself. A superuser
    can create keys of anybody's agents. Raises NotFound (404) for somebody else's agent, Refused (400) for unknown
    scopes or an expiry in the past, NotAllowed (403; also for staff who are not superusers), NotYoursToDecide (403).
    """
    owner_id = _owner(principal, Agent.objects.filter(pk=agent_id).values_list("owner_id", flat=True).first())
    policy.check_scopes(scopes)
    policy.must_have_scopes(principal, scopes)
    policy.check_expiry(expires_at, timezone.now())
    secret = secrets.token_urlsafe(32)
    key = AgentKey(
        agent_id=agent_id,
        public="".join(secrets.choice(_PUBLIC_ALPHABET) for _ in range(12)),
        secret_hmac=policy.fingerprint(policy.AGENT_KEY, secret),
        scopes=sorted(set(scopes)),
        expires_at=expires_at,
    )
    with ledger_write(principal.actor, owner_id) as write:
        if not Agent.objects.filter(pk=agent_id, owner_id=owner_id).exists():
            raise NotFound("There is no such agent.")
        key.save(force_insert=True)
        write.change(owner_id, "KEY", "agent", agent_id, made=str(key.pk))
        write.result("agent_key", key.pk, status_code=201)
    return key, f"ks_{key.public}.{secret}"


def _owner(principal: Principal, owner_id: UUID | None) -> UUID:
    """Return the agent's owner: the person, or ``owner_id`` for a superuser. Raises NotFound, NotAllowed."""
    if principal.kind != "staff":
        return policy.must_decide_for_all(principal)
    # With a key, a moderator could read everything that its person can, so only superusers may create one.
    policy.must_be_superuser(principal)
    if owner_id is None:
        raise NotFound("There is no such agent or person.")
    return owner_id


def agent_key_revoke(principal: Principal, key_id: UUID, *, agent_id: UUID | None = None) -> AgentKey:
    """Revoke a key (of ``agent_id``, if given). Its next request is refused. Idempotent.

    Staff can revoke any key; an agent that does not see everything only its own keys. Raises NotFound (404) for a key
    that is not of one of the person's agents, NotYoursToDecide (403).
    """
    if principal.kind != "staff":
        policy.must_decide(principal)
    key = AgentKey.objects.visible_to(principal).select_related("agent").filter(pk=key_id).first()
    if key is None or agent_id not in {None, key.agent_id}:
        raise NotFound("There is no such key.")
    if principal.kind != "staff" and key.agent_id != principal.agent_id:
        policy.must_decide_for_all(principal)
    owner_id = key.agent.owner_id
    with ledger_write(principal.actor, owner_id) as write:
        now = timezone.now()
        if AgentKey.objects.filter(pk=key_id, revoked_at__isnull=True).update(revoked_at=now):
            key.revoked_at = now
            write.change(owner_id, "KEY", "agent", key.agent_id, revoked=str(key.pk))
    return key


def grant_set(
    principal: Principal,
    agent_id: UUID,
    *,
    categories: Collection[str] | None = _UNCHANGED,
    sources: Collection[str] | None = _UNCHANGED,
    revoked: bool | None = None,
) -> Grant:
    """Set what an agent may read of the person from its next request on. ``None`` means everything its role allows.

    Categories narrow the role's; sources (chunks, turns, facts) replace the role's. ``revoked`` blocks or admits the
    agent. Omitted values don't change, but categories given alone take the sources away while none were given: what was
    said is about every category. Adds a revision if anything changed.

    An agent with the scope admin can narrow its own grant but not widen it; others' grants only if it sees everything
    itself.

    Raises NotFound (404) for an agent that is not the person's and has no grant, Refused (400) for unknown names,
    NotYoursToDecide (403).
    """
    about_itself = principal.agent_id == agent_id
    user_id = policy.must_decide(principal) if about_itself else policy.must_decide_for_all(principal)
    wanted: dict[str, object] = {}
    if categories is not _UNCHANGED:
        wanted["categories"] = None if categories is None else policy.canonical_categories(categories)
    if sources is not _UNCHANGED:
        wanted["sources"] = None if sources is None else policy.known_sources(sources)
    with ledger_write(principal.actor, user_id) as write:
        agent = must_find(Agent.objects.visible_to(principal).filter(pk=agent_id).first(), "agent")
        grant, _made = Grant.objects.get_or_create(user_id=user_id, agent_id=agent_id)
        if wanted.get("categories") is not None and grant.sources is None and not agent.role:
            wanted.setdefault("sources", [])
        if revoked is not None and revoked != (grant.revoked_at is not None):
            wanted["revoked_at"] = timezone.now() if revoked else None
        wanted = {name: value for name, value in wanted.items() if getattr(grant, name) != value}
        policy.must_not_widen_own(principal, agent, grant, wanted)
        changed = sorted(wanted)
        if changed:
            for name in changed:
                setattr(grant, name, wanted[name])
            grant.save(update_fields=changed)
            meta: dict[str, Any] = {"kept_out": bool(revoked)} if "revoked_at" in wanted else {}
            write.change(user_id, "GRANT", "agent", agent_id, changed=changed, **meta)
    return grant


def principal_for_key(
    public: str, secret: str, external_id: str | None = None, *, makes_person: bool = True
) -> Principal:
    """Authenticate an agent key and return its principal; one query if the person and the grant exist.

    ``external_id`` names the person that a service acts for; with None it acts for its owner. An unknown person is
    created, unless ``makes_person`` is false: then the principal gets an unused id and finds nothing. The first request
    for a person creates a grant, which they can narrow.

    Raises AuthenticationFailed (401) for a wrong, expired or revoked key; PermissionDenied (403) if the person revoked
    the grant or is inactive, or if a personal key names another person; Gone (410) for 90 days after the key or the
    named person was erased; Refused (400) for a name that can't be a user name (``bad_username``) or is blank
    (``bad_user``), so that a backend without a current user does not act for its owner.
    """
    named = external_id is not None
    external_id = external_id or ""
    row = queries.read_key(public, external_id)
    expected = row.secret_hmac if row else "0" * 64
    # Compare every fingerprint, so that the duration reveals neither a known key nor a matching fallback.
    matches = [constant_time_compare(expected, mac) for mac in policy.fingerprints(policy.AGENT_KEY, secret)]
    if row is None or not any(matches):
        _must_not_be_erased("key", [public])
        raise AuthenticationFailed("This key is not known.", "bad_key")
    now = timezone.now()
    if row.revoked_at or (row.expires_at and row.expires_at <= now) or not row.owner_is_active:
        raise AuthenticationFailed("This key has been revoked or has expired.", "bad_key")
    if row.kind == Agent.Kind.PERSONAL and policy.normal_name(external_id) not in {"", row.owner_username}:
        raise PermissionDenied("A personal key acts for its owner only.", "not_allowed")
    if named and not external_id:
        raise Refused(_("X-Keepsake-User names nobody. Leave it out to act for the key's owner."), code="bad_user")
    if row.user_id is None and not makes_person:
        _must_not_be_erased("person", policy.erased_names(row.agent_id, external_id))
        name = policy.normal_name(external_id)
        if row.issuer == policy.LOCAL_ISSUER:
            policy.check_username(name)
        nobody = uuid5(row.agent_id, name)
        return policy.principal_of_key(replace(row, user_id=nobody, display_name=external_id))
    if row.user_id is None:
        _must_not_be_erased("person", policy.erased_names(row.agent_id, external_id))
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


def _must_not_be_erased(kind: str, object_ids: Sequence[str]) -> None:
    if Erased.objects.filter(kind=kind, object_id__in=object_ids).exists():
        raise Gone
