"""What every operation has in common, said once in the OpenAPI schema: headers and the form of errors."""

from __future__ import annotations

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from .idempotency import WritesOnce

_USER = OpenApiParameter(
    "X-Keepsake-User",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="The person a service agent acts for, as its issuer names them. Without it a key acts for its owner; "
    "a service that sends it blank gets 400 `bad_user`.",
)
_IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="Repeat a request with the same key within 24 hours, and its work is done once.",
)
_ERRORS = {
    "400": "The request is wrong; what is wrong with each field, or why it was refused.",
    "401": "Who is calling is not known.",
    "403": "The caller may not do this.",
    "404": "There is no such thing, or the caller may not know of it.",
    "409": "The object has changed, or is in a state that does not allow this.",
    "413": "The body is larger than 1 MB, or an upload larger than an import may be.",
    "415": "The body is not JSON, or for an upload not multipart/form-data.",
    "422": "A gate refused the content, or the Idempotency-Key was used for another request.",
    "429": "Too many requests; Retry-After says when to try again.",
    "503": "The database or a model is away; Retry-After says when to try again.",
}
_ONLY_WITH_BODY = {"409", "413", "415", "422"}


class Schema(AutoSchema):
    """The description of one operation, with the headers that every request may carry."""

    def get_override_parameters(self) -> list[Any]:
        """X-Keepsake-User everywhere, Idempotency-Key where it is honoured."""
        parameters = [*super().get_override_parameters(), _USER]
        if self.method == "POST" and isinstance(self.view, WritesOnce):
            parameters.append(_IDEMPOTENCY_KEY)
        return parameters


def add_errors(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Describe the errors that every operation can answer. A hook of drf-spectacular, run on the whole schema."""
    result["components"].setdefault("schemas", {})["Error"] = {
        "type": "object",
        "description": "Why a request failed: a sentence and a stable code, or lists of reasons by field.",
        "properties": {"detail": {"type": "string"}, "code": {"type": "string"}},
        "additionalProperties": {},
    }
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    for operations in result["paths"].values():
        for method, operation in operations.items():
            if any(parameter["name"] == "If-None-Match" for parameter in operation.get("parameters", ())):
                operation["responses"]["304"] = {"description": "It reads as the caller has it already."}
            for status, description in _ERRORS.items():
                if method != "get" or status not in _ONLY_WITH_BODY:
                    operation["responses"].setdefault(status, {"description": description, "content": content})
    return result
