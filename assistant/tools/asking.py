"""The tool that searches memories."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from accounts.principals import Principal
from journal.models import IdempotencyRecord

from ..recall.query import (
    LONGEST_QUERY,
    SOURCES,
    QueryAnswer,
    Question,
    as_plain,
    memory_query,
)
from ..recall.search import By, recall_show
from .base import Arguments, Caller, Tool, ToolAnswer
from .remembering import Topic

MOST_RESULTS = 20


class MemoryQuery(Arguments):
    query: str = Field(
        min_length=1, max_length=LONGEST_QUERY, description="What you want to know, as a question or in key words."
    )
    categories: list[Topic] = Field(
        [], max_length=20, description="Only memories of these categories; all unless given."
    )
    sources: list[Literal["memories", "facts", "chunks", "turns"]] = Field(
        [],
        max_length=len(SOURCES),
        description="Where to look; in memories unless given. Turns is what was said, word for word.",
    )
    top_k: int = Field(3, ge=1, le=MOST_RESULTS, description="How many results at most.")


def look_up(caller: Caller, sent: MemoryQuery) -> ToolAnswer:
    """Search, and answer with lines that include the memories' ids."""
    question = Question(
        query=sent.query.replace("\x00", " "),
        categories=tuple(sent.categories),
        sources=tuple(sent.sources) or ("memories",),
        conversation=caller.conversation_id,
        top_k=sent.top_k,
    )
    answer = memory_query(caller.principal, question)
    recall_show(caller.principal, By.TOOL, caller.conversation_id)
    return ToolAnswer(True, _tell(answer), as_plain(answer))


def _tell(answer: QueryAnswer) -> str:
    lines = []
    for result in answer.results:
        handle = f"[id:{result.id}] " if result.source == "memories" else ""
        lines.append(f"- {handle}{result.text}")
        related = answer.related.get(result.id, []) if result.source == "memories" else []
        lines += [f"  - [id:{each.result.id}] {each.result.text}" for each in related]
    told = "\n".join(lines) or "Nothing was found. Ask in other words, or go on without it."
    return f"{answer.delta}\n\n{told}" if answer.delta else told


def repeat_query(principal: Principal, sent: MemoryQuery, record: IdempotencyRecord) -> ToolAnswer:
    """Repeat the search: its results are not stored."""
    return look_up(Caller(principal), sent)


MEMORY_QUERY = Tool(
    name="memory_query",
    description=(
        "Look something up in what is remembered about the user: details that your instructions don't hold, what "
        "happened and when, what was said in earlier conversations. Call it when you are not sure, before you ask the "
        "user for something they may have told already."
    ),
    arguments=MemoryQuery,
    run=look_up,
    replay=repeat_query,
    advice={"source_not_allowed": "Ask again without that source."},
    reads_only=True,
)
