"""gunicorn's ASGI worker, except that a client has so long to say what it wants, and to take what it gets."""

from __future__ import annotations

import asyncio
from typing import Any

from django.conf import settings
from gunicorn.asgi.protocol import ASGIProtocol
from gunicorn.workers import gasgi


class PatientProtocol(ASGIProtocol):
    """Closes a connection whose first request line and headers have not come after ``REQUEST_SECONDS``.

    gunicorn times bodies and what comes between requests, but waits for the first for ever. So it does for a client
    that reads nothing of its answer: such a connection is cut after ``ANSWER_SECONDS``, with what is buffered for it.
    """

    _stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait."""
        super().connection_made(transport)
        self._late = self.worker.loop.call_later(settings.REQUEST_SECONDS, self._hang_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._late.cancel()
        self._goes_on()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The buffer is full: begin to wait for the client."""
        super().pause_writing()
        self._goes_on()
        self._stuck = self.worker.loop.call_later(settings.ANSWER_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads again."""
        self._goes_on()
        super().resume_writing()

    def _goes_on(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()

    def _hang_up(self) -> None:
        if self.req_count <= 1 and self._awaiting_request:
            self.transport.close()


class PatientWorker(gasgi.ASGIWorker):
    """Speaks that protocol; the worker names the class that it makes for each connection in its module."""

    def init_process(self) -> None:
        """Serve until asked to stop."""
        gasgi.ASGIProtocol = PatientProtocol
        super().init_process()
