"""What was found in a batch as candidates: put together where it says the same, with its category and importance."""

from __future__ import annotations

from collections.abc import Sequence

from language.base import ExtractionRequest, FactCandidate, MemoryCandidate
from language.offline.categories import DEFAULT_IMPORTANCE, IMPORTANCE, fact_category, memory_category
from language.offline.compare import Sense, compare_senses, sense_of
from language.offline.reading import Found

EXPLICIT_IMPORTANCE = 4


def fact_candidates(found: Sequence[Found], request: ExtractionRequest) -> tuple[FactCandidate, ...]:
    """What was said about the legacy, each thing once, with all the messages that say it."""
    if request.legacy_name is None:
        return ()
    groups = _merged([one for one in found if one.statement.person.role == "legacy"])
    facts = []
    for group in groups:
        first = group[0]
        category = fact_category(first.statement.kind, request.fact_categories)
        if category is not None:
            facts.append(FactCandidate(category, first.statement.content, _indices(group), first.quote))
    return tuple(facts)


def memory_candidates(found: Sequence[Found], request: ExtractionRequest) -> tuple[MemoryCandidate, ...]:
    """What the user said about themself and, unless it is a talk about a legacy, about others; each thing once."""
    about_others = request.legacy_name is None
    groups = _merged(
        [
            one
            for one in found
            if one.statement.person.role == "user"
            or (one.statement.person.role == "other" and (about_others or one.explicit))
        ]
    )
    memories = []
    for group in groups:
        first = group[0]
        statement = first.statement
        about_user = statement.person.role == "user"
        category = memory_category(statement.kind, about_user, request.memory_categories)
        if category is None:
            continue
        explicit = any(one.explicit for one in group)
        importance = IMPORTANCE.get(statement.kind, DEFAULT_IMPORTANCE) if about_user else DEFAULT_IMPORTANCE
        memories.append(
            MemoryCandidate(
                category=category,
                content=statement.content,
                indices=_indices(group),
                quote=first.quote,
                subject=statement.subject,
                field=statement.field,
                importance=max(importance, EXPLICIT_IMPORTANCE) if explicit else importance,
                explicit=explicit,
            )
        )
    return tuple(memories)


def _merged(found: Sequence[Found]) -> list[list[Found]]:
    """Group statements that say the same, in the order in which each was first said."""
    groups: list[tuple[Sense, list[Found]]] = []
    for one in found:
        sense = sense_of(one.statement.content)
        for known, group in groups:
            if compare_senses(known, sense) == "same":
                group.append(one)
                break
        else:
            groups.append((sense, [one]))
    return [group for _, group in groups]


def _indices(group: Sequence[Found]) -> tuple[int, ...]:
    return tuple(sorted({one.index for one in group}))
