"""The ASGI handler: bodies and streams on the event loop, views on a small thread pool.

A request takes a thread and a database connection only when its body is complete, and releases both before its answer
is sent. So a slow client costs a buffer, and a stream costs a coroutine. Threads per caller are limited, so a caller
with a hundred requests makes nobody else wait.
"""

from __future__ import annotations

import asyncio
import codecs
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from io import BytesIO
from typing import Any, TypeVar

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core import signals
from django.core.handlers.asgi import ASGIHandler, ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve, set_script_prefix
from django.utils.http import parse_header_parameters
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from accounts.authentication import AgentKeyAuthentication, PersonSessionAuthentication, claimed_by
from journal.exceptions import Refused
from web.errors import is_outage
from web.threads import AsgiResponse, closing_connections, end_tasks
from web.throttling import address_of

from . import health
from .errors import bad_charset, too_large, too_slow
from .middleware import takes_uploads

T = TypeVar("T")
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]
_IN_MEMORY_BYTES = 65_536
_END = object()
_CHARSETS = frozenset({"utf-8", "ascii", "iso8859-1", "cp1252"})


class TooLarge(Exception):
    """The body has more than the ``most`` bytes that its URL accepts."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.most = most


class Application(ASGIHandler):
    """Django's ASGI handler with views and middleware on a fixed thread pool.

    Django's own handler starts a thread per request and switches between it and the loop for each middleware.
    """

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        self._threads = ThreadPoolExecutor(settings.WEB_THREADS, "request")
        self._probes = ThreadPoolExecutor(1, "probe")
        self._caller_limits = CallerLimits(settings.WEB_THREADS_PER_CALLER)
        # A caller is an unverified claim, so each address is limited, too.
        self._address_limits = CallerLimits(max(1, settings.WEB_THREADS - settings.WEB_THREADS_PER_CALLER))
        self._upload_limits = CallerLimits(settings.UPLOADS_PER_CALLER)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close"})  # Before accepting, so the server answers 403.
            return
        if scope["type"] != "http":
            raise ValueError(f"Keepsake speaks HTTP only, not {scope['type']}.")
        if not _is_readable(_header(scope, b"content-type")):
            await self._send(bad_charset(_without_body(scope)), receive, send)
            return
        if (path := _without_body(scope).path_info) == "/health/live":
            await self._send(health.live(_without_body(scope)), receive, send)
            return
        if path == "/health/ready":
            probe = asyncio.get_running_loop().run_in_executor(self._probes, self._call_view, scope, BytesIO())
            await self._send(await probe, receive, send)
            return
        with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES) as body:
            try:
                async with asyncio.timeout(settings.REQUEST_SECONDS) as limit:
                    await self._read(scope, receive, body, limit)
            except TooLarge as error:
                response: HttpResponseBase = too_large(_without_body(scope), error.most)
            except TimeoutError:
                response = too_slow(_without_body(scope))
            else:
                scope = _with_length(scope, body.tell())
                body.seek(0)
                caller = _caller(scope)
                async with self._slot(caller):
                    response = await self._run_view(scope, body)
                if isinstance(response, AsgiResponse):
                    await self._hand_over(response, caller, scope, receive, send)
                    return
            await self._send(response, receive, send)

    async def _read(self, scope: Message, receive: Receive, body: Any, limit: asyncio.Timeout) -> None:
        """Read the request's body into ``body``.

        A body over ``MAX_BODY_BYTES`` is read only from an authenticated caller of a view with uploads; otherwise it is
        skipped, and the view rejects the request. An upload has a longer timeout, and uploads per caller are limited.
        Raises TooLarge, TimeoutError.
        """
        most, declared = settings.MAX_BODY_BYTES, int(_header(scope, b"content-length") or 0)
        if declared <= most and not (_header(scope, b"transfer-encoding") and _takes_files(scope)):
            await self._copy_body(receive, body, most)
            return
        limit.reschedule(asyncio.get_running_loop().time() + settings.UPLOAD_SECONDS)
        caller = _caller(scope)
        async with self._slot(caller):
            may_upload = await self._in_thread(_may_upload, scope)
        if not may_upload:
            return
        most += settings.IMPORT_MAX_BYTES
        if declared > most:
            return  # BodyLimit answers 413.
        async with self._upload_limits.slot(caller[:2]):  # The key or session is verified by now.
            await self._copy_body(receive, body, most)

    async def _copy_body(self, receive: Receive, body: Any, most: int) -> None:
        """Copy the body. Raises TooLarge, and TimeoutError where it stalls.

        gunicorn reports a body that stalled for its ``timeout`` like a client that left, and answers 500 if nothing
        else does. Both get a 408, which nobody reads if the client left.
        """
        read = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise TimeoutError
            part = message.get("body", b"")
            read += len(part)
            if read > most:
                raise TooLarge(most)
            body.write(part)
            if not message.get("more_body"):
                return

    @asynccontextmanager
    async def _slot(self, caller: tuple[str, str, str]) -> AsyncIterator[None]:
        """Hold a slot of the caller and one of its address."""
        async with self._caller_limits.slot(caller), self._address_limits.slot(caller[0]):
            yield

    async def _in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        loop = asyncio.get_running_loop()
        # Runs in the thread's own context, where Django keeps its connections to the cache.
        return await loop.run_in_executor(self._threads, function, *arguments)

    async def _run_view(self, scope: Message, body: Any) -> HttpResponseBase:
        """Run the view in a thread and return its response.

        A thread can't be cancelled: if the client disconnects, its slot and the body are kept until the thread ends.
        """
        working = asyncio.ensure_future(self._in_thread(self._call_view, scope, body))
        try:
            return await asyncio.shield(working)
        except asyncio.CancelledError:
            (done,), _ = await asyncio.wait((working,))
            if done.exception() is None:
                await self._in_thread(done.result().close)
            raise

    def _call_view(self, scope: Message, body: Any) -> HttpResponseBase:
        """Run middleware and view. The database connection is released before the response is sent."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        request, error = self.create_request(scope, body)
        response = error if request is None else self.get_response(request)
        assert response is not None
        response._handler_class = self.__class__  # type: ignore[attr-defined]
        if isinstance(response, FileResponse):
            response.block_size = self.chunk_size
        if response.streaming:
            signals.request_finished.send(sender=self.__class__)
        else:
            response.close()
        return response

    async def _hand_over(
        self, response: AsgiResponse, caller: tuple[str, str, str], scope: Message, receive: Receive, send: Send
    ) -> None:
        """Let another ASGI application answer. Each of its database calls takes a slot of the caller."""

        async def hop(function: Callable[[], T]) -> T:
            async with self._slot(caller):
                return await self._in_thread(closing_connections, function)

        try:
            await response.serve(scope, receive, send, hop)
        finally:
            await self._in_thread(response.close)

    async def _send(self, response: HttpResponseBase, receive: Receive, send: Send) -> None:
        if not isinstance(response, StreamingHttpResponse):
            await self.send_response(response, send)
            return
        if not response.is_async:
            response.streaming_content = self._file_parts(iter(response))
        sending = asyncio.ensure_future(self.send_response(response, send))
        leaving = asyncio.ensure_future(self.listen_for_disconnect(receive))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended = await end_tasks(sending, leaving)
            await self._in_thread(response.close)
        if isinstance(ended[0], Exception):
            raise ended[0]

    async def _file_parts(self, parts: Iterator[bytes]) -> AsyncIterator[bytes]:
        """Yield the parts of a file, each read in a thread."""
        while (part := await self._in_thread(next, parts, _END)) is not _END:
            yield part


