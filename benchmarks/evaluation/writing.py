"""How many of the items that a model writes have the right form at first, as they come out of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from accounts.categories import load
from facts.models import LegacyFact
from journal.exceptions import Gated
from language.base import LanguageModel
from statements.policy import check_extracted

from .reading import Talk


@dataclass(slots=True)
class Written:
    """The items of some conversations: how many there were, and which were refused for which reason."""

    items: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)

    @property
    def passed(self) -> int:
        """How many have the right form."""
        return self.items - len(self.refused)

    @property
    def reasons(self) -> Counter[str]:
        """How many were refused for each reason."""
        return Counter(reason for _, reason in self.refused)


def written_by(model: LanguageModel, talks: Iterable[Talk]) -> Written:
    """Have a model extract from conversations and check what it writes. Raises LanguageError."""
    written = Written()
    for talk in talks:
        request = replace(
            talk.request, fact_categories=LegacyFact.Category.values, memory_categories=sorted(load().by_name)
        )
        found = model.extract(request)
        contents = [each.content for each in found.facts] + [each.content for each in found.memories]
        for content in contents + [each.content for each in found.episodes]:
            written.items += 1
            try:
                check_extracted(content)
            except Gated as error:
                written.refused.append((content, error.detail))
    return written
