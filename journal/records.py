"""Small records that other rooms hand to the journal."""

from __future__ import annotations

from dataclasses import dataclass


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
