"""One call of the Messages API, limited in time, retries and size."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import httpx2
import structlog
from anthropic import (
    AnthropicError,
    APIConnectionError,
    APIRequest,
    APIStatusError,
    APITimeoutError,
    AsyncAnthropic,
    AsyncAPIResponse,
    AsyncCallNext,
    DefaultAsyncHttpxClient,
    Middleware,
)
from anthropic.types import Message, TextBlock, ToolUseBlock
from asgiref.sync import async_to_sync

from language.base import LanguageError, ModelAnswerInvalid, ModelUnavailable, Usage
from language.certificates import certificates

log = structlog.get_logger(__name__)
CONNECT_SECONDS = 5.0
MOST_TOKENS = 16_000
"""Maximum tokens of one answer, thinking included."""
MOST_BYTES = 4_194_304
"""Maximum bytes of one answer; ``MOST_TOKENS`` never give more."""
_FINISHED = {"end_turn", "stop_sequence"}
_CALLS = "tool_use"
_CUT = {"max_tokens", "model_context_window_exceeded"}


class ModelTimedOut(ModelUnavailable):
    """The call took longer than ``KEEPSAKE_MODEL_TIMEOUT_SECONDS``, retries and waits included."""


class ModelUnreachable(ModelUnavailable):
    """No connection to ``ANTHROPIC_BASE_URL``, or it broke before the answer was complete."""


class ModelRateLimited(ModelUnavailable):
    """The server answered 429: too many calls or tokens for this key at the moment."""


class ModelOverloaded(ModelUnavailable):
    """The server answered 503 or 529: it has no capacity at the moment."""


class ModelServerError(ModelUnavailable):
    """The server failed (another 5xx)."""


class ModelKeyRefused(ModelUnavailable):
    """The server answered 401 or 403: ``ANTHROPIC_API_KEY`` is wrong, or may not use this model."""


class ModelNotPaid(ModelUnavailable):
    """The server answered 402: the account behind the key has no credit."""


class ModelNotFound(ModelUnavailable):
    """The server answered 404: it does not know ``KEEPSAKE_MODEL``, or ``ANTHROPIC_BASE_URL`` is wrong."""


class ModelCallRejected(ModelUnavailable):
    """The server did not accept the request (400 or another status): too long, or a model without structured output."""


class ModelAnswerRefused(ModelAnswerInvalid):
    """The model declined to answer."""


class ModelAnswerCut(ModelAnswerInvalid):
    """The answer was truncated at the token limit, or exceeds ``MOST_BYTES``."""


# At DEBUG the SDK logs whole requests with people's messages. It sets its level from an environment variable when it
# is imported, so this must follow the import.
logging.getLogger("anthropic").setLevel(logging.INFO)


_REFUSALS = {
    401: ModelKeyRefused,
    402: ModelNotPaid,
    403: ModelKeyRefused,
    404: ModelNotFound,
    429: ModelRateLimited,
    503: ModelOverloaded,
    529: ModelOverloaded,
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The server, and the limits of a call. ``timeout_seconds`` is for the whole call, retries and waits included."""

    base_url: str
    api_key: str = field(repr=False)
    timeout_seconds: float
    retries: int


@dataclass(frozen=True, slots=True)
class Role:
    """How a model is called for one task. Without an ``effort`` the server chooses it; ``most_tokens`` is per call."""

    model: str
    effort: str = ""
    most_tokens: int = MOST_TOKENS

    def request(self, **rest: object) -> dict[str, Any]:
        """The request body, with the effort added to ``output_config``."""
        given: Any = rest.pop("output_config", {})
        config = {**given, **({"effort": self.effort} if self.effort else {})}
        return {
            "model": self.model, "max_tokens": self.most_tokens, **rest, **({"output_config": config} if config else {})
        }  # fmt: skip


def ask(
    endpoint: Endpoint, *, role: Role, instructions: str, content: str, schema: dict[str, Any]
) -> tuple[str, Usage]:
    """Send instructions (kept in the server's prompt cache) and content; return the answer's text and its tokens.

    ``schema`` is the JSON schema of the answer. Only for code outside an event loop.
    Raises a subclass of ModelUnavailable or ModelAnswerInvalid.
    """
    answered, usage = _call(
        endpoint,
        role,
        instructions,
        messages=[{"role": "user", "content": content}],
        output_config={"format": {"type": "json_schema", "schema": schema}},
    )
    with spent(usage):
        blocks = _blocks_of(answered, _FINISHED)
    text = "".join(block.text for block in blocks if isinstance(block, TextBlock) and isinstance(block.text, str))
    return text, usage


