"""gunicorn's ASGI worker with timeouts for receiving a request and for sending the answer."""

from __future__ import annotations

import asyncio
from typing import Any

from django.conf import settings
from gunicorn.asgi.protocol import ASGIProtocol
from gunicorn.workers import gasgi


class PatientProtocol(ASGIProtocol):
    """Closes a connection whose first request line and headers have not arrived after ``REQUEST_SECONDS``.

    gunicorn has timeouts for bodies and between requests, but not for the first request, nor for a client that does not
    read its answer: such a connection is aborted after ``ANSWER_SECONDS``, with its buffer.
    """

    _stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the timer for the first request."""
        super().connection_made(transport)
        self._late = self.worker.loop.call_later(settings.REQUEST_SECONDS, self._hang_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel both timers."""
        self._late.cancel()
        self._goes_on()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start the timer for the answer: the buffer is full."""
        super().pause_writing()
        self._goes_on()
        self._stuck = self.worker.loop.call_later(settings.ANSWER_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the timer: the client reads again."""
        self._goes_on()
        super().resume_writing()

    def _goes_on(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()

    def _hang_up(self) -> None:
        if self.req_count <= 1 and self._awaiting_request:
            self.transport.close()


class PatientWorker(gasgi.ASGIWorker):
    """A worker that uses PatientProtocol, by replacing the class in gunicorn's module."""

    def init_process(self) -> None:
        """Install the protocol and serve until asked to stop."""
        gasgi.ASGIProtocol = PatientProtocol
        super().init_process()
