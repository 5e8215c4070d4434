"""A read-through cache in Valkey, keyed by the person's revision.

The revision comes with the principal, from the database. A reader after a write uses the next revision, so it can't get
what a slow reader stored under an old one. Old entries expire. Only an erasure deletes entries; slow readers that store
one after it delete it themselves.
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
    """Kinds of cached values. Pages live for ``MEMORY_PAGE_CACHE_SECONDS``, others for ``MEMORY_CACHE_SECONDS``.

    A context depends on the visible categories and the person's preferences only, so agents share it.
    """

    LIST = "list"
    TOPICS = "topics"
    OVERVIEW = "overview"
    PAGE = "page"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class CachedValue(Generic[T]):
    """A value, and the time until which it is valid without a write (None: unlimited)."""

    value: T
    until: datetime | None = None


def read_through(
    principal: Principal, family: Family, read: Callable[[], CachedValue[T]], *, of: Sequence[object] = ()
) -> T:
    """Return the cached value for the principal's revision, else call ``read`` and cache its value.

    ``of`` is everything else that the value depends on, as JSON. The value consists of plain types. While Valkey is
    down ``read`` is called every time. After a write in the same request, build the principal again to see it here.

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
        # Rounded down to seconds: expiring early is only a miss.
        seconds = min(seconds, int((reading.until - timezone.now()).total_seconds()))
    if seconds > 0:
        # The transaction may roll back, and its revision be used by another one.
        transaction.on_commit(lambda: _keep(principal, key, reading.value, seconds))
    return reading.value


def _keep(principal: Principal, key: str, value: object, seconds: int) -> None:
    # Checked after storing, so that either this check or the erasure deletes it.
    erased = valkey().set_and_get(key, (value,), seconds, _mark(must_act_for(principal)))
    if erased is not None and erased >= principal.rev:
        valkey().delete_prefix(key)


def cache_erase(user_id: UUID, rev: int) -> None:
    """Delete a person's entries, also those stored later by readers of revisions up to ``rev``. Call after commit."""
    cache.set(_mark(user_id), rev, _LONGEST_READ_SECONDS)
    valkey().delete_prefix(f"memory:{user_id}")
    valkey().rewrite_log()


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
