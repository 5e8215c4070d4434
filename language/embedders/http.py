"""One POST of JSON, limited in time, retries and size."""

from __future__ import annotations

import asyncio
import math
import random
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2
import orjson
from asgiref.sync import async_to_sync

from language.base import EmbedderUnavailable
from language.certificates import certificates

CONNECT_SECONDS = 5.0
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 8.0


class EmbedderNotLoaded(EmbedderUnavailable):
    """The bundled model can't be loaded: its packages are damaged or of another version, or there is no memory."""


class EmbedderFailed(EmbedderUnavailable):
    """The bundled model was loaded, but failed with a text."""


class EmbedderTimedOut(EmbedderUnavailable):
    """The call took longer than it may, retries and waits included."""


class EmbedderUnreachable(EmbedderUnavailable):
    """No connection to the server, or it broke before the answer was complete."""


class EmbedderRateLimited(EmbedderUnavailable):
    """The server answered 429: too many calls or tokens for this key at the moment."""


class EmbedderOverloaded(EmbedderUnavailable):
    """The server answered 503 or 529: it has no capacity at the moment."""


class EmbedderServerError(EmbedderUnavailable):
    """The server failed (another 5xx)."""


class EmbedderKeyRefused(EmbedderUnavailable):
    """The server answered 401 or 403: the key is wrong, or may not use this model."""


class EmbedderNotPaid(EmbedderUnavailable):
    """The server answered 402: the account behind the key has no credit."""


class EmbedderNotFound(EmbedderUnavailable):
    """The server answered 404: it does not know the model, or the base URL is wrong."""


class EmbedderCallRejected(EmbedderUnavailable):
    """The server did not accept the request (400 or another status), however small."""


class EmbedderAnswerInvalid(EmbedderUnavailable):
    """The answer is invalid: no JSON, too long, or not one vector of the right dimensions per text."""


_REFUSALS = {
    401: EmbedderKeyRefused,
    402: EmbedderNotPaid,
    403: EmbedderKeyRefused,
    404: EmbedderNotFound,
    429: EmbedderRateLimited,
    503: EmbedderOverloaded,
    529: EmbedderOverloaded,
}
_PASSING = (EmbedderRateLimited, EmbedderOverloaded, EmbedderServerError, EmbedderUnreachable)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The server's URL, the key (may be empty), and the number of retries."""

    base_url: str
    api_key: str = field(repr=False)
    retries: int


@dataclass(frozen=True, slots=True)
class _Failure:
    """An error, and the seconds of the server's Retry-After, if it sent one."""

    error: EmbedderUnavailable
    wait: float | None = None


def post(endpoint: Endpoint, path: str, body: dict[str, Any], *, seconds: float, most_bytes: int) -> Any:
    """Send ``body`` as JSON and return the JSON answer, within ``seconds`` in all.

    Retries while the server is unreachable, overloaded or asks to wait. Follows no redirect, so texts are sent only to
    the configured address. Only for code outside an event loop. Raises a subclass of EmbedderUnavailable without the
    server's message, which may quote the texts.
    """
    # Returned and raised here: an error raised in an except block would have the client's error as its context, and
    # thus the request in tracebacks.
    answer = async_to_sync(_ask)(endpoint, path, orjson.dumps(body), seconds, most_bytes)
    if isinstance(answer, EmbedderUnavailable):
        raise answer
    return answer


async def _ask(endpoint: Endpoint, path: str, content: bytes, seconds: float, most_bytes: int) -> Any:
    ends = time.monotonic() + seconds
    tries = 0
    try:
        # The client's timeouts apply between bytes; only a cancelled task ends a slow stream.
        async with asyncio.timeout(seconds), _client(endpoint, seconds) as client:
            while True:
                answer = await _attempt(client, path, content, most_bytes)
                if not isinstance(answer, _Failure):
                    return answer
                wait = _backoff(tries) if answer.wait is None else answer.wait
                in_vain = tries >= endpoint.retries or time.monotonic() + wait >= ends
                if in_vain or not isinstance(answer.error, _PASSING):
                    return answer.error
                tries += 1
                await asyncio.sleep(wait)
    except TimeoutError:
        return EmbedderTimedOut("The embedder took longer than it may.")


def _client(endpoint: Endpoint, seconds: float) -> httpx2.AsyncClient:
    """Create a client for one call: connections can't be used in another event loop."""
    headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
    if endpoint.api_key:
        headers["Authorization"] = f"Bearer {endpoint.api_key}"
    timeout = httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
    return httpx2.AsyncClient(headers=headers, base_url=endpoint.base_url, timeout=timeout, verify=certificates())


async def _attempt(client: httpx2.AsyncClient, path: str, content: bytes, most_bytes: int) -> Any:
    received = bytearray()
    try:
        async with client.stream("POST", path, content=content) as response:
            if response.status_code != httpx2.codes.OK:
                return _Failure(_refusal(response.status_code), _retry_after(response.headers.get("retry-after", "")))
            async for chunk in response.aiter_bytes():
                received += chunk
                if len(received) > most_bytes:
                    return _Failure(EmbedderAnswerInvalid(f"The answer has more than {most_bytes} bytes."))
        return orjson.loads(received)
    except (httpx2.HTTPError, httpx2.InvalidURL, orjson.JSONDecodeError) as error:
        return _Failure(next(kind(text) for expected, kind, text in _FAILURES if isinstance(error, expected)))


_FAILURES: tuple[tuple[type[Exception], type[EmbedderUnavailable], str], ...] = (
    (httpx2.TimeoutException, EmbedderUnreachable, "The embedder did not take the connection, or fell silent."),
    (httpx2.DecodingError, EmbedderAnswerInvalid, "The answer is compressed in a way that can't be read."),
    (orjson.JSONDecodeError, EmbedderAnswerInvalid, "The answer is not JSON."),
    (Exception, EmbedderUnreachable, "The connection to the embedder failed or was cut."),
)


def _refusal(status: int) -> EmbedderUnavailable:
    kind = _REFUSALS.get(status, EmbedderServerError if status >= 500 else EmbedderCallRejected)
    return kind(f"The embedder's server answered {status}.")


def _retry_after(value: str) -> float | None:
    """The seconds of a Retry-After header, which is a number or a date; None when it is neither."""
    try:
        seconds = float(value)
    except ValueError:
        try:
            at = parsedate_to_datetime(value)
        except (ValueError, OverflowError):
            return None
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        seconds = (at - datetime.now(UTC)).total_seconds()
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _backoff(attempt: int) -> float:
    """The seconds before the next try: exponential with jitter."""
    longest = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2**attempt)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards nothing
