"""Server-sent events: streams with limits on time and number, without a thread or database connection each.

Events are stored in Valkey and announced on a channel, to which one listener of each process subscribes.
"""

from __future__ import annotations

import asyncio
import re
import sys
import threading
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID, uuid4
from weakref import WeakKeyDictionary

from django.conf import settings
from redis import Redis
from redis.asyncio import BlockingConnectionPool
from redis.asyncio import Redis as AsyncRedis
from redis.exceptions import RedisError
from rest_framework.exceptions import ErrorDetail, Throttled
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from journal.cache import ANNOUNCEMENTS
from journal.exceptions import Refused, Unavailable

from .json import decoded, encoded

# A comment is sent after this time without an event, because proxies and clients close idle connections.
_SILENCE_SECONDS = 10
_CONNECTIONS = 4
_process = threading.BoundedSemaphore(settings.UPDATES_STREAMS_PER_PROCESS)
_KEPT = 100
_ID = re.compile(r"[0-9]{1,19}(-[0-9]{1,19})?")
FIRST_ID = "0"
"""The id before all stored events."""
LAST_ID = "9999999999999"
"""An id after all stored events: they begin with the milliseconds of their time."""


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """An event of a stream. Clients resume after its ``id``."""

    id: str
    event: str
    data: Mapping[str, Any]

    @property
    def sent(self) -> bytes:
        """The event encoded for ``text/event-stream``."""
        lines = (
            b"id: %b" % self.id.encode(),
            b"event: %b" % self.event.encode(),
            b"data: %b" % encoded(self.data),
        )
        return b"\n".join(lines) + b"\n\n"


class EventStreamRenderer(BaseRenderer):
    """Renders an error as an event ``error``, for clients that accept only event streams."""

    media_type = "text/event-stream"
    format = "events"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        """Encode the response as an event."""
        return b"event: error\ndata: " + encoded(data) + b"\n\n"


# In one step: two processes that count first and add then pass the limit together. The key outlasts its longest slot.
_TAKE_SLOT = """
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, ARGV[1])
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[4]) then return 0 end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[3])
if redis.call('TTL', KEYS[1]) < tonumber(ARGV[5]) then redis.call('EXPIRE', KEYS[1], ARGV[5]) end
return 1
"""


class TooManyStreams(Throttled):
    """429: the person has reached the limit of open streams, over all processes."""

    default_code = "too_many_streams"

    def __init__(self) -> None:
        super().__init__(settings.UPDATES_STREAM_SECONDS)
        most = settings.UPDATES_STREAMS_PER_PERSON
        self.detail = ErrorDetail(f"This person has {most} streams open. Close one first.", self.default_code)


class StreamSlot:
    """A slot for a long request on the event loop, limited per process and per person. ``close`` releases it.

    Raises TooManyStreams (429) at the person's limit, Unavailable (503) at the process's limit.

    It expires after ``seconds``. ``audience`` is a key under which the producer of events counts its listeners; with
    it, Unavailable (503) is also raised if Valkey can't be reached.
    """

    def __init__(self, user_id: UUID | None, *, seconds: float | None = None, audience: str = "") -> None:
        self._key, self._audience, self._id = f"keepsake:streams:{user_id}", audience, uuid4().hex
        if not _process.acquire(blocking=False):
            raise Unavailable("Too many streams are open. Try again in a moment.")
        self._open = True
        seconds = settings.UPDATES_STREAM_SECONDS if seconds is None else seconds
        try:
            taken = take_slot(self._key, self._id, seconds, settings.UPDATES_STREAMS_PER_PERSON)
            if taken and audience:
                take_slot(audience, self._id, seconds)
        except (RedisError, OSError) as error:
            # Without Valkey a stream has no events and ends at once, so it needs no count.
            if audience:
                self.close()
                raise Unavailable("What is said could not be told. Try again in a moment.") from error
            return
        if not taken:
            self.close()
            raise TooManyStreams

    def close(self) -> None:
        """Release the slot. Further calls do nothing."""
        if self._open:
            self._open = False
            _process.release()
            with suppress(RedisError, OSError):  # Then the slot expires later.
                for key in filter(None, (self._key, self._audience)):
                    valkey_client().zrem(key, self._id)


class Stream(StreamSlot):
    """The body of a response that streams events. The server always closes it, which releases its slot.

    ``events`` yields encoded events, and None for silence.
    """

    def __init__(
        self,
        user_id: UUID | None,
        events: Callable[[], AsyncIterator[bytes | None]],
        *,
        seconds: float | None = None,
        audience: str = "",
    ) -> None:
        self._events = events
        super().__init__(user_id, seconds=seconds, audience=audience)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._told()

    async def _told(self) -> AsyncIterator[bytes]:
        yield b": listening\n\n"
        try:
            async for each in self._events():
                yield b": nothing yet\n\n" if each is None else each
        except (RedisError, OSError):
            yield b": updates can't be told now\n\n"
        else:
            yield b": over, ask again after the last id\n\n"


def take_slot(key: str, place: str, seconds: float, most: int = sys.maxsize) -> bool:
    """Take a slot under a key, and return whether fewer than ``most`` were taken. One step for all processes.

    Slots expire, as a process may be killed. Taking one again prolongs it.
    """
    now = time.time()
    ends = now + seconds + _SILENCE_SECONDS
    return bool(valkey_client().eval(_TAKE_SLOT, 1, key, now, ends, place, most, round(ends - now) + 1))


def valkey_client() -> Redis:
    """Return this process's Valkey client for streams."""
    return _client(settings.REDIS_URL)


