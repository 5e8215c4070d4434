"""Following the events of a reply of any process, to its end or loss."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.db.models import CharField, Max
from django.db.models.functions import Cast
from redis.asyncio import Redis

from accounts.scope import working_for
from conversations.models import Message, Withheld
from language.base import Usage
from web.streaming import FIRST_ID, LAST_ID, StreamEvent, events_after, stored_events_after, wake
from web.threads import in_thread

from ..models import Reply
from .actions import Begun, ReplyOutcome, reply_lost
from .told import CUT, events_key, longest_stream

T = TypeVar("T")
SIGNS = 4
"""Of a reply's process within the time after which it is taken for lost."""


@dataclass(frozen=True, slots=True)
class Running:
    """A reply that a task of this event loop makes."""

    begun: Begun
    task: asyncio.Task[None]


async def reply_events(reply: Running | Reply, after: str = FIRST_ID) -> AsyncIterator[StreamEvent | None]:
    """Yield the events of a reply after an event, to its end; None as a heartbeat.

    For an ended reply the stored events, and its end. What was told before words of the conversation were withheld is
    not told again. Raises RedisError or OSError if Valkey is unavailable.
    """
    if isinstance(reply, Running):
        told_so_far = _told_until_made(reply, after)
    else:
        after = await in_thread(partial(in_job, reply.user_id, partial(_readable_after, reply, after)))
        told_so_far = _told_until_lost(reply, after) if reply.ended_at is None else _told_of_old(reply, after)
    async with aclosing(told_so_far):
        async for told in told_so_far:
            yield told
            if told is not None and told.event == "done":
                return


def _readable_after(reply: Reply, after: str) -> str:
    """Return the id of the event after which the events of a reply may be read: ``after``, or a later one.

    An ended reply has none left if words of its conversation were withheld since it began, a running one only later
    ones. What the answered message itself refused of earlier ones was not told to the model. This is asked of the
    database, so it holds whatever Valkey keeps.
    """
    said = Message.objects.filter(conversation=reply.conversation_id, index=reply.message_index)
    itself = {"cause_id__in": said.values(text=Cast("pk", CharField())), "message__index__lte": reply.message_index}
    rows = Withheld.objects.filter(conversation=reply.conversation_id, created_at__gte=reply.started_at)
    rows = rows.exclude(pk__in=rows.filter(**itself).values("pk"))
    latest = rows.aggregate(at=Max("created_at"))["at"]
    if latest is None:
        return after
    moment = LAST_ID if reply.ended_at is not None else f"{round(latest.timestamp() * 1_000)}"
    return max(after, moment, key=lambda each: [int(part) for part in each.split("-")])


async def _told_until_made(running: Running, after: str) -> AsyncGenerator[StreamEvent | None]:
    """Yield the events of a reply of this process. An end that could not be stored as an event is told as it is saved.

    Without this, a client would wait for that event until its stream ends, two minutes later.
    """
    begun, last = running.begun, after
    key = events_key(begun.reply_id, begun.attempt)
    running.task.add_done_callback(lambda _: wake(key))
    async with aclosing(events_after(key, after, longest_stream())) as told_so_far:
        async for told in told_so_far:
            yield told
            if told is not None:
                last = told.id
            elif running.task.done():
                break
        else:
            return
    saved = Reply.objects.filter(pk=begun.reply_id, ended_at__isnull=False)
    ended = await in_thread(partial(in_job, begun.user_id, saved.first))
    if ended is not None:
        async for told in _told_of_old(ended, last):
            yield told


async def _told_until_lost(reply: Reply, after: str) -> AsyncGenerator[StreamEvent | None]:
    """Yield the events of a reply of another process. If that was killed, the reply is ended as lost."""
    last, silence = after, settings.REPLY_LEASE_SECONDS / SIGNS
    told_so_far = events_after(events_key(reply.pk, reply.attempt), after, longest_stream(), silence)
    async with aclosing(told_so_far):
        async for told in told_so_far:
            yield told
            if told is not None:
                last = told.id
            elif (ended := await in_thread(partial(in_job, reply.user_id, partial(reply_lost, reply)))) is not None:
                break
        else:
            return
    async for told in _told_of_old(ended, last):
        yield told


async def _told_of_old(reply: Reply, after: str) -> AsyncGenerator[StreamEvent | None]:
    async with Redis.from_url(settings.REDIS_URL, socket_connect_timeout=0.25, socket_timeout=2) as client:
        for told in await stored_events_after(client, events_key(reply.pk, reply.attempt), after):
            yield told
    usage = Usage(reply.input_tokens, reply.output_tokens, reply.cached_tokens)
    outcome = ReplyOutcome(reply.state, "", usage, reply.rounds, reply.error_code)
    yield StreamEvent(after, "done", as_told(outcome, reply.answer_index))


def as_told(outcome: ReplyOutcome, answer: int | None) -> dict[str, Any]:
    """Return the ``done`` event of a reply. ``answer``: its saved message."""
    cut = outcome.error_code == CUT
    return {
        "state": outcome.state,
        "code": "" if cut else outcome.error_code,
        "index": answer,
        "cut": cut,
        "rounds": outcome.rounds,
        "usage": asdict(outcome.usage),
    }


def in_job(user_id: UUID, function: Callable[[], T]) -> T:
    """Run a function as background work for a person, and return its result."""
    with working_for(user_id, "reply"):
        return function()
