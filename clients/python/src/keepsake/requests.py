"""Building requests, retrying them and parsing responses, shared by both clients."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit
from uuid import UUID, uuid4

import httpx

from .errors import NotAuthenticated, error_of

MOST_ITEMS = 1_000
MOST_BYTES = 900_000
"""The limits of one bulk request: Keepsake accepts a body of 1 MB."""

_USER = "X-Keepsake-User"
_LONGEST_WAIT = 60.0
_LOST = {502, 503, 504}
"""Statuses after which a write may have been done."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A request. It is ``repeatable`` if it can be sent again even though it may have been executed."""

    method: str
    path: str
    params: Mapping[str, Any]
    content: bytes | None
    headers: httpx.Headers
    repeatable: bool


def sent(
    method: str,
    path: str,
    *,
    params: Mapping[str, Any] | None = None,
    body: Any = None,
    key: str = "",
    repeatable: bool | None = None,
    user: str = "",
) -> Sent:
    """Build a request to a path below ``api/v1/``. A POST gets an Idempotency-Key, which makes it repeatable."""
    headers = {"Content-Type": "application/json"} if body is not None else {}
    if method == "POST":
        headers["Idempotency-Key"] = key or str(uuid4())
    if user:
        headers[_USER] = user
    asked = {name: _parameter(value) for name, value in (params or {}).items() if value is not None}
    content = None if body is None else as_json(body)
    again = method in {"GET", "POST"} if repeatable is None else repeatable
    return Sent(method, path, asked, content, httpx.Headers(headers, encoding="utf-8"), again)


def as_json(body: Any) -> bytes:
    """Serialise a body to JSON, with dates and UUIDs as text."""
    return json.dumps(body, default=_plain, ensure_ascii=False, separators=(",", ":")).encode()


def _plain(value: Any) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _parameter(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return as_json(value).decode()
    return ",".join(value) if isinstance(value, list | tuple) else value


def segment(value: object) -> str:
    """Quote a value as one segment of a path."""
    return quote(str(value), safe="")


def read(answer: httpx.Response) -> Any:
    """Return the parsed body of a response. Raises KeepsakeError for a status of 400 or more."""
    try:
        body = answer.json() if answer.content else None
    except ValueError:
        body = None
    if answer.is_success:
        return body
    raise error_of(answer.status_code, body, answer.text, _retry_after(answer))


def _retry_after(answer: httpx.Response) -> float | None:
    told = answer.headers.get("Retry-After", "")
    return float(told) if told.isdecimal() else None


def wait_before_retry(request: Sent, answer: httpx.Response | httpx.TransportError, left: int) -> float | None:
    """Return the seconds to wait before a retry, or None for no retry. ``left`` retries are allowed."""
    if left <= 0:
        return None
    told = None
    if isinstance(answer, httpx.Response):
        if not (answer.status_code == 429 or (answer.status_code in _LOST and request.repeatable)):
            return None
        told = _retry_after(answer)
    elif not (request.repeatable or isinstance(answer, httpx.ConnectError | httpx.ConnectTimeout)):
        return None
    wait = told if told is not None else 0.2 * 2 ** (3 - min(left, 3)) * random.uniform(0.75, 1.25)  # noqa: S311
    return wait if wait <= _LONGEST_WAIT else None


def following(page: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the parameters of the next page, or None after the last."""
    return dict(parse_qsl(urlsplit(page["next"]).query)) if page["next"] else None


def in_parts(items: Iterable[Any], most: int = MOST_ITEMS) -> Iterator[list[Any]]:
    """Split items into lists for one request each, of at most ``most`` items and ``MOST_BYTES``."""
    part: list[Any] = []
    size = 0
    for item in items:
        length = len(as_json(item)) + 1
        if part and (len(part) == most or size + length > MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(item)
        size += length
    if part:
        yield part


@dataclass(frozen=True, slots=True)
class Access:
    """Keepsake's URL, the key and the user. Empty ones are read from KEEPSAKE_URL, KEEPSAKE_KEY and KEEPSAKE_USER."""

    url: str = ""
    key: str = field(default="", repr=False)
    user: str = ""

    @property
    def base_url(self) -> str:
        """The base URL of all paths."""
        url = self.url or os.environ.get("KEEPSAKE_URL", "http://127.0.0.1:8000")
        return f"{url.rstrip('/')}/api/v1/"

    @property
    def headers(self) -> httpx.Headers:
        """The headers of every request. Raises NotAuthenticated without a key."""
        key = self.key or os.environ.get("KEEPSAKE_KEY", "")
        if not key:
            raise NotAuthenticated("Give a key, or set KEEPSAKE_KEY.")
        user = self.user or os.environ.get("KEEPSAKE_USER", "")
        told = {"Authorization": f"Bearer {key}", "User-Agent": "keepsake-python"}
        return httpx.Headers({**told, _USER: user} if user else told, encoding="utf-8")
