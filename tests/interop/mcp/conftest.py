"""The SDK's own client against the server: over HTTP to a real port, over stdio to a real process."""

import os
import socket
import sys
import threading
import time
from contextlib import asynccontextmanager, contextmanager

import httpx2
import pytest
import uvicorn
from django.db import connections
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from memory_project.serving import Application
from tests.assistant.processes import database_url_of_tests


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


@pytest.fixture
def address(transactional_db):
    with running() as url:
        yield url


@pytest.fixture
def over_http(address):
    """``over_http(agent, mode)`` is a client with the agent's key. The mode ``legacy`` begins with a handshake."""

    @asynccontextmanager
    async def connect(agent, mode="auto", **more):
        headers = {"Authorization": f"Bearer {agent.credential}", **more.pop("headers", {})}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=20) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode, **more) as client,
        ):
            yield client

    return connect


@pytest.fixture
def over_stdio(transactional_db):
    """``over_stdio(agent, mode)`` is a client that starts ``manage.py mcp``, on the test's database."""

    @asynccontextmanager
    async def connect(agent, mode="auto", **more):
        environment = {**os.environ, "DATABASE_URL": database_url_of_tests(), "KEEPSAKE_KEY": agent.credential}
        server = StdioServerParameters(command=sys.executable, args=["manage.py", "mcp"], env=environment)
        async with Client(stdio_client(server), mode=mode, **more) as client:
            yield client

    return connect
