"""The principal: who asks, for whom, and what they may see. Every read and every action takes one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from journal.records import Actor, IdempotencyClaim

PLACEHOLDER_USER = UUID(int=1)
PLACEHOLDER_AGENT = UUID(int=2)
"""Nobody's ids, which stand for any person's and any agent's where a statement is put together for all of them."""

SCOPES = ("read", "write", "admin")
SOURCES = ("chunks", "turns", "facts")


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller, rebuilt for every request and every task so that a revocation counts at once.

    ``user_id`` is the person it acts for (``None`` for staff and deployment-wide jobs). ``categories`` is ``None`` for
    all; ``sources`` names what beside memories it may read. ``rev`` is the person's revision when it was built.
    ``identity_id`` is the ExternalIdentity that a person came in by who wrote from a chat elsewhere. ``words_of`` names
    the model whose words are written, where one writes in a talk with the caller.
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
        """Who is written into the log of changes."""
        return Actor(self.kind, self.actor_id, self.idempotency)

    @property
    def caller_key(self) -> str:
        """What tells this caller, and the person it acts for, from all others."""
        return f"{self.kind}:{self.actor_id}:{self.user_id}"

    @property
    def is_authenticated(self) -> bool:
        """DRF and the request log treat a principal as the request's user."""
        return True

    @property
    def pk(self) -> UUID | None:
        """The person's id, which is what the request log notes."""
        return self.user_id

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of the person; UTC where theirs is unknown."""
        try:
            return ZoneInfo(self.time_zone)
        except (ZoneInfoNotFoundError, ValueError):
            return ZoneInfo("UTC")

    @property
    def may_decide(self) -> bool:
        """Whether decisions that belong to the person may be taken: approve, reject, share, members, erase."""
        return "admin" in self.scopes

    @property
    def speaks_as_person(self) -> bool:
        """Whether what is written is the person's own word, which needs no review and lifts a suppression.

        That is their session, a chat that they linked, and a key of theirs with the scope admin. A service with that
        scope decides for people, but its text may come from anywhere: it passes every gate and lifts nothing. So does
        what a model writes, whoever talks with it.
        """
        if self.words_of:
            return False
        return self.kind == "person" or (self.kind == "agent" and self.may_decide and not self.service)

    @property
    def recalls_record(self) -> bool:
        """Whether turns and summaries of other conversations may be quoted to the caller.

        A person is quoted their own. An agent is where the person says so or, where they don't, reviews after.
        """
        return self.kind != "agent" or (self.review == "after" if self.recall_record is None else self.recall_record)

    def for_words_of(self, model: str) -> Principal:
        """The same for what a model calls for in a talk with the caller: it may write, and decides nothing."""
        return replace(self, words_of=model, scopes=self.scopes - {"admin"})

    def with_idempotency(self, claim: IdempotencyClaim | None) -> Principal:
        """The same principal for a request that carries an Idempotency-Key."""
        return replace(self, idempotency=claim)

    def with_placeholders(self) -> Principal:
        """The same kind of caller, whoever it is: equal for all who see the same sorts of rows of their own."""
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
