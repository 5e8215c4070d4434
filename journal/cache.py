"""The cache. When Valkey is away, reads miss and writes are dropped, and nothing else changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any, TypeVar, cast
from uuid import UUID

import structlog
from django.core.cache import caches
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis import ConnectionPool, Redis
from redis.exceptions import LockError, RedisError
from redis.lock import Lock

log = structlog.get_logger(__name__)
T = TypeVar("T")

ANNOUNCEMENTS = "keepsake:announcements"
"""The channel over which streams and waiting requests hear. What is announced is the key of something that changed."""


def changes_key(ledger_id: UUID) -> str:
    """What is announced when somebody's ledger has taken a revision."""
    return f"keepsake:changes:{ledger_id}"


class SharedClient(RedisCacheClient):
    """Django's client, except that what calls a server is made once: making it fills a table of 170 answers."""

    _serializer: Any
    _get_connection_pool: Callable[[bool], ConnectionPool]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._clients: dict[ConnectionPool, Redis] = {}

    def get_client(self, key: Any = None, *, write: bool = False) -> Redis:
        """What calls a server, from any thread."""
        pool = self._get_connection_pool(write)
        if pool not in self._clients:
            self._clients[pool] = super().get_client(key, write=write)
        return self._clients[pool]

    def set_and_get(self, key: str, value: Any, seconds: int, other: str) -> Any:
        """Store a value for so long, and return what stands under another key then, or None, in one round trip."""
        steps = self.get_client(key, write=True).pipeline(transaction=False)
        steps.set(key, self._serializer.dumps(value), ex=seconds)
        steps.get(other)
        found = steps.execute()[1]
        return None if found is None else self._serializer.loads(found)


class ForgivingRedisCache(RedisCache):
    """Django's Redis cache, except that a server that can't be reached is an empty one."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = SharedClient

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

    # --- What the server does in one round trip, and Django's interface has no word for ----------------------------

    def set_and_get(self, key: str, value: Any, seconds: int, other: str) -> Any:
        """Store a value for so long, and return what stands under another key once it is stored; None when away."""

        client, keys = cast("SharedClient", self._cache), (self.make_key(key), self.make_key(other))
        return self._forgive(lambda: client.set_and_get(keys[0], value, seconds, keys[1]), None)

    def increment(self, key: str, seconds: int) -> int:
        """Count up and return how many there are since the first; it is forgotten so long after that. 0 when away."""

        def incr() -> int:
            steps = self._server.pipeline(transaction=False)
            steps.incr(self.make_key(key))
            steps.expire(self.make_key(key), seconds, nx=True)
            return int(steps.execute()[0])

        return self._forgive(incr, 0)

    def decrement(self, key: str, seconds: int) -> None:
        """Take back what was counted once; a count that was forgotten meanwhile is again, so long after this."""

        def count_down() -> None:
            steps = self._server.pipeline(transaction=False)
            steps.decr(self.make_key(key))
            steps.expire(self.make_key(key), seconds, nx=True)
            steps.execute()

        self._forgive(count_down, None)

    def delete_prefix(self, beginning: str) -> None:
        """Delete every value whose key begins so."""

        def delete() -> None:
            for name in self._server.scan_iter(f"{self.make_key(beginning)}*", count=1_000):
                self._server.unlink(name)

        self._forgive(delete, None)

    def reset_count(self, key: str) -> None:
        """Forget a count."""
        self.delete(key)

    def add_counts(self, key: str, counts: Mapping[str, int], seconds: int) -> None:
        """Add counts by name to those under a key, which is forgotten so long after the last were added."""

        def add() -> None:
            steps = self._server.pipeline(transaction=False)
            for name, count in counts.items():
                steps.hincrby(self.make_key(key), name, count)
            steps.expire(self.make_key(key), seconds)
            steps.execute()

        self._forgive(add, None)

    def sum_counts(self, keys: Iterable[str]) -> Counter[str]:
        """The counts under all of the keys together; none when away."""

        def read() -> Counter[str]:
            steps = self._server.pipeline(transaction=False)
            for key in keys:
                steps.hgetall(self.make_key(key))
            found: Counter[str] = Counter()
            for counts in steps.execute():
                found.update({name.decode(): int(count) for name, count in counts.items()})
            return found

        return self._forgive(read, Counter())

    def push(self, key: str, value: str) -> bool:
        """Append to a list that waits to be worked on; whether it is there."""
        return self._forgive(lambda: bool(self._server.rpush(self.make_key(key), value)), otherwise=False)

    def publish(self, keys: Iterable[str], lists: Mapping[str, Sequence[str]]) -> None:
        """Wake those who wait for one of the keys, and append to lists that wait to be worked on.

        Nobody is woken and nothing is appended while the server is away.
        """

        def publish() -> None:
            steps = self._server.pipeline(transaction=False)
            for key in keys:
                steps.publish(ANNOUNCEMENTS, key)
            for name, values in lists.items():
                if values:
                    steps.rpush(self.make_key(name), *values)
            steps.execute()

        self._forgive(publish, None)

    @contextmanager
    def consume(self, key: str, most: int, *, seconds: int) -> Iterator[list[str]]:
        """The first of such a list, which leave it once they were worked on; none while somebody else does that.

        Whoever has not finished after ``seconds`` is taken to be gone, and another begins again with the same ones; if
        they finish after all, they leave the list to that one.
        """
        name = self.make_key(key)
        lock = self._server.lock(f"{name}:taken", timeout=seconds, blocking=False)
        if not self._forgive(lock.acquire, otherwise=False):
            yield []
            return
        values: list[Any] = self._forgive(lambda: list(self._server.lrange(name, 0, most - 1)), [])
        try:
            yield [value.decode() for value in values]
            if self._forgive(lambda: _reacquire(lock), otherwise=False):
                self._forgive(lambda: self._server.ltrim(name, len(values), -1), None)
        finally:
            self._forgive(lambda: _release(lock), None)

    @cached_property
    def _server(self) -> Redis:
        server: Redis = self._cache.get_client(None, write=True)
        return server


def _reacquire(lock: Lock) -> bool:
    """Whether nobody else has the lock by now; if so, its time begins anew."""
    try:
        return bool(lock.reacquire())
    except LockError:
        return False


def _release(lock: Lock) -> None:
    with suppress(LockError):  # It is somebody else's by now.
        lock.release()


def valkey() -> ForgivingRedisCache:
    """The deployment's cache, with what it can do beyond Django's interface."""
    cache = caches["default"]
    assert isinstance(cache, ForgivingRedisCache)
    return cache
