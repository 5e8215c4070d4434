"""REST for tools: which there are, and calling one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of
from accounts.idempotency import WritesOnce
from accounts.policy import must_act_for
from journal.models import IdempotencyRecord

from .base import ToolAnswer
from .running import is_reading, list_tools, read_guidance, replay_tool, run_tool
from .serializers import ToolAnswerSerializer, ToolCallSerializer, ToolsQuerySerializer, ToolsSerializer


class _AlwaysJSON(BaseContentNegotiation):
    """``format`` names the form of the definitions here, not that of the answer."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser:
        """The only one."""
        return next(iter(parsers))

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """The only one."""
        renderer = next(iter(renderers))
        return renderer, renderer.media_type


class Tools(APIView):
    """The tools that a model may call."""

    content_negotiation_class = _AlwaysJSON

    @extend_schema(parameters=[ToolsQuerySerializer], responses=ToolsSerializer)
    def get(self, request: Request) -> Response:
        """Their definitions, with the categories that the caller may use, and guidance for the model's instructions."""
        principal = principal_of(request)
        must_act_for(principal)
        query = ToolsQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        tools = list_tools(principal, query.validated_data["format"])
        return Response({"guidance": read_guidance() if tools else "", "tools": tools})


class ToolCall(WritesOnce):
    """Calling one."""

    @property
    def reads_only(self) -> bool:
        """Whether the tool changes nothing, so that the scope read is enough."""
        return is_reading(self.kwargs["name"])

    @extend_schema(request=ToolCallSerializer, responses=ToolAnswerSerializer)
    def post(self, request: Request, name: str) -> Response:
        """Run it.

        Bad arguments and refusals are answered with 200 and `ok` false: `content` tells the model what to do instead.
        """
        principal = self.caller(request)
        body = _read(request)
        answer = run_tool(
            principal,
            name,
            body["arguments"],
            conversation_id=body["conversation"],
            message_id=body["message"],
        )
        return _show(answer)

    def replay(self, request: Request, record: IdempotencyRecord) -> Response:
        """What the first request did, as it is now."""
        answer = replay_tool(principal_of(request), self.kwargs["name"], _read(request)["arguments"], record)
        return _show(answer)


def _show(answer: ToolAnswer) -> Response:
    return Response({"ok": answer.ok, "content": answer.content, "data": answer.data})


def _read(request: Request) -> dict[str, Any]:
    body = ToolCallSerializer(data=request.data)
    body.is_valid(raise_exception=True)
    return body.validated_data


urlpatterns = [
    path("tools/", Tools.as_view(), name="tools"),
    path("tools/<slug:name>/", ToolCall.as_view(), name="tool"),
]
