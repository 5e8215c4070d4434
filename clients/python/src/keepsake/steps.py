"""Sequences of requests written once as generators, run by the synchronous or the asynchronous client."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from .async_client import AsyncKeepsake
from .client import Keepsake
from .errors import KeepsakeError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """An idempotent request to send."""

    method: str
    path: str
    params: Mapping[str, Any] | None = None
    body: Any = None


Steps = Generator[Call, Any, T]
"""A generator that yields calls, receives their responses or errors, and returns a result."""


def run(steps: Steps[T], client: Keepsake) -> T:
    """Run the steps with a synchronous client and return their result. Raises KeepsakeError."""
    answer: Any = None
    error: KeepsakeError | None = None
    while True:
        try:
            call = steps.send(answer) if error is None else steps.throw(error)
        except StopIteration as done:
            return done.value
        answer = error = None
        try:
            answer = client.request(call.method, call.path, params=call.params, body=call.body, repeatable=True)
        except KeepsakeError as failure:
            error = failure


async def arun(steps: Steps[T], client: AsyncKeepsake) -> T:
    """Run the steps with an asynchronous client and return their result. Raises KeepsakeError."""
    answer: Any = None
    error: KeepsakeError | None = None
    while True:
        try:
            call = steps.send(answer) if error is None else steps.throw(error)
        except StopIteration as done:
            return done.value
        answer = error = None
        try:
            answer = await client.request(call.method, call.path, params=call.params, body=call.body, repeatable=True)
        except KeepsakeError as failure:
            error = failure


class Clients:
    """The two clients of an adapter, created on first use."""

    def __init__(self, url: str, key: str, user: str) -> None:
        self._access = (url, key, user)
        self._sync: Keepsake | None = None
        self._async: AsyncKeepsake | None = None

    @property
    def sync(self) -> Keepsake:
        """The synchronous client."""
        if self._sync is None:
            url, key, user = self._access
            self._sync = Keepsake(url, key, user=user)
        return self._sync

    @property
    def awaited(self) -> AsyncKeepsake:
        """The asynchronous client."""
        if self._async is None:
            url, key, user = self._access
            self._async = AsyncKeepsake(url, key, user=user)
        return self._async

    def close(self) -> None:
        """Close the synchronous client."""
        if self._sync is not None:
            self._sync.close()

    async def aclose(self) -> None:
        """Close both clients."""
        self.close()
        if self._async is not None:
            await self._async.aclose()
