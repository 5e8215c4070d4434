"""MCP over streamable HTTP at ``/mcp``, authenticated by an agent's key, for both protocol versions.

Requests are stateless, so any process can answer them. A client of the older version gets a session id all the same: it
is the key of its subscriptions in Valkey, and its GET stream sends their notifications.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import orjson
from django.conf import settings
from django.http import HttpResponse, StreamingHttpResponse
from django.http.request import validate_host
from django.http.response import HttpResponseBase
from django.urls import path, reverse
from drf_spectacular.utils import extend_schema
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import AgentKeyAuthentication, principal_factory, principal_of
from accounts.principals import SCOPES
from journal.exceptions import NotAllowed, Refused
from web.json import OrjsonRenderer
from web.streaming import EventStreamRenderer, Stream, valkey_client
from web.threads import AsgiResponse, Receive, Scope, Send, ThreadRunner, in_thread

from .caller import McpCaller
from .server import Handlers, subscriptions_key

_SESSION = "HTTP_" + MCP_SESSION_ID_HEADER.upper().replace("-", "_")
_LATER = "HTTP_LAST_EVENT_ID"


class KeyOnly(AgentKeyAuthentication):
    """Authentication by an agent's key. A 401 answer links to the resource metadata (RFC 9728)."""

    def authenticate_header(self, request: Request) -> str:
        """Return the WWW-Authenticate header of a 401 answer."""
        metadata = request.build_absolute_uri(reverse("mcp-metadata"))
        return f'Bearer resource_metadata="{metadata}"'


@extend_schema(exclude=True)
class Mcp(APIView):
    """The MCP endpoint. The tools check their scopes."""

    authentication_classes = [KeyOnly]
    renderer_classes = [OrjsonRenderer, EventStreamRenderer]
    reads_only = True

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Reject requests from other origins, against DNS rebinding. Raises NotAllowed."""
        super().initial(request, *args, **kwargs)
        origin = request.META.get("HTTP_ORIGIN")
        if origin and not validate_host(urlsplit(origin).hostname or "", settings.ALLOWED_HOSTS):
            raise NotAllowed("This origin is not let in.", code="not_allowed")

    def post(self, request: Request) -> HttpResponseBase:
        """Answer a JSON-RPC message."""
        is_initialize = _is_initialize(request.body)
        session = _session(request)

        async def answer(scope: Scope, receive: Receive, send: Send, hop: ThreadRunner) -> None:
            server = Handlers(_caller(request, session, hop)).server()
            manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
            async with manager.run():
                await manager.handle_request(scope, receive, send)

        handed_over = AsgiResponse(answer, request.body)
        if is_initialize:
            handed_over[MCP_SESSION_ID_HEADER] = uuid4().hex
        return handed_over

    def get(self, request: Request) -> HttpResponseBase:
        """Stream change notifications to an older client: lists, and the resources that it subscribed to."""
        principal = principal_of(request)
        later = request.META.get(_LATER, "")
        after = int(later) if later.isdecimal() and later.isascii() and len(later) < 19 else principal.rev
        handlers = Handlers(_caller(request, _session(request), in_thread))
        stream = Stream(
            principal.user_id, lambda: handlers.session_events(after), seconds=settings.CHANGES_STREAM_SECONDS
        )
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        return StreamingHttpResponse(stream, content_type="text/event-stream", headers=headers)

    def delete(self, request: Request) -> HttpResponse:
        """End a session: delete its subscriptions."""
        valkey_client().unlink(subscriptions_key(_caller(request, _session(request), in_thread)))
        return HttpResponse(status=204)


class Metadata(APIView):
    """OAuth protected resource metadata (RFC 9728), readable without a key.

    It names no authorization server, since there is none: a person creates a key on a page and pastes it.
    """

    authentication_classes = []
    permission_classes = [AllowAny]
    throttle_classes = []

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:
        """Return the resource's URL, how a key is sent, and where to create one."""
        return Response(
            {
                "resource": request.build_absolute_uri(reverse("mcp")),
                "resource_name": "Keepsake",
                "bearer_methods_supported": ["header"],
                "scopes_supported": list(SCOPES),
                "resource_documentation": request.build_absolute_uri(reverse("agent-connect")),
            }
        )


def _caller(request: Request, session: str, hop: ThreadRunner) -> McpCaller:
    principal = principal_of(request)
    assert principal.user_id is not None
    return McpCaller(principal_factory(request), principal.user_id, principal.caller_key, hop, session)


def _session(request: Request) -> str:
    """Return the session id of the request, or ''. Raises Refused (400) for a malformed one."""
    session = str(request.META.get(_SESSION, ""))
    if session and not (len(session) == 32 and session.isascii() and session.isalnum()):
        raise Refused("That is not the id of a session.", code="bad_session")
    return session


def _is_initialize(body: bytes) -> bool:
    """Whether a message is ``initialize``, with which a client of the older version begins."""
    try:
        message = orjson.loads(body)
    except orjson.JSONDecodeError:
        return False  # The SDK reports malformed JSON.
    return isinstance(message, dict) and message.get("method") == "initialize"


urlpatterns = [
    path("mcp", Mcp.as_view(), name="mcp"),
    path(".well-known/oauth-protected-resource/mcp", Metadata.as_view(), name="mcp-metadata"),
    path(".well-known/oauth-protected-resource", Metadata.as_view()),
]