@cache
def _client(url: str) -> Redis:
    return Redis.from_url(url, socket_connect_timeout=0.25, socket_timeout=2)


class Listener:
    """Subscribes to the channel over one connection, while any stream waits for it.

    ``client`` reads the stored events, over a few connections that all streams share.
    """

    def __init__(self) -> None:
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None
        self._begun = asyncio.Event()
        self.client: AsyncRedis

    @asynccontextmanager
    async def subscribe(self, key: str) -> AsyncIterator[Callable[[float], Any]]:
        """Yield a function that waits for the key to be published, at most so many seconds. Whether it was.

        A message since the last wait counts. The function raises RedisError or OSError if the connection is lost;
        entering the block raises them if Valkey can't be reached.
        """
        woken = asyncio.Event()
        self._waiting[key].add(woken)
        try:
            if self._task is None or self._task.done():
                self._begun = asyncio.Event()
                pool = BlockingConnectionPool.from_url(
                    settings.REDIS_URL, max_connections=_CONNECTIONS, timeout=5, socket_connect_timeout=0.25
                )
                self.client = AsyncRedis.from_pool(pool)
                self._task = asyncio.create_task(self._listen(self.client, self._begun))
            await self._begun.wait()
            self._raise_if_gone()

            async def wait(seconds: float) -> bool:
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await woken.wait()
                self._raise_if_gone()
                was = woken.is_set()
                woken.clear()
                return was

            yield wait
        finally:
            self._waiting[key].discard(woken)
            if not self._waiting[key]:
                del self._waiting[key]
            if not self._waiting and self._task is not None:
                self._task.cancel()
                self._task = None

    def wake(self, key: str) -> None:
        """End the present waits for the key, as publishing it does."""
        for woken in self._waiting.get(key, ()):
            woken.set()

    async def _listen(self, client: AsyncRedis, begun: asyncio.Event) -> None:
        try:
            async with client, client.pubsub() as channel:
                await channel.subscribe(ANNOUNCEMENTS)
                async for message in channel.listen():
                    begun.set()
                    if asyncio.current_task() is not self._task:
                        return  # Its cancellation was lost: see end_tasks.
                    if message["type"] == "message":
                        self.wake(message["data"].decode())
        finally:
            begun.set()
            for waiting in self._waiting.values():
                for woken in waiting:
                    woken.set()

    def _raise_if_gone(self) -> None:
        if self._task is not None and self._task.done():
            raise self._task.exception() or ConnectionError("The listener has ended.")


_listeners: WeakKeyDictionary[asyncio.AbstractEventLoop, Listener] = WeakKeyDictionary()


def listener() -> Listener:
    """Return the listener of the running event loop; servers have one loop a process."""
    loop = asyncio.get_running_loop()
    if loop not in _listeners:
        _listeners[loop] = Listener()
    return _listeners[loop]


def wake(key: str) -> None:
    """Let those of this event loop who follow the key read anew, without Valkey."""
    listener().wake(key)


async def follow(
    key: str, read: Callable[[AsyncRedis], Any], seconds: float, silence: float = _SILENCE_SECONDS
) -> AsyncIterator[list[Any] | None]:
    """Yield ``read()`` now and whenever the key is published, for ``seconds``; None after ``silence`` seconds without.

    Raises RedisError or OSError if Valkey can't be reached.
    """
    ends = time.monotonic() + seconds
    heard = listener()
    async with heard.subscribe(key) as wait:
        yield await read(heard.client)
        while (left := ends - time.monotonic()) > 0:
            announced = await wait(min(left, silence))
            yield await read(heard.client) if announced else None


def read_event_id(request: Request) -> str:
    """Return the event id to resume after, from the parameter ``after`` or the header Last-Event-ID, or "".

    Raises Refused (400 ``bad_id``) for an invalid id.
    """
    after: str = request.query_params.get("after") or request.headers.get("Last-Event-ID") or ""
    if after and not _ID.fullmatch(after):
        raise Refused("after is the id of an update.", code="bad_id")
    return after


def publish_event(
    pipeline: Any, key: str, name: str, data: Mapping[str, Any], seconds: int, *, most: int = _KEPT
) -> Any:
    """Store an event under a key and publish the key, by a Valkey pipeline.

    The key expires after ``seconds`` and keeps the latest ``most`` events. Returns the result of ``execute()``, to be
    awaited if the client is asynchronous.
    """
    pipeline.xadd(key, {"event": name, "data": encoded(data)}, maxlen=most)
    pipeline.expire(key, seconds)
    pipeline.publish(ANNOUNCEMENTS, key)
    return pipeline.execute()


async def events_after(
    key: str, after: str, seconds: float, silence: float = _SILENCE_SECONDS
) -> AsyncGenerator[StreamEvent | None]:
    """Yield the events of a key after an id, as they are published, for ``seconds``; None after ``silence`` seconds.

    Raises RedisError or OSError if Valkey can't be reached.
    """
    last = after

    async def read(client: AsyncRedis) -> list[StreamEvent]:
        return await stored_events_after(client, key, last)

    async for found in follow(key, read, seconds, silence):
        for told in found or ():
            last = told.id
            yield told
        if not found:
            yield None


async def stored_events_after(client: AsyncRedis, key: str, after: str) -> list[StreamEvent]:
    """Return the stored events of a key after an id."""
    found: Any = await client.xrange(key, min=f"({after}")
    return [StreamEvent(entry.decode(), fields[b"event"].decode(), decoded(fields[b"data"])) for entry, fields in found]
