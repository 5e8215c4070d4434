"""Server-sent events: streams that are bounded in time and in number, and hold neither a thread nor a connection each.

What is to be told is announced over Valkey; one listener in each process hears it for all streams of that process.
"""

from __future__ import annotations

import asyncio
import re
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

import orjson
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

# Proxies and clients take a connection over which nothing comes for a dead one.
_SILENCE_SECONDS = 10
_CONNECTIONS = 4
_process = threading.BoundedSemaphore(settings.UPDATES_STREAMS_PER_PROCESS)
_KEPT = 100
_ID = re.compile(r"\d{1,19}(-\d{1,19})?")
FIRST_ID = "0"
"""The id before all others that are still kept."""


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """Something that was told under a key. ``id`` is what to ask with for what comes after it."""

    id: str
    event: str
    data: Mapping[str, Any]

    @property
    def sent(self) -> bytes:
        """The event as it is sent."""
        lines = (
            b"id: %b" % self.id.encode(),
            b"event: %b" % self.event.encode(),
            b"data: %b" % orjson.dumps(self.data),
        )
        return b"\n".join(lines) + b"\n\n"


class EventStreamRenderer(BaseRenderer):
    """What a client that takes nothing but events is answered instead of a stream: one event ``error``."""

    media_type = "text/event-stream"
    format = "events"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        """The answer as an event."""
        return b"event: error\ndata: " + orjson.dumps(data) + b"\n\n"


class TooManyStreams(Throttled):
    """429: the person has as many streams as one person may have, in all processes together."""

    default_code = "too_many_streams"

    def __init__(self) -> None:
        super().__init__(settings.UPDATES_STREAM_SECONDS)
        most = settings.UPDATES_STREAMS_PER_PERSON
        self.detail = ErrorDetail(f"This person has {most} streams open. Close one first.", self.default_code)


class StreamSlot:
    """The place of something that waits for long on the event loop: so many in a process, so many of one person.

    Raises TooManyStreams (429) when the person has as many as they may have, Unavailable (503) when this process has.

    It lasts ``seconds`` at most. ``audience`` is the key under which whoever makes the events counts who follows them;
    then there is no place (503) while Valkey is away.
    """

    def __init__(self, user_id: UUID | None, *, seconds: float | None = None, audience: str = "") -> None:
        self._key, self._audience, self._id = f"keepsake:streams:{user_id}", audience, uuid4().hex
        if not _process.acquire(blocking=False):
            raise Unavailable("Too many streams are open. Try again in a moment.")
        self._open = True
        seconds = settings.UPDATES_STREAM_SECONDS if seconds is None else seconds
        try:
            rank = take_slot(self._key, self._id, seconds)
            if rank < settings.UPDATES_STREAMS_PER_PERSON and audience:
                take_slot(audience, self._id, seconds)
        except (RedisError, OSError) as error:
            # Such a stream has nothing to tell and ends at once, so there is nothing to count.
            if audience:
                self.close()
                raise Unavailable("What is said could not be told. Try again in a moment.") from error
            return
        if rank >= settings.UPDATES_STREAMS_PER_PERSON:
            self.close()
            raise TooManyStreams

    def close(self) -> None:
        """Give the place free, once."""
        if self._open:
            self._open = False
            _process.release()
            with suppress(RedisError, OSError):  # Then it is taken for some seconds more.
                for key in filter(None, (self._key, self._audience)):
                    valkey_client().zrem(key, self._id)


