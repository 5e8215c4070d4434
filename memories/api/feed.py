"""REST API of the change feed: immediate, waiting, or as a stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, suppress
from functools import partial
from typing import Any

from django.conf import settings
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from redis.exceptions import RedisError
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import PrincipalFactory, principal_factory, principal_of
from accounts.policy import must_act_for, must_read
from accounts.principals import Principal
from accounts.scope import acting_as
from journal.exceptions import Refused
from journal.models import Change
from web.errors import answer_error
from web.json import OrjsonRenderer, validated
from web.streaming import EventStreamRenderer, Stream, StreamSlot
from web.threads import AsgiResponse, Receive, Scope, Send, ThreadRunner, end_tasks

from ..feed import changes_after, follow_changes
from ..serializers import FeedChangeSerializer, FeedQuerySerializer, FeedSerializer

_Reading = Callable[[Principal], dict[str, Any]]
_NO_CACHE = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class Changes(APIView):
    """The change feed, for clients that keep a copy."""

    renderer_classes = [*APIView.renderer_classes, EventStreamRenderer]

    @extend_schema(
        parameters=[
            FeedQuerySerializer,
            OpenApiParameter("format", str, enum=["events"], description="The same as `Accept: text/event-stream`."),
            OpenApiParameter(
                "Last-Event-ID", str, OpenApiParameter.HEADER, description="`after`, as browsers send it."
            ),
        ],
        responses={(200, "application/json"): FeedSerializer, (200, "text/event-stream"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """List the changes after a revision, in order, without text.

        Continue after `next_after`. Archived, rejected and purged memories must be deleted from the copy. With `wait`
        the call returns at the next change. With `Accept: text/event-stream` changes arrive as server-sent events
        `change`, with the revision as id, for five minutes; then reconnect.
        """
        query = validated(
            FeedQuerySerializer(data={name: each for name, each in request.query_params.items() if name != "format"})
        )
        principal = principal_of(request)
        if request.accepted_renderer.format == EventStreamRenderer.format:
            return _stream(request, principal, max(query["after"], _last_event(request)))
        read = partial(_read, after=query["after"], limit=query["per_page"])
        feed = read(principal)
        if feed["results"] or not query["wait"]:
            return Response(feed)
        return _wait(request, principal, feed["next_after"], query["wait"], read)


def _read(principal: Principal, *, after: int, limit: int) -> dict[str, Any]:
    changes, next_after = changes_after(principal, after, limit)
    return {"results": _shown(principal, changes), "next_after": next_after}


def _shown(principal: Principal, changes: list[Change]) -> list[dict[str, Any]]:
    return list(FeedChangeSerializer(changes, many=True, context={"principal": principal}).data)


# --- Waiting --------------------------------------------------------------------------------------------------------


def _wait(request: Request, principal: Principal, after: int, seconds: int, read: _Reading) -> AsgiResponse:
    """Return, on the event loop, at the next change or after the timeout."""
    user_id, again = must_act_for(principal), principal_factory(request)
    place = StreamSlot(user_id, seconds=seconds)

    def finish() -> tuple[int, dict[str, str], Any]:
        try:
            with acting_as(again()) as caller:
                return 200, {}, read(caller)
        except Exception as error:
            # Access is checked again, as at the start of a request.
            refused = answer_error(error, {"request": request})
            if refused is None:
                raise
            return refused.status_code, dict(refused.items()), refused.data

    async def happened() -> None:
        try:
            # Reads first, then at each notification; the response is read again afterwards.
            told = follow_changes(again, user_id, after, seconds, lambda *_: True)
            async with aclosing(told):
                async for found in told:
                    if found:
                        return
        except (RedisError, OSError):
            await asyncio.sleep(min(seconds, settings.CHANGES_RETRY_SECONDS))
        except Exception:  # noqa: BLE001 - read again below, where it becomes the answer
            return

    async def answer(_: Scope, receive: Receive, send: Send, hop: ThreadRunner) -> None:
        await receive()  # The empty body.
        waiting, leaving = asyncio.ensure_future(happened()), asyncio.ensure_future(receive())
        try:
            await asyncio.wait((waiting, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                return  # The client disconnected.
        finally:
            await end_tasks(waiting, leaving)
        status, headers, data = await hop(finish)
        body = OrjsonRenderer().render(data)
        told = {**headers, **_NO_CACHE, "content-type": "application/json", "content-length": str(len(body))}
        named = [(name.lower().encode(), value.encode()) for name, value in told.items()]
        await send({"type": "http.response.start", "status": status, "headers": named})
        await send({"type": "http.response.body", "body": body})

    return AsgiResponse(answer, b"", place.close)


# --- Streaming ------------------------------------------------------------------------------------------------------


def _stream(request: Request, principal: Principal, after: int) -> StreamingHttpResponse:
    must_read(principal)
    user_id = must_act_for(principal)
    follow = partial(_events, principal_factory(request), principal, after)
    stream = Stream(user_id, follow, seconds=settings.CHANGES_STREAM_SECONDS)
    return StreamingHttpResponse(stream, content_type="text/event-stream", headers=_NO_CACHE)


async def _events(again: PrincipalFactory, principal: Principal, after: int) -> AsyncIterator[bytes | None]:
    told = follow_changes(again, must_act_for(principal), after, settings.CHANGES_STREAM_SECONDS, _as_events)
    # When access ends, the stream ends; the next request says why.
    with suppress(Refused, APIException):
        async with aclosing(told) as found:
            async for each in found:
                yield each


def _as_events(principal: Principal, changes: list[Change]) -> bytes:
    shown = _shown(principal, changes)
    return b"".join(
        b"id: %d\nevent: change\ndata: %b\n\n" % (each["rev"], OrjsonRenderer().render(each)) for each in shown
    )


def _last_event(request: Request) -> int:
    """Parse the revision of the client's last event. Raises Refused (400 ``bad_id``)."""
    last = request.headers.get("Last-Event-ID", "") or "0"
    if not (last.isascii() and last.isdecimal() and len(last) < 19):
        raise Refused("Last-Event-ID is the id of a change.", code="bad_id")
    return int(last)
