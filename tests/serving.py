"""Keepsake on a port of its own, for clients that want an address."""

import socket
import threading
import time
from contextlib import contextmanager

import uvicorn
from django.db import connections

from memory_project.serving import Application


@contextmanager
def running(credential=""):
    """Keepsake's ASGI application on a port of its own, in this process, on the test's database.

    With a credential it puts that into every request, for clients that can send none.
    """
    application = Application()

    async def with_key(scope, receive, send):
        key = (b"authorization", f"Bearer {credential}".encode())
        await application({**scope, "headers": [*scope["headers"], key]}, receive, send)

    listening = socket.create_server(("127.0.0.1", 0))
    served = with_key if credential else application
    server = uvicorn.Server(uvicorn.Config(served, lifespan="off", log_level="critical", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        deadline = time.monotonic() + 20
        while not server.started and time.monotonic() < deadline:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        for threads in (application._threads, application._probes):
            threads.submit(connections.close_all).result()
            threads.shutdown()
