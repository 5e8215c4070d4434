"""What is asked, and whether the caller may ask it."""

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
    """A question. ``agent`` is a role of ``categories.yaml`` to narrow to, ``categories`` are those of memories.

    ``top_k`` bounds the results and ``budget_tokens`` what their bullets cost; ``threshold`` cuts off scores below it.
    ``where`` is a condition on memories as it was sent, which ``memory_condition`` reads. ``as_of`` asks for what was
    true then, ``known_at`` for what was recorded then. ``agentic`` lets the model choose among what was found. With no
    ``sources`` all are asked that the caller may see; memories alone where a category is named.
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
        """The latest moment from which anything counts; None is now."""
        return min((at for at in (self.as_of, self.known_at) if at), default=None)


@dataclass(frozen=True, slots=True)
class Scope:
    """A question that may be asked: by whom, about which legacy, in which conversation, narrowed to what.

    ``narrowing`` is None when no memory can match. ``is_open`` says whether anything may be recalled at all.
    """

    principal: Principal
    question: Question
    narrowing: Narrowing | None
    legacy_id: UUID | None
    conversation: Conversation | None

    @property
    def is_open(self) -> bool:
        """Not while the person has memory switched off, nor in a private conversation."""
        return self.principal.has_memory and not (self.conversation and self.conversation.private)


def scope_of(principal: Principal, question: Question) -> Scope:
    """Check what is asked for against what the principal may see.

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
    """Where a question that names none is asked."""
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