def ask_for_calls(
    endpoint: Endpoint,
    *,
    role: Role,
    instructions: str,
    messages: Sequence[Mapping[str, object]],
    tools: Sequence[Mapping[str, object]],
) -> tuple[list[object], Usage]:
    """Send instructions, the messages so far and the tools; return the blocks of the answer, and its tokens.

    Tools and instructions are kept in the server's prompt cache. The blocks are not validated. Only for code outside
    an event loop. Raises a subclass of ModelUnavailable or ModelAnswerInvalid.
    """
    answered, usage = _call(endpoint, role, instructions, messages=messages, tools=tools)
    with spent(usage):
        blocks = _blocks_of(answered, _FINISHED | {_CALLS})
        if answered.stop_reason == _CALLS and not any(isinstance(block, ToolUseBlock) for block in blocks):
            raise ModelAnswerInvalid("The answer says that it calls a tool, and calls none.")
    return blocks, usage


@contextmanager
def spent(usage: Usage) -> Iterator[None]:
    """Attach the tokens of a call to the error if its answer turns out to be invalid."""
    try:
        yield
    except ModelAnswerInvalid as error:
        error.usage = usage
        raise


def _call(endpoint: Endpoint, role: Role, instructions: str, **rest: object) -> tuple[Message, Usage]:
    system = [{"type": "text", "text": instructions, "cache_control": {"type": "ephemeral"}}]
    request = role.request(system=system, **rest)
    began = time.monotonic()
    answered = async_to_sync(_attempt)(endpoint, request)
    seconds = round(time.monotonic() - began, 2)
    if isinstance(answered, LanguageError):
        log.warning("model_call_failed", model=role.model, code=type(answered).__name__, seconds=seconds)
        raise answered
    usage = _usage_of(answered)
    log.info(
        "model_called",
        model=role.model,
        seconds=seconds,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
    )
    return answered, usage


async def stream(endpoint: Endpoint, *, role: Role, **rest: object) -> AsyncGenerator[str | tuple[Message, Usage]]:
    """Send a chat; yield the text of the answer as it comes, then the complete message with its tokens.

    A truncated answer is accepted. Closing the iterator cancels the call.
    Raises a subclass of ModelUnavailable or ModelAnswerInvalid.
    """
    began = time.monotonic()
    ends = asyncio.get_running_loop().time() + endpoint.timeout_seconds
    _deadline.set(ends)
    request = role.request(**rest)
    failure: LanguageError | None = None
    answered: Message | None = None
    try:
        async with AsyncExitStack() as stack:
            # Not around the yield: the timeout must not interrupt the consumer.
            async with asyncio.timeout_at(ends):
                parts = await stack.enter_async_context(_lasting_client(endpoint).messages.stream(**request))
            while True:
                async with asyncio.timeout_at(ends):
                    part = await anext(parts, None)
                if part is None:
                    break
                if part.type == "text" and part.text:
                    yield part.text
            answered = await parts.get_final_message()
    except (*_CAUGHT, httpx2.HTTPError, RuntimeError, AssertionError) as error:
        failure = _failure(error)
    seconds = round(time.monotonic() - began, 2)
    if failure is None and answered is not None:
        try:
            _blocks_of(answered, _FINISHED | {_CALLS}, cut=_CUT)
        except LanguageError as error:
            failure = error
    if failure is not None or answered is None:
        failure = failure or ModelUnreachable("The answer ended before it was complete.")
        log.warning("model_call_failed", model=role.model, code=type(failure).__name__, seconds=seconds)
        raise failure
    usage = _usage_of(answered)
    log.info("model_called", model=role.model, seconds=seconds, **asdict(usage))
    yield answered, usage


_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Endpoint, AsyncAnthropic]] = WeakKeyDictionary()


def _lasting_client(endpoint: Endpoint) -> AsyncAnthropic:
    """The client of the running event loop, cached with its connections to save the handshake of each reply."""
    clients = _clients.setdefault(asyncio.get_running_loop(), {})
    if endpoint not in clients:
        clients[endpoint] = _client(endpoint)
    return clients[endpoint]


_CAUGHT = (TimeoutError, AnthropicError, ValueError, RecursionError)


async def _attempt(endpoint: Endpoint, request: dict[str, Any]) -> Message | LanguageError:
    """Make the call, with the SDK's retries. Returns an error instead of raising it.

    The SDK's timeouts apply between bytes, so a slow stream never reaches them. Only cancelling an asynchronous task
    ends such a call. An error raised here would have the SDK's error as its context, and the request in its traceback.
    """
    try:
        async with asyncio.timeout(endpoint.timeout_seconds) as deadline, _client(endpoint) as client:
            _deadline.set(deadline.when())
            return await client.messages.create(**request)
    except _CAUGHT as error:
        return _failure(error)


_deadline: ContextVar[float | None] = ContextVar("model_call_ends", default=None)
"""The deadline of the running call, on the clock of its event loop."""


