"""Which tools to call for what a person said: by rule, from the statements that the reader finds."""

from __future__ import annotations

from collections.abc import Iterator

from language.base import ExtractionRequest, KnownMemory, MemoryCandidate, ToolCall, ToolRequest
from language.offline.candidates import memory_candidates
from language.offline.compare import compare
from language.offline.lines import lines_of
from language.offline.reading import read_statements

ADD, UPDATE, DELETE = "add_to_memory", "update_memory", "delete_memory"


def choose(request: ToolRequest) -> tuple[ToolCall, ...]:
    """The calls of the coming round; none when there is nothing, or no more, to do."""
    if request.rounds:
        return ()
    offered = {tool.name for tool in request.tools}
    wanted = [(name, arguments) for name, arguments in _first_round(request) if name in offered]
    return tuple(
        ToolCall(f"call-{len(request.rounds) + 1}-{number}", name, arguments)
        for number, (name, arguments) in enumerate(wanted[: request.calls_left], start=1)
    )


def _first_round(request: ToolRequest) -> Iterator[tuple[str, dict[str, object]]]:
    reading = ExtractionRequest(request.messages, request.user_name, None, (), request.memory_categories)
    for candidate in memory_candidates(read_statements(reading, lines_of(request.messages)), reading):
        known = _known(candidate, request)
        if known is None:
            yield ADD, _addition(candidate)
        elif known[1] == "contradicts":
            yield UPDATE, _change(candidate, known[0])


def _known(candidate: MemoryCandidate, request: ToolRequest) -> tuple[KnownMemory, str] | None:
    """The memory that says the same, or failing that the one that says the opposite."""
    verdicts = [(memory, compare(memory.content, candidate.content)) for memory in request.memories]
    return next(
        (verdict for wanted in ("same", "contradicts") for verdict in verdicts if verdict[1] == wanted),
        None,
    )


def _addition(candidate: MemoryCandidate) -> dict[str, object]:
    optional = {"subject": candidate.subject, "field": candidate.field, "explicit": candidate.explicit}
    return {
        "content": candidate.content,
        "category": candidate.category,
        "importance": candidate.importance,
        **{name: value for name, value in optional.items() if value},
        "evidence": _evidence(candidate),
    }


def _change(candidate: MemoryCandidate, known: KnownMemory) -> dict[str, object]:
    explicit: dict[str, object] = {"explicit": True} if candidate.explicit else {}
    return {"memory_id": known.id, "content": candidate.content, **explicit, "evidence": _evidence(candidate)}


def _evidence(candidate: MemoryCandidate) -> dict[str, object]:
    return {"index": candidate.indices[0], "quote": candidate.quote}
