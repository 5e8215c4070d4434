"""The MCP server of one caller: the SDK's server with a handler per method. Handlers do no work on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from functools import partial
from typing import Any

from anyio import CancelScope
from django.conf import settings
from mcp import MCPError, types
from mcp.server import NotificationOptions, Server, ServerRequestContext
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated, ServerEvent
from mcp.shared.subscriptions import event_to_notification
from mcp_types import INVALID_PARAMS, INVALID_REQUEST
from redis.exceptions import RedisError
from rest_framework.exceptions import APIException

from accounts.principals import Principal
from assistant.tools import read_guidance
from assistant.tools.running import is_reading
from journal.exceptions import Refused
from journal.models import Change
from memories.feed import follow_changes
from web.json import encoded
from web.streaming import StreamSlot, valkey_client
from web.threads import end_tasks

from . import memory
from .caller import McpCaller

VERSION = "1"
MOST_SUBSCRIPTIONS = 100
_SUBSCRIBED_SECONDS = 86_400
_TOO_MANY = f"At most {MOST_SUBSCRIPTIONS} resources can be subscribed to."
Context = ServerRequestContext[Any, Any]
Page = types.PaginatedRequestParams | None


class MemoryServer(Server[Any]):
    """A server that always declares the ``list_changed`` capabilities, which the SDK leaves out by default."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return the options of the initialize result."""
        told = notification_options or NotificationOptions(resources_changed=True, tools_changed=True)
        return super().create_initialization_options(told, experimental_capabilities, extensions)


