"""Steps that ask Keepsake and go on with what it answers, said once for callers that wait and for those that await."""

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
    """A request to be sent, which does the same when it is sent twice."""

    method: str
    path: str
    params: Mapping[str, Any] | None = None
    body: Any = None


Steps = Generator[Call, Any, T]
"""Gives calls, is sent their answers or has their errors raised, and returns something."""


def run(steps: Steps[T], client: Keepsake) -> T:
    """Carry out steps one after the other. Raises KeepsakeError."""
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
    """The same, awaited."""
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
    """The two clients of an adapter, made when they are needed first."""

    def __init__(self, url: str, key: str, user: str) -> None:
        self._access = (url, key, user)
        self._sync: Keepsake | None = None
        self._async: AsyncKeepsake | None = None

    @property
    def sync(self) -> Keepsake:
        """The one that waits."""
        if self._sync is None:
            url, key, user = self._access
            self._sync = Keepsake(url, key, user=user)
        return self._sync

    @property
    def awaited(self) -> AsyncKeepsake:
        """The one that is awaited."""
        if self._async is None:
            url, key, user = self._access
            self._async = AsyncKeepsake(url, key, user=user)
        return self._async

    def close(self) -> None:
        """Close the connections of the one that waits."""
        if self._sync is not None:
            self._sync.close()

    async def aclose(self) -> None:
        """Close the connections of both."""
        self.close()
        if self._async is not None:
            await self._async.aclose()
