"""Runs database work of the event loop in threads, so that a waiting request holds no connection.

``AsgiResponse`` lets a view check a request as usual, and then hand it over to an ASGI application.
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
    """Run the function in a thread, in the thread's own context, and close its database connections afterwards."""
    return await asyncio.get_running_loop().run_in_executor(_threads, closing_connections, function)


def closing_connections(function: Callable[[], T]) -> T:
    """Call the function, and close the thread's database connections afterwards."""
    try:
        return function()
    finally:
        connections.close_all()


async def end_tasks(*tasks: asyncio.Future[Any]) -> list[Any]:
    """Cancel tasks until they have ended, and return their results or exceptions.

    It cancels repeatedly: before Python 3.12 ``asyncio.wait_for``, which redis-py uses, loses a cancellation that
    arrives when the awaited operation has just ended (bpo-37658).
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
    """Runs a function in a thread, and closes its database connections afterwards."""

    async def __call__(self, function: Callable[[], T]) -> T:
        """Return the function's result."""


AsgiHandler = Callable[[Scope, Receive, Send, ThreadRunner], Awaitable[None]]


class AsgiResponse(HttpResponseBase):
    """The response of a view that leaves the answer to an ASGI application.

    The application gets the already read body in one message. Headers that middleware sets on this response are added
    to the application's. ``done`` is called when the response is closed.
    """

    streaming = True

    def __init__(self, answer: AsgiHandler, body: bytes, done: Callable[[], None] | None = None) -> None:
        super().__init__()
        self._answer, self._body, self._done = answer, body, done

    def close(self) -> None:
        """Call ``done``, which releases the resources of the response."""
        super().close()
        if self._done is not None:
            self._done()

    async def serve(self, scope: Scope, receive: Receive, send: Send, hop: ThreadRunner) -> None:
        """Run the ASGI application."""
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