class Handlers:
    """The handlers of one caller. The only state between requests are subscriptions."""

    def __init__(self, caller: McpCaller) -> None:
        self.caller = caller
        self.uris: set[str] = set()

    def server(self) -> MemoryServer:
        """Create the server."""
        return MemoryServer(
            "keepsake",
            title="Keepsake",
            version=VERSION,
            description="The memory that agents and people share.",
            instructions=read_guidance(),
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_templates,
            on_read_resource=self.read_resource,
            on_subscribe_resource=self.subscribe,
            on_unsubscribe_resource=self.unsubscribe,
            on_subscriptions_listen=self.listen,
            on_list_prompts=self.list_prompts,
            on_get_prompt=self.get_prompt,
        )

    async def list_tools(self, _: Context, params: Page) -> types.ListToolsResult:
        """List the caller's tools."""
        _reject_cursor(params)
        return types.ListToolsResult(tools=await self.caller.run(memory.tools))

    async def call_tool(self, _: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Run a tool."""
        call = partial(memory.call_tool, name=params.name, arguments=dict(params.arguments or {}))
        return await self.caller.run(call, makes_person=not is_reading(params.name))

    async def list_resources(self, _: Context, params: Page) -> types.ListResourcesResult:
        """List the block and the memories."""
        after = (params and params.cursor) or ""
        if after and not (after.isalnum() and after.isascii() and len(after) == 8):
            raise MCPError(INVALID_PARAMS, "There is no such cursor.")
        return await self.caller.run(partial(memory.resources, after=after))

    async def list_templates(self, _: Context, params: Page) -> types.ListResourceTemplatesResult:
        """List the URI template of a memory."""
        _reject_cursor(params)
        return memory.TEMPLATES

    async def read_resource(self, _: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Read the block or a memory."""
        return await self.caller.run(partial(memory.read_resource, uri=str(params.uri)))

    async def list_prompts(self, _: Context, params: Page) -> types.ListPromptsResult:
        """List the prompts."""
        _reject_cursor(params)
        return memory.prompts()

    async def get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Render a prompt."""
        asked = partial(memory.prompt, name=params.name, arguments=dict(params.arguments or {}))
        return await self.caller.run(asked)

    # --- Changes ----------------------------------------------------------------------------------------------------

    async def subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Subscribe to a resource: in memory for stdio, in Valkey for a session over HTTP."""
        uri = str(params.uri)[:200]
        if context.request is None:
            if len(self.uris) >= MOST_SUBSCRIPTIONS:
                raise MCPError(INVALID_REQUEST, _TOO_MANY)
            self.uris.add(uri)
        else:
            await self.caller.run(partial(self._subscribe_session, uri))
        return types.EmptyResult()

    def _subscribe_session(self, uri: str, _: Principal) -> None:
        if not self.caller.session:
            raise MCPError(INVALID_REQUEST, "Send the Mcp-Session-Id that the answer to initialize had.")
        key = subscriptions_key(self.caller)
        steps = valkey_client().pipeline()
        steps.scard(key)
        steps.sadd(key, uri)
        steps.expire(key, _SUBSCRIBED_SECONDS)
        if steps.execute()[0] >= MOST_SUBSCRIPTIONS:
            valkey_client().srem(key, uri)
            raise MCPError(INVALID_REQUEST, _TOO_MANY)

    async def unsubscribe(self, _: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Unsubscribe from a resource."""
        uri = str(params.uri)[:200]
        self.uris.discard(uri)
        if self.caller.session:
            await self.caller.run(lambda _: valkey_client().srem(subscriptions_key(self.caller), uri))
        return types.EmptyResult()

    async def listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Stream changes in the answer to this request for CHANGES_STREAM_SECONDS; then the client asks again."""
        bus = InMemorySubscriptionBus()
        handler = ListenHandler(bus)
        seconds = settings.CHANGES_STREAM_SECONDS
        rev, place = await self.caller.run(lambda caller: (caller.rev, StreamSlot(caller.user_id, seconds=seconds)))

        async def notify() -> None:
            async with aclosing(self.changes(rev)) as told:
                async for _, event in told:
                    if event is not None:
                        await bus.publish(event)
            handler.close()

        telling = asyncio.create_task(notify())
        try:
            return await handler(context, params)
        finally:
            with CancelScope(shield=True):
                await end_tasks(telling)
                await self.caller.hop(place.close)

    async def changes(self, after: int) -> AsyncGenerator[tuple[int, ServerEvent | None]]:
        """Yield notifications of changes after a revision, each with the revision to resume after.

        Yields None as a keep-alive. Ends after CHANGES_STREAM_SECONDS, or when the caller's access or Valkey ends.
        """
        told = follow_changes(
            self.caller.reader, self.caller.user_id, after, settings.CHANGES_STREAM_SECONDS, _notifications
        )
        reached = after
        with suppress(Refused, APIException, RedisError, OSError):
            async with aclosing(told) as found:
                async for each in found:
                    if each is None:
                        yield reached, None
                    else:
                        reached, events = each
                        for event in events:
                            yield reached, event

    async def notify(self, session: ServerSession) -> None:
        """Notify a client of the older version over stdio. Raises MCPError when its access ends."""
        reached = (await self.caller.run(lambda principal: principal)).rev
        while True:
            async with aclosing(self.changes(reached)) as told:
                async for rev, event in told:
                    reached = rev
                    if event is not None and (not isinstance(event, ResourceUpdated) or event.uri in self.uris):
                        await session.send_notification(event_to_notification(event, {}))
            await asyncio.sleep(settings.CHANGES_RETRY_SECONDS)
            await self.caller.run(lambda principal: principal)

    async def session_events(self, after: int) -> AsyncIterator[bytes | None]:
        """Yield the server-sent events of a session over HTTP (older version), or None as a keep-alive."""
        async with aclosing(self.changes(after)) as told:
            async for rev, event in told:
                if event is None:
                    yield None
                elif not isinstance(event, ResourceUpdated) or await self.caller.hop(partial(self._is_wanted, event)):
                    sent = event_to_notification(event, {}).model_dump(mode="json", by_alias=True, exclude_none=True)
                    data = encoded({"jsonrpc": "2.0", **sent})
                    yield b"id: %d\nevent: message\ndata: %b\n\n" % (rev, data)

    def _is_wanted(self, event: ResourceUpdated) -> bool:
        return bool(valkey_client().sismember(subscriptions_key(self.caller), event.uri))


def subscriptions_key(caller: McpCaller) -> str:
    """Return the Valkey key of a session's subscriptions. It includes the caller, so ids of others don't collide."""
    return f"keepsake:mcp:{caller.caller_key}:{caller.session}"


def _notifications(_: Principal, changes: list[Change]) -> tuple[int, list[ServerEvent]]:
    return changes[-1].rev, memory.notifications_of(changes)


def _reject_cursor(params: Page) -> None:
    if params is not None and params.cursor:
        raise MCPError(INVALID_PARAMS, "There is no such cursor.")
