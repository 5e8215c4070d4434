"""Value objects that other rooms pass to the journal, and results of bulk calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

Id = TypeVar("Id", bound=Hashable)


@dataclass(frozen=True, slots=True)
class IdempotencyClaim:
    """The Idempotency-Key of a request. ``owner`` is the caller that the key is unique for."""

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
    """The outcome of a bulk call by id: "done", or the code of why the object was skipped.

    ``first_rev`` to ``last_rev`` are the person's revisions of this call; 0 and 0 if nothing was done.
    """

    outcomes: Mapping[Id, str]
    first_rev: int = 0
    last_rev: int = 0

    @classmethod
    def between(cls, outcomes: Mapping[Id, str], first_rev: int, last_rev: int) -> BulkResult[Id]:
        """Build the result from the next revision before the call and the latest one after it."""
        return cls(outcomes, first_rev, last_rev) if last_rev >= first_rev else cls(outcomes)

    @property
    def ids(self) -> list[Id]:
        """The ids that are done."""
        return [each for each, outcome in self.outcomes.items() if outcome == DONE]

    @property
    def done(self) -> int:
        """How many are done."""
        return len(self.ids)

    @property
    def skipped(self) -> dict[str, int]:
        """How many were skipped, by code, the most frequent first."""
        return dict(Counter(outcome for outcome in self.outcomes.values() if outcome != DONE).most_common())