class Stream(StreamSlot):
    """The body of an answer that streams events. Closing it, which the server always does, gives its place free.

    ``events`` yields events made by ``event``, and None where there is nothing yet.
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


def take_slot(key: str, place: str, seconds: float) -> int:
    """Take a place, and return how many are taken before it. Places end by themselves: a process may be killed."""
    now = time.time()
    ends = now + seconds + _SILENCE_SECONDS
    steps = valkey_client().pipeline()
    steps.zremrangebyscore(key, 0, now)
    steps.zadd(key, {place: ends})
    steps.zrank(key, place)
    steps.expire(key, round(ends - now) + 1)
    return int(steps.execute()[2] or 0)


def valkey_client() -> Redis:
    """The client of this process for streams and what they tell."""
    return _client(settings.REDIS_URL)


@cache
def _client(url: str) -> Redis:
    return Redis.from_url(url, socket_connect_timeout=0.25, socket_timeout=2)


class Listener:
    """Hears announcements over one connection, for as long as a stream waits for one.

    ``client`` reads what was announced, over a few connections that all streams share.
    """

    def __init__(self) -> None:
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None
        self._begun = asyncio.Event()
        self.client: AsyncRedis

    @asynccontextmanager
    async def subscribe(self, key: str) -> AsyncIterator[Callable[[float], Any]]:
        """Yield a function that waits until the key is announced, or so many seconds.

        It says whether the key was; an announcement since the last wait counts. It raises RedisError or OSError when
        Valkey goes, as entering does when it is away.
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

    async def _listen(self, client: AsyncRedis, begun: asyncio.Event) -> None:
        try:
            async with client, client.pubsub() as channel:
                await channel.subscribe(ANNOUNCEMENTS)
                async for message in channel.listen():
                    begun.set()
                    if asyncio.current_task() is not self._task:
                        return  # Its end was lost: see end_tasks.
                    if message["type"] == "message":
                        for woken in self._waiting.get(message["data"].decode(), ()):
                            woken.set()
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
    """The listener of this process, or in tests of the event loop that runs."""
    loop = asyncio.get_running_loop()
    if loop not in _listeners:
        _listeners[loop] = Listener()
    return _listeners[loop]


async def follow(
    key: str, read: Callable[[AsyncRedis], Any], seconds: float, silence: float = _SILENCE_SECONDS
) -> AsyncIterator[list[Any] | None]:
    """What ``read`` finds now, and again whenever the key is announced, for so long; None after so much silence.

    Raises RedisError or OSError when Valkey is away, or goes.
    """
    ends = time.monotonic() + seconds
    heard = listener()
    async with heard.subscribe(key) as wait:
        yield await read(heard.client)
        while (left := ends - time.monotonic()) > 0:
            announced = await wait(min(left, silence))
            yield await read(heard.client) if announced else None


def read_event_id(request: Request) -> str:
    """The id after which a client wants to follow, by ``after`` or as browsers send it; empty without one.

    Raises Refused (400 ``bad_id``) for what is none.
    """
    after: str = request.query_params.get("after") or request.headers.get("Last-Event-ID") or ""
    if after and not _ID.fullmatch(after):
        raise Refused("after is the id of an update.", code="bad_id")
    return after


def publish_event(
    pipeline: Any, key: str, name: str, data: Mapping[str, Any], seconds: int, *, most: int = _KEPT
) -> Any:
    """Put into a pipeline of Valkey's what tells an event under a key; it is kept for so long, of ``most`` events.

    Returns what executes the pipeline, to be awaited where its client is asynchronous.
    """
    pipeline.xadd(key, {"event": name, "data": orjson.dumps(data)}, maxlen=most)
    pipeline.expire(key, seconds)
    pipeline.publish(ANNOUNCEMENTS, key)
    return pipeline.execute()


async def events_after(
    key: str, after: str, seconds: float, silence: float = _SILENCE_SECONDS
) -> AsyncGenerator[StreamEvent | None]:
    """What is told under a key after an event, as it happens, for so long; None after so much silence.

    Raises RedisError or OSError when Valkey is away, or goes.
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
    """What was told under a key after an event and is still kept."""
    found: Any = await client.xrange(key, min=f"({after}")
    return [
        StreamEvent(entry.decode(), fields[b"event"].decode(), orjson.loads(fields[b"data"])) for entry, fields in found
    ]