class CallerLimits:
    """Limits the concurrent requests of each caller; further ones wait."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._semaphores: dict[object, asyncio.Semaphore] = {}
        self._in_use: Counter[object] = Counter()

    @asynccontextmanager
    async def slot(self, caller: object) -> AsyncIterator[None]:
        """Wait for a slot and hold it until the block ends."""
        semaphore = self._semaphores.setdefault(caller, asyncio.Semaphore(self._most))
        self._in_use[caller] += 1
        try:
            async with semaphore:
                yield
        finally:
            self._in_use[caller] -= 1
            if not self._in_use[caller]:
                del self._in_use[caller], self._semaphores[caller]


def _header(scope: Message, name: bytes) -> bytes:
    for each, value in scope["headers"]:
        if each == name:
            return bytes(value)
    return b""


def _is_readable(content_type: bytes) -> bool:
    """Whether a Content-Type names no charset, or one that decodes to texts which can be stored.

    Django decodes query string and form by any codec that Python has. Some fail, and some make half surrogate pairs.
    """
    try:
        charset = parse_header_parameters(content_type.decode("latin-1"))[1].get("charset", "utf-8")
        return codecs.lookup(charset).name in _CHARSETS
    except (LookupError, ValueError):
        return False


def _with_length(scope: Message, length: int) -> Message:
    """Return the scope with a Content-Length, which views rely on, also for a chunked body."""
    if _header(scope, b"content-length"):
        return scope
    return {**scope, "headers": [*scope["headers"], (b"content-length", str(length).encode())]}


def _caller(scope: Message) -> tuple[str, str, str]:
    """Identify the caller before authentication: address, key or session, and the person the key acts for.

    The last two are unverified claims, so each address has a limit, too.
    """
    request = _without_body(scope)
    claims = claimed_by(request) if request.path_info.startswith(("/api/", "/mcp")) else ("", "")
    if not claims[0]:
        claims = request.COOKIES.get(settings.SESSION_COOKIE_NAME, ""), ""
    return address_of(request), *claims


def _without_body(scope: Message) -> ASGIRequest:
    """Return the request without its body and query string."""
    headers = [each for each in scope["headers"] if each[0] not in {b"content-length", b"content-type"}]
    return ASGIRequest({**scope, "headers": headers, "query_string": b""}, BytesIO())


def _takes_files(scope: Message) -> bool:
    try:
        return takes_uploads(resolve(_without_body(scope).path_info).func)
    except Resolver404:
        return False


def _may_upload(scope: Message) -> bool:
    """Whether the view accepts uploads and the caller is authenticated: only then is a large body read.

    False while the database is unavailable; the view reports it. Runs in a copied context, so that the thread does not
    keep the caller's scope.
    """
    return _takes_files(scope) and copy_context().run(_is_authenticated, scope)


def _is_authenticated(scope: Message) -> bool:
    request = _without_body(scope)
    signals.request_started.send(sender=Application, scope=scope)
    try:
        SessionMiddleware(_empty_response).process_request(request)
        AuthenticationMiddleware(_empty_response).process_request(request)
        if not request.path_info.startswith("/api/"):
            return request.user.is_authenticated
        ways = (AgentKeyAuthentication(), PersonSessionAuthentication())
        return any(way.authenticate(Request(request)) is not None for way in ways)
    except (APIException, Refused):
        return False
    except Exception as error:
        if not is_outage(error):
            raise
        return False
    finally:
        signals.request_finished.send(sender=Application)


def _empty_response(_: Any) -> HttpResponse:
    return HttpResponse()
