"""What is read often, kept in Valkey under the revision that it was read at.

The revision comes with the principal, out of the database, never out of the cache. Whoever comes after a write asks
under the next revision and can't be given what a slow reader stored under an earlier one. So what nobody asks for any
more expires; only an erasure deletes, and what slow readers store after it they delete themselves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Generic, TypeVar
from uuid import UUID

import orjson
from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from accounts import categories
from accounts.policy import must_act_for
from accounts.principals import Principal
from journal.cache import valkey

T = TypeVar("T")


class Family(StrEnum):
    """What is kept. A page is kept for ``MEMORY_PAGE_CACHE_SECONDS``, the others for ``MEMORY_CACHE_SECONDS``.

    A context depends on which categories the principal sees and on what the person prefers, not on who asks: agents
    share it.
    """

    LIST = "list"
    TOPICS = "topics"
    OVERVIEW = "overview"
    PAGE = "page"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """A value as it was read, and the moment when it stops being right by itself (None: only a write changes it)."""

    value: T
    until: datetime | None = None


def read_through(
    principal: Principal, family: Family, read: Callable[[], Reading[T]], *, of: Sequence[object] = ()
) -> T:
    """Return what is kept for the principal at its revision, or what ``read`` returns, which is kept then.

    ``of`` is everything else that the value depends on, as JSON can hold it. The value is made of plain types. With
    Valkey away ``read`` answers every time. A principal is as old as its request: after a write of its own it has to
    be built again before it sees that write here.

    Raises NotFound for a principal that acts for nobody.
    """
    key = _key(principal, family, of)
    kept = cache.get(key)
    if kept is not None:
        value: T = kept[0]
        return value
    reading = read()
    seconds = settings.MEMORY_PAGE_CACHE_SECONDS if family is Family.PAGE else settings.MEMORY_CACHE_SECONDS
    if reading.until is not None:
        # Whole seconds, rounded down: a moment early is a miss, a moment late would be wrong.
        seconds = min(seconds, int((reading.until - timezone.now()).total_seconds()))
    if seconds > 0:
        # A transaction may take back what it made visible to itself, and its revision is then another's.
        transaction.on_commit(lambda: _keep(principal, key, reading.value, seconds))
    return reading.value


def _keep(principal: Principal, key: str, value: object, seconds: int) -> None:
    # Asked after it was stored: whichever comes later, the erasure or this, removes it.
    erased = valkey().set_and_get(key, (value,), seconds, _mark(must_act_for(principal)))
    if erased is not None and erased >= principal.rev:
        valkey().delete_prefix(key)


def cache_erase(user_id: UUID, rev: int) -> None:
    """Drop what is kept of a person, and what readers that began by ``rev`` store. Call it after the commit."""
    cache.set(_mark(user_id), rev, _LONGEST_READ_SECONDS)
    valkey().delete_prefix(f"memory:{user_id}")


_LONGEST_READ_SECONDS = 3_600
"""No request that began before an erasure is still reading so long after it."""


def _mark(user_id: UUID) -> str:
    return f"erased:{user_id}"


def _key(principal: Principal, family: Family, of: Sequence[object]) -> str:
    user_id = must_act_for(principal)
    seen = None if principal.categories is None else sorted(principal.categories)
    viewer = () if family is Family.CONTEXT else (principal.kind, principal.agent_id, principal.may_decide)
    depends = orjson.dumps([seen, categories.load().digest, principal.has_memory, principal.review, viewer, of])
    return f"memory:{user_id}:{principal.rev}:{family}:{hashlib.sha256(depends).hexdigest()[:32]}"
