"""Ways to say many memories in fewer. A strategy reads and proposes; what becomes of that is the person's decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

import numpy as np
import numpy.typing as npt

from journal.actions import count_use
from journal.exceptions import Refused
from language.backends import get_model
from language.base import KnownMemory

from .models import Memory
from .policy.writing import MOST_TOPICS

BATCH = 40
"""Maximum memories of one call of a strategy."""


@dataclass(frozen=True, slots=True)
class MergeGroup:
    """A merged memory. ``sources`` are the ids of at least two memories of the batch."""

    content: str
    category: str
    subject: str
    importance: int
    topics: tuple[str, ...]
    sources: tuple[str, ...]


def topics_of(sources: Sequence[Memory]) -> tuple[str, ...]:
    """Return the topics of a merged memory: those of all its sources, in order."""
    return tuple(dict.fromkeys(topic for memory in sources for topic in memory.topics))[:MOST_TOPICS]


class Strategy(Protocol):
    """A way to merge memories into fewer. Add an implementation to ``STRATEGIES``."""

    name: str

    def written_by(self) -> str:
        """Return the author of the merged wordings: a model or rules, at most 80 characters."""
        ...

    def is_quick(self) -> bool:
        """Whether it is fast enough to run within a request."""
        ...

    def condense(self, memories: Sequence[Memory]) -> Sequence[MergeGroup]:
        """Return groups to merge, of memories of one kind and category. Memories outside of groups stay unchanged.

        No memory is in two groups. Raises LanguageError; retrying is safe.
        """
        ...


class Summarise:
    """Merges memories with the language model."""

    name = "summarise"

    def written_by(self) -> str:
        """The model's name."""
        return get_model().name

    def is_quick(self) -> bool:
        """Rules are; a model that is reached over a network is not."""
        return get_model().offline

    def condense(self, memories: Sequence[Memory]) -> Sequence[MergeGroup]:
        """Ask the model. A group has the topics of all its sources, and weighs no less than the weightiest of them."""
        by_id = {memory.pk: memory for memory in memories}
        groups = []
        answer = count_use("condense", get_model().condense, [_known(memory) for memory in memories])
        for condensed in answer.memories:
            sources = [by_id[each] for each in condensed.sources]
            groups.append(
                MergeGroup(
                    content=condensed.content,
                    category=condensed.category,
                    subject=condensed.subject,
                    importance=max(memory.importance for memory in sources),
                    topics=topics_of(sources),
                    sources=condensed.sources,
                )
            )
        return groups


STRATEGIES: dict[str, Strategy] = {strategy.name: strategy for strategy in (Summarise(),)}


def find_strategy(name: str) -> Strategy:
    """The strategy of that name. Raises Refused (400 ``unknown_strategy``)."""
    if name not in STRATEGIES:
        raise Refused(f"There is no strategy {name[:40]}: {', '.join(STRATEGIES)}.", code="unknown_strategy")
    return STRATEGIES[name]


def batches(memories: Sequence[Memory]) -> Iterator[list[Memory]]:
    """Divide memories into what a strategy is shown at once: of one kind and category, those that are near together.

    At most ``BATCH`` each; one alone is no batch. Where there are more, a batch begins with the oldest that is left and
    takes in those whose vectors are nearest to its own; what has no vector comes last, in the order of time.
    """
    ordered = sorted(memories, key=lambda memory: (*_shelf(memory), memory.created_at, memory.pk))
    for _, shelf in groupby(ordered, key=_shelf):
        yield from (batch for batch in _near_together(list(shelf)) if len(batch) > 1)


def _shelf(memory: Memory) -> tuple[str, str]:
    return memory.kind, memory.category


def _near_together(memories: list[Memory]) -> Iterator[list[Memory]]:
    if len(memories) <= BATCH:
        yield memories
        return
    # Vectors of two embedders have nothing to do with each other, so those of the fewer count as none.
    model, _ = Counter(memory.embedding_model for memory in memories).most_common(1)[0]
    placed = [memory for memory in memories if model and memory.embedding_model == model]
    vectors: npt.NDArray[np.float32] = np.asarray([memory.embedding for memory in placed], np.float32)
    left = np.arange(len(placed))
    while len(left):
        nearest = np.argsort(-(vectors[left] @ vectors[left[0]]), kind="stable")
        # First stays first: of equal ones, and of vectors that are not quite of length 1, it need not sort so.
        chosen = left[np.concatenate(([0], nearest[nearest != 0][: BATCH - 1]))]
        yield [placed[at] for at in np.sort(chosen)]
        left = np.setdiff1d(left, chosen)
    others = [memory for memory in memories if not model or memory.embedding_model != model]
    yield from (others[at : at + BATCH] for at in range(0, len(others), BATCH))


def _known(memory: Memory) -> KnownMemory:
    return KnownMemory(
        id=memory.pk,
        category=memory.category,
        subject=memory.subject,
        content=memory.content,
        field=memory.field,
        date=(memory.valid_from or memory.said_at or memory.created_at).date(),
    )
