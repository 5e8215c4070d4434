"""Small records that other rooms hand to the journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

Id = TypeVar("Id", bound=Hashable)


@dataclass(frozen=True, slots=True)
class IdempotencyClaim:
    """An Idempotency-Key that came with a request. ``owner`` keeps the keys of two callers apart."""

    owner: str
    key: str
    request_hash: str


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something: the kind (person, agent, staff or job) and the id within that kind."""

    kind: str
    id: str
    idempotency: IdempotencyClaim | None = None


DONE = "done"


@dataclass(frozen=True, slots=True)
class BulkResult(Generic[Id]):
    """What became of each of many, by its id: "done", or the code of why it was left as it was.

    The person's revisions from ``first_rev`` to ``last_rev`` are those of this call; 0 and 0 when nothing was done.
    """

    outcomes: Mapping[Id, str]
    first_rev: int = 0
    last_rev: int = 0

    @classmethod
    def between(cls, outcomes: Mapping[Id, str], first_rev: int, last_rev: int) -> BulkResult[Id]:
        """The result of a call whose next revision was ``first_rev`` before it and is after ``last_rev`` now."""
        return cls(outcomes, first_rev, last_rev) if last_rev >= first_rev else cls(outcomes)

    @property
    def ids(self) -> list[Id]:
        """What the decision was carried out for."""
        return [each for each, outcome in self.outcomes.items() if outcome == DONE]

    @property
    def done(self) -> int:
        """How many that are."""
        return len(self.ids)

    @property
    def skipped(self) -> dict[str, int]:
        """How many were left as they were, by code, the most frequent first."""
        return dict(Counter(outcome for outcome in self.outcomes.values() if outcome != DONE).most_common())
