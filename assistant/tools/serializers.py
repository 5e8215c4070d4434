"""Shapes of the tools over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from .running import FORMATS


class ToolsQuerySerializer(serializers.Serializer[Any]):
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


@extend_schema_field({"oneOf": [{"type": "object", "additionalProperties": {}}, {"type": "string"}]})
class ArgumentsField(serializers.JSONField):
    """What a model sent: an object, or the JSON text of one."""


class ToolCallSerializer(serializers.Serializer[Any]):
    """A call as a model made it. ``message``, of ``conversation``, is the message that led to it."""

    arguments = ArgumentsField(required=False, default=dict)
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
