"""gunicorn's ASGI worker, except that a client has so long to say what it wants."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from gunicorn.asgi.protocol import ASGIProtocol
from gunicorn.workers import gasgi


class PatientProtocol(ASGIProtocol):
    """Closes a connection whose first request line and headers have not come after ``REQUEST_SECONDS``.

    gunicorn times bodies and what comes between requests, but waits for the first for ever.
    """

    def connection_made(self, transport: Any) -> None:
        """Begin to wait."""
        super().connection_made(transport)
        self._late = self.worker.loop.call_later(settings.REQUEST_SECONDS, self._hang_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._late.cancel()
        super().connection_lost(exc)

    def _hang_up(self) -> None:
        if self.req_count <= 1 and self._awaiting_request:
            self.transport.close()


class PatientWorker(gasgi.ASGIWorker):
    """Speaks that protocol; the worker names the class that it makes for each connection in its module."""

    def init_process(self) -> None:
        """Serve until asked to stop."""
        gasgi.ASGIProtocol = PatientProtocol
        super().init_process()
