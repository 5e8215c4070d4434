"""The Valkey cache. While the server can't be reached, reads miss and writes are dropped, without an error."""

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
from redis.exceptions import LockError, RedisError, ResponseError
from redis.lock import Lock

log = structlog.get_logger(__name__)
T = TypeVar("T")

ANNOUNCEMENTS = "keepsake:announcements"
"""The channel that streams and waiting requests subscribe to. A message is the key of what has changed."""


def changes_key(ledger_id: UUID) -> str:
    """Return the key to publish when a ledger has a new revision."""
    return f"keepsake:changes:{ledger_id}"


class SharedClient(RedisCacheClient):
    """Django's client, but with one ``Redis`` object a pool: creating one fills a table of 170 response callbacks."""

    _serializer: Any
    _get_connection_pool: Callable[[bool], ConnectionPool]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._clients: dict[ConnectionPool, Redis] = {}

    def get_client(self, key: Any = None, *, write: bool = False) -> Redis:
        """Return the ``Redis`` object of the pool; it is thread-safe."""
        pool = self._get_connection_pool(write)
        if pool not in self._clients:
            self._clients[pool] = super().get_client(key, write=write)
        return self._clients[pool]

    def set_and_get(self, key: str, value: Any, seconds: int, other: str) -> Any:
        """Store a value for ``seconds``, then read the key ``other``, in one round trip; None if it is not set."""
        steps = self.get_client(key, write=True).pipeline(transaction=False)
        steps.set(key, self._serializer.dumps(value), ex=seconds)
        steps.get(other)
        found = steps.execute()[1]
        return None if found is None else self._serializer.loads(found)


class ForgivingRedisCache(RedisCache):
    """Django's Redis cache, except that a server that can't be reached behaves like an empty cache."""

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
        """Store a value if the key is not set. Whether it was stored."""
        return self._forgive(lambda: super(ForgivingRedisCache, self).add(*args, **kwargs), otherwise=False)

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        """Return the value, or ``default``."""
        return self._forgive(lambda: super(ForgivingRedisCache, self).get(key, default, version), default)

    def set(self, *args: Any, **kwargs: Any) -> None:
        """Store a value."""
        self._forgive(lambda: super(ForgivingRedisCache, self).set(*args, **kwargs), None)

    def delete(self, *args: Any, **kwargs: Any) -> bool:
        """Delete a key. Whether it was set."""
        return self._forgive(lambda: super(ForgivingRedisCache, self).delete(*args, **kwargs), otherwise=False)

    def get_many(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the values of the keys that are set."""
        return self._forgive(lambda: super(ForgivingRedisCache, self).get_many(*args, **kwargs), {})

    def set_many(self, *args: Any, **kwargs: Any) -> list[str]:
        """Store values. Returns the keys that failed, which is always empty for Redis by Django's convention."""
        return self._forgive(lambda: super(ForgivingRedisCache, self).set_many(*args, **kwargs), [])

    # --- Commands beyond Django's cache interface, each one round trip ---------------------------------------------

    def set_and_get(self, key: str, value: Any, seconds: int, other: str) -> Any:
        """Store a value for ``seconds``, then return the value of the key ``other``; None if unset or unreachable."""
        client, keys = cast("SharedClient", self._cache), (self.make_key(key), self.make_key(other))
        return self._forgive(lambda: client.set_and_get(keys[0], value, seconds, keys[1]), None)

    def increment(self, key: str, seconds: int) -> int:
        """Increment a counter and return it. It expires ``seconds`` after the first increment. 0 if unreachable."""

        def incr() -> int:
            steps = self._server.pipeline(transaction=False)
            steps.incr(self.make_key(key))
            steps.expire(self.make_key(key), seconds, nx=True)
            return int(steps.execute()[0])

        return self._forgive(incr, 0)

    def decrement(self, key: str, seconds: int) -> None:
        """Decrement a counter. One that has expired starts again at -1 and expires after ``seconds``."""

        def count_down() -> None:
            steps = self._server.pipeline(transaction=False)
            steps.decr(self.make_key(key))
            steps.expire(self.make_key(key), seconds, nx=True)
            steps.execute()

        self._forgive(count_down, None)

    def rewrite_log(self) -> None:
        """Ask the server to write its log of writes anew, without what was deleted. It may keep none, or be at it."""

        def rewrite() -> None:
            with suppress(ResponseError):
                self._server.bgrewriteaof()

        self._forgive(rewrite, None)

    def delete_prefix(self, beginning: str) -> None:
        """Delete every key with this prefix."""

        def delete() -> None:
            for name in self._server.scan_iter(f"{self.make_key(beginning)}*", count=1_000):
                self._server.unlink(name)

        self._forgive(delete, None)

    def reset_count(self, key: str) -> None:
        """Delete a counter."""
        self.delete(key)

    def add_counts(self, key: str, counts: Mapping[str, int], seconds: int) -> None:
        """Add counts by name to the hash under a key, which expires ``seconds`` after the last addition."""

        def add() -> None:
            steps = self._server.pipeline(transaction=False)
            for name, count in counts.items():
                steps.hincrby(self.make_key(key), name, count)
            steps.expire(self.make_key(key), seconds)
            steps.execute()

        self._forgive(add, None)

    def sum_counts(self, keys: Iterable[str]) -> Counter[str]:
        """Return the counts by name, summed over the keys; empty if unreachable."""

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
        """Append a value to a queue for ``consume``. Whether it was stored."""
        return self._forgive(lambda: bool(self._server.rpush(self.make_key(key), value)), otherwise=False)

    def publish(self, keys: Iterable[str], lists: Mapping[str, Sequence[str]]) -> None:
        """Publish keys to subscribers, and append values to queues by name."""

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
        """Yield the first ``most`` values of a queue, and remove them if the block ends without an exception.

        Yields none while another consumer holds the queue's lock. The lock expires after ``seconds``; then another
        consumer gets the same values, and a consumer that lost its lock removes nothing.
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
    """Extend the lock. Whether it is still held."""
    try:
        return bool(lock.reacquire())
    except LockError:
        return False


def _release(lock: Lock) -> None:
    with suppress(LockError):  # It has expired, and another consumer may hold it.
        lock.release()


def valkey() -> ForgivingRedisCache:
    """Return the deployment's cache, with its commands beyond Django's interface."""
    cache = caches["default"]
    assert isinstance(cache, ForgivingRedisCache)
    return cache
