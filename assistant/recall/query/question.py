"""A query, and the check of the caller's permissions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings

from accounts import policy
from accounts.models import Legacy
from accounts.principals import Principal
from conversations.models import Conversation
from facts.models import LegacyFact
from journal.exceptions import NotAllowed, NotFound
from memories.conditions import memory_condition
from memories.policy import writing
from memories.searching import Narrowing
from retrieval.filters import ANY, Filters

MEMORIES = "memories"
RECORD = ("chunks", "turns")
SOURCES = (MEMORIES, "facts", *RECORD)


@dataclass(frozen=True, slots=True)
class Question:
    """A query. ``agent``: a role of ``categories.yaml`` to restrict to; ``categories``: those of memories.

    ``top_k``: maximum results; ``budget_tokens``: limit of their bullets; ``threshold``: minimum score. ``where``: an
    unparsed condition on memories (``memory_condition``). ``as_of``: what was true then; ``known_at``: what was
    recorded then. ``agentic``: the model selects among the results. Without ``sources`` all visible ones are searched;
    only memories if a category is given.
    """

    query: str
    agent: str = ""
    categories: tuple[str, ...] = ()
    filters: Filters = ANY
    where: Mapping[str, Any] = field(default_factory=dict)
    legacy: UUID | None = None
    conversation: UUID | None = None
    top_k: int = settings.QUERY_TOP_K
    threshold: float | None = None
    budget_tokens: int = settings.QUERY_BUDGET_TOKENS
    as_of: datetime | None = None
    known_at: datetime | None = None
    sources: tuple[str, ...] = (MEMORIES,)
    agentic: bool = False

    @property
    def moment(self) -> datetime | None:
        """The time that the query is about; None means now."""
        return min((at for at in (self.as_of, self.known_at) if at), default=None)


@dataclass(frozen=True, slots=True)
class Scope:
    """A permitted query: principal, legacy, conversation and filters.

    ``narrowing`` is None if no memory can match.
    """

    principal: Principal
    question: Question
    narrowing: Narrowing | None
    legacy_id: UUID | None
    conversation: Conversation | None

    @property
    def is_open(self) -> bool:
        """Whether recall is allowed: memory is on, and the conversation is not private."""
        return self.principal.has_memory and not (self.conversation and self.conversation.private)


def scope_of(principal: Principal, question: Question) -> Scope:
    """Check a query against the principal's permissions.

    Raises NotAllowed: 403 ``missing_scope``, ``category_not_allowed`` or ``source_not_allowed``, which names it.
    Raises NotFound for somebody else's ``user_id``, and for a conversation or legacy that is not the person's. Raises
    Refused (400 ``bad_role``, ``unknown_category``).
    """
    policy.must_read(principal)
    user_id = policy.must_act_for(principal)
    caller = principal
    principal = policy.narrowed(principal, question.agent)
    if question.filters.user_id is not None and question.filters.user_id.lower() != str(user_id):
        raise NotFound("There is no such person.")
    if not question.sources:
        question = replace(question, sources=_sources(principal, question))
    for source in question.sources:
        if not _has(principal, source):
            raise NotAllowed(f"This agent has no access to {source}.", code="source_not_allowed", source=source)
        if source in RECORD and not principal.recalls_record:
            detail = "The person reviews before anything is used, and does not have earlier conversations quoted."
            raise NotAllowed(detail, code="source_not_allowed", source=source)
    narrowing = _narrowing(principal, question)
    conversation = None
    if question.conversation is not None:
        conversation = Conversation.objects.visible_to(caller).must_find(question.conversation)
    legacy_id = question.legacy
    if legacy_id is not None and not Legacy.objects.visible_to(principal).filter(pk=legacy_id).exists():
        raise NotFound("There is no such legacy.")
    if legacy_id is None and conversation is not None:
        legacy_id = conversation.legacy_id
    return Scope(principal, question, narrowing, legacy_id, conversation)


def _has(principal: Principal, source: str) -> bool:
    return source == MEMORIES or principal.kind == "staff" or source in principal.sources


def _sources(principal: Principal, question: Question) -> tuple[str, ...]:
    """Return the default sources."""
    if question.categories or question.filters.category is not None:
        return (MEMORIES,)
    may = (source for source in SOURCES if principal.recalls_record or source not in RECORD)
    return tuple(source for source in may if _has(principal, source))


def _narrowing(principal: Principal, question: Question) -> Narrowing | None:
    asked = frozenset(writing.must_file_under(principal, name) for name in question.categories)
    filters = question.filters
    categories = asked or None
    if filters.category is not None:
        if "facts" in question.sources and filters.category in LegacyFact.Category.values:
            return None
        category = writing.must_file_under(principal, filters.category)
        if asked and category not in asked:
            return None
        categories = frozenset([category])
    where = memory_condition(principal, dict(question.where)) if question.where else None
    return Narrowing(replace(filters, user_id=None, category=None), categories, where=where)
