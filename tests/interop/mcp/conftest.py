"""The SDK's own client against the server: over HTTP to a real port, over stdio to a real process."""

import os
import sys
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.assistant.processes import database_url_of_tests
from tests.serving import running


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
