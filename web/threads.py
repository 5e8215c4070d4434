"""Short hops from the event loop to threads, where the database is: whoever waits on the loop holds no connection.

A view may also check a request like any other and then hand it over to an application of its own on the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from django.conf import settings
from django.db import connections
from django.http.response import HttpResponseBase

T = TypeVar("T")
_AGAIN_SECONDS = 0.2
_threads = ThreadPoolExecutor(settings.REPLY_THREADS, "hop")


async def in_thread(function: Callable[[], T]) -> T:
    """What the function returns, run on a thread in that thread's own context; its connections are given back."""
    return await asyncio.get_running_loop().run_in_executor(_threads, closing_connections, function)


def closing_connections(function: Callable[[], T]) -> T:
    """What the function returns; the thread's connections are given back."""
    try:
        return function()
    finally:
        connections.close_all()


async def end_tasks(*tasks: asyncio.Future[Any]) -> list[Any]:
    """Cancel tasks until they have ended, and return what each came to, an exception where that was it.

    Once is not enough: before Python 3.12 ``asyncio.wait_for``, which redis-py sends with, loses a cancellation that
    comes when what it waits for has just ended (bpo-37658).
    """
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=_AGAIN_SECONDS)
    return await asyncio.gather(*tasks, return_exceptions=True)


Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]


class ThreadRunner(Protocol):
    """Runs a function on a thread, where the database is, and gives the thread's connections back."""

    async def __call__(self, function: Callable[[], T]) -> T:
        """What the function returns."""


AsgiHandler = Callable[[Scope, Receive, Send, ThreadRunner], Awaitable[None]]


class AsgiResponse(HttpResponseBase):
    """What a view answers that has checked a request and leaves the answer to an ASGI application.

    The application gets the body, which was read, in one piece. The headers that middleware sets on this go with its
    answer. ``done`` is called when it was answered, or never will be.
    """

    streaming = True

    def __init__(self, answer: AsgiHandler, body: bytes, done: Callable[[], None] | None = None) -> None:
        super().__init__()
        self._answer, self._body, self._done = answer, body, done

    def close(self) -> None:
        """Give free what was held for the answer."""
        super().close()
        if self._done is not None:
            self._done()

    async def serve(self, scope: Scope, receive: Receive, send: Send, hop: ThreadRunner) -> None:
        """Have the request answered."""
        told = False

        async def replay() -> Any:
            nonlocal told
            if told:
                return await receive()
            told = True
            return {"type": "http.request", "body": self._body, "more_body": False}

        async def send_with_headers(message: Mapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                sent = {name.lower() for name, _ in message["headers"]}
                ours = [(name.lower().encode(), value.encode()) for name, value in self.items()]
                more = [(name, value) for name, value in ours if name not in sent and name != b"content-type"]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        await self._answer(scope, replay, send_with_headers, hop)
