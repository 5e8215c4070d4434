"""The cache. When Valkey is away, reads miss and writes are dropped, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import structlog
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)
T = TypeVar("T")


class ForgivingRedisCache(RedisCache):
    """Django's Redis cache, except that a server that can't be reached is an empty one."""

    def _forgive(self, call: Callable[[], T], otherwise: T) -> T:
        try:
            return call()
        except (RedisError, OSError) as error:
            log.warning("cache_away", error=type(error).__name__)
            return otherwise

    def add(self, *args: Any, **kwargs: Any) -> Any:
        """True when the value was stored; a missing server stores nothing."""
        return self._forgive(lambda: super(ForgivingRedisCache, self).add(*args, **kwargs), otherwise=False)

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        """The value, or ``default``."""
        return self._forgive(lambda: super(ForgivingRedisCache, self).get(key, default, version), default)

    def set(self, *args: Any, **kwargs: Any) -> None:
        """Store a value if the server is there."""
        self._forgive(lambda: super(ForgivingRedisCache, self).set(*args, **kwargs), None)

    def delete(self, *args: Any, **kwargs: Any) -> bool:
        """Whether something was deleted."""
        return self._forgive(lambda: super(ForgivingRedisCache, self).delete(*args, **kwargs), otherwise=False)

    def get_many(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The values that are there."""
        return self._forgive(lambda: super(ForgivingRedisCache, self).get_many(*args, **kwargs), {})

    def set_many(self, *args: Any, **kwargs: Any) -> list[str]:
        """Store values if the server is there; returns keys that failed, none by Django's convention for Redis."""
        return self._forgive(lambda: super(ForgivingRedisCache, self).set_many(*args, **kwargs), [])
