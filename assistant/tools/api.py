"""REST for tools: which there are, and calling one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of
from accounts.policy import must_act_for
from accounts.principals import Principal
from journal.models import IdempotencyRecord
from web.idempotency import IdempotentView
from web.json import ExactSerializer, validated

from .base import ToolAnswer
from .running import FORMATS, is_reading, list_tools, read_guidance, replay_tool, run_tool


class ToolsQuerySerializer(ExactSerializer):
    """How the definitions are wanted."""

    format = serializers.ChoiceField(
        FORMATS,
        required=False,
        default="plain",
        help_text="`anthropic` and `openai` are what these providers' APIs take as `tools`, and nothing else.",
    )


class ToolsSerializer(serializers.Serializer[Any]):
    """The tools, and what a model should be told of when to use them.

    A plain one has ``name``, ``description``, ``parameters`` (a JSON schema), ``tags``, ``risk_level`` and
    ``requires_confirmation``.
    """

    guidance = serializers.CharField()
    tools = serializers.ListField(child=serializers.DictField())


@extend_schema_field({})
class ArgumentsField(serializers.JSONField):
    """What a model sent: whatever that is, it is answered in words that the model can act on."""


class ToolCallSerializer(ExactSerializer):
    """A call as a model made it. ``message``, of ``conversation``, is the message that led to it."""

    arguments = ArgumentsField(
        required=False, default=dict, help_text="As the model sent them: an object, or the JSON text of one."
    )
    conversation = serializers.UUIDField(required=False, allow_null=True, default=None)
    message = serializers.UUIDField(required=False, allow_null=True, default=None)


class ToolAnswerSerializer(serializers.Serializer[Any]):
    """What came of a call.

    ``content`` is for the model, ``data`` for the program: ``outcome`` and what was changed, or ``code`` when ``ok`` is
    false and nothing was.
    """

    ok = serializers.BooleanField()
    content = serializers.CharField()
    data = serializers.DictField()  # type: ignore[assignment]  # a field, not the property


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
        """List the tools that a model may call, in the form its provider takes, and guidance for its instructions.

        A definition offers the categories that the caller may use.
        """
        principal = principal_of(request)
        must_act_for(principal)
        query = validated(ToolsQuerySerializer(data=request.query_params))
        tools = list_tools(principal, query["format"])
        return Response({"guidance": read_guidance() if tools else "", "tools": tools})


class ToolCall(IdempotentView[Principal]):
    """Calling one."""

    @property
    def reads_only(self) -> bool:
        """Whether the tool changes nothing, so that the scope read is enough."""
        return is_reading(self.kwargs["name"])

    @extend_schema(request=ToolCallSerializer, responses=ToolAnswerSerializer)
    def post(self, request: Request, name: str) -> Response:
        """Call a tool.

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
    return validated(ToolCallSerializer(data=request.data))


urlpatterns = [
    path("tools/", Tools.as_view(), name="tools"),
    path("tools/<slug:name>/", ToolCall.as_view(), name="tool"),
]
