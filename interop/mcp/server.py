"""The server of one caller: the SDK's, with a handler for each method, none of which works on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from functools import partial
from typing import Any

import orjson
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
from web.streaming import Place, valkey_client
from web.threads import end_tasks

from . import memory
from .caller import Caller

VERSION = "1"
MOST_SUBSCRIPTIONS = 100
_SUBSCRIBED_SECONDS = 86_400
_TOO_MANY = f"At most {MOST_SUBSCRIPTIONS} resources can be subscribed to."
Context = ServerRequestContext[Any, Any]
Page = types.PaginatedRequestParams | None


class MemoryServer(Server[Any]):
    """Says of itself that it tells of changes, also where the SDK asks for nothing."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """What is told at the beginning."""
        told = notification_options or NotificationOptions(resources_changed=True, tools_changed=True)
        return super().create_initialization_options(told, experimental_capabilities, extensions)


class Handlers:
    """What one caller's client asks for. Nothing is kept between two requests but what it subscribed to."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.uris: set[str] = set()

    def server(self) -> MemoryServer:
        """The server."""
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
        """The tools that the caller has."""
        _must_begin(params)
        return types.ListToolsResult(tools=await self.caller.run(memory.tools))

    async def call_tool(self, _: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """What a tool answers."""
        call = partial(memory.call_tool, name=params.name, arguments=dict(params.arguments or {}))
        return await self.caller.run(call, makes_person=not is_reading(params.name))

    async def list_resources(self, _: Context, params: Page) -> types.ListResourcesResult:
        """The block and the memories."""
        after = (params and params.cursor) or ""
        if after and not (after.isalnum() and after.isascii() and len(after) == 8):
            raise MCPError(INVALID_PARAMS, "There is no such cursor.")
        return await self.caller.run(partial(memory.resources, after=after))

    async def list_templates(self, _: Context, params: Page) -> types.ListResourceTemplatesResult:
        """How the address of a memory is made."""
        _must_begin(params)
        return memory.TEMPLATES

    async def read_resource(self, _: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """The block, or a memory."""
        return await self.caller.run(partial(memory.read_resource, uri=str(params.uri)))

    async def list_prompts(self, _: Context, params: Page) -> types.ListPromptsResult:
        """The prompts."""
        _must_begin(params)
        return memory.prompts()

    async def get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """A prompt."""
        asked = partial(memory.prompt, name=params.name, arguments=dict(params.arguments or {}))
        return await self.caller.run(asked)

    # --- Changes ----------------------------------------------------------------------------------------------------

    async def subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Tell the client when a resource changes: on its one connection, or on the stream of its session."""
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
        """Tell it no longer."""
        uri = str(params.uri)[:200]
        self.uris.discard(uri)
        if self.caller.session:
            await self.caller.run(lambda _: valkey_client().srem(subscriptions_key(self.caller), uri))
        return types.EmptyResult()

    async def listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Tell of changes in the answer to this one request, for some minutes; then the client asks again."""
        bus = InMemorySubscriptionBus()
        handler = ListenHandler(bus)
        seconds = settings.CHANGES_STREAM_SECONDS
        begins, place = await self.caller.run(lambda caller: (caller.rev, Place(caller.user_id, seconds=seconds)))

        async def tell() -> None:
            async with aclosing(self.changes(begins)) as told:
                async for _, event in told:
                    if event is not None:
                        await bus.publish(event)
            handler.close()

        telling = asyncio.create_task(tell())
        try:
            return await handler(context, params)
        finally:
            with CancelScope(shield=True):
                await end_tasks(telling)
                await self.caller.hop(place.close)

    async def changes(self, after: int) -> AsyncGenerator[tuple[int, ServerEvent | None]]:
        """What changes after a revision, each with the revision to go on after, as long as the caller is let in.

        For some minutes. None in silence.
        """
        told = follow_changes(
            self.caller.reader, self.caller.user_id, after, settings.CHANGES_STREAM_SECONDS, _concerned
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

    async def tell(self, session: ServerSession) -> None:
        """Tell a client of the older generation on its one connection, until that ends or it is let in no more."""
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
        """The stream of a session over HTTP, of the older generation: what changed, as it happens."""
        async with aclosing(self.changes(after)) as told:
            async for rev, event in told:
                if event is None:
                    yield None
                elif not isinstance(event, ResourceUpdated) or await self.caller.hop(partial(self._is_wanted, event)):
                    sent = event_to_notification(event, {}).model_dump(mode="json", by_alias=True, exclude_none=True)
                    data = orjson.dumps({"jsonrpc": "2.0", **sent})
                    yield b"id: %d\nevent: message\ndata: %b\n\n" % (rev, data)

    def _is_wanted(self, event: ResourceUpdated) -> bool:
        return bool(valkey_client().sismember(subscriptions_key(self.caller), event.uri))


def subscriptions_key(caller: Caller) -> str:
    """Where a session's subscriptions stand. Another key's session of the same id is another one."""
    return f"keepsake:mcp:{caller.caller_key}:{caller.session}"


def _concerned(_: Principal, changes: list[Change]) -> tuple[int, list[ServerEvent]]:
    return changes[-1].rev, memory.concerned(changes)


def _must_begin(params: Page) -> None:
    if params is not None and params.cursor:
        raise MCPError(INVALID_PARAMS, "There is no such cursor.")
