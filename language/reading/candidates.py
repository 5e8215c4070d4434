"""Turn the statements of a batch into deduplicated fact and memory candidates."""

from __future__ import annotations

import re
from collections.abc import Iterable

from language.base import ExtractionRequest, FactCandidate, MemoryCandidate
from language.reading.fact_corrections import without_corrected
from language.reading.kinds import fact_category, field_of, importance_of, memory_category, subject_of
from language.reading.statement_builder import ReadStatement
from language.reading.statements import BatchReading

EXPLICIT_IMPORTANCE = 4


def fact_candidates(reading: BatchReading, request: ExtractionRequest) -> tuple[FactCandidate, ...]:
    """The facts about the legacy, deduplicated, with all source messages, and as the person put them right."""
    facts = []
    for group in _merged(one for one in reading.statements if one.person.role == "legacy"):
        first = group[0]
        category = fact_category(first.kind, request.fact_categories)
        if category is not None:
            facts.append(FactCandidate(category, first.content, _indices(group), first.quote))
    return without_corrected(facts, request.messages)


def memory_candidates(reading: BatchReading, request: ExtractionRequest) -> tuple[MemoryCandidate, ...]:
    """The memories about the user and their people, deduplicated."""
    memories = []
    for group in _merged(one for one in reading.statements if one.person.role != "legacy"):
        first = group[0]
        about_user = first.person.role == "user"
        category = memory_category(first.kind, about_user=about_user, known=request.memory_categories)
        if category is None:
            continue
        explicit = any(one.is_explicit for one in group)
        importance = importance_of(first.kind, first.content)
        field = field_of(first.content) if about_user else ""
        memories.append(
            MemoryCandidate(
                category=category,
                content=first.content,
                indices=_indices(group),
                quote=first.quote,
                subject="" if field else subject_of(first.content, first.person),  # A field is about the user.
                field=field,
                importance=max(importance, EXPLICIT_IMPORTANCE) if explicit else importance,
                explicit=explicit,
            )
        )
    return tuple(memories)


def _merged(statements: Iterable[ReadStatement]) -> list[list[ReadStatement]]:
    """Statements grouped by their words, in order of first mention."""
    groups: dict[str, list[ReadStatement]] = {}
    for one in statements:
        groups.setdefault(" ".join(re.findall(r"\w+", one.content.lower())), []).append(one)
    return list(groups.values())


def _indices(group: Iterable[ReadStatement]) -> tuple[int, ...]:
    return tuple(sorted({one.index for one in group}))