def _client(endpoint: Endpoint) -> AsyncAnthropic:
    """Create a client for one event loop; its connections can't be used in another.

    Redirects are not followed: people's messages are sent only to the configured address.
    """
    timeout = httpx2.Timeout(endpoint.timeout_seconds, connect=min(CONNECT_SECONDS, endpoint.timeout_seconds))
    return AsyncAnthropic(
        api_key=endpoint.api_key,
        base_url=endpoint.base_url,
        max_retries=endpoint.retries,
        timeout=timeout,
        http_client=DefaultAsyncHttpxClient(
            timeout=timeout,
            follow_redirects=False,
            event_hooks={"response": [_limit_size]},
            verify=certificates(),
        ),
        middleware=[_SkipLateRetries()],
        # Overrides the environment variable that would put messages into traces.
        open_telemetry={"traces": {"content_mode": "metadata_only"}},
    )


class _SkipLateRetries(Middleware):
    """Disables the SDK's retry if ``Retry-After`` exceeds the time left for the call."""

    async def handle_async(self, request: APIRequest, call_next: AsyncCallNext) -> AsyncAPIResponse[Any]:
        response = await call_next(request)
        try:
            wait = float(response.headers.get("retry-after", ""))
        except ValueError:
            return response
        ends = _deadline.get()
        if ends is not None and asyncio.get_running_loop().time() + wait >= ends:
            response.http_response.headers["x-should-retry"] = "false"
        return response


class _AnswerTooLongError(AnthropicError):
    """The answer exceeds ``MOST_BYTES``. Derived from the SDK's error class, which is not retried."""


class _SizeLimited(httpx2.AsyncByteStream):
    """A response's byte stream, limited to ``MOST_BYTES``. Raises _AnswerTooLongError."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self.stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        received = 0
        async for chunk in self.stream:
            received += len(chunk)
            if received > MOST_BYTES:
                raise _AnswerTooLongError
            yield chunk

    async def aclose(self) -> None:
        await self.stream.aclose()


async def _limit_size(response: httpx2.Response) -> None:
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _SizeLimited(response.stream)


_FAILURES: tuple[tuple[type[Exception], type[LanguageError], str], ...] = (
    (TimeoutError, ModelTimedOut, "The model took longer than it may."),
    (APITimeoutError, ModelTimedOut, "The model took longer than it may."),
    (APIConnectionError, ModelUnreachable, "The connection to the model failed or was cut."),
    (_AnswerTooLongError, ModelAnswerCut, f"The answer has more than {MOST_BYTES} bytes."),
    (AnthropicError, ModelUnavailable, "The client of the model failed."),
    (httpx2.HTTPError, ModelUnreachable, "The connection to the model failed or was cut."),
    (ValueError, ModelAnswerInvalid, "The server's answer is not JSON."),
    (RecursionError, ModelAnswerInvalid, "The server's answer is nested too deeply."),
    (Exception, ModelAnswerInvalid, "The server's answer is not a finished message."),
)


def _failure(error: Exception) -> LanguageError:
    """Map an error of the SDK to ours. The server's message is dropped, as it may quote the request."""
    if isinstance(error, APIStatusError):
        if error.status_code < 300:  # An error event in the middle of a stream.
            return ModelServerError("The model's server failed while it answered.")
        kind = _REFUSALS.get(error.status_code, ModelServerError if error.status_code >= 500 else ModelCallRejected)
        return kind(f"The model's server answered {error.status_code}.")
    return next(kind(text) for expected, kind, text in _FAILURES if isinstance(error, expected))


def _blocks_of(message: Message, whole: Collection[str], *, cut: Collection[str] = ()) -> list[object]:
    """The blocks of an answer whose stop reason is in ``whole`` or ``cut``. Raises ModelAnswerInvalid otherwise.

    Checks types, as the SDK does not.
    """
    stop_reason = getattr(message, "stop_reason", None)
    if stop_reason == "refusal":
        raise ModelAnswerRefused("The model declined to answer.")
    if stop_reason in _CUT and stop_reason not in cut:
        raise ModelAnswerCut("The answer was truncated at the token limit.")
    blocks = getattr(message, "content", None)
    if stop_reason not in {*whole, *cut} or not isinstance(blocks, list):
        raise ModelAnswerInvalid("The server's answer is not a finished message.")
    return blocks


def _usage_of(message: Message) -> Usage:
    """The tokens of a call. Tokens written to or read from the prompt cache count as input too."""
    usage = getattr(message, "usage", None)

    def tokens(*names: str) -> int:
        counts = (getattr(usage, name, None) for name in names)
        return sum(count for count in counts if isinstance(count, int))

    return Usage(
        input_tokens=tokens("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        output_tokens=tokens("output_tokens"),
        cached_tokens=tokens("cache_read_input_tokens"),
    )
