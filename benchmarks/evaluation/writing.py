"""The share of a model's extracted items that are valid at the first attempt."""

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
    """The items of some conversations: their number, and the rejected ones with the reason."""

    items: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)

    @property
    def passed(self) -> int:
        """The number of valid items."""
        return self.items - len(self.refused)

    @property
    def reasons(self) -> Counter[str]:
        """The number of rejected items by reason."""
        return Counter(reason for _, reason in self.refused)


def written_by(model: LanguageModel, talks: Iterable[Talk]) -> Written:
    """Extract from conversations with a model and validate its items. Raises LanguageError."""
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
