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

    _write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the timer for the first request."""
        super().connection_made(transport)
        self._request_timer = self.worker.loop.call_later(settings.REQUEST_SECONDS, self._close_if_waiting)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel both timers."""
        self._request_timer.cancel()
        self._cancel_write_timer()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start the timer for the answer: the buffer is full."""
        super().pause_writing()
        self._cancel_write_timer()
        self._write_timer = self.worker.loop.call_later(settings.ANSWER_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the timer: the client reads again."""
        self._cancel_write_timer()
        super().resume_writing()

    def _cancel_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()

    def _close_if_waiting(self) -> None:
        if self.req_count <= 1 and self._awaiting_request:
            self.transport.close()


class PatientWorker(gasgi.ASGIWorker):
    """A worker that uses PatientProtocol, by replacing the class in gunicorn's module."""

    def init_process(self) -> None:
        """Install the protocol and serve until asked to stop."""
        gasgi.ASGIProtocol = PatientProtocol
        super().init_process()
