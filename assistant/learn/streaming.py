"""Updates as server-sent events: bounded in time and in number, holding no connection to the database meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson
from django.conf import settings
from django.db import connection
from redis.exceptions import RedisError
from rest_framework.renderers import BaseRenderer

from journal.exceptions import Unavailable

from .updates import Update

_streams = threading.BoundedSemaphore(settings.UPDATES_STREAMS)


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


class Stream:
    """The body of an answer that streams updates. Closing it, which the server always does, gives its place free.

    Raises Unavailable (503) when this process has as many streams as it may have.
    """

    def __init__(self, updates: Callable[[], Iterator[Update | None]]) -> None:
        if not _streams.acquire(blocking=False):
            raise Unavailable("Too many streams are open. Try again in a moment.")
        self._open = True
        self._events = _events(updates)

    def __iter__(self) -> Iterator[bytes]:
        return self._events

    def close(self) -> None:
        """End it."""
        if self._open:
            self._open = False
            self._events.close()
            _streams.release()


def _events(updates: Callable[[], Iterator[Update | None]]) -> Any:
    if not connection.in_atomic_block:
        connection.close()  # To the pool: nothing is asked of the database while the client listens.
    yield b": listening\n\n"
    try:
        for update in updates():
            yield b": nothing yet\n\n" if update is None else _event(update)
    except (RedisError, OSError):
        yield b": updates can't be told now\n\n"
    else:
        yield b": over, ask again after the last id\n\n"


def _event(update: Update) -> bytes:
    data = orjson.dumps(update.data)
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (update.id.encode(), update.event.encode(), data)
