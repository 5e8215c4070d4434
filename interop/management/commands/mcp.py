"""``manage.py mcp``: speak the Model Context Protocol over standard input and output."""

from __future__ import annotations

import asyncio
import os
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from mcp.server.stdio import stdio_server
from mcp_types import NotificationParams
from rest_framework.exceptions import APIException

from accounts.authentication import principal_factory_for_key
from journal.exceptions import Refused
from web.threads import in_thread

from ...mcp.caller import McpCaller
from ...mcp.server import Context, Handlers


class Command(BaseCommand):
    """Serve MCP over stdio to an assistant on this machine, with an agent's key."""

    help = __doc__ + " The key stands in KEEPSAKE_KEY: on a command line others on this machine could read it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--user", metavar="NAME", help="for a service's key: the person that it acts for")

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve until the input ends."""
        key = os.environ.get("KEEPSAKE_KEY", "")
        if not key:
            raise CommandError("Put an agent's key into the environment as KEEPSAKE_KEY.")
        try:
            again = principal_factory_for_key(key, options["user"])
            principal = again()
        except (Refused, APIException) as error:
            raise CommandError(str(error.detail)) from error
        assert principal.user_id is not None
        asyncio.run(_serve(McpCaller(again, principal.user_id, principal.caller_key, in_thread)))


async def _serve(caller: McpCaller) -> None:
    handlers = Handlers(caller)
    server = handlers.server()
    telling: set[asyncio.Task[None]] = set()

    async def begin(context: Context, _: NotificationParams) -> None:
        # Clients of the newer protocol version subscribe; older ones are notified without that.
        telling.add(asyncio.create_task(handlers.notify(context.session)))

    server.add_notification_handler("notifications/initialized", NotificationParams, begin)
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())
    for task in telling:
        task.cancel()
    await asyncio.gather(*telling, return_exceptions=True)
