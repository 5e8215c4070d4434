"""Where answers come from: what is remembered, facts about a legacy, summaries of conversations, what was said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic

from django.db.models import Q

from accounts.principals import Principal
from conversations.models import ConversationChunk, Message
from facts.models import LegacyFact
from language.fencing import as_data
from language.tokens import count_tokens, cut_to_tokens
from memories.searching import Edge, MemoryRow, MemoryRows, past_rows, present_shape

from ..recall import Found, QueryVector, Row, find_chunks, find_facts, find_memories, find_turns
from .question import Filters, Question, Scope

WHOLE_LINE = 60
"""Tokens of a statement that is not cut while it fits at all: half of one may mean something else."""


@dataclass(frozen=True, slots=True)
class Result:
    """Something that was found: a line for a prompt, and in ``details`` the whole of it.

    ``id`` is unique within its source. ``score`` compares across sources, higher is better; it is told as a cosine.
    """

    id: str
    source: str
    category: str | None
    text: str
    score: float
    details: dict[str, Any]


@dataclass(slots=True)
class FoundEverywhere:
    """All results, in no order yet; the rows that memories were looked for in, and how those found are related."""

    results: list[Result] = field(default_factory=list)
    rows: MemoryRows | None = None
    edges: list[Edge] = field(default_factory=list)


def find_everywhere(scope: Scope, query: QueryVector, top_k: int) -> FoundEverywhere:
    """The ``top_k`` best of each source that is asked for."""
    found = FoundEverywhere()
    for source in dict.fromkeys(scope.question.sources):
        if source == "memories":
            _find_memories(scope, query, top_k, found)
        else:
            found.results += _find(source, scope, query, top_k)
    return found


def _find_memories(scope: Scope, query: QueryVector, top_k: int, found: FoundEverywhere) -> None:
    if scope.narrowing is None:
        return
    asked = scope.question
    if asked.as_of is None and asked.known_at is None:
        found.rows = present_shape(scope.principal, scope.narrowing)
    else:
        found.rows = past_rows(scope.principal, scope.narrowing, true_at=asked.as_of, recorded_at=asked.known_at)
    memories = find_memories(scope.principal, query, rows=found.rows, top_k=top_k)
    found.edges = memories.edges
    longest = longest_text(asked)
    found.results += [memory_result(each.row, each.relevance, longest) for each in memories.memories]


def memory_result(row: MemoryRow, score: float, longest: int) -> Result:
    """A memory as a result."""
    return Result(
        id=row.id,
        source="memories",
        category=row.category,
        text=_cut(f"[{row.category}] {as_data(row.content)}", longest),
        score=score,
        details={
            "content": row.content,
            "kind": row.kind,
            "version": row.version,
            "subject": row.subject,
            "topics": row.topics,
            "importance": row.importance,
            "pinned": row.pinned,
            "created_at": row.created_at,
            "updated_at": row.updated_at,
            "valid_from": row.valid_from,
            "valid_to": row.valid_to,
        },
    )


@dataclass(frozen=True, slots=True)
class _Source(Generic[Row]):
    """Where else things are found: by ``find``, among rows that are ``wanted``, each shown as a line and in details."""

    find: Callable[..., list[Found[Row]]]
    wanted: Callable[[Scope], Q | None]
    line: Callable[[Row, Principal], str]
    details: Callable[[Row], dict[str, Any]]


def _find(name: str, scope: Scope, query: QueryVector, top_k: int) -> list[Result]:
    source = _SOURCES[name]
    wanted = source.wanted(scope)
    if wanted is None:
        return []
    longest = longest_text(scope.question)
    found = source.find(scope.principal, query, legacy_id=scope.legacy_id, top_k=top_k, exclude=~wanted)
    return [
        Result(
            id=str(each.row.pk),
            source=name,
            category=getattr(each.row, "category", None),
            text=_cut(source.line(each.row, scope.principal), longest),
            score=each.hit.relevance,
            details=source.details(each.row),
        )
        for each in found
    ]


def _wanted_facts(scope: Scope) -> Q | None:
    filters = scope.question.filters
    wanted = _dated(filters, "updated_at")
    if wanted is None or filters.agent_id is not None or filters.role is not None:
        return None
    if filters.category is not None:
        wanted &= Q(category=filters.category)
    if moment := scope.question.moment:
        wanted &= Q(active_since__lte=moment)
    return wanted


def _wanted_chunks(scope: Scope) -> Q | None:
    return _said(scope, "created_at") if scope.question.filters.role is None else None


def _wanted_turns(scope: Scope) -> Q | None:
    wanted, role = _said(scope, "at"), scope.question.filters.role
    return wanted if wanted is None or role is None else wanted & Q(role=role)


def _fact_line(fact: LegacyFact, principal: Principal) -> str:
    origin = "personal" if fact.user_id == principal.user_id else "shared"
    return f"[{fact.category}] {as_data(fact.content)} ({origin})"


def _fact_details(fact: LegacyFact) -> dict[str, Any]:
    return {
        "content": fact.content,
        "legacy": fact.legacy_id,
        "visibility": fact.visibility,
        "version": fact.version,
        "extracted_at": fact.extracted_at,
        "updated_at": fact.updated_at,
    }


def _chunk_line(chunk: ConversationChunk, _: Principal) -> str:
    first: datetime = chunk.first_at or chunk.created_at  # type: ignore[attr-defined]  # annotated by with_times
    return f"[{first:%Y-%m-%d}] {as_data(chunk.content)}"


def _chunk_details(chunk: ConversationChunk) -> dict[str, Any]:
    return {
        "content": chunk.content,
        "conversation": chunk.conversation_id,
        "message_range_start": chunk.message_range_start,
        "message_range_end": chunk.message_range_end,
        "created_at": chunk.created_at,
    }


def _turn_line(message: Message, _: Principal) -> str:
    who = message.speaker or message.role
    return f"[{message.at:%Y-%m-%d}] {as_data(who)}: {as_data(message.content)}"


def _turn_details(message: Message) -> dict[str, Any]:
    return {
        "content": message.content,
        "conversation": message.conversation_id,
        "index": message.index,
        "role": message.role,
        "speaker": message.speaker,
        "at": message.at,
    }


_SOURCES: dict[str, _Source[Any]] = {
    "facts": _Source(find_facts, _wanted_facts, _fact_line, _fact_details),
    "chunks": _Source(find_chunks, _wanted_chunks, _chunk_line, _chunk_details),
    "turns": _Source(find_turns, _wanted_turns, _turn_line, _turn_details),
}


def _dated(filters: Filters, at: str) -> Q | None:
    """The span of time as a condition on a column; None when a filter is about something that only memories have."""
    of_memories = (filters.run_id, filters.actor_id, filters.pinned, filters.importance_min, filters.importance_max)
    if any(value is not None for value in of_memories):
        return None
    wanted = Q(pk__isnull=False)
    if filters.updated_after is not None:
        wanted &= Q(**{f"{at}__gte": filters.updated_after})
    if filters.updated_before is not None:
        wanted &= Q(**{f"{at}__lt": filters.updated_before})
    return wanted


def _said(scope: Scope, at: str) -> Q | None:
    asked, filters = scope.question, scope.question.filters
    wanted = _dated(filters, at)
    if wanted is None or filters.category is not None:
        return None
    if filters.agent_id is not None:
        wanted &= Q(conversation__agent_id=filters.agent_id)
    if asked.as_of is not None:
        wanted &= Q(**{f"{at}__lte": asked.as_of})
    if asked.known_at is not None:  # What an import brings was said before it was recorded.
        wanted &= Q(created_at__lte=asked.known_at)
    return wanted


def longest_text(question: Question) -> int:
    """Tokens that one line may take, so that a long message leaves room for others; an ordinary one is left whole."""
    budget = question.budget_tokens
    return max(budget // 2, min(budget, WHOLE_LINE))


def _cut(text: str, longest: int) -> str:
    # A token has a character at least, so most lines need no counting.
    if len(text) <= longest or count_tokens(text) <= longest:
        return text
    return cut_to_tokens(text, longest - 1) + "…"
