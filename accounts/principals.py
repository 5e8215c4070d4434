"""The principal: the caller, the person it acts for, and its rights. Every read and action takes one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.db.models import QuerySet

from journal.records import Actor, IdempotencyClaim
from retrieval.prepared import Shaped, read

from . import categories

Q = TypeVar("Q", bound=QuerySet[Any])

PLACEHOLDER_USER = UUID(int=1)
PLACEHOLDER_AGENT = UUID(int=2)
"""Ids that nobody has: placeholders in compiled statements for the id of a person and of an agent."""

SCOPES = ("read", "write", "admin")
SOURCES = ("chunks", "turns", "facts")


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller, rebuilt for every request and task, so that a revocation takes effect at once.

    ``user_id`` is the person it acts for (None for staff and deployment-wide jobs). ``categories`` are those it may
    read (None: all), ``sources`` what it may read beside memories. ``rev`` is the person's revision when it was built.
    ``identity_id`` is the ExternalIdentity of a linked chat. ``words_of`` is the name of the model whose tool calls
    write in a conversation with the caller. ``is_paused``: ``has_memory`` is False only while the erasure of everything
    waits, so what it saves is no record without memory.
    """

    kind: str
    actor_id: str
    user_id: UUID | None
    scopes: frozenset[str]
    categories: frozenset[str] | None = None
    sources: frozenset[str] = frozenset(SOURCES)
    rev: int = 0
    agent_id: UUID | None = None
    agent_name: str = ""
    identity_id: int | None = None
    service: bool = False
    superuser: bool = False
    issuer: str = ""
    role: str = ""
    has_memory: bool = True
    is_paused: bool = False
    agentic_memory: bool = True
    extract_each_message: bool | None = None
    recall_record: bool | None = None
    review: str = "after"
    time_zone: str = "UTC"
    language: str = ""
    name: str = ""
    words_of: str = ""
    idempotency: IdempotencyClaim | None = None

    @property
    def actor(self) -> Actor:
        """The actor for the log of changes."""
        return Actor(self.kind, self.actor_id, self.idempotency)

    @property
    def caller_key(self) -> str:
        """A key that is unique for the caller and the person it acts for."""
        return f"{self.kind}:{self.actor_id}:{self.user_id}"

    @property
    def is_authenticated(self) -> bool:
        """True: DRF and the request log use the principal as the request's user."""
        return True

    @property
    def pk(self) -> UUID | None:
        """The person's id, for the request log."""
        return self.user_id

    @property
    def zone(self) -> ZoneInfo:
        """The person's time zone; UTC if it is unknown."""
        try:
            return ZoneInfo(self.time_zone)
        except (ZoneInfoNotFoundError, ValueError):
            return ZoneInfo("UTC")

    @property
    def may_decide(self) -> bool:
        """Whether it may take the person's decisions: approve, reject, share, members, erase."""
        return "admin" in self.scopes

    @property
    def speaks_as_person(self) -> bool:
        """Whether its text is the person's own word, which needs no review and removes suppressions.

        True for the person's session, a linked chat, and a personal agent's key with the scope admin. A service with
        that scope decides for people, but its text may come from anywhere, so it passes every gate. The same holds for
        text of a model.
        """
        if self.words_of:
            return False
        return self.kind == "person" or (self.kind == "agent" and self.may_decide and not self.service)

    @property
    def decides_what_returns(self) -> bool:
        """Whether it may restore anything: a person, also from a linked chat, or an agent that may decide."""
        return self.may_decide or self.speaks_as_person

    @property
    def is_off_record(self) -> bool:
        """Whether what it saves is never learned from nor recalled."""
        return not (self.has_memory or self.is_paused)

    def with_memory(self, wanted: bool) -> Principal:
        """Return it as it is, or with memory switched off."""
        return self if wanted else replace(self, has_memory=False, is_paused=False)

    @property
    def recalls_record(self) -> bool:
        """Whether the caller may read turns and summaries of other conversations.

        A person may. An agent may if ``recall_record`` says so; if that is None, if the person reviews ``after``.
        """
        return self.kind != "agent" or (self.review == "after" if self.recall_record is None else self.recall_record)

    def for_words_of(self, model: str) -> Principal:
        """Return the principal of a model's tool calls in a conversation with the caller, without the scope admin."""
        return replace(self, words_of=model, scopes=self.scopes - {"admin"})

    def with_idempotency(self, claim: IdempotencyClaim | None) -> Principal:
        """Return the principal with a request's Idempotency-Key."""
        return replace(self, idempotency=claim)

    def with_placeholders(self) -> Principal:
        """Return it with placeholders for ids. Principals with the same rights get equal results, as cache keys."""
        return Principal(
            kind=self.kind,
            actor_id="",
            user_id=PLACEHOLDER_USER if self.user_id else None,
            scopes=self.scopes,
            categories=self.categories,
            sources=self.sources,
            agent_id=PLACEHOLDER_AGENT if self.agent_id else None,
            service=self.service,
            superuser=self.superuser,
            role=self.role,
            has_memory=self.has_memory,
            review=self.review,
            recall_record=self.recall_record,
        )


def shape_for(
    principal: Principal,
    name: Hashable,
    build: Callable[[Principal], QuerySet[Any]],
    values: Mapping[Any, Any] | None = None,
) -> Shaped:
    """Return a queryset that is compiled once for all principals with the same rights and the same ``name``.

    ``build`` gets a principal with placeholders. ``values``: further placeholders of this query, with their values.
    """
    someone = principal.with_placeholders()
    who = {PLACEHOLDER_USER: principal.user_id, PLACEHOLDER_AGENT: principal.agent_id}
    return Shaped((name, someone), lambda: build(someone), who | dict(values or {}))


def rare(principal: Principal, name: Hashable, build: Callable[[Principal], Q]) -> Q | None:
    """Return ``build(principal)``, or None if it has no rows, as mostly: a query compiled once finds that out."""
    found = read(shape_for(principal, ("rare", name), build), ("pk",), slice(0, 1))
    return build(principal) if found else None


def what_agent_sees(
    role: str, granted_categories: Collection[str] | None, granted_sources: Collection[str] | None
) -> tuple[frozenset[str], frozenset[str]]:
    """Combine role and grant into the categories and sources that an agent may read.

    Without a role, it is every category but procedural, and every source. A role allows the categories of its
    allowlist, and no sources unless the grant gives them. The grant narrows the categories further.
    """
    allowed = categories.load().of_role(role)
    if granted_categories is not None:
        allowed = allowed & frozenset(granted_categories)
    return allowed, frozenset((() if role else SOURCES) if granted_sources is None else granted_sources)


def sees_everything(principal: Principal) -> bool:
    """Whether a principal is no agent that its role or its grant narrows."""
    if principal.kind != "agent":
        return True
    every, sources = what_agent_sees("", None, None)
    return principal.sources >= sources and (principal.categories is None or principal.categories >= every)
