"""The sources of a query: memories, facts, chunks (summaries) and turns (messages)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic

from accounts.principals import Principal
from conversations.searching import CHUNK_LOOKUPS, TURN_LOOKUPS, ChunkRow, Recallable, TurnRow
from facts.searching import LOOKUPS as FACT_LOOKUPS
from facts.searching import FactRow, FactSelection
from language.fencing import as_data, who_said
from language.tokens import count_tokens, cut_to_tokens
from memories.lines import told
from memories.searching import Edge, MemoryRow, MemoryRows, past_rows, present_rows, present_shape
from retrieval.prepared import Steps, Stepwise, together

from ..search import (
    Found,
    QueryVector,
    Row,
    find_chunks,
    find_facts,
    find_memories,
    find_turns,
)
from .question import Question, Scope

WHOLE_LINE = 60
"""Tokens of a statement that is not cut while it fits at all: half of one may mean something else."""


@dataclass(frozen=True, slots=True)
class Result:
    """A result: a line for a prompt, and all fields in ``details``.

    ``id`` is unique within its source. ``score`` is comparable across sources, on the scale of a cosine.
    """

    id: str
    source: str
    category: str | None
    text: str
    score: float
    details: dict[str, Any]


@dataclass(slots=True)
class SourceResults:
    """Unordered results of all sources, the searched memory rows, and the relations of the found ones."""

    results: list[Result] = field(default_factory=list)
    rows: MemoryRows | None = None
    edges: list[Edge] = field(default_factory=list)


def search_sources(scope: Scope, query: QueryVector, top_k: int) -> SourceResults:
    """Return the ``top_k`` best results of each source, searched in one round trip."""
    found = SourceResults()
    sources = dict.fromkeys(scope.question.sources)
    for results in together(
        *(
            _find_memories(scope, query, top_k, found) if source == "memories" else _find(source, scope, query, top_k)
            for source in sources
        )
    ):
        found.results += results
    return found


def _find_memories(scope: Scope, query: QueryVector, top_k: int, found: SourceResults) -> Steps[list[Result]]:
    if scope.narrowing is None:
        return []
    asked = scope.question
    if asked.as_of is None and asked.known_at is None:
        present = present_shape if scope.narrowing.where is None else present_rows
        found.rows = present(scope.principal, scope.narrowing)
    else:
        found.rows = past_rows(scope.principal, scope.narrowing, true_at=asked.as_of, recorded_at=asked.known_at)
    memories = yield from find_memories.steps(scope.principal, query, rows=found.rows, top_k=top_k)
    found.edges = memories.edges
    longest = longest_text(asked)
    return [memory_result(each.row, each.relevance, longest) for each in memories.memories]


def memory_result(row: MemoryRow, score: float, longest: int) -> Result:
    """Convert a memory to a result."""
    return Result(
        id=row.id,
        source="memories",
        category=row.category,
        text=_cut(f"[{as_data(row.category)}] {as_data(told(row.kind, row.content))}", longest),
        score=score,
        details={
            "content": row.content,
            "kind": row.kind,
            "version": row.version,
            "subject": row.subject,
            "topics": row.topics,
            "metadata": row.metadata,
            "importance": row.importance,
            "pinned": row.pinned,
            "created_at": row.created_at,
            "updated_at": row.updated_at,
            "valid_from": row.valid_from,
            "valid_to": row.valid_to,
            "said_at": row.said_at,
        },
    )


@dataclass(frozen=True, slots=True)
class _Source(Generic[Row]):
    """Another source: how to find rows, and to show them as a line and in details."""

    find: Stepwise[..., list[Found[Row]]]
    wanted: Callable[[Scope], Any]
    line: Callable[[Row, Principal], str]
    details: Callable[[Row], dict[str, Any]]


def _find(name: str, scope: Scope, query: QueryVector, top_k: int) -> Steps[list[Result]]:
    source = _SOURCES[name]
    wanted = source.wanted(scope)
    if wanted is None:
        return []
    longest = longest_text(scope.question)
    found = yield from source.find.steps(scope.principal, query, wanted=wanted, top_k=top_k)
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


def _wanted_facts(scope: Scope) -> FactSelection | None:
    filters = replace(scope.question.filters, user_id=None)
    if scope.question.where or not filters.fits(FACT_LOOKUPS):
        return None
    return FactSelection(scope.legacy_id, filters, scope.question.moment)


def _said(scope: Scope, lookups: Mapping[str, str]) -> Recallable | None:
    asked, filters = scope.question, replace(scope.question.filters, user_id=None)
    if asked.where or not filters.fits(lookups):
        return None
    return Recallable(scope.legacy_id, filters, asked.as_of, asked.known_at)


def _fact_line(fact: FactRow, principal: Principal) -> str:
    return f"[{fact.category}] {as_data(fact.content)} ({fact.origin(principal)})"


def _fact_details(fact: FactRow) -> dict[str, Any]:
    return {
        "content": fact.content,
        "legacy": fact.legacy_id,
        "visibility": fact.visibility,
        "version": fact.version,
        "extracted_at": fact.extracted_at,
        "updated_at": fact.updated_at,
    }


def _chunk_line(chunk: ChunkRow, _: Principal) -> str:
    return f"[{chunk.first_at:%Y-%m-%d}] {as_data(chunk.content)}"


def _chunk_details(chunk: ChunkRow) -> dict[str, Any]:
    return {
        "content": chunk.content,
        "conversation": chunk.conversation_id,
        "message_range_start": chunk.message_range_start,
        "message_range_end": chunk.message_range_end,
        "created_at": chunk.created_at,
    }


def _turn_line(message: TurnRow, _: Principal) -> str:
    return f"[{message.at:%Y-%m-%d}] {who_said(message.role, message.speaker)}: {as_data(message.content)}"


def _turn_details(message: TurnRow) -> dict[str, Any]:
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
    "chunks": _Source(find_chunks, lambda scope: _said(scope, CHUNK_LOOKUPS), _chunk_line, _chunk_details),
    "turns": _Source(find_turns, lambda scope: _said(scope, TURN_LOOKUPS), _turn_line, _turn_details),
}


def longest_text(question: Question) -> int:
    """Return the maximum tokens of one line, so that a long message leaves room for others."""
    budget = question.budget_tokens
    return max(budget // 2, min(budget, WHOLE_LINE))


def _cut(text: str, longest: int) -> str:
    # A token has at least one character, so short lines need no counting.
    if len(text) <= longest or count_tokens(text) <= longest:
        return text
    return cut_to_tokens(text, longest - 1) + "…"
