"""The language model that is none: rules over the user's own sentences."""

from __future__ import annotations

from collections.abc import Sequence

from language.base import (
    Comparison,
    Extraction,
    ExtractionRequest,
    FactCandidate,
    MemoryCandidate,
)
from language.offline.categories import DEFAULT_IMPORTANCE, IMPORTANCE, fact_category, memory_category
from language.offline.compare import Sense, compare, compare_senses, sense_of
from language.offline.lines import lines_of
from language.offline.reading import Found, read_statements
from language.offline.summary import episodes, summarise

EXPLICIT_IMPORTANCE = 4


class OfflineModel:
    """Answers by fixed rules, the same on every run, with no network and no key.

    The rules read English. Text in another language gives no facts and no memories rather than wrong ones; summaries
    are extracts and work in any script. What is not said in so many words is not found: the rules would rather miss a
    fact than state one that was not meant.
    """

    name = "offline rules 1"
    offline = True

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Summarise a batch and list what its user messages say; never raises."""
        lines = lines_of(request.messages)
        found = read_statements(request, lines)
        return Extraction(
            summary=summarise(request, lines),
            model=self.name,
            facts=_facts(found, request),
            memories=_memories(found, request),
            episodes=episodes(request, lines),
        )

    def same_fact(self, pairs: Sequence[tuple[str, str]]) -> list[Comparison]:
        """Compare statements pairwise by their words; in doubt they are different. Never raises."""
        return [compare(existing, new) for existing, new in pairs]


def _facts(found: Sequence[Found], request: ExtractionRequest) -> tuple[FactCandidate, ...]:
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


def _memories(found: Sequence[Found], request: ExtractionRequest) -> tuple[MemoryCandidate, ...]:
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
