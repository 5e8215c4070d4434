"""Running a reply on the event loop: model rounds, tool calls, events.

It occupies no thread or database connection while the model generates. Events are stored in Valkey for some minutes, so
that clients can resume the stream.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

import structlog
from django.conf import settings
from redis.asyncio import Redis
from redis.exceptions import RedisError
from rest_framework.exceptions import APIException

from accounts.principals import Principal
from accounts.scope import acting_as
from conversations.actions import messages_extract_now
from conversations.policy import is_storable
from journal.exceptions import NotFound, Refused
from language.backends import get_model_named, get_reply_model
from language.base import (
    LanguageError,
    LanguageModel,
    ModelAnswerInvalid,
    ReplyAnswer,
    ReplyRequest,
    ReplyRound,
    ToolCall,
    ToolResult,
    Usage,
)
from web.errors import is_outage
from web.streaming import FIRST_ID, Stream, publish_event
from web.threads import end_tasks, in_thread

from ..learn.updates import COMPLETED, last_update, updates
from ..models import Reply
from ..tools import run_tool
from .actions import Begun, ReplyOutcome, reply_end, reply_fail, reply_renew
from .council import merging
from .following import SIGNS, Running, as_told, in_job, reply_events
from .recalling import read_for
from .told import CUT, ERASED, audience_key, events_key, longest_stream, stop_key

log = structlog.get_logger(__name__)
T = TypeVar("T")
HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
"""Headers that keep proxies from buffering a stream."""
Caller = Callable[[], Principal]
"""Builds the principal for each database access, so that a revocation takes effect."""
_running: set[asyncio.Task[None]] = set()


def reply_start(begun: Begun, caller: Caller) -> asyncio.Task[None]:
    """Start a reply as a task of the running event loop, independent of its clients."""
    task = asyncio.create_task(run_reply(begun, caller))
    _running.add(task)
    task.add_done_callback(_running.discard)
    return task


def reply_stream(
    principal: Principal, caller: Caller, reply_id: UUID, begin: Callable[[], Begun | Reply], after: str = FIRST_ID
) -> Stream:
    """Return the stream of a reply, after reserving one of the person's streams.

    Raises what ``begin`` raises, TooManyStreams (429), Unavailable (503).
    """
    made: list[Begun | Reply] = []
    events = partial(_events, made, caller, after)
    stream = Stream(principal.user_id, events, seconds=longest_stream(), audience=audience_key(reply_id))
    try:
        made.append(begin())
    except BaseException:
        stream.close()
        raise
    return stream


async def _events(made: list[Begun | Reply], caller: Caller, after: str) -> AsyncIterator[bytes | None]:
    [reply] = made
    followed = Running(reply, reply_start(reply, caller)) if isinstance(reply, Begun) else reply
    async for told in reply_events(followed, after):
        yield told.sent if told else None


async def run_reply(begun: Begun, caller: Caller) -> None:
    """Run a reply, publish its events, and end it in any case."""
    async with Redis.from_url(settings.REDIS_URL, socket_connect_timeout=0.25, socket_timeout=2) as client:
        talk = _Talk(begun, caller, client)
        outcome = await talk.outcome()
        try:
            await talk.end(outcome)
        except NotFound:  # Erased, or marked as lost and perhaps retried.
            log.warning("reply_lost", reply=str(begun.reply_id))
            await talk.forget()
        except Exception as error:  # The sweep will end it.
            log.exception("reply_not_ended", reply=str(begun.reply_id), error=type(error).__name__)


@dataclass(slots=True)
class _Talk:
    """State of a running reply: text and usage so far."""

    begun: Begun
    caller: Caller
    client: Redis
    said: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    rounds: int = 0
    cut: bool = False
    asks: bool = False
    changes: bool = False

    @property
    def text(self) -> str:
        """The text so far, in storable form."""
        text = "".join(self.said).strip()[: settings.MESSAGE_MAX_CHARACTERS]
        if not is_storable(text):
            text = text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
        return text.strip()

    async def outcome(self) -> ReplyOutcome:
        """Run it, and return its outcome: finished, timed out, without clients, or failed."""
        talking = asyncio.create_task(self._speak())
        alone = asyncio.create_task(self._until_alone())
        renewing = asyncio.create_task(self._renew())
        try:
            await asyncio.wait((talking, alone), timeout=settings.REPLY_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            over, left = talking.done(), alone.done()
            await end_tasks(talking, alone, renewing)
        error = talking.exception() if over and not talking.cancelled() else None
        if over and error is None:
            if not self.text:
                return self._ended(Reply.State.FAILED, "empty")
            return self._ended(Reply.State.DONE, CUT if self.cut else "")
        if error is not None:
            return self._ended(*_as_ending(error))
        return self._ended(Reply.State.STOPPED, alone.result() if left else "out_of_time")

    def _ended(self, state: str, code: str) -> ReplyOutcome:
        return ReplyOutcome(state, self.text, self.usage, self.rounds, code, self.asks, self.changes)

    async def end(self, outcome: ReplyOutcome) -> None:
        """Save the text, publish extraction events, and the end."""
        answer = None
        learning = False
        if outcome.state == Reply.State.FAILED or not outcome.text:
            await self._in_thread(partial(reply_fail, self.begun, outcome))
        else:
            before = await in_thread(partial(last_update, self.begun.conversation_id))
            try:
                answer = await self._hop(lambda principal: reply_end(principal, self.begun, outcome))
            except APIException:  # The caller's access was revoked.
                outcome = replace(outcome, state=Reply.State.FAILED, error_code="not_allowed")
                await self._in_thread(partial(reply_fail, self.begun, outcome))
        with suppress(RedisError, OSError):  # Everything is saved, only the events are lost.
            if outcome.state == Reply.State.FAILED:
                await self._tell(
                    "error", {"code": outcome.error_code, "retry": self.begun.attempt < settings.REPLY_ATTEMPTS}
                )
            reads = partial(messages_extract_now, self.begun.conversation_id, self.begun.message_index)
            learning = await self._in_thread(reads)
            if answer is not None and learning and outcome.state == Reply.State.DONE:
                await self._tell_what_is_learned(before)
            await self._tell("done", as_told(outcome, answer))
        if outcome.error_code == ERASED:
            await self.forget()

    async def forget(self) -> None:
        """Delete the stored events."""
        with suppress(RedisError, OSError):
            await self.client.unlink(events_key(self.begun.reply_id, self.begun.attempt))

    async def _speak(self) -> None:
        begun = self.begun
        await self._tell("memory_used", {**begun.turn.used, "tokens": begun.turn.tokens})
        if begun.models:
            await self._ask_council()
            return
        model = get_reply_model()
        first = ReplyRequest(
            begun.turn.system, begun.turn.messages, begun.tools, question=begun.question, is_first=begun.is_first
        )
        if model.offline:
            first = await self._hop(partial(read_for, begun=begun, request=first))
            self.changes = bool(first.heard.changed or first.heard.noted or first.heard.told)
        rounds: list[ReplyRound] = []
        for number in range(1, settings.REPLY_ROUNDS + 1):
            request = replace(
                first,
                rounds=tuple(rounds),
                may_call=number < settings.REPLY_ROUNDS,
                most_tokens=settings.REPLY_TOKENS - self.usage.output_tokens,
            )
            answer = await self._one_round(model, request)
            self.cut, self.asks = answer.cut, answer.asks
            if not answer.calls:
                return
            results = [await self._use_tool(call, answer.model) for call in answer.calls]
            rounds.append(ReplyRound(answer, tuple(results)))
            if self.usage.output_tokens >= settings.REPLY_TOKENS:
                self.cut = True
                return

    async def _ask_council(self) -> None:
        """Run the models of a council in parallel, then merge their answers."""
        begun = self.begun
        most = settings.REPLY_TOKENS // (len(begun.models) + 1)
        request = ReplyRequest(begun.turn.system, begun.turn.messages, most_tokens=most, is_first=begun.is_first)
        found = await asyncio.gather(*(self._member(name, request) for name in begun.models))
        answered = {name: text for name, text in zip(begun.models, found, strict=True) if isinstance(text, str)}
        if not answered:
            raise next(error for error in found if isinstance(error, LanguageError))
        if len(answered) == 1:
            self.said += answered.values()
            await self._tell("token", {"text": self.said[-1]})
            return
        answer = await self._one_round(get_model_named(next(iter(answered))), merging(request, list(answered.values())))
        self.cut, self.asks = answer.cut, answer.asks

    async def _member(self, name: str, request: ReplyRequest) -> str | LanguageError:
        """Run one model of a council, publishing its text. Returns its answer, or its failure."""
        self.rounds += 1
        said: list[str] = []
        parts: Any = get_model_named(name).reply(request)
        try:
            async with aclosing(parts):
                async for part in parts:
                    if isinstance(part, ReplyAnswer):
                        self.usage += part.usage
                    else:
                        said.append(part)
                        await self._tell("member", {"model": name, "text": part})
        except LanguageError as error:
            await self._tell("member", {"model": name, "code": type(error).__name__})
            return error
        return "".join(said).strip() or ModelAnswerInvalid("The model said nothing.")

    async def _one_round(self, model: LanguageModel, request: ReplyRequest) -> ReplyAnswer:
        self.rounds += 1
        begins = True
        parts: Any = model.reply(request)
        async with aclosing(parts):
            async for part in parts:
                if isinstance(part, ReplyAnswer):
                    self.usage += part.usage
                    return part
                text = f"\n\n{part}" if begins and self.said else part
                begins = False
                self.said.append(text)
                await self._tell("token", {"text": text})
        raise LanguageError("The model's answer has no end.")

    async def _use_tool(self, call: ToolCall, model: str) -> ToolResult:
        """Execute a tool call with the usual checks, and publish its outcome without text.

        Its statements count as the model's, not the person's.
        """
        begun = self.begun

        def run(principal: Principal) -> tuple[ToolResult, dict[str, Any]]:
            try:
                if call.name not in {tool.name for tool in begun.tools}:
                    raise NotFound("There is no such tool.")
                answer = run_tool(
                    principal.for_words_of(model),
                    call.name,
                    dict(call.arguments),
                    conversation_id=begun.conversation_id,
                    message_id=begun.message_id,
                )
            except Refused as refusal:
                if refusal.status >= 500:
                    raise
                return ToolResult(call.id, f"Nothing was done. {refusal.detail}", ok=False), {"code": refusal.code}
            return ToolResult(call.id, answer.content, answer.ok), answer.data

        result, data = await self._hop(run)
        what = {name: data[name] for name in ("outcome", "code") if isinstance(data.get(name), str)}
        ids = {name: data[name]["id"] for name in ("memory", "place", "proposal") if isinstance(data.get(name), dict)}
        await self._tell("tool", {"name": call.name, "ok": result.ok, **what, **ids})
        return result

    async def _tell_what_is_learned(self, before: str) -> None:
        told = updates(self.begun.conversation_id, before, settings.REPLY_UPDATE_SECONDS)
        async with aclosing(told):
            async for update in told:
                if update is not None:
                    await self._tell(update.event, update.data)
                    if update.event == COMPLETED:
                        return

    async def _until_alone(self) -> str:
        """Wait until it is stopped, or has had no client for a while. Returns the reason."""
        begun, grace = self.begun, settings.REPLY_ALONE_SECONDS
        stop, audience = stop_key(begun.reply_id, begun.attempt), audience_key(begun.reply_id)
        heard = time.monotonic()
        while time.monotonic() - heard < grace:
            await asyncio.sleep(min(0.5, grace / 4))
            with suppress(RedisError, OSError):
                steps = self.client.pipeline()
                steps.get(stop)
                steps.zcount(audience, time.time(), "+inf")
                why, follow = await steps.execute()
                if why is not None:
                    return bytes(why).decode()
                if follow:
                    heard = time.monotonic()
        return "nobody_follows"

    async def _tell(self, name: str, data: Mapping[str, Any]) -> None:
        pipeline = self.client.pipeline()
        kept = {"seconds": settings.REPLY_KEPT_SECONDS, "most": settings.REPLY_KEPT_EVENTS}
        await publish_event(pipeline, events_key(self.begun.reply_id, self.begun.attempt), name, data, **kept)

    async def _hop(self, function: Callable[[Principal], T]) -> T:
        def hop() -> T:
            with acting_as(self.caller()) as principal:
                return function(principal)

        return await in_thread(hop)

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return await in_thread(partial(in_job, self.begun.user_id, function))

    async def _renew(self) -> None:
        """Renew the lease periodically."""
        while True:
            await asyncio.sleep(settings.REPLY_LEASE_SECONDS / SIGNS)
            try:
                await self._in_thread(partial(reply_renew, self.begun))
            except Exception as error:
                if not is_outage(error):
                    raise


def _as_ending(error: BaseException) -> tuple[str, str]:
    """Return the outcome of an error. Outages and unexpected ones are logged by type only, since they may hold text."""
    if isinstance(error, RedisError | OSError) and not isinstance(error, LanguageError):
        log.warning("reply_not_told", error=type(error).__name__)
        return Reply.State.STOPPED, "not_told"
    if isinstance(error, LanguageError):
        return Reply.State.FAILED, type(error).__name__
    if isinstance(error, Refused):
        return Reply.State.FAILED, error.code
    if isinstance(error, APIException):
        return Reply.State.FAILED, "not_allowed"
    if is_outage(error):
        return Reply.State.FAILED, "unavailable"
    log.error("reply_failed", error=type(error).__name__)
    return Reply.State.FAILED, "error"
